/** Links from a figure to the installs behind it. */

import type { ShownInstallFilters } from '../data/installs.ts'
import type { Bounds, FigureFilters } from '../data/period.ts'

/** The same period and website, with further filters. */
export function listOf(
  { since, until }: Bounds,
  { website }: FigureFilters,
  more: ShownInstallFilters,
): ShownInstallFilters {
  return { since, until, ...(website === undefined ? {} : { website }), ...more }
}

/** Installs of the visits of this period, whenever the installs were received. */
export function listOfVisits(
  { since, until }: Bounds,
  { website }: FigureFilters,
  more: ShownInstallFilters,
): ShownInstallFilters {
  return { visitSince: since, visitUntil: until, ...(website === undefined ? {} : { website }), ...more }
}
