/** The visits beside installs that some filters choose, over time. */

import type { Counts } from '../../domain/figures/cells.ts'
import type { visitsBeside } from '../../domain/figures/overview.ts'
import type { TimeStep } from '../../domain/time-zones.ts'
import { readSteps, readValueSteps, type FigureSource } from './read-figures.ts'

/** Of each of these steps, which begin at quarters of an hour; null if the filters leave visits out. */
export async function readVisitSteps(
  source: FigureSource,
  steps: readonly TimeStep[],
  visits: ReturnType<typeof visitsBeside>,
): Promise<readonly Counts[] | null> {
  switch (visits.kind) {
    case 'all':
      return readSteps(source, 'visits', steps)
    case 'value':
      return readValueSteps(source, visits, steps)
    case 'none':
      return null
  }
}
