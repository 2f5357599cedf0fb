/** Visits one by one, by any filter that a figure leads here with. */

import { infiniteQueryOptions } from '@tanstack/react-query'

import { partialOf } from '../../domain/typed-keys.ts'
import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path, query, FIRST_PAGE } from './ask.ts'
import { momentsOf } from './lines.ts'
import { visitValueFilters, type ValueFilters } from './value-filters.ts'

/** As in the address; names and values are those of the API. */
export interface ShownVisitFilters extends ValueFilters {
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
  const texts = partialOf(NAMES, (name) => {
    const value = search[name]
    return (typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined
  })
  return { ...texts, ...visitValueFilters(search), ...momentsOf(search) }
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
