/** The period of figures. The address holds days back from now, so that a link still makes sense tomorrow. */

import { DAY_MS, hourAfter } from '../../domain/durations.ts'
import { valueFilters, type ValueFilters } from './value-filters.ts'

export const PERIODS = [
  { days: 1, title: '24 hours' },
  { days: 7, title: '7 days' },
  { days: 30, title: '30 days' },
  { days: 90, title: '90 days' },
] as const

/** As in the address. */
export interface FigureFilters {
  /** 7 if absent. */
  readonly days?: number
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

const DEFAULT_DAYS = 7

/** Of the visits that Live counts. */
export const LIVE_PERIOD: FigureFilters = { days: 1 }

export function figureFilters({ days, website }: Readonly<Record<string, unknown>>): FigureFilters {
  const known = PERIODS.find((period) => period.days === days)
  return {
    ...(known === undefined || known.days === DEFAULT_DAYS ? {} : { days: known.days }),
    ...(typeof website === 'string' && website !== '' ? { website } : {}),
  }
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

export function daysOf({ days = DEFAULT_DAYS }: FigureFilters): number {
  return days
}

/** Whole hours up to the end of the current one; the same throughout an hour, so that answers can be cached. */
export function boundsOf(filters: FigureFilters, nowMs = Date.now()): Bounds {
  const until = hourAfter(nowMs)
  return { since: until - daysOf(filters) * DAY_MS, until }
}

/** "the 7 days before" */
export function nameOfBefore(filters: FigureFilters): string {
  const days = daysOf(filters)
  return days === 1 ? 'the day before' : `the ${days} days before`
}

/** Of a list without an end: the values of its last 30 days are suggested. */
const SUGGESTED_DAYS = 30

/** The period of a list, from which values are suggested; as long as figures may be. */
export function suggestionBounds({ since, until }: Partial<Bounds>, nowMs = Date.now()): Bounds {
  const end = until ?? hourAfter(nowMs)
  return { since: since ?? end - SUGGESTED_DAYS * DAY_MS, until: end }
}
