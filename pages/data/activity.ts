/** Activity of an organisation: pages of entries, newest first, filtered as the address says. */

import { infiniteQueryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path, query, FIRST_PAGE } from './ask.ts'

export type ActivityEntry = JsonFrom<'activity'>['entries'][number]

/** As in the address. */
export interface ActivityFilters {
  readonly type?: string
  readonly object?: string
}

export function activityFiltersOf(search: Readonly<Record<string, unknown>>): ActivityFilters {
  return Object.fromEntries(
    (['type', 'object'] as const).flatMap((name) => {
      const value = search[name]
      return typeof value === 'string' && value !== '' ? [[name, value]] : []
    }),
  )
}

/** People watch what their last action did. */
const AGAIN_MS = 5_000

/** Read again by itself, but not once somebody has gone on to older entries. */
export function activityQuery(organization: string, filters: ActivityFilters) {
  return infiniteQueryOptions({
    queryKey: ['activity', organization, filters],
    queryFn: ({ pageParam, signal }) =>
      ask<JsonFrom<'activity'>>(
        path('/api/organizations/:organization/activity', { organization }) +
          query({ ...filters, cursor: pageParam ?? undefined }),
        { signal },
      ),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) => (state.data === undefined || state.data.pages.length === 1 ? AGAIN_MS : false),
  })
}
