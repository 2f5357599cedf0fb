/** What the overview shows: which visits belong to chosen installs, which of them had time to convert, and the first rows by each dimension. */

import { CONVERSION_MS } from './cells.ts'
import {
  INSTALLS_BY,
  isOriginDimension,
  rowKey,
  type FigureRow,
  type InstallDimension,
  type OriginDimension,
} from './installs.ts'

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

/** Why visits are not counted: the filters are about installs, or they are several, and visits are counted by one value each. */
export const VISITS_LEFT_OUT = ['install_filter', 'several_filters'] as const

type VisitsBeside =
  | { readonly kind: 'all' }
  | { readonly kind: 'value'; readonly dimension: OriginDimension; readonly value: string }
  | { readonly kind: 'none'; readonly why: (typeof VISITS_LEFT_OUT)[number] }

/** The visits beside installs that have these values. */
export function visitsBeside(filters: { readonly [D in InstallDimension]?: string }): VisitsBeside {
  const set = INSTALLS_BY.filter((dimension) => filters[dimension] !== undefined)
  const [dimension, ...more] = set
  if (dimension === undefined) return { kind: 'all' }
  if (!set.every(isOriginDimension)) return { kind: 'none', why: 'install_filter' }
  if (more.length > 0 || !isOriginDimension(dimension)) return { kind: 'none', why: 'several_filters' }
  return { kind: 'value', dimension, value: filters[dimension] ?? '' }
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

/** By these a change tells what to do more of, or what ended. */
const CHANGED_BY = ['campaign', 'source', 'landing_page'] as const

interface LargestChange {
  readonly by: (typeof CHANGED_BY)[number]
  readonly value: string
  readonly installs: number
  readonly before: number
}

/** The value with the greatest difference to the period that is compared; of equal ones the first. Null if nothing changed, or nothing is compared. */
export function largestChange(
  rows: Readonly<Record<(typeof CHANGED_BY)[number], readonly ComparedRow[]>>,
): LargestChange | null {
  const values = CHANGED_BY.flatMap((by) =>
    rows[by].flatMap(({ row, value, installs, before }) =>
      row === 'value' && before !== null ? [{ by, value, installs, before }] : [],
    ),
  )
  const difference = ({ installs, before }: LargestChange): number => Math.abs(installs - before)
  return values.reduce<LargestChange | null>(
    (largest, each) => (difference(each) > (largest === null ? 0 : difference(largest)) ? each : largest),
    null,
  )
}
