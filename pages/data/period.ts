/** The period of figures. The address holds its name or its dates, so that a link still makes sense tomorrow; the service says which moments these are. */

import { DAY_MS, hourAfter } from '../../domain/durations.ts'
import {
  COMPARISONS,
  DEFAULT_PERIOD,
  PERIOD_NAMES,
  type Comparison,
  type NotCompared,
  type PeriodName,
} from '../../domain/figures/periods.ts'
import { STEP_SIZES, type StepSize } from '../../domain/time-zones.ts'
import { presentOf } from '../../domain/typed-keys.ts'
import { valueFilters, type ValueFilters } from './value-filters.ts'

export const PERIODS: Readonly<Record<PeriodName, { readonly title: string; readonly before: string }>> = {
  Today: { title: 'Today', before: 'yesterday up to this hour' },
  Yesterday: { title: 'Yesterday', before: 'the day before' },
  Last7Days: { title: '7 days', before: 'the 7 days before' },
  Last28Days: { title: '28 days', before: 'the 28 days before' },
  Last90Days: { title: '90 days', before: 'the 90 days before' },
  MonthToDate: { title: 'Month to date', before: 'the same part of last month' },
  LastMonth: { title: 'Last month', before: 'the month before' },
  YearToDate: { title: 'Year to date', before: 'the same part of last year' },
}

/** Of any page with a period. */
export interface PeriodFilters {
  /** 7 days if neither this nor a date is there. */
  readonly period?: PeriodName
  /** Dates such as "2026-11-28", both inclusive. */
  readonly from?: string
  readonly to?: string
  /** The period before if absent. */
  readonly compare?: Exclude<Comparison, 'before'>
  /** A step of charts; by the length of the period if absent. */
  readonly bucket?: StepSize
}

/** As in the address. */
export interface FigureFilters extends PeriodFilters {
  readonly website?: string
}

/** With filters on what is counted. */
export interface FilteredFigures extends FigureFilters, ValueFilters {}

export function filteredFigures(search: Readonly<Record<string, unknown>>): FilteredFigures {
  return { ...figureFilters(search), ...valueFilters(search) }
}

/** Also whether installs are counted that figures leave out: from CI, containers and tests. */
export interface CountingFilters extends FilteredFigures {
  readonly leftOut?: 'include'
}

const DATE = /^\d{4}-\d\d-\d\d$/

export function figureFilters(search: Readonly<Record<string, unknown>>): FigureFilters {
  const { website } = search
  const one = typeof website === 'string' && website !== '' ? website : undefined
  return { ...periodFilters(search), ...presentOf({ website: one }) }
}

function periodFilters({ period, from, to, compare, bucket }: Readonly<Record<string, unknown>>): PeriodFilters {
  const known = PERIOD_NAMES.find((name) => name === period && name !== DEFAULT_PERIOD)
  const compared = COMPARISONS.find((each) => each === compare)
  const step = STEP_SIZES.find((each) => each === bucket)
  return {
    ...(known === undefined ? datesIn(from, to) : { period: known }),
    ...presentOf({ compare: compared === 'before' ? undefined : compared, bucket: step }),
  }
}

/** A last date without a first one says nothing. */
function datesIn(from: unknown, to: unknown): PeriodFilters {
  const isDate = (value: unknown): value is string => typeof value === 'string' && DATE.test(value)
  if (!isDate(from)) return {}
  return isDate(to) ? { from, to } : { from }
}

/** What stands for the period in a request about figures, and in links to another page of figures. */
export function periodParameters({ period, from, to, compare, bucket }: PeriodFilters): PeriodFilters {
  return presentOf({ period, from, to, compare, bucket })
}

/** The period alone, for what has no chart and is not compared. */
export function dateParameters({ compare: _compare, bucket: _bucket, ...dates }: PeriodFilters): PeriodFilters {
  return periodParameters(dates)
}

export function countingFilters(search: Readonly<Record<string, unknown>>): CountingFilters {
  return { ...filteredFigures(search), ...(search['leftOut'] === 'include' ? { leftOut: 'include' } : {}) }
}

export interface Bounds {
  /** Unix ms, inclusive. */
  readonly since: number
  /** Unix ms, exclusive. */
  readonly until: number
}

/** 24 hours up to the end of the present one; the same throughout an hour, so that answers can be cached. */
export function lastDay(nowMs = Date.now()): Bounds {
  const until = hourAfter(nowMs)
  return { since: until - DAY_MS, until }
}

/** "the 7 days before" */
export function nameOfBefore({ period = DEFAULT_PERIOD, from, compare }: PeriodFilters): string {
  if (compare === 'year_before') return 'the same days a year before'
  return from === undefined ? PERIODS[period].before : 'as many days before'
}

/** What an answer says about its comparison. */
export interface ComparedFigures {
  readonly comparison: { readonly notCompared: NotCompared | null } | null
}

/** "Arrows compare with the 7 days before", or why there are none; empty if nobody asked for a comparison. */
export function comparisonText(filters: PeriodFilters, { comparison }: ComparedFigures): string {
  if (comparison === null) return ''
  const before = nameOfBefore(filters)
  switch (comparison.notCompared) {
    case null:
      return `Arrows compare with ${before}.`
    case 'not_kept':
      return `Nothing is compared with ${before}: not all of that time is kept.`
    case 'nothing_yet':
      return `Nothing is compared with ${before}: nothing had come in by then.`
    case 'not_counted_yet':
      return `Nothing is compared with ${before} yet: some hours are still being counted.`
  }
}

/** Of a list without an end: the values of its last 30 days are suggested. */
const SUGGESTED_DAYS = 30

/** The period of a list, from which values are suggested; as long as figures may be. */
export function suggestionBounds({ since, until }: Partial<Bounds>, nowMs = Date.now()): Bounds {
  const end = until ?? hourAfter(nowMs)
  return { since: since ?? end - SUGGESTED_DAYS * DAY_MS, until: end }
}
