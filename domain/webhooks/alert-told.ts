/** What an event about an alert says. */

import { alertWords, toldAlertOf } from '../alerts/alert-words.ts'
import type { ReadableRecords } from '../read-record.ts'

/** Null for a rule that only a later release knows. */
export function toldAlert(record: ReadableRecords['alert']): Readonly<Record<string, unknown>> | null {
  const alert = toldAlertOf(record)
  if (alert === null) return null
  const { id, end } = record
  const { rule, of, website, period, value, expected, threshold } = alert
  return {
    alert: id,
    rule,
    ...(of === '' ? {} : { of }),
    ...(website === '' ? {} : { website }),
    period,
    value,
    expected,
    threshold,
    ...(end === undefined ? {} : { end }),
    message: alertWords(alert).sentence,
  }
}
