/**
 * Visits under filters. Hours are counted in advance by one value each: the visits of values of one dimension are sums of these. All others are read
 * one by one, as far as a page can wait for that.
 */

import { cellOf, restOf, sumCells, type Cell, type Counts, type Dimension } from '../../domain/figures/cells.ts'
import type { VisitsBeside } from '../../domain/figures/overview.ts'
import type { TimeStep } from '../../domain/time-zones.ts'
import { filterParameters } from '../../ports/facts/pages/figure-filters.ts'
import type { CellRow } from '../../ports/facts/pages/raw-figures.ts'
import type { StepRow } from '../../ports/facts/pages/rolled-figures.ts'
import type { VisitFilters } from '../../ports/facts/pages/visits.ts'
import { walkVisits } from '../reads/walk-visits.ts'
import { countsBySteps, NO_COUNTS, readFigures, readSteps, readValueSteps, type FigureSource } from './read-figures.ts'
import type { FiguresPeriod } from '../../domain/figures/periods.ts'

/** Each takes two statements of at most a quarter of a second. */
const MOST_WINDOWS = 12
/** A walk ends by its windows, not by a number of rows. */
const MOST_ROWS = 1_000_000

/** Visits in each of these steps; null if they are left out. */
export async function readVisitSteps(
  source: FigureSource,
  steps: readonly TimeStep[],
  visits: VisitsBeside,
): Promise<readonly Counts[] | null> {
  switch (visits.kind) {
    case 'all':
      return readSteps(source, 'visits', steps)
    case 'values': {
      const own = await readValueSteps(source, visits, steps)
      if (!visits.isNot) return own
      const all = await readSteps(source, 'visits', steps)
      return all.map((counts, place) => restOf(counts, [cellOf({ value: '', counts: own[place] ?? NO_COUNTS })]))
    }
    case 'each':
      return readEachStep(source, steps)
    case 'none':
      return null
  }
}

/** The cells of each dimension, largest first; null if they are left out. */
export async function readVisitCells(
  source: FigureSource,
  period: FiguresPeriod,
  { dimensions, visits }: { readonly dimensions: readonly Dimension[]; readonly visits: VisitsBeside },
): Promise<ReadonlyMap<Dimension, readonly Cell[]> | null> {
  if (visits.kind === 'none') return null
  if (visits.kind === 'all') return readFigures(source, period, dimensions)
  const rows = await readWindows<CellRow>(source, period, (window) => source.reads.run('filteredVisitCells', window))
  if (rows === null) return null
  return new Map(
    dimensions.map((dimension) => [
      dimension,
      sumCells(rows.filter((row) => row.dimension === dimension).map((row) => cellOf(row))),
    ]),
  )
}

async function readEachStep(source: FigureSource, steps: readonly TimeStep[]): Promise<readonly Counts[] | null> {
  const [first] = steps
  const last = steps.at(-1)
  if (first === undefined || last === undefined) return []
  const period = { sinceMs: first.at, untilMs: last.until }
  const rows = await readWindows<StepRow>(source, period, (window) => source.reads.run('filteredVisitSteps', window))
  if (rows === null) return null
  return countsBySteps(rows, steps)
}

type FilteredWindow = VisitFilters & {
  readonly since_ms: number
  readonly until_ms: number
  readonly key_ids: readonly number[]
}

/** Rows of all visits of the period that fit; null if there are too many to look through. */
async function readWindows<Row>(
  { reads, filters = [] }: FigureSource,
  { sinceMs, untilMs }: FiguresPeriod,
  read: (window: FilteredWindow) => Promise<readonly Row[]>,
): Promise<readonly Row[] | null> {
  const from = { beforeMs: untilMs, beforeId: '' }
  let windows = 0
  const { rows, next } = await walkVisits<Row>(
    reads,
    { filters: filterParameters(filters), sinceMs, from, limit: MOST_ROWS },
    {
      read: ({ limit: _, before_ms: _before, before_id: _id, ...window }) => {
        windows += 1
        return read(window)
      },
      // Every window is read as a whole.
      positionOf: () => from,
      // Its time is the number of windows, so that the same visits are always shown, or never.
      clock: { elapsedMs: () => windows, patienceMs: MOST_WINDOWS },
    },
  )
  return next === null ? rows : null
}
