/** The days that are judged: the last one that is over, by the clocks of a time zone, and the four weeks before it. */

import { DAY_MS } from '../durations.ts'
import { dateText } from '../figures/zone-dates.ts'
import { stepAt, type TimeStep, type TimeZone } from '../time-zones.ts'
import { addAlertCounts, NO_ALERT_COUNTS, type AlertCounts } from './counts.ts'

const DAYS_BEFORE = 28
const WEEK_DAYS = 7

export interface JudgedDays {
  /** "2026-11-28" */
  readonly date: string
  readonly day: TimeStep
  /** `DAYS_BEFORE` of them, the oldest first. */
  readonly before: readonly TimeStep[]
}

/** The last day that was over at this moment; a day has 23 to 25 hours. */
export function lastClosedDay(zone: TimeZone, nowMs: number): JudgedDays {
  const until = zone.dayOf(nowMs)
  const date = zone.dateOf(until - 1)
  const starts = Array.from({ length: DAYS_BEFORE + 1 }, (_, place) =>
    zone.startOf(date - (DAYS_BEFORE - place) * DAY_MS),
  )
  const steps = starts.map((at, place): TimeStep => ({ at, until: starts[place + 1] ?? until }))
  const day = steps.at(-1) ?? { at: until - DAY_MS, until }
  return { date: dateText(zone, day.at), day, before: steps.slice(0, -1) }
}

/** All that is read to judge a day. */
export function spanOfDays({ day, before }: JudgedDays): TimeStep {
  return { at: before[0]?.at ?? day.at, until: day.until }
}

/** Of the days before, the same day of each of the four weeks. */
export function sameWeekdays<T>(before: readonly T[]): readonly T[] {
  return before.filter((_, place) => (DAYS_BEFORE - place) % WEEK_DAYS === 0)
}

/** What came in at a moment. */
export interface CountedMoment {
  readonly atMs: number
  /** What it is counted by: an hour, or a quarter of one. */
  readonly lengthMs: number
  readonly counts: AlertCounts
}

export interface DayFigures {
  readonly day: AlertCounts
  /** Of the 24 hours that end with the day: a day of 23 hours must not pass for one on which nothing came. */
  readonly last24Hours: AlertCounts
  /** The oldest first; null: nothing had come in yet, so that there is nothing to compare with. */
  readonly before: readonly (AlertCounts | null)[]
}

/** Adds up what came in by day. Moments are starts of hours or of quarters of one; what is outside of all days is left out. */
export function figuresOfDays({ day, before }: JudgedDays, moments: readonly CountedMoment[]): DayFigures {
  const steps = [...before, day]
  const sums: AlertCounts[] = steps.map(() => NO_ALERT_COUNTS)
  let last24Hours = NO_ALERT_COUNTS
  for (const { atMs, lengthMs, counts } of moments) {
    const place = stepAt(steps, atMs)
    if (place !== -1) sums[place] = addAlertCounts(sums[place] ?? NO_ALERT_COUNTS, counts)
    // An hour that these 24 hours have a part of counts: that something came is certain only then.
    if (atMs + lengthMs > day.until - DAY_MS && atMs < day.until) last24Hours = addAlertCounts(last24Hours, counts)
  }
  const first = sums.findIndex(({ visits, installs }) => visits + installs > 0)
  const known = sums.map((sum, place) => (first === -1 || place < first ? null : sum))
  return { day: sums.at(-1) ?? NO_ALERT_COUNTS, last24Hours, before: known.slice(0, -1) }
}
