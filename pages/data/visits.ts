/** Visits one by one, by any filter that a figure leads here with. */

import { infiniteQueryOptions } from '@tanstack/react-query'

import { ORIGIN_DIMENSIONS } from '../../domain/figures/installs.ts'
import { partialOf } from '../../domain/typed-keys.ts'
import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path, query, FIRST_PAGE } from './ask.ts'
import type { OriginFilters } from './installs.ts'
import { momentsOf } from './lines.ts'

/** As in the address; names and values are those of the API. An empty text means "does not say". */
export interface ShownVisitFilters extends OriginFilters {
  readonly website?: string
  readonly step?: string
  readonly agent?: string
  /** Unix ms, inclusive. */
  readonly since?: number
  /** Unix ms, exclusive. */
  readonly until?: number
}

const NAMES = ['website', 'step', 'agent'] as const

export function visitFiltersOf(search: Readonly<Record<string, unknown>>): ShownVisitFilters {
  const texts = partialOf([...NAMES, ...ORIGIN_DIMENSIONS], (name) => {
    const value = search[name]
    if (typeof value !== 'string' && typeof value !== 'number') return undefined
    return value === '' && NAMES.some((each) => each === name) ? undefined : String(value)
  })
  return { ...texts, ...momentsOf(search) }
}

export type ListedVisit = JsonFrom<'visits'>['visits'][number]

function visitsPath(organization: string): string {
  return path('/api/organizations/:organization/visits', { organization })
}

export function visitsQuery(organization: string, filters: ShownVisitFilters) {
  return infiniteQueryOptions({
    queryKey: ['visits', organization, filters],
    queryFn: ({ pageParam, signal }) =>
      ask<JsonFrom<'visits'>>(visitsPath(organization) + query({ ...filters, cursor: pageParam ?? undefined }), {
        signal,
      }),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ next }) => next,
  })
}

/** The same visits, only counted: a page is what a second was enough for. */
export function visitCountsQuery(organization: string, filters: ShownVisitFilters) {
  return infiniteQueryOptions({
    queryKey: ['visit-counts', organization, filters],
    queryFn: ({ pageParam, signal }) =>
      ask<JsonFrom<'visitCounts'>>(
        `${visitsPath(organization)}/counts${query({ ...filters, cursor: pageParam ?? undefined })}`,
        {
          signal,
        },
      ),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ next }) => next,
    // Counting goes back in time, so it is not repeated because a tab is looked at again.
    staleTime: Infinity,
  })
}

/** The same visits as a file. */
export function visitsExport(organization: string, filters: ShownVisitFilters): string {
  return `${visitsPath(organization)}/export${query({ ...filters })}`
}
