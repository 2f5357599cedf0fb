/** Figures as answers show them: counts by name, the largest values, and the rest of the total. */

import { namedCounts, restOf, VISIT_STEPS, type Cell, type Counts } from '../../domain/figures/cells.ts'
import {
  emptyRow,
  INSTALL_COUNTS,
  ROW_KINDS,
  rowKey,
  type FigureRow,
  type InstallCounts,
  type InstallDimension,
} from '../../domain/figures/installs.ts'
import { NO_INSTALLS, restOfInstalls, type InstallFigure } from './read-installs.ts'

/** With installs: more than people read, so that a value that has an install is hardly ever among the others. */
const MAX_VALUES = 2_000
/** With visits alone. */
const MAX_FURTHER = 200
const NOTHING: Counts = [0, 0, 0, 0, 0, 0, 0]

/** The counts of a dimension that has one value only, the empty text. */
export function totalOf(cells: readonly Cell[] | undefined): Counts {
  const [, ...counts] = cells?.[0] ?? (['', ...NOTHING] as const)
  return counts
}

/** A row of figures of installs, as it is answered. */
export interface ListedInstalls extends InstallCounts, FigureRow {}

/** The first values, installs that have none, and all others as one row. They add up to the total. */
export function listedInstalls(figures: readonly InstallFigure[], total: InstallCounts): readonly ListedInstalls[] {
  const values = figures.filter(({ row }) => row === 'value').slice(0, MAX_VALUES)
  const others = figures.filter(({ row }) => row !== 'value')
  const shown = [...values, ...others]
  const rest = restOfInstalls(total, shown)
  const isLeft = INSTALL_COUNTS.some((name) => rest[name] > 0)
  const rows = isLeft ? [...shown, { row: 'other' as const, value: '', counts: rest }] : shown
  return rows.map(({ row, value, counts }) => ({ row, value, ...counts }))
}

interface SourceParts {
  readonly by: InstallDimension
  /** Visits are null if only some installs are counted. */
  readonly total: { readonly installs: InstallCounts; readonly visits: Counts | null }
  readonly installs: readonly InstallFigure[]
  /** By value, an empty one for visits that have none, and the total of all values; null if visits are not counted by this. */
  readonly visits: CountedVisits | null
}

interface CountedVisits {
  readonly cells: readonly Cell[]
  readonly total: Counts
}

type VisitCounts = Readonly<Record<(typeof VISIT_STEPS)[number], number>>

/** Visits and installs of one value, or of those that have none. */
export interface SourceFigure extends ListedInstalls {
  readonly visits: VisitCounts | null
}

/** Visits and installs of each value beside each other, those of the most installs first; then what has no value, in the order of `ROW_KINDS`. */
export function sourceRows({ by, total, installs, visits }: SourceParts) {
  const rows = new Map<string, SourceFigure>()
  for (const row of listedInstalls(installs, total.installs)) {
    rows.set(rowKey(row), { ...row, visits: visits === null ? null : namedCounts(VISIT_STEPS, NOTHING) })
  }
  if (visits !== null) addVisits(rows, by, visits)
  return {
    total: { ...total.installs, visits: total.visits === null ? null : namedCounts(VISIT_STEPS, total.visits) },
    rows: [...rows.values()].sort(byInstallsThenVisits),
  }
}

/** Fills in the visits of rows that are there, and adds rows of the greatest of the others, and of the rest. */
function addVisits(rows: Map<string, SourceFigure>, by: InstallDimension, { cells, total }: CountedVisits): void {
  const listed = listedVisits(by, rows, cells)
  for (const { cell, row } of listed) {
    const [value, ...counts] = cell
    const key = rowKey({ row, value })
    rows.set(key, { ...(rows.get(key) ?? { row, value, ...NO_INSTALLS }), visits: namedCounts(VISIT_STEPS, counts) })
  }
  const rest = restOf(
    total,
    listed.map(({ cell }) => cell),
  )
  if (rest.every((count) => count <= 0)) return
  const other = rows.get(OTHER_KEY) ?? { row: 'other', value: '', ...NO_INSTALLS }
  rows.set(OTHER_KEY, { ...other, visits: namedCounts(VISIT_STEPS, rest) })
}

const OTHER_KEY = rowKey({ row: 'other', value: '' })

/** Of the values of visits those with a row already, and the greatest of the others. */
function listedVisits(by: InstallDimension, rows: ReadonlyMap<string, SourceFigure>, cells: readonly Cell[]) {
  const all = cells.map((cell) => ({ cell, row: cell[0] === '' ? emptyRow(by) : ('value' as const) }))
  const isKnown = ({ cell, row }: (typeof all)[number]): boolean =>
    cell[0] === '' || rows.has(rowKey({ row, value: cell[0] }))
  return [...all.filter(isKnown), ...all.filter((each) => !isKnown(each)).slice(0, MAX_FURTHER)]
}

function byInstallsThenVisits(a: SourceFigure, b: SourceFigure): number {
  return (
    ROW_KINDS.indexOf(a.row) - ROW_KINDS.indexOf(b.row) ||
    b.installs - a.installs ||
    (b.visits?.visits ?? 0) - (a.visits?.visits ?? 0) ||
    (a.value < b.value ? -1 : 1)
  )
}
