/**
 * Reads figures of a period: from rollups, except the current hour and the one before, which come from the facts. So do hours of UTC that the period, or a
 * step of it, has only a part of: some time zones begin theirs at half past or at a quarter.
 */

import { DAY_MS, HOUR_MS, hourOf } from '../../domain/durations.ts'
import {
  cellOf,
  sumCells,
  VISIT_DIMENSIONS,
  type Cell,
  type Counts,
  type Dimension,
} from '../../domain/figures/cells.ts'
import { dividedHours, hoursTogether } from '../../domain/figures/divided-hours.ts'
import type { FigureFilter } from '../../domain/figures/filters.ts'
import type { LeftOutChoice } from '../../domain/figures/installs.ts'
import type { VisitValues } from '../../domain/figures/overview.ts'
import { stepAt, type TimeStep } from '../../domain/time-zones.ts'
import type { RawPeriod } from '../../ports/facts/pages/ranges.ts'
import type { ScopedQueries } from '../reads/scope.ts'
import type { FiguresPeriod } from '../../domain/figures/periods.ts'

/** What figures are read from, and when. */
export interface FigureSource {
  readonly reads: ScopedQueries & { readonly websites: readonly { readonly id: string }[] }
  readonly nowMs: number
  /** Key IDs of all master secrets in use: recent visits have no others. */
  readonly keyIds: readonly number[]
  /** Which installs are counted; all if absent. What reads visits says whether it obeys them. */
  readonly filters?: readonly FigureFilter[]
  /** Without it installs from CI, containers and tests are left out. Of visits nothing changes. */
  readonly leftOut?: LeftOutChoice
}

/** Rows of one statement: each has at most 500 values, so that it stays within 250 ms. */
const ROWS_AT_ONCE = 3_000
/** Whole days, so that steps of a day are never cut. */
const DAY_HOURS = 24
export const NO_COUNTS: Counts = [0, 0, 0, 0, 0, 0, 0]

type FiguresOf = ReadonlyMap<Dimension, readonly Cell[]>

/** The cells of each dimension, largest first. */
export async function readFigures(
  source: FigureSource,
  period: FiguresPeriod,
  dimensions: readonly Dimension[],
): Promise<FiguresOf> {
  const raw = await readRaw(source, period, dimensions)
  const found = new Map<Dimension, readonly Cell[]>()
  for (const dimension of dimensions) {
    const cells = raw.filter((row) => row.dimension === dimension).map(cellOf)
    for (const slice of slicesOf(source, period)) {
      const rows = await source.reads.run('rolledCells', { ...slice, column: dimension })
      cells.push(...rows.map(cellOf))
    }
    found.set(dimension, sumCells(cells))
  }
  return found
}

/** Of visits, page views or install events: totals of each of these steps, which begin at quarters of an hour. */
export function readSteps(
  source: FigureSource,
  dimension: 'visits' | 'page_views' | 'events',
  steps: readonly TimeStep[],
): Promise<readonly Counts[]> {
  return sumSteps(source, steps, {
    rolled: { column: dimension },
    readRaw: (range) =>
      dimension === 'visits'
        ? source.reads.run('visitSteps', range)
        : source.reads.run('trackedSteps', { ...range, column: dimension }),
  })
}

/** Visits of these values together in each of these steps, whatever the filters. Of several pages they are no number of visits. */
export function readValueSteps(
  source: FigureSource,
  { dimension: column, values }: VisitValues,
  steps: readonly TimeStep[],
): Promise<readonly Counts[]> {
  return sumSteps(source, steps, {
    rolled: { column, values },
    readRaw: (range) => source.reads.run('valueSteps', { ...range, column, values }),
  })
}

interface CountedStep {
  readonly at_ms: number
  readonly counts: readonly number[]
}

interface StepReads {
  readonly rolled: { readonly column: Dimension; readonly values?: readonly string[] }
  readonly readRaw: (range: RawRange) => Promise<readonly CountedStep[]>
}

async function sumSteps(source: FigureSource, steps: readonly TimeStep[], { rolled, readRaw: read }: StepReads) {
  const first = steps[0]
  const last = steps.at(-1)
  if (first === undefined || last === undefined) return []
  const period = { sinceMs: first.at, untilMs: last.until }
  const rows: CountedStep[] = []
  // Hours in which a step begins are read from the facts: their figures are not divided.
  const divided = dividedHours(steps.flatMap(({ at, until }) => [at, until]))
  for (const slice of slicesOf(source, period)) {
    const hours = await source.reads.run('rolledSteps', { ...slice, ...rolled })
    rows.push(...hours.filter(({ at_ms: atMs }) => !divided.has(atMs)))
  }
  for (const range of await dividedRanges(source, period, divided)) {
    const quarters = await read(range)
    rows.push(...quarters.filter(({ at_ms: atMs }) => divided.has(hourOf(atMs))))
  }
  for (const range of presentRange(source, period)) rows.push(...(await read(range)))
  return countsBySteps(rows, steps)
}

