/** Reads figures of installs, in pieces that fit one statement each. */

import { INSTALL_TIME_BUCKETS_S, namedCounts } from '../../domain/figures/cells.ts'
import {
  emptyRow,
  INSTALL_COUNTS,
  ROW_KINDS,
  rowKey,
  type FigureRow,
  type InstallCounts,
  type LeftOutChoice,
  type RowKind,
} from '../../domain/figures/installs.ts'
import type { Trend, TrendParts } from '../../domain/figures/trends.ts'
import { stepAt, type TimeStep } from '../../domain/time-zones.ts'
import { presentOf, recordOf } from '../../domain/typed-keys.ts'
import type { FiguresPeriod } from '../../domain/figures/periods.ts'
import type { InstallColumn } from '../../ports/facts/pages/counted-installs.ts'
import { filterParameters, type FilterParameters } from '../../ports/facts/pages/figure-filters.ts'
import type { FigureSource } from './read-figures.ts'

/** Of one statement: so many take the engine some 100 ms. */
const EVENTS_AT_ONCE = 150_000

/** The counts of one value, or of installs that have none. */
export interface InstallFigure extends FigureRow {
  readonly counts: InstallCounts
}

/** A piece of a period, with the filters on its installs. */
export interface InstallSlice extends FilterParameters {
  readonly since_ms: number
  readonly until_ms: number
  readonly left_out?: LeftOutChoice
}

/** The pieces of a period. They depend on what it holds, so read them once for all questions about it. */
export async function installSlices(
  { reads, filters = [], leftOut }: FigureSource,
  period: FiguresPeriod,
): Promise<readonly InstallSlice[]> {
  const hours = await reads.run('countedByHour', { since_ms: period.sinceMs, until_ms: period.untilMs })
  const asked = { ...filterParameters(filters), ...presentOf({ left_out: leftOut }) }
  const slices: InstallSlice[] = []
  let since = period.sinceMs
  let events = 0
  for (const hour of hours) {
    if (events > 0 && events + hour.events > EVENTS_AT_ONCE) {
      slices.push({ ...asked, since_ms: since, until_ms: hour.at_ms })
      since = hour.at_ms
      events = 0
    }
    events += hour.events
  }
  return events === 0 ? slices : [...slices, { ...asked, since_ms: since, until_ms: period.untilMs }]
}

/** One for each of these steps, which begin at quarters of an hour. */
export async function readInstallSteps(
  { reads }: FigureSource,
  slices: readonly InstallSlice[],
  steps: readonly TimeStep[],
): Promise<readonly InstallCounts[]> {
  const sums = steps.map(() => NO_INSTALLS)
  for (const slice of slices) {
    for (const { at_ms: ms, counts } of await reads.run('installsByQuarter', slice)) {
      const place = stepAt(steps, ms)
      if (place !== -1) sums[place] = addCounts(sums[place], namedCounts(INSTALL_COUNTS, counts))
    }
  }
  return sums
}

/** By value, the greatest first; installs that have none are rows of their own. */
async function readInstallsBy(
  { reads }: FigureSource,
  slices: readonly InstallSlice[],
  column: InstallColumn,
): Promise<readonly InstallFigure[]> {
  const found = new Map<string, InstallFigure>()
  for (const slice of slices) {
    for (const { row: name, value, counts } of await reads.run('installsByValue', { ...slice, column })) {
      const row = rowKindOf(name, column)
      const key = rowKey({ row, value })
      found.set(key, { row, value, counts: addCounts(found.get(key)?.counts, namedCounts(INSTALL_COUNTS, counts)) })
    }
  }
  return [...found.values()].sort(byInstalls)
}

/** The total of a period, and its rows by several dimensions. */
interface InstallFigures {
  readonly total: InstallCounts
  readonly by: (column: InstallColumn) => readonly InstallFigure[]
}

export async function readInstallFigures(
  source: FigureSource,
  period: FiguresPeriod,
  columns: readonly InstallColumn[],
): Promise<InstallFigures> {
  return installFiguresOf(source, await installSlices(source, period), columns)
}

