/** The order of the rows of Sources: by any column, in the address. Rows that are no value stay at the foot. */

import { ROW_KINDS, type FigureRow } from '../../domain/figures/installs.ts'

/** What a row is sorted by. */
export const SOURCE_COLUMNS = ['name', 'visits', 'copied', 'conversion', 'installs', 'trend', 'share'] as const
export type SortColumn = (typeof SOURCE_COLUMNS)[number]

export interface SourceOrder {
  /** `installs` if absent. */
  readonly sort?: SortColumn
  /** Names from A, numbers from the greatest, unless it is `up` for numbers, or `down` for names. */
  readonly order?: 'up' | 'down'
}

export function sourceOrder({ sort, order }: Readonly<Record<string, unknown>>): SourceOrder {
  const known = SOURCE_COLUMNS.find((column) => column === sort)
  const asked = order === 'up' || order === 'down' ? order : undefined
  return {
    ...(known === undefined || known === 'installs' ? {} : { sort: known }),
    ...(asked === undefined || asked === firstDirection(known ?? 'installs') ? {} : { order: asked }),
  }
}

/** What a click on a column's heading leads to: the other direction of the column that is sorted by. */
export function nextOrder(shown: SourceOrder, column: SortColumn): SourceOrder {
  const { sort = 'installs' } = shown
  const now = directionOf(shown)
  const next = sort === column ? (now === 'up' ? 'down' : 'up') : firstDirection(column)
  return sourceOrder({ sort: column, order: next })
}

export function directionOf({ sort = 'installs', order }: SourceOrder): 'up' | 'down' {
  return order ?? firstDirection(sort)
}

function firstDirection(column: SortColumn): 'up' | 'down' {
  return column === 'name' ? 'up' : 'down'
}

interface OrderedRow extends FigureRow {
  readonly installs: number
  readonly trend: readonly number[]
  readonly visits: { readonly visits: number; readonly copied: number; readonly converted: number } | null
}

/** Null: there is nothing to compare; such rows come last in either direction. Names are no numbers. */
const NUMBERS: Readonly<Record<Exclude<SortColumn, 'name'>, (row: OrderedRow) => number | null>> = {
  visits: ({ visits }) => visits?.visits ?? null,
  copied: ({ visits }) => visits?.copied ?? null,
  conversion: ({ visits }) => (visits === null || visits.visits === 0 ? null : visits.converted / visits.visits),
  installs: ({ installs }) => installs,
  trend: ({ trend }) => growthOf(trend),
  share: ({ installs }) => installs,
}

/** Installs of the later half less those of the first. */
function growthOf(trend: readonly number[]): number {
  const half = Math.floor(trend.length / 2)
  const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)
  return sum(trend.slice(trend.length - half)) - sum(trend.slice(0, half))
}

export function orderedRows<Row extends OrderedRow>(rows: readonly Row[], shown: SourceOrder): readonly Row[] {
  const { sort = 'installs' } = shown
  const sign = directionOf(shown) === 'up' ? 1 : -1
  const byColumn = (a: Row, b: Row): number => {
    if (sort === 'name') return sign * a.value.localeCompare(b.value)
    const one = NUMBERS[sort](a)
    const other = NUMBERS[sort](b)
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    return sign * (one - other)
  }
  const values = rows.filter(({ row }) => row === 'value').toSorted(byColumn)
  const others = rows
    .filter(({ row }) => row !== 'value')
    .toSorted((a, b) => ROW_KINDS.indexOf(a.row) - ROW_KINDS.indexOf(b.row))
  return [...values, ...others]
}