/** The counts of each step together; rows outside of all steps are left out. */
export function countsBySteps(rows: readonly CountedStep[], steps: readonly TimeStep[]): readonly Counts[] {
  const cells = rows.map(({ at_ms: atMs, counts }) => cellOf({ value: String(stepAt(steps, atMs)), counts }))
  const sums = new Map(sumCells(cells).map(([step, ...counts]) => [Number(step), counts]))
  return steps.map((_, place) => sums.get(place) ?? NO_COUNTS)
}

interface CountedRow {
  readonly dimension: Dimension
  readonly value: string
  readonly counts: readonly number[]
}

/** From then on everything is read from the facts; a whole hour. */
export function countedUntil(nowMs: number): number {
  return hourOf(nowMs) - HOUR_MS
}

function rawFrom({ nowMs }: FigureSource, { sinceMs }: FiguresPeriod): number {
  return Math.max(hourOf(sinceMs), countedUntil(nowMs))
}

type RawRange = Omit<RawPeriod, 'websites'>

/** The part of the period that is not rolled up, if there is one. */
function presentRange(source: FigureSource, period: FiguresPeriod): readonly RawRange[] {
  const since = Math.max(rawFrom(source, period), period.sinceMs)
  return since < period.untilMs ? [{ since_ms: since, until_ms: period.untilMs, key_ids: source.keyIds }] : []
}

/** What of these hours is in the period. Only recent visits have the keys that are in use. */
function rangeWithin(period: FiguresPeriod, { sinceMs, untilMs }: FiguresPeriod): RawRange {
  return { since_ms: Math.max(sinceMs, period.sinceMs), until_ms: Math.min(untilMs, period.untilMs) }
}

/** Divided hours before the present, with what lies between those that are read at once. */
async function dividedRanges(
  source: FigureSource,
  period: FiguresPeriod,
  divided: ReadonlySet<number>,
): Promise<readonly RawRange[]> {
  const hours = [...divided].filter((hour) => hour < rawFrom(source, period))
  if (hours.length === 0) return []
  const views = new Map<number, number>()
  for (const slice of slicesOf(source, period))
    for (const { at_ms: atMs, counts } of await source.reads.run('rolledSteps', { ...slice, column: 'page_views' }))
      views.set(atMs, counts[0] ?? 0)
  return hoursTogether(hours, views).map((group) => rangeWithin(period, group))
}

async function readRaw(
  source: FigureSource,
  period: FiguresPeriod,
  dimensions: readonly Dimension[],
): Promise<readonly CountedRow[]> {
  const found: CountedRow[] = []
  const divided = [...dividedHours([period.sinceMs, period.untilMs])].filter((hour) => hour < rawFrom(source, period))
  const ends = divided.map((hour) => rangeWithin(period, { sinceMs: hour, untilMs: hour + HOUR_MS }))
  for (const range of [...ends, ...presentRange(source, period)])
    found.push(...(await readRange(source, range, dimensions)))
  return found
}

async function readRange(
  source: FigureSource,
  range: RawRange,
  dimensions: readonly Dimension[],
): Promise<readonly CountedRow[]> {
  const isOfVisits = (dimension: Dimension): boolean => VISIT_DIMENSIONS.some((each) => each === dimension)
  const ofVisits = dimensions.some(isOfVisits)
  const ofDeliveries = dimensions.includes('delivery')
  const ofTracked = dimensions.some((each) => each !== 'delivery' && !isOfVisits(each))
  return [
    ...(ofVisits ? await source.reads.run('funnelCells', range) : []),
    ...(ofTracked ? await source.reads.run('trackedCells', range) : []),
    ...(ofDeliveries ? await source.reads.run('deliveryCells', range) : []),
  ]
}

/** The rolled-up part of the period, in pieces that fit one statement each. */
function slicesOf(
  source: FigureSource,
  period: FiguresPeriod,
): readonly { readonly since_ms: number; readonly until_ms: number }[] {
  const until = Math.min(hourOf(period.untilMs), rawFrom(source, period))
  const websites = Math.max(1, source.reads.websites.length)
  const days = Math.max(1, Math.floor(ROWS_AT_ONCE / DAY_HOURS / websites))
  const slices = []
  for (let since = hourOf(period.sinceMs + HOUR_MS - 1); since < until; since += days * DAY_MS) {
    slices.push({ since_ms: since, until_ms: Math.min(until, since + days * DAY_MS) })
  }
  return slices
}
