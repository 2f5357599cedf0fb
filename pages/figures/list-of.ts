/** The installs behind a number of figures. */

import type { ShownInstallFilters } from '../data/installs.ts'
import type { Bounds, FigureFilters } from '../data/period.ts'

/** The same time and website, narrowed. */
export function listOf(
  { since, until }: Bounds,
  { website }: FigureFilters,
  more: ShownInstallFilters,
): ShownInstallFilters {
  return { since, until, ...(website === undefined ? {} : { website }), ...more }
}

/** Installs of the visits of this time, whenever they came in. */
export function listOfVisits(
  { since, until }: Bounds,
  { website }: FigureFilters,
  more: ShownInstallFilters,
): ShownInstallFilters {
  return { visitSince: since, visitUntil: until, ...(website === undefined ? {} : { website }), ...more }
}
