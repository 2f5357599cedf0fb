/** Builds the single row that holds all counts of one hour of a website. */

import { recordOf } from '../typed-keys.ts'
import { LIMITS } from '../limits.ts'
import { cellOf, DIMENSIONS, type Cell, type Dimension } from './cells.ts'

/** One value of one dimension, as it was counted. */
interface CountedCell {
  readonly dimension: Dimension
  readonly value: string
  readonly counts: readonly number[]
}

type HourCells = { readonly [D in Dimension]: readonly Cell[] }

export function hourCells(counted: readonly CountedCell[]): HourCells {
  const cells = recordOf(DIMENSIONS, (): Cell[] => [])
  for (const cell of counted) cells[cell.dimension].push(cellOf(cell))
  return cells
}

/** How long a version is kept: never shorter than the one before, which would otherwise show again. */
export function hourRetention(factsDays: number, before: number): number {
  // An hour without facts must outlive the version that it replaces.
  return Math.max(factsDays === 0 ? LIMITS.retentionDays.max : factsDays, before)
}
