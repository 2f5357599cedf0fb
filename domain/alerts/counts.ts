/** What alerts are judged by, without installs from CI, containers and tests, as in figures. */

import { recordOf } from '../typed-keys.ts'

/** `copies` are visits that copied the command; `matched` and `unmatched` installs that were decided; `failed` deliveries that were refused or too late. */
const ALERT_COUNTS = ['visits', 'copies', 'installs', 'matched', 'unmatched', 'delivered', 'failed'] as const
export type AlertCounts = Readonly<Record<(typeof ALERT_COUNTS)[number], number>>

export const NO_ALERT_COUNTS: AlertCounts = recordOf(ALERT_COUNTS, () => 0)

export function addAlertCounts(one: AlertCounts, other: AlertCounts): AlertCounts {
  return recordOf(ALERT_COUNTS, (name) => one[name] + other[name])
}
