/**
 * Hours of UTC of which a step of time has only a part, as in zones that begin theirs at half past or at a quarter. Rows of figures are hours of UTC
 * and cannot be divided, so these are read from the facts (ADR 70).
 */

import { DAY_MS, HOUR_MS, hourOf } from '../durations.ts'

interface HoursTogether {
  /** Start of the first hour, Unix ms. */
  readonly sinceMs: number
  /** End of the last one. */
  readonly untilMs: number
}

/** As many as one hour has of a website with 20 million page views in 90 days. */
const MOST_VIEWS = 10_000
/** Hours that were never counted show no views, so these are no bound alone. */
const MOST_MS = 14 * DAY_MS

/** Hours of UTC that these moments are in, except those that they begin. */
export function dividedHours(moments: readonly number[]): ReadonlySet<number> {
  return new Set(moments.filter((ms) => ms !== hourOf(ms)).map(hourOf))
}

/**
 * Groups hours that are read at once, with all that lies between them: a statement costs much the same for one hour of a small website as for a week.
 * `views` are page views by hour.
 */
export function hoursTogether(hours: readonly number[], views: ReadonlyMap<number, number>): readonly HoursTogether[] {
  const groups: HoursTogether[] = []
  let room = 0
  for (const hour of hours.toSorted((a, b) => a - b)) {
    const untilMs = hour + HOUR_MS
    const last = groups.at(-1)
    const more = viewsWithin(views, { sinceMs: last?.untilMs ?? hour, untilMs })
    if (last !== undefined && more <= room && untilMs - last.sinceMs <= MOST_MS) {
      groups[groups.length - 1] = { sinceMs: last.sinceMs, untilMs }
      room -= more
    } else {
      groups.push({ sinceMs: hour, untilMs })
      room = MOST_VIEWS - (views.get(hour) ?? 0)
    }
  }
  return groups
}

function viewsWithin(views: ReadonlyMap<number, number>, { sinceMs, untilMs }: HoursTogether): number {
  let sum = 0
  for (let hour = sinceMs; hour < untilMs; hour += HOUR_MS) sum += views.get(hour) ?? 0
  return sum
}
