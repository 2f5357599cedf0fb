/** Reads figures of a period: from rollups, except the current hour and the one before, which come from the facts. */

import { DAY_MS, HOUR_MS, hourOf } from '../../domain/durations.ts'
import {
  cellOf,
  sumCells,
  VISIT_DIMENSIONS,
  type Cell,
  type Counts,
  type Dimension,
} from '../../domain/figures/cells.ts'
import type { RawPeriod } from '../../ports/facts/pages/ranges.ts'
import type { ScopedQueries } from '../reads/scope.ts'
import type { FiguresPeriod } from './period.ts'

/** What figures are read from, and when. */
export interface FigureSource {
  readonly reads: ScopedQueries & { readonly websites: readonly { readonly id: string }[] }
  readonly nowMs: number
  /** Key IDs of all master secrets in use: recent visits have no others. */
  readonly keyIds: readonly number[]
}

/** Rows of one statement: each has at most 500 values, so that it stays within 250 ms. */
const ROWS_AT_ONCE = 3_000
/** Whole days, so that steps of a day are never cut. */
const DAY_HOURS = 24

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

/** Totals by hour or UTC day, in order; empty steps are left out. */
export async function readSteps(
  source: FigureSource,
  period: FiguresPeriod,
  { dimension, stepMs }: { readonly dimension: 'visits' | 'page_views' | 'events'; readonly stepMs: number },
): Promise<readonly { readonly at: number; readonly counts: Counts }[]> {
  const steps: Cell[] = []
  const add = (atMs: number, counts: readonly number[]): void =>
    void steps.push(cellOf({ value: String(Math.floor(atMs / stepMs) * stepMs), counts }))
  for (const slice of slicesOf(source, period)) {
    const rows = await source.reads.run('rolledSteps', { ...slice, column: dimension })
    for (const { at_ms: at, counts } of rows) add(at, counts)
  }
  const range = rawRange(source, period)
  const present = async (bounds: NonNullable<typeof range>) =>
    dimension === 'visits'
      ? source.reads.run('visitSteps', bounds)
      : source.reads.run('trackedSteps', { ...bounds, column: dimension })
  if (range !== null) for (const { at_ms: at, counts } of await present(range)) add(at, counts)
  return sumCells(steps)
    .map(([at, ...counts]) => ({ at: Number(at), counts }))
    .sort((a, b) => a.at - b.at)
}

interface CountedRow {
  readonly dimension: Dimension
  readonly value: string
  readonly counts: readonly number[]
}

function rawFrom({ nowMs }: FigureSource, { sinceMs }: FiguresPeriod): number {
  return Math.max(sinceMs, hourOf(nowMs) - HOUR_MS)
}

/** The part of the period that is not rolled up; null if there is none. */
function rawRange(source: FigureSource, period: FiguresPeriod): Omit<RawPeriod, 'websites'> | null {
  const since = rawFrom(source, period)
  return since < period.untilMs ? { since_ms: since, until_ms: period.untilMs, key_ids: source.keyIds } : null
}

async function readRaw(
  source: FigureSource,
  period: FiguresPeriod,
  dimensions: readonly Dimension[],
): Promise<readonly CountedRow[]> {
  const range = rawRange(source, period)
  if (range === null) return []
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
  const until = Math.min(period.untilMs, rawFrom(source, period))
  const websites = Math.max(1, source.reads.websites.length)
  const days = Math.max(1, Math.floor(ROWS_AT_ONCE / DAY_HOURS / websites))
  const slices = []
  for (let since = period.sinceMs; since < until; since += days * DAY_MS) {
    slices.push({ since_ms: since, until_ms: Math.min(until, since + days * DAY_MS) })
  }
  return slices
}
