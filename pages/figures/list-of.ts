/** Links from a figure to what it counts: visits one by one, or install events. */

import type { ShownInstallFilters } from '../data/installs.ts'
import type { Bounds, CountingFilters, FilteredFigures } from '../data/period.ts'
import { joinFilters } from '../data/value-filters.ts'
import type { ShownVisitFilters } from '../data/visits.ts'

/** Installs of the same period and website, under the same filters and as they are counted, with further ones. */
export function listFilters(bounds: Bounds, filters: CountingFilters, more: ShownInstallFilters): ShownInstallFilters {
  const { leftOut } = filters
  return {
    ...periodAndWebsite(bounds, filters),
    ...(leftOut === undefined ? {} : { leftOut }),
    ...more,
    ...joinFilters(filters, more),
  }
}

/** Visits that began in the same period on the same website, with further filters. */
export function visitsOf(bounds: Bounds, filters: FilteredFigures, more: ShownVisitFilters): ShownVisitFilters {
  return { ...periodAndWebsite(bounds, filters), ...more, ...joinFilters(filters, more) }
}

function periodAndWebsite({ since, until }: Bounds, { website }: FilteredFigures) {
  return { since, until, ...(website === undefined ? {} : { website }) }
}
