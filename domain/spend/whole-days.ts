/** The days that figures of ad spend are about: only those that lie whole within a period, since an account says what a day cost and not an hour. */

import { DAY_MS } from '../durations.ts'
import { stepsOf, type TimeStep, type TimeZone } from '../time-zones.ts'

export interface WholeDays {
  /** In the time zone: from the start of the first day to the end of the last one. */
  readonly period: TimeStep
  /** The same days of ad accounts, as they are stored: midnights in UTC, the last one exclusive. */
  readonly stored: TimeStep
  /** The first and the last day, such as `2026-11-30`. */
  readonly first: string
  readonly last: string
}

/** Null if no day lies whole within the period. */
export function wholeDays(zone: TimeZone, period: TimeStep): WholeDays | null {
  const days = stepsOf(zone, period, 'day').filter(({ isPart }) => !isPart)
  const first = days[0]
  const last = days.at(-1)
  if (first === undefined || last === undefined) return null
  // Sweden writes days as ISO 8601 does.
  const shown = new Intl.DateTimeFormat('sv', { timeZone: zone.name, dateStyle: 'short' })
  const firstDay = shown.format(first.at)
  const lastDay = shown.format(last.at)
  return {
    period: { at: first.at, until: last.until },
    stored: { at: Date.parse(firstDay), until: Date.parse(lastDay) + DAY_MS },
    first: firstDay,
    last: lastDay,
  }
}
