/** Days and hours of a time zone as texts, and back. */

import { MINUTE_MS } from '../durations.ts'
import type { TimeZone } from '../time-zones.ts'
import { dateOfText } from './periods.ts'

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

/** Unix ms at which the day begins; null if the calendar or the zone has no such day. */
export function startOfDate(zone: TimeZone, text: string): number | null {
  const date = dateOfText(text)
  if (date === null) return null
  const start = zone.startOf(date)
  return zone.dateOf(start) === date ? start : null
}
