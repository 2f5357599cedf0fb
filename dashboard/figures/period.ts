/** The period that a page of figures asks for: whole hours of the organisation's time zone. */

import { DAY_MS } from '../../domain/durations.ts'
import { refuseField, type Refusal } from '../../domain/errors.ts'
import type { TimeZone } from '../../domain/time-zones.ts'

export interface FiguresPeriod {
  readonly sinceMs: number
  readonly untilMs: number
}

const DEFAULT_DAYS = 7
/** Longer than a year, so that a year can be compared. */
const MAX_DAYS = 400

/** The 7 days up to now unless the query says otherwise, extended to whole hours. */
export interface AskedOfFigures {
  readonly query: { readonly since?: number; readonly until?: number; readonly filter?: readonly string[] }
  readonly nowMs: number
}

export function periodOf({ query, nowMs }: AskedOfFigures, zone: TimeZone): FiguresPeriod | Refusal {
  const { since, until } = query
  const present = zone.hourAfter(nowMs)
  const end = until === undefined ? present : Math.min(zone.hourAfter(until - 1), present)
  const start = zone.hourOf(since ?? Math.max(0, end - DEFAULT_DAYS * DAY_MS))
  if (start >= end) return refuseField('/since', 'must be before until and now')
  if (end - start > MAX_DAYS * DAY_MS) {
    return refuseField('/since', `must be at most ${MAX_DAYS} days before until`)
  }
  return { sinceMs: start, untilMs: end }
}

/** The period of the same length right before it, cut at the beginning of Unix time. */
export function periodBefore({ sinceMs, untilMs }: FiguresPeriod): FiguresPeriod {
  return { sinceMs: Math.max(0, 2 * sinceMs - untilMs), untilMs: sinceMs }
}
