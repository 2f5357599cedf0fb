/** Figures as answers show them: counts by name, the largest values, and the rest of the total. */

import { recordOf } from '../../domain/typed-keys.ts'
import { restOf, type Cell, type Counts } from '../../domain/figures/cells.ts'

const MAX_VALUES = 200
const NOTHING: Counts = [0, 0, 0, 0, 0, 0]

export function named<Name extends string>(names: readonly Name[], counts: readonly number[]) {
  return recordOf(names, (name) => counts[names.indexOf(name)] ?? 0)
}

/** The counts of a dimension that has one value only, the empty text. */
export function totalOf(cells: readonly Cell[] | undefined): Counts {
  const [, ...counts] = cells?.[0] ?? (['', ...NOTHING] as const)
  return counts
}

/** The first values, and the sum of all others; an empty value means unknown. */
export function listed<Name extends string>(names: readonly Name[], cells: readonly Cell[] | undefined, total: Counts) {
  const shown = (cells ?? []).slice(0, MAX_VALUES)
  return {
    values: shown.map(([value, ...counts]) => ({ value, ...named(names, counts) })),
    other: named(names, restOf(total, shown)),
  }
}
