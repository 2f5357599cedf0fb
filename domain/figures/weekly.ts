/**
 * The numbers of a week, from Monday to Sunday in an organisation's time zone: when they are due, what they are, and which of them may be shown as
 * shares. Mails and webhooks have the same.
 */

import { DAY_MS, HOUR_MS } from '../durations.ts'
import { LIMITS } from '../limits.ts'
import type { TimeZone } from '../time-zones.ts'
import { areFew, type LargestChange } from './overview.ts'

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
  const dueAtMs = momentOf(monday + DUE_HOUR * HOUR_MS, zone)
  if (nowMs < dueAtMs || nowMs >= dueAtMs + LIMITS.weeklyMailLateMs) return null
  return { from: dateText(monday - DAYS * DAY_MS), to: dateText(monday - DAY_MS), dueAtMs }
}

/** When the clocks show that. Where they were put on or back since midnight, the hours since then are more or fewer. */
function momentOf(clockMs: number, zone: TimeZone): number {
  const day = clockMs - (clockMs % DAY_MS)
  const guess = zone.startOf(day) + (clockMs - day)
  return guess + clockMs - zone.clockOf(guess)
}

function dateText(date: number): string {
  return new Date(date).toISOString().slice(0, 10)
}

interface WeekInstalls {
  readonly installs: number
  /** With a visit. */
  readonly matched: number
  /** Looked up and decided: the match rate is that of these. */
  readonly lookedUp: number
  /** Whose visit was not looked for, because the plan is Free or the install path is paused. */
  readonly counted: number
  readonly knownSource: number
}

export interface WeekFigures extends WeekInstalls {
  readonly visits: number
  /** Visits that led to an install within seven days, as far as these are over. */
  readonly converted: number
}

/** As the Overview counts all websites of the organisation. */
export interface WeeklySummary {
  /** The Monday and the Sunday of the week. */
  readonly from: string
  readonly to: string
  readonly timeZone: string
  readonly now: WeekFigures
  /** Of the week before; null if that cannot be compared. */
  readonly before: WeekFigures | null
  readonly changes: readonly LargestChange[]
}

/** With few installs in one of the weeks a percentage says nothing. */
export function saysShares({ now, before }: WeeklySummary): boolean {
  return ![now, ...(before === null ? [] : [before])].some(({ installs }) => installs === 0 || areFew(installs))
}

/** On the plan Free, and while install paths are paused, installs are counted alone. */
export function isCountedAlone({ counted, installs }: WeekInstalls): boolean {
  return counted > 0 && counted === installs
}
