/** Days and hours of a time zone as texts, and back. */

import { MINUTE_MS } from '../durations.ts'
import type { TimeZone } from '../time-zones.ts'
import { dateOfText } from './periods.ts'

/** The day that a moment is in, as ISO 8601 writes it: `2026-11-28`. */
export function dateText(zone: TimeZone, ms: number): string {
  return new Date(zone.dateOf(ms)).toISOString().slice(0, 'yyyy-mm-dd'.length)
}

/** The moment with the offset of the zone from UTC: `2026-11-28T09:00:00+01:00`. */
export function zonedTimeText(zone: TimeZone, ms: number): string {
  const clockMs = zone.clockOf(ms)
  const offset = (clockMs - Math.floor(ms / MINUTE_MS) * MINUTE_MS) / MINUTE_MS
  return new Date(clockMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length) + offsetText(offset)
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
