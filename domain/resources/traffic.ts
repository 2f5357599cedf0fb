/** Decides which figures of the last 24 hours the status of a website shows, and when a change is worth a write. */

import type { OwnedWebsite } from '../model.ts'
import { isNumber, isText, orAbsent, shapeOf } from '../guards.ts'
import { memberOf } from '../strict-json.ts'

/** One website's figures, from the facts. */
export interface WebsiteTraffic extends OwnedWebsite {
  readonly visits: number
  readonly installs: number
  /** Installs that were tied to a visit. */
  readonly matched: number
  /** Looked up, decided, and tied to none. */
  readonly unmatched: number
}

/** The same as `status.traffic`. */
export interface ShownTraffic {
  readonly visits: number
  readonly installs: number
  /** Whole percent of installs that were looked up and decided, for example `62%`; absent without these. */
  readonly matchRate?: string
}

const isTraffic = shapeOf<ShownTraffic>({ visits: isNumber, installs: isNumber, matchRate: orAbsent(isText) })

/** Those in the status of an object; null if there are none. */
export function readTraffic(status: unknown): ShownTraffic | null {
  const traffic = memberOf(status, 'traffic')
  return isTraffic(traffic) ? traffic : null
}

/** Significant digits shown; more would cause status writes that no one reads. */
const DIGITS = 2
/**
 * How far a figure may be from the shown one, in steps of the last digit shown. It is more than a half, so that a figure at
 * the edge of rounding does not flip back and forth.
 */
const DEAD_BAND = 0.75

/**
 * What to show now; `before` is what is shown so far. Null if there is nothing to show yet: a website that never had
 * traffic needs no write.
 */
export function shownTraffic(now: WebsiteTraffic | null, before: ShownTraffic | null): ShownTraffic | null {
  if (now === null && before === null) return null
  const { visits, installs, matched, unmatched } = now ?? NOTHING
  const counts = { visits: settledCount(visits, before?.visits), installs: settledCount(installs, before?.installs) }
  const judged = matched + unmatched
  if (judged === 0) return counts
  const percent = (100 * matched) / judged
  const isEdge = matched === 0 || matched === judged
  const rate = isEdge ? percent : settledTo(1, percent, percentOf(before?.matchRate))
  return { ...counts, matchRate: `${rate}%` }
}

const NOTHING = { visits: 0, installs: 0, matched: 0, unmatched: 0 }

export function isSameTraffic(a: ShownTraffic | null, b: ShownTraffic | null): boolean {
  return a?.visits === b?.visits && a?.installs === b?.installs && a?.matchRate === b?.matchRate
}

/** Two digits of a count; the shown one stays while it is near enough. */
export function settledCount(value: number, shown: number | undefined): number {
  const step = value < 1 ? 1 : 10 ** Math.max(0, Math.floor(Math.log10(value)) + 1 - DIGITS)
  return settledTo(step, value, shown)
}

/** The value in whole steps; the shown value stays while it is near enough. */
function settledTo(step: number, value: number, shown: number | undefined): number {
  if (shown !== undefined && shown % step === 0 && Math.abs(value - shown) < DEAD_BAND * step) return shown
  return Math.round(value / step) * step
}

function percentOf(text: string | undefined): number | undefined {
  const percent = Number(text?.replace('%', '') ?? Number.NaN)
  return Number.isFinite(percent) ? percent : undefined
}
