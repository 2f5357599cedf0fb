/**
 * Periods of figures as people ask for them: by a name, from one date to another, or between two moments; and the period that one is compared with. Days
 * are those of a time zone, and a period that reaches the present ends with the present hour.
 */

import { DAY_MS, HOUR_MS } from '../durations.ts'
import { refuseField, type Refusal } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { StepSize, TimeZone } from '../time-zones.ts'

/** Those of `ShareLink.spec.period`. */
export const PERIOD_NAMES = [
  'Today',
  'Yesterday',
  'Last7Days',
  'Last28Days',
  'Last90Days',
  'MonthToDate',
  'LastMonth',
  'YearToDate',
] as const
export type PeriodName = (typeof PERIOD_NAMES)[number]
export const DEFAULT_PERIOD: PeriodName = 'Last7Days'

/** What a period is compared with: the one before it, the same dates a year before, or nothing. */
export const COMPARISONS = ['before', 'year_before', 'off'] as const
export type Comparison = (typeof COMPARISONS)[number]

/** Why figures are not compared: not all of that period is kept, nothing had come in yet at its end, or some of what came in is not counted yet. */
export const NOT_COMPARED = ['not_kept', 'nothing_yet', 'not_counted_yet'] as const
export type NotCompared = (typeof NOT_COMPARED)[number]

/** Both ends are Unix ms at which an hour of the time zone begins; the later one is exclusive. */
export interface FiguresPeriod {
  readonly sinceMs: number
  readonly untilMs: number
}

/** One way to say a period: the name counts first, then the dates. */
export interface AskedPeriod {
  readonly period?: PeriodName
  /** The first date, and the last one: "2026-11-28". Today if absent. */
  readonly from?: string
  readonly to?: string
  /** Unix ms, extended to whole hours. */
  readonly since?: number
  readonly until?: number
}

/** What a period is read against. */
export interface PeriodClock {
  readonly nowMs: number
  readonly zone: TimeZone
}

/** The last seven days if nothing is asked for. Refuses one that is empty, begins after now or is too long. */
export function periodOf(asked: AskedPeriod, clock: PeriodClock): FiguresPeriod | Refusal {
  const { period, from, to, since, until } = asked
  if (period !== undefined) return namedPeriod(period, clock)
  if (from !== undefined || to !== undefined) return datedPeriod(asked, clock)
  if (since !== undefined || until !== undefined) return periodBetween(asked, clock)
  return namedPeriod(DEFAULT_PERIOD, clock)
}

function namedPeriod(name: PeriodName, { nowMs, zone }: PeriodClock): FiguresPeriod {
  const today = zone.dateOf(nowMs)
  const present = zone.hourAfter(nowMs)
  const lastDays = (days: number) => ({ sinceMs: zone.startOf(today - (days - 1) * DAY_MS), untilMs: present })
  const month = firstOfMonth(today)
  switch (name) {
    case 'Today':
      return lastDays(1)
    case 'Yesterday':
      return { sinceMs: zone.startOf(today - DAY_MS), untilMs: zone.startOf(today) }
    case 'Last7Days':
      return lastDays(7)
    case 'Last28Days':
      return lastDays(28)
    case 'Last90Days':
      return lastDays(90)
    case 'MonthToDate':
      return { sinceMs: zone.startOf(month), untilMs: present }
    case 'LastMonth':
      return { sinceMs: zone.startOf(monthsBefore(month, 1).date), untilMs: zone.startOf(month) }
    case 'YearToDate':
      return { sinceMs: zone.startOf(Date.UTC(new Date(today).getUTCFullYear(), 0)), untilMs: present }
  }
}

function datedPeriod({ from, to }: AskedPeriod, { nowMs, zone }: PeriodClock): FiguresPeriod | Refusal {
  const today = zone.dateOf(nowMs)
  const first = dateOfText(from)
  const last = dateOfText(to) ?? today
  if (first === null) return refuseField('/from', 'must be a date such as 2026-11-28')
  if (to !== undefined && dateOfText(to) === null) return refuseField('/to', 'must be a date such as 2026-11-28')
  if (first > Math.min(last, today)) return refuseField('/from', 'must not be after to or today')
  if (last - first >= LIMITS.figuresPeriodDays * DAY_MS)
    return refuseField('/from', `must be fewer than ${LIMITS.figuresPeriodDays} days before to`)
  const end = zone.startOf(last + DAY_MS)
  return { sinceMs: zone.startOf(first), untilMs: Math.min(end, zone.hourAfter(nowMs)) }
}

function periodBetween({ since, until }: AskedPeriod, { nowMs, zone }: PeriodClock): FiguresPeriod | Refusal {
  const present = zone.hourAfter(nowMs)
  const end = until === undefined ? present : Math.min(zone.hourAfter(until - 1), present)
  const start = zone.hourOf(since ?? Math.max(0, end - 7 * DAY_MS))
  if (start >= end) return refuseField('/since', 'must be before until and now')
  if (end - start > LIMITS.figuresPeriodDays * DAY_MS)
    return refuseField('/since', `must be at most ${LIMITS.figuresPeriodDays} days before until`)
  return { sinceMs: start, untilMs: end }
}

