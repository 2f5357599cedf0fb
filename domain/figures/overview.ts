/** What the overview shows: which visits belong to chosen installs, which of them had time to convert, and the first rows by each dimension. */

import { CONVERSION_MS } from './cells.ts'
import type { FigureFilter } from './filters.ts'
import { CHANGED_BY, type ChangedInstalls } from '../people/weekly-summary.ts'
import { isOriginDimension, rowKey, type FigureRow, type InstallDimension, type OriginDimension } from './installs.ts'

/** What the panels of the overview count by, in their order. */
export const OVERVIEW_PANELS = [
  'campaign',
  'source',
  'landing_page',
  'path',
  'place',
  'platform',
  'version',
  'agent',
] as const satisfies readonly InstallDimension[]

/** Why visits are not counted: the filters are about installs, or they need visits read one by one, of which there are too many. */
export const VISITS_LEFT_OUT = ['install_filter', 'too_many'] as const
export type VisitsLeftOut = (typeof VISITS_LEFT_OUT)[number]

/**
 * How visits under filters are counted: `values` by the sums of hours, which hold the visits of each value, `each` one by one. With `isNot` the visits
 * of the values are taken away from all.
 */
export type VisitsBeside =
  | { readonly kind: 'all' }
  | ({ readonly kind: 'values'; readonly isNot: boolean } & VisitValues)
  | { readonly kind: 'each' }
  | { readonly kind: 'none'; readonly why: VisitsLeftOut }

export interface VisitValues {
  readonly dimension: OriginDimension
  /** An empty one: the visit has none. */
  readonly values: readonly string[]
}

/** The visits beside installs that fit these filters. */
export function visitsBeside(filters: readonly FigureFilter[]): VisitsBeside {
  const [first, ...more] = filters
  if (first === undefined) return { kind: 'all' }
  const { dimension, op, values } = first
  if (!filters.every((filter) => isOriginDimension(filter.dimension)) || !isOriginDimension(dimension))
    return { kind: 'none', why: 'install_filter' }
  // A visit has one value of each dimension, but saw several pages: the visits of two pages are no sum.
  const isSum = op !== 'contains' && (dimension !== 'page' || values.length === 1)
  return more.length === 0 && isSum ? { kind: 'values', isNot: op === 'is_not', dimension, values } : { kind: 'each' }
}

/** Whether every visit that began before this moment had its time to lead to an install. */
export function hadTimeToConvert(untilMs: number, nowMs: number): boolean {
  return untilMs + CONVERSION_MS <= nowMs
}

/** Of a dimension, with the figures of the period and of the one that it is compared with. */
export interface ComparedRow extends FigureRow {
  readonly installs: number
  /** Null if visits are not counted by this. */
  readonly visits: number | null
  /** Null if nothing is compared. */
  readonly before: number | null
}

interface SidedRow extends FigureRow {
  readonly installs: number
  readonly visits: { readonly visits: number } | null
}

/** Rows of both periods, those of the present one first and in its order. */
export function comparedRows(now: readonly SidedRow[], before: readonly SidedRow[] | null): readonly ComparedRow[] {
  if (before === null) return now.map((row) => comparedRow(row, null))
  const earlier = new Map(before.map((row) => [rowKey(row), row.installs]))
  const present = new Set(now.map(rowKey))
  const gone = before.filter((row) => !present.has(rowKey(row)))
  return [
    ...now.map((row) => comparedRow(row, earlier.get(rowKey(row)) ?? 0)),
    ...gone.map(({ row, value, installs, visits }) => ({
      row,
      value,
      installs: 0,
      visits: visits === null ? null : 0,
      before: installs,
    })),
  ]
}

function comparedRow({ row, value, installs, visits }: SidedRow, before: number | null): ComparedRow {
  return { row, value, installs, visits: visits?.visits ?? null, before }
}

/** The first values, all others in one row, and the rows that are no value. They add up to what all rows add up to. */
export function leadingRows(rows: readonly ComparedRow[], most: number): readonly ComparedRow[] {
  const values = rows.filter(({ row }) => row === 'value')
  const named = rows.filter(({ row }) => row !== 'value' && row !== 'other')
  const rest = [...values.slice(most), ...rows.filter(({ row }) => row === 'other')]
  const shown = [...values.slice(0, most), ...named]
  if (rest.length === 0) return shown
  return [...shown, rest.reduce(addToOthers, { row: 'other', value: '', installs: 0, visits: null, before: null })]
}

function addToOthers(sum: ComparedRow, { installs, visits, before }: ComparedRow): ComparedRow {
  return {
    row: sum.row,
    value: sum.value,
    installs: sum.installs + installs,
    visits: visits === null ? sum.visits : (sum.visits ?? 0) + visits,
    before: before === null ? sum.before : (sum.before ?? 0) + before,
  }
}

/** From so many installs on, shares and comparisons say something. */
export const MANY_INSTALLS = 20

export function areFew(installs: number): boolean {
  return installs > 0 && installs < MANY_INSTALLS
}

/** On the plan Free, and while install paths are paused, installs are counted and not looked up. */
export function isCountedAlone(counts: { readonly installs: number; readonly counted: number }): boolean {
  return counts.counted > 0 && counts.counted === counts.installs
}

/** The value with the greatest difference to the period that is compared; of equal ones the first. Null if nothing changed, or nothing is compared. */
export function largestChange(rows: ChangedRows): ChangedInstalls | null {
  return largestChanges(rows, 1)[0] ?? null
}

type ChangedRows = Readonly<Record<(typeof CHANGED_BY)[number], readonly ComparedRow[]>>

/** The values with the greatest differences, at most so many; without those that did not change. */
export function largestChanges(rows: ChangedRows, most: number): readonly ChangedInstalls[] {
  const difference = ({ installs, before }: ChangedInstalls): number => Math.abs(installs - before)
  return CHANGED_BY.flatMap((by) =>
    rows[by].flatMap(({ row, value, installs, before }) =>
      row === 'value' && before !== null && before !== installs ? [{ by, value, installs, before }] : [],
    ),
  )
    .sort((a, b) => difference(b) - difference(a))
    .slice(0, most)
}
