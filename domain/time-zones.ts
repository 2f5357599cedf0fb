/**
 * Hours and days of a time zone of the IANA database, as instants. Borders are multiples of a quarter of an hour in every zone that is in use.
 */

import { DAY_MS, HOUR_MS, MINUTE_MS } from './durations.ts'
import { ZONE_NAMES } from './zone-countries.ts'

const QUARTER_MS = 15 * MINUTE_MS
export const UTC_ZONE = 'UTC'

/** A day of 23 hours that follows the start of one of 25 begins before this is over, and does not end. */
const INTO_NEXT_DAY_MS = 26 * HOUR_MS
/** From before the start of a day, whatever the clocks did on it, to after it. */
const AROUND_MIDNIGHT_MS = 3 * HOUR_MS

const KNOWN_NAMES: ReadonlySet<string> = new Set(ZONE_NAMES)

/** A name of the database, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  return KNOWN_NAMES.has(name)
}

/** What the clocks of a zone show. */
interface LocalTime {
  /** Midnight of its date, as if that were UTC. */
  readonly date: number
  readonly hour: number
  readonly minute: number
}

export interface TimeZone {
  readonly name: string
  /** Start of the hour (of its clocks) that this moment is in; Unix ms. Where clocks are changed by half an hour, one has half an hour and one an hour and a half. */
  readonly hourOf: (ms: number) => number
  /** Start of the hour after it. */
  readonly hourAfter: (ms: number) => number
  /** Start of the day that this moment is in. */
  readonly dayOf: (ms: number) => number
  /** Start of the day after it. */
  readonly dayAfter: (ms: number) => number
  /** What its clocks show, to the minute, as if that were UTC. */
  readonly clockOf: (ms: number) => number
  /** The date that they show: midnight of it, likewise. Days are added to it and months taken from it with UTC's calendar. */
  readonly dateOf: (ms: number) => number
  /** Start of the day of such a date. A date that the zone left out begins with the day after it, or before it. */
  readonly startOf: (date: number) => number
}

/** @throws RangeError for a name that is none */
export function timeZone(name: string): TimeZone {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const local = (ms: number): LocalTime => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
    const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    return { date: Date.UTC(of('year'), of('month') - 1, of('day')), hour: of('hour'), minute: of('minute') }
  }
  const clockOf = (ms: number): number => {
    const { date, hour, minute } = local(ms)
    return date + hour * HOUR_MS + minute * MINUTE_MS
  }
  const isStartOfHour = (ms: number): boolean =>
    local(ms).minute === 0 || local(ms).hour !== local(ms - QUARTER_MS).hour
  const hourOf = (ms: number): number => {
    let start = Math.floor(ms / QUARTER_MS) * QUARTER_MS
    while (!isStartOfHour(start)) start -= QUARTER_MS
    return start
  }
  const hourAfter = (ms: number): number => {
    let next = hourOf(ms) + QUARTER_MS
    while (!isStartOfHour(next)) next += QUARTER_MS
    return next
  }
  const dayOf = (ms: number): number => {
    const { date, hour, minute } = local(ms)
    const midnight = Math.floor(ms / QUARTER_MS) * QUARTER_MS - hour * HOUR_MS - (minute - (minute % 15)) * MINUTE_MS
    let start = midnight - AROUND_MIDNIGHT_MS
    while (local(start).date !== date) start += QUARTER_MS
    return start
  }
  return {
    name,
    hourOf,
    hourAfter,
    dayOf,
    dayAfter: (ms) => dayOf(dayOf(ms) + INTO_NEXT_DAY_MS),
    clockOf,
    dateOf: (ms) => local(ms).date,
    startOf: (date) => {
      const noon = date + 12 * HOUR_MS
      return dayOf(noon + (noon - clockOf(noon)))
    },
  }
}

/** A step of time in figures. */
export interface TimeStep {
  /** Unix ms, inclusive. */
  readonly at: number
  /** Exclusive. */
  readonly until: number
}

/** One that may be cut by the period. */
export interface PeriodStep extends TimeStep {
  readonly isPart: boolean
}

/** What a step of time is. Weeks begin on Monday. */
export const STEP_SIZES = ['hour', 'day', 'week'] as const
export type StepSize = (typeof STEP_SIZES)[number]

interface Borders {
  readonly startOf: (ms: number) => number
  readonly nextOf: (ms: number) => number
}

function bordersOf(zone: TimeZone, size: StepSize): Borders {
  switch (size) {
    case 'hour':
      return { startOf: zone.hourOf, nextOf: zone.hourAfter }
    case 'day':
      return { startOf: zone.dayOf, nextOf: zone.dayAfter }
    case 'week': {
      const mondayOf = (ms: number): number => {
        const date = zone.dateOf(ms)
        return date - ((new Date(date).getUTCDay() + 6) % 7) * DAY_MS
      }
      return {
        startOf: (ms) => zone.startOf(mondayOf(ms)),
        nextOf: (ms) => zone.startOf(mondayOf(ms) + 7 * DAY_MS),
      }
    }
  }
}

/** The hours, days or weeks of a zone that a period touches, cut at its ends. */
export function stepsOf(zone: TimeZone, { at: since, until }: TimeStep, size: StepSize): readonly PeriodStep[] {
  const steps: PeriodStep[] = []
  const { startOf, nextOf } = bordersOf(zone, size)
  let at = since
  while (at < until) {
    const next = nextOf(at)
    steps.push({ at, until: Math.min(next, until), isPart: startOf(at) !== at || next > until })
    at = next
  }
  return steps
}

/** The place among these steps, which are in order, of the one that this moment is in; -1 if there is none. */
export function stepAt(steps: readonly TimeStep[], ms: number): number {
  const place = steps.findLastIndex(({ at }) => at <= ms)
  return place !== -1 && ms < (steps[place]?.until ?? 0) ? place : -1
}
