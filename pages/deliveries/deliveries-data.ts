/** Deliveries: how they stand by destination and cause, what providers answer, and a list of them by any of it. */

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'

import type { DeliveryError, DeliveryGroup } from '../../domain/delivery/counts.ts'
import { ask, path, query } from '../data/ask.ts'
import { boundsOf, figureFilters, type Bounds, type FigureFilters } from '../data/period.ts'

export interface ShownError extends DeliveryError {
  /** Of the provider, in answer to the latest of these attempts. */
  readonly words: string
}

export interface ShownDestination {
  readonly website: string
  readonly id: string
  readonly displayName: string
  readonly provider: string
  readonly mode: string
}

export interface DeliveryFigures extends Bounds {
  readonly destinations: readonly ShownDestination[]
  readonly groups: readonly DeliveryGroup[]
  readonly before: { readonly groups: readonly DeliveryGroup[] }
  readonly errors: readonly ShownError[]
}

/** As they stand in the address. */
export interface ShownDeliveryFilters extends FigureFilters {
  readonly destination?: string
  readonly status?: string
  readonly reason?: string
  readonly code?: string
  /** Status of an answer; 0: there was none. */
  readonly answered?: number
}

const TEXTS = ['destination', 'status', 'reason', 'code'] as const

export function deliveryFiltersOf(search: Readonly<Record<string, unknown>>): ShownDeliveryFilters {
  const texts = TEXTS.flatMap((name) => {
    const value = search[name]
    return (typeof value === 'string' || typeof value === 'number') && value !== '' ? [[name, String(value)]] : []
  })
  const { answered } = search
  return {
    ...figureFilters(search),
    ...(Object.fromEntries(texts) as ShownDeliveryFilters),
    ...(typeof answered === 'number' ? { answered } : {}),
  }
}

export interface ListedDelivery {
  readonly delivery: {
    readonly website: string
    readonly event_id: string
    readonly destination: string
    readonly job_id: string
    readonly provider: string
    readonly status: string
    readonly reason: string
    readonly detail: string
    readonly attempts: number
    readonly changed_at_ms: number
    readonly next_attempt_at_ms: number | null
    readonly deadline_at_ms: number | null
  }
  /** What its last attempt was answered; null if there was none. */
  readonly last: { readonly status: number; readonly code: string; readonly words: string } | null
}

interface DeliveryListPage {
  readonly deliveries: readonly ListedDelivery[]
  readonly next: string | null
}

const PATH = '/api/organizations/:organization/deliveries'
/** All that the pages know of deliveries is asked for again once some were sent again. */
export const DELIVERIES_KEY = 'deliveries'

/** Where the same counts are read as JSON. */
export function deliveriesPath(organization: string, filters: FigureFilters): string {
  return path(PATH, { organization }) + query({ ...boundsOf(filters), website: filters.website })
}

export function deliveriesQuery(organization: string, filters: FigureFilters) {
  const address = deliveriesPath(organization, filters)
  return queryOptions({
    queryKey: [DELIVERIES_KEY, organization, address],
    queryFn: ({ signal }) => ask<DeliveryFigures>(address, { signal }),
    placeholderData: keepPreviousData,
  })
}

/** The listed deliveries as a file. */
export function deliveriesExport(organization: string, filters: ShownDeliveryFilters): string {
  const { days: _, ...others } = filters
  return `${path(PATH, { organization })}/export${query({ ...boundsOf(filters), ...others })}`
}

export function deliveryListQuery(organization: string, filters: ShownDeliveryFilters) {
  const { days: _, ...others } = filters
  return infiniteQueryOptions({
    queryKey: [DELIVERIES_KEY, organization, 'list', filters],
    queryFn: ({ pageParam, signal }) =>
      ask<DeliveryListPage>(
        `${path(PATH, { organization })}/list${query({ ...boundsOf(filters), ...others, cursor: pageParam ?? undefined })}`,
        { signal },
      ),
    initialPageParam: null as string | null,
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

export interface ReplayedDeliveries {
  readonly replayed: number
  readonly refused: number
  readonly mayHaveMore: boolean
}

export function sendDeliveriesAgain(organization: string, wanted: ReplayOfDeliveries): Promise<ReplayedDeliveries> {
  return ask(`${path(PATH, { organization })}/replay`, { method: 'POST', body: wanted })
}
