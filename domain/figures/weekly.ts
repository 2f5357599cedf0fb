/**
 * The numbers of a week, from Monday to Sunday in an organisation's time zone: when they are due, and which of them may be shown as shares.
 */

import { DAY_MS, HOUR_MS } from '../durations.ts'
import { LIMITS } from '../limits.ts'
import type { TimeZone } from '../time-zones.ts'
import type { WeeklySummary } from '../people/weekly-summary.ts'
import { areFew } from './overview.ts'

/** What its clocks show. */
const DUE_HOUR = 9
const DAYS = 7

/** A week that is over. */
export interface PastWeek {
  /** Its Monday and its Sunday, such as "2026-11-16". */
  readonly from: string
  readonly to: string
  /** When its numbers are due: on the Monday after it; Unix ms. */
  readonly dueAtMs: number
}

/** The week whose numbers are due now; null before Monday at 9, and once that is too long ago. */
export function dueWeek(nowMs: number, zone: TimeZone): PastWeek | null {
  const today = zone.dateOf(nowMs)
  const monday = today - ((new Date(today).getUTCDay() + 6) % DAYS) * DAY_MS
  const dueAtMs = momentShown(monday + DUE_HOUR * HOUR_MS, zone)
  if (nowMs < dueAtMs || nowMs >= dueAtMs + LIMITS.weeklyMailLateMs) return null
  return { from: dayName(monday - DAYS * DAY_MS), to: dayName(monday - DAY_MS), dueAtMs }
}

/** When the clocks show that. If they were put forward or back since midnight, the hours since then are more or fewer. */
function momentShown(clockMs: number, zone: TimeZone): number {
  const day = clockMs - (clockMs % DAY_MS)
  const guess = zone.startOf(day) + (clockMs - day)
  return guess + clockMs - zone.clockOf(guess)
}

function dayName(date: number): string {
  return new Date(date).toISOString().slice(0, 10)
}

/** With few installs in one of the weeks a percentage says nothing. */
export function saysShares({ now, before }: WeeklySummary): boolean {
  return ![now, ...(before === null ? [] : [before])].some(({ installs }) => installs === 0 || areFew(installs))
}
