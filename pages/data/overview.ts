/** The overview of a period under filters, and the websites of an organisation to choose from. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path, query } from './ask.ts'
import { filteredFigures, type FilteredFigures } from './period.ts'

export type Overview = JsonFrom<'overview'>
/** Its numbers, which a link shows, too. */
export type OverviewFigures = JsonFrom<'sharedFigures'>['figures']
export type OverviewPanel = OverviewFigures['panels'][number]

/** As in the address. */
export interface OverviewFilters extends FilteredFigures {
  /** What the chart shows; installs if absent. */
  readonly metric?: string
}

/** Figures as they are shown. */
export interface ShownFigures {
  readonly filters: OverviewFilters
  readonly figures: OverviewFigures
}

export function overviewFilters(search: Readonly<Record<string, unknown>>): OverviewFilters {
  const { metric } = search
  return {
    ...filteredFigures(search),
    ...(typeof metric === 'string' && metric !== 'installs' ? { metric } : {}),
  }
}

/** Where the figures of the page are read as JSON. */
export function overviewPath(organization: string, filters: OverviewFilters): string {
  const { metric: _metric, ...asked } = filters
  return path('/api/organizations/:organization/overview', { organization }) + query({ ...asked })
}

/** People wait in front of the page for their first install. */
const AGAIN_MS = 3_000

/** Previous figures stay on the page while new ones load, so that it does not jump. */
export function overviewQuery(organization: string, filters: OverviewFilters) {
  const address = overviewPath(organization, filters)
  return queryOptions({
    queryKey: ['figures', address],
    queryFn: ({ signal }) => ask<Overview>(address, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => ((state.data?.checklist ?? null) === null ? false : AGAIN_MS),
  })
}

/** Websites to choose from. Nothing is counted for them, as in an overview. */
export function websitesQuery(organization: string) {
  return queryOptions({
    queryKey: ['websites', organization],
    queryFn: ({ signal }) =>
      ask<JsonFrom<'websites'>>(path('/api/organizations/:organization/websites', { organization }), { signal }).then(
        ({ websites }) => websites,
      ),
  })
}
