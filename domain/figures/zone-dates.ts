/** Days and hours of a time zone as texts, and back. */

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { stepsOf, type TimeStep, type TimeZone } from '../time-zones.ts'

/** What the clocks of a zone show, as texts. */
export interface ZoneDates {
  readonly zone: TimeZone
  /** The day that a moment is in, as ISO 8601 writes it: `2026-11-28`. */
  readonly dateIn: (ms: number) => string
  /** The moment with the offset of the zone from UTC: `2026-11-28T09:00:00+01:00`. */
  readonly timeIn: (ms: number) => string
}

/** Makes a formatter, which costs more than what it formats: one for each question. */
export function zoneDates(zone: TimeZone): ZoneDates {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone.name,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  const local = (ms: number) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]))
    const of = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? ''
    return { date: `${of('year').padStart(4, '0')}-${of('month')}-${of('day')}`, time: `${of('hour')}:${of('minute')}` }
  }
  return {
    zone,
    dateIn: (ms) => local(ms).date,
    timeIn(ms) {
      const { date, time } = local(ms)
      const offsetMs = Date.parse(`${date}T${time}:00Z`) - Math.floor(ms / MINUTE_MS) * MINUTE_MS
      return `${date}T${time}:00${offsetText(offsetMs / MINUTE_MS)}`
    },
  }
}

function offsetText(minutes: number): string {
  const twoDigits = (number: number): string => String(number).padStart(2, '0')
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${twoDigits(Math.floor(size / 60))}:${twoDigits(size % 60)}`
}

/** Unix ms at which the day begins; null if the zone has no such day. */
export function startOfDate({ zone, dateIn }: ZoneDates, date: string): number | null {
  const noon = Date.parse(`${date}T12:00:00Z`)
  if (Number.isNaN(noon)) return null
  // Somewhere it is already the next day then, and elsewhere still the one before.
  const starts = [noon - DAY_MS, noon, noon + DAY_MS].map(zone.dayOf)
  return starts.find((start) => dateIn(start) === date) ?? null
}

const MONDAY = 1
const DAYS_OF_WEEK = 7

/** The Monday of the week that this moment is in. */
function mondayOf({ zone, dateIn }: ZoneDates, ms: number): number {
  const weekday = new Date(`${dateIn(ms)}T12:00:00Z`).getUTCDay()
  let start = zone.dayOf(ms)
  for (let days = (weekday - MONDAY + DAYS_OF_WEEK) % DAYS_OF_WEEK; days > 0; days -= 1)
    start = zone.dayOf(start - HOUR_MS)
  return start
}

/** The weeks that a period touches, cut at its ends; they begin on Monday. */
export function weeksOf(dates: ZoneDates, period: TimeStep): readonly TimeStep[] {
  const weeks = new Map<number, TimeStep>()
  for (const { at, until } of stepsOf(dates.zone, period, 'day')) {
    const monday = mondayOf(dates, at)
    weeks.set(monday, { at: weeks.get(monday)?.at ?? at, until })
  }
  return [...weeks.values()]
}