/** Midnight of a date such as "2026-11-28", as if that were UTC. Null for anything else, and for dates that no calendar has. */
export function dateOfText(text: string | undefined): number | null {
  if (text === undefined || !/^[12]\d{3}-\d\d-\d\d$/.test(text)) return null
  const date = Date.parse(text)
  // Some engines take 31 February for a day of March.
  return Number.isNaN(date) || !new Date(date).toISOString().startsWith(text) ? null : date
}

/**
 * The period that this one is compared with. The one before it is as many days long and right before; of a month or a year that it is the present part
 * of, it is the same part of the month or the year before. What ends within a day is compared up to the same hour.
 */
export function comparedPeriod(
  asked: AskedPeriod,
  period: FiguresPeriod,
  { by, zone }: { readonly by: Exclude<Comparison, 'off'>; readonly zone: TimeZone },
): FiguresPeriod {
  if (by === 'year_before') return shifted(period, zone, (date) => monthsBefore(date, 12))
  switch (asked.period) {
    case 'MonthToDate':
    case 'LastMonth':
      return shifted(period, zone, (date) => monthsBefore(date, 1))
    case 'YearToDate':
      return shifted(period, zone, (date) => monthsBefore(date, 12))
    default:
      return isBetween(asked) ? rightBefore(period) : shifted(period, zone, daysBefore(daysIn(period, zone)))
  }
}

function isBetween({ period, from, to, since, until }: AskedPeriod): boolean {
  return period === undefined && from === undefined && to === undefined && (since !== undefined || until !== undefined)
}

/** Cut at the beginning of Unix time. */
function rightBefore({ sinceMs, untilMs }: FiguresPeriod): FiguresPeriod {
  return { sinceMs: Math.max(0, 2 * sinceMs - untilMs), untilMs: sinceMs }
}

/** Dates that a period touches. */
function daysIn({ sinceMs, untilMs }: FiguresPeriod, zone: TimeZone): number {
  return (zone.dateOf(untilMs - 1) - zone.dateOf(sinceMs)) / DAY_MS + 1
}

interface ShiftedDate {
  readonly date: number
  /** The month has no such day: this is its last one. */
  readonly isCut: boolean
}

function daysBefore(days: number): (date: number) => ShiftedDate {
  return (date) => ({ date: date - days * DAY_MS, isCut: false })
}

function monthsBefore(date: number, months: number): ShiftedDate {
  const then = new Date(date)
  const year = then.getUTCFullYear()
  const month = then.getUTCMonth() - months
  const wanted = Date.UTC(year, month, then.getUTCDate())
  const last = Date.UTC(year, month + 1, 0)
  return wanted > last ? { date: last, isCut: true } : { date: wanted, isCut: false }
}

/** The first of its month. */
function firstOfMonth(date: number): number {
  return Date.UTC(new Date(date).getUTCFullYear(), new Date(date).getUTCMonth())
}

/** The same hours of other dates. A month that is shorter is compared as a whole once its last day is reached. */
function shifted(
  { sinceMs, untilMs }: FiguresPeriod,
  zone: TimeZone,
  shift: (date: number) => ShiftedDate,
): FiguresPeriod {
  const hourOn = (ms: number): number => {
    const start = zone.startOf(shift(zone.dateOf(ms)).date)
    return Math.min(zone.hourOf(start + ms - zone.dayOf(ms)), zone.dayAfter(start))
  }
  const lastMoment = untilMs - 1
  const last = shift(zone.dateOf(lastMoment))
  const isWhole = last.isCut || zone.dayAfter(lastMoment) === untilMs
  return {
    sinceMs: hourOn(sinceMs),
    untilMs: isWhole ? zone.dayAfter(zone.startOf(last.date)) : hourOn(untilMs),
  }
}

/** Two days, one of which may be longer than others. */
const MOST_HOURLY_MS = 2 * DAY_MS + HOUR_MS
const MOST_DAILY_DAYS = 100

/** What a chart of the period has a column for, unless somebody chooses. */
export function stepSizeOf(period: FiguresPeriod, zone: TimeZone): StepSize {
  if (period.untilMs - period.sinceMs <= MOST_HOURLY_MS) return 'hour'
  return daysIn(period, zone) <= MOST_DAILY_DAYS ? 'day' : 'week'
}

/** Refuses hours of a period that has too many of them for one chart. */
export function refuseSteps(size: StepSize, { sinceMs, untilMs }: FiguresPeriod): Refusal | null {
  const most = LIMITS.figuresHourlyDays * DAY_MS
  if (size !== 'hour' || untilMs - sinceMs <= most) return null
  return refuseField('/bucket', `must be day or week for more than ${LIMITS.figuresHourlyDays} days`)
}

/** What of a website is kept, so far back. */
interface RetainedWebsite {
  readonly retentionDays: number
}

/** Start of the first day of which everything is kept, of all these websites; Unix ms, 0 if there is none of them. */
export function firstKeptDay(websites: readonly RetainedWebsite[], { nowMs, zone }: PeriodClock): number {
  if (websites.length === 0) return 0
  const least = Math.min(...websites.map(({ retentionDays }) => retentionDays))
  return wholeDayFrom(nowMs - least * DAY_MS, zone)
}

/** Start of the first day that lies whole after this moment. */
export function wholeDayFrom(ms: number, zone: TimeZone): number {
  return zone.dayOf(ms) === ms ? ms : zone.dayAfter(ms)
}
