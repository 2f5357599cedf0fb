/** Deliveries: how they stand by destination and cause, what providers answer, and a list of them by any of it. */

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import { partialOf } from '../../domain/typed-keys.ts'
import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path, query, FIRST_PAGE } from '../data/ask.ts'
import { dateParameters, filteredFigures, periodParameters, type FilteredFigures } from '../data/period.ts'

export type ShownError = DeliveryFigures['errors'][number]

/** Also one that was removed, of which no more is known than its ID. */
export interface ShownDestination {
  readonly website: string
  readonly id: string
  readonly displayName: string
  readonly provider: string
  readonly mode: string
}

export type DeliveryFigures = JsonFrom<'deliveries'>

/** As they stand in the address. */
export interface ShownDeliveryFilters extends FilteredFigures {
  readonly destination?: string
  readonly status?: string
  readonly reason?: string
  readonly code?: string
  /** Status of an answer; 0: there was none. */
  readonly answered?: number
}

const TEXTS = ['destination', 'status', 'reason', 'code'] as const

export function deliveryFiltersOf(search: Readonly<Record<string, unknown>>): ShownDeliveryFilters {
  const texts = partialOf(TEXTS, (name) => {
    const value = search[name]
    return (typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined
  })
  const { answered } = search
  return {
    ...filteredFigures(search),
    ...texts,
    ...(typeof answered === 'number' ? { answered } : {}),
  }
}

export type ListedDelivery = JsonFrom<'deliveryList'>['deliveries'][number]

const PATH = '/api/organizations/:organization/deliveries'
/** All that the pages know of deliveries is asked for again once some were sent again. */
export const DELIVERIES_KEY = 'deliveries'

/** Where the same counts are read as JSON. */
export function deliveriesPath(organization: string, filters: FilteredFigures): string {
  const { website, filter } = filters
  const { bucket: _, ...period } = periodParameters(filters)
  return path(PATH, { organization }) + query({ ...period, website, filter })
}

export function deliveriesQuery(organization: string, filters: FilteredFigures) {
  const address = deliveriesPath(organization, filters)
  return queryOptions({
    queryKey: [DELIVERIES_KEY, organization, address],
    queryFn: ({ signal }) => ask<DeliveryFigures>(address, { signal }),
    placeholderData: keepPreviousData,
  })
}

export type ShownOutcomes = JsonFrom<'installOutcomes'>['destinations'][number]

/** What became of the installs of the period at each advertising destination. */
export function outcomesQuery(organization: string, filters: FilteredFigures) {
  const { website, filter } = filters
  const address = `${path(PATH, { organization })}/installs${query({ ...dateParameters(filters), website, filter })}`
  return queryOptions({
    queryKey: [DELIVERIES_KEY, organization, address],
    queryFn: ({ signal }) => ask<JsonFrom<'installOutcomes'>>(address, { signal }),
    placeholderData: keepPreviousData,
  })
}

function listParameters(filters: ShownDeliveryFilters) {
  const { website, filter, destination, status, reason, code, answered } = filters
  return { ...dateParameters(filters), website, filter, destination, status, reason, code, answered }
}

/** The listed deliveries as a file. */
export function deliveriesExport(organization: string, filters: ShownDeliveryFilters): string {
  return `${path(PATH, { organization })}/export${query(listParameters(filters))}`
}

export function deliveryListQuery(organization: string, filters: ShownDeliveryFilters) {
  return infiniteQueryOptions({
    queryKey: [DELIVERIES_KEY, organization, 'list', filters],
    queryFn: ({ pageParam, signal }) =>
      ask<JsonFrom<'deliveryList'>>(
        `${path(PATH, { organization })}/list${query({ ...listParameters(filters), cursor: pageParam ?? undefined })}`,
        { signal },
      ),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ next }) => next,
  })
}

/** Which failed deliveries are to be sent again. */
export interface ReplayOfDeliveries {
  readonly website: string
  readonly destination?: string
  readonly reason?: string
  /** ID of one job. */
  readonly job?: string
}

export type ReplayedDeliveries = JsonFrom<'replayDeliveries'>

export function sendDeliveriesAgain(organization: string, wanted: ReplayOfDeliveries): Promise<ReplayedDeliveries> {
  return ask(`${path(PATH, { organization })}/replay`, { method: 'POST', body: wanted })
}
