/** Figures of a period: the funnel, where visits came from, and how installs were matched. One question a page. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import { ask, path, query } from './ask.ts'
import { boundsOf, type Bounds, type FigureFilters } from './period.ts'

export interface FunnelCounts {
  readonly visits: number
  readonly activated: number
  readonly copied: number
  readonly started: number
  readonly completed: number
  readonly first_run: number
}

export interface FunnelFigures extends Bounds {
  readonly total: FunnelCounts
  readonly before: { readonly total: FunnelCounts }
  readonly stepMs: number
  readonly steps: readonly (FunnelCounts & { readonly at: number })[]
}

export function funnelQuery(organization: string, filters: FigureFilters) {
  return figuresQuery<FunnelFigures>('funnel', organization, filters)
}

/** The figures before stay on the page while others are asked for: it does not jump. */
function figuresQuery<T>(page: string, organization: string, filters: FigureFilters) {
  const { website } = filters
  const wanted = query({ ...boundsOf(filters), website })
  return queryOptions({
    queryKey: ['figures', page, organization, wanted],
    queryFn: ({ signal }) =>
      ask<T>(path(`/api/organizations/:organization/${page}`, { organization }) + wanted, { signal }),
    placeholderData: keepPreviousData,
  })
}
