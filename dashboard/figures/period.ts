/** The period that a page of figures asks for: whole hours. */

import { DAY_MS, endOfHours, hourAfter, hourOf, LAST_MOMENT_MS } from '../../domain/durations.ts'
import { refuseField, type Refusal } from '../../domain/errors.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import type { Call } from '../http/call.ts'

export interface FiguresPeriod {
  readonly sinceMs: number
  readonly untilMs: number
}

const DEFAULT_DAYS = 7
/** Longer than a year, so that a year can be compared. */
const MAX_DAYS = 400

const time: JsonSchema = { type: 'integer', description: 'Unix ms.', minimum: 0, maximum: LAST_MOMENT_MS }
export const PERIOD_QUERY = { since: time, until: time } as const

/** The 7 days up to now unless the query says otherwise, extended to whole hours. */
export function periodOf({ queryValues, nowMs }: Call): FiguresPeriod | Refusal {
  const { since, until } = queryValues
  const present = hourAfter(nowMs)
  const end = typeof until === 'number' ? Math.min(endOfHours(until), present) : present
  const start = hourOf(typeof since === 'number' ? since : Math.max(0, end - DEFAULT_DAYS * DAY_MS))
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