export async function installFiguresOf(
  source: FigureSource,
  slices: readonly InstallSlice[],
  columns: readonly InstallColumn[],
): Promise<InstallFigures> {
  const [total = NO_INSTALLS] = await readInstallSteps(source, slices, [{ at: 0, until: Infinity }])
  const found = new Map<InstallColumn, readonly InstallFigure[]>()
  for (const column of columns) found.set(column, await readInstallsBy(source, slices, column))
  // An install that came in between is in the rows alone.
  const sums = [...found.values()].map((rows) => rows.reduce((sum, { counts }) => addCounts(sum, counts), NO_INSTALLS))
  const whole = recordOf(INSTALL_COUNTS, (name) => Math.max(total[name], ...sums.map((sum) => sum[name])))
  return { total: whole, by: (column) => found.get(column) ?? [] }
}

/** Installs of each row in each part of a time; rows without any are left out. */
export async function readInstallTrends(
  { reads }: FigureSource,
  slices: readonly InstallSlice[],
  { column, parts }: { readonly column: InstallColumn; readonly parts: TrendParts },
): Promise<ReadonlyMap<string, Trend>> {
  const trends = new Map<string, number[]>()
  const asked = { column, trend_since_ms: parts.sinceMs, trend_part_ms: parts.lengthMs }
  for (const slice of slices) {
    for (const { row: name, value, parts: own, installs } of await reads.run('installsByPart', {
      ...slice,
      ...asked,
    })) {
      const key = rowKey({ row: rowKindOf(name, column), value })
      const trend = trends.get(key) ?? Array.from({ length: parts.count }, () => 0)
      trends.set(key, trend)
      for (const [place, part] of own.entries()) trend[part] = (trend[part] ?? 0) + (installs[place] ?? 0)
    }
  }
  return trends
}

/** Installs that have a visit, by the time in between: one number for each of `INSTALL_TIME_BUCKETS_S`. */
export async function readInstallAges(
  { reads }: FigureSource,
  slices: readonly InstallSlice[],
): Promise<readonly number[]> {
  const buckets = INSTALL_TIME_BUCKETS_S.map(() => 0)
  for (const slice of slices) {
    for (const { bucket, installs } of await reads.run('installsByAge', slice)) {
      buckets[bucket] = (buckets[bucket] ?? 0) + installs
    }
  }
  return buckets
}

/** Installs from CI, containers and tests, whether the others are with them or not. */
export async function readLeftOut({ reads }: FigureSource, slices: readonly InstallSlice[]): Promise<number> {
  let sum = 0
  for (const slice of slices) for (const { installs } of await reads.run('installsLeftOut', slice)) sum += installs
  return sum
}

/** Installs that agents ran, by agent and page of the visit. */
export async function readAgentPages({ reads }: FigureSource, slices: readonly InstallSlice[]) {
  const sums = new Map<string, { readonly agent: string; readonly page: string; readonly installs: number }>()
  for (const slice of slices) {
    for (const { agent, page, installs } of await reads.run('installsByAgentPage', slice)) {
      const key = `${agent}\t${page}`
      sums.set(key, { agent, page, installs: installs + (sums.get(key)?.installs ?? 0) })
    }
  }
  return [...sums.values()].sort((a, b) => b.installs - a.installs || (a.page < b.page ? -1 : 1))
}

export const NO_INSTALLS: InstallCounts = recordOf(INSTALL_COUNTS, () => 0)

export function addCounts(one: InstallCounts = NO_INSTALLS, other: InstallCounts): InstallCounts {
  return recordOf(INSTALL_COUNTS, (name) => one[name] + other[name])
}

/** The total less what is listed. */
export function restOfInstalls(total: InstallCounts, listed: readonly InstallFigure[]): InstallCounts {
  return recordOf(INSTALL_COUNTS, (name) => listed.reduce((left, { counts }) => left - counts[name], total[name]))
}

function rowKindOf(name: string, column: InstallColumn): RowKind {
  switch (name) {
    case 'value':
      return 'value'
    case 'unmatched':
      return 'no_visit'
    case 'pending':
      return 'pending'
    case 'counted':
      return 'not_looked_up'
    case 'empty':
      return emptyRow(column)
    default:
      return 'not_known'
  }
}

function byInstalls(a: InstallFigure, b: InstallFigure): number {
  return (
    ROW_KINDS.indexOf(a.row) - ROW_KINDS.indexOf(b.row) ||
    b.counts.installs - a.counts.installs ||
    (a.value < b.value ? -1 : 1)
  )
}
