/** Installs: a list of them by any filter, and one with everything that explains it. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import type { VisitSource } from '../../domain/collection/visit-source.ts'
import { ask, path, query } from './ask.ts'
import { momentsOf } from './lines.ts'

/** As in the address; names and values are those of the API. An empty text means "does not say". */
export interface ShownInstallFilters {
  readonly website?: string
  readonly eventType?: string
  readonly resolution?: string
  readonly policy?: string
  readonly reason?: string
  readonly visit?: string
  readonly path?: string
  readonly platform?: string
  readonly agent?: string
  /** `agent`: any coding agent. */
  readonly ranBy?: string
  readonly source?: string
  readonly medium?: string
  readonly campaign?: string
  readonly referrer?: string
  readonly page?: string
  /** Unix ms: when the visit of the install began. */
  readonly visitSince?: number
  readonly visitUntil?: number
  /** Whole seconds from that visit to the install: at least, and fewer than. */
  readonly leastVisitAge?: number
  readonly visitAgeBelow?: number
  /** Unix ms, inclusive. */
  readonly since?: number
  /** Unix ms, exclusive. */
  readonly until?: number
}

const NAMES = ['website', 'eventType', 'resolution', 'policy', 'visit', 'ranBy'] as const
const MAYBE_EMPTY = ['reason', 'path', 'platform', 'agent', 'source', 'medium', 'campaign', 'referrer', 'page'] as const
const NUMBERS = ['visitSince', 'visitUntil', 'leastVisitAge', 'visitAgeBelow'] as const

export function installFiltersOf(search: Readonly<Record<string, unknown>>): ShownInstallFilters {
  const textOf = (name: string, isEmptyToo: boolean) => {
    const value = search[name]
    if (typeof value !== 'string' && typeof value !== 'number') return []
    return value === '' && !isEmptyToo ? [] : [[name, String(value)]]
  }
  const texts = [...NAMES.flatMap((name) => textOf(name, false)), ...MAYBE_EMPTY.flatMap((name) => textOf(name, true))]
  const numbers = NUMBERS.flatMap((name) => (typeof search[name] === 'number' ? [[name, search[name]]] : []))
  return {
    ...(Object.fromEntries(texts) as ShownInstallFilters),
    ...(Object.fromEntries(numbers) as ShownInstallFilters),
    ...momentsOf(search),
  }
}

export interface InstallLine {
  readonly website: string
  readonly event_id: string
  readonly installation_id: string
  readonly event_type: string
  readonly received_at_ms: number
  readonly install_path: string
  readonly platform: string
  readonly arch: string
  readonly agent: string
  readonly resolution: string
  readonly selection_policy: string
  readonly candidate_count: number
  readonly visit_id: string
  readonly visit_issued_at_ms: number | null
  readonly reason: string
}

export interface ListedInstall {
  readonly install: InstallLine
  /** Null if the install has none, or if it is no longer kept. */
  readonly visit: VisitSource | null
}

interface InstallListPage {
  readonly installs: readonly ListedInstall[]
  /** Unix ms: complete from here on. */
  readonly searchedBackTo: number
  readonly next: string | null
}

function installsPath(organization: string): string {
  return path('/api/organizations/:organization/installs', { organization })
}

/** People wait in front of the empty list for their first install. */
const AGAIN_MS = 2_000

/** Read again by itself as long as it is empty: a list that somebody reads does not move. */
export function installsQuery(organization: string, filters: ShownInstallFilters) {
  return infiniteQueryOptions({
    queryKey: ['installs', organization, filters],
    queryFn: ({ pageParam, signal }) =>
      ask<InstallListPage>(installsPath(organization) + query({ ...filters, cursor: pageParam ?? undefined }), {
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) =>
      state.data?.pages.every(({ installs }) => installs.length === 0) ? AGAIN_MS : false,
  })
}

/** The same installs as a file. */
export function installsExport(organization: string, filters: ShownInstallFilters): string {
  return `${installsPath(organization)}/export${query({ ...filters })}`
}

export interface InstallFacts extends InstallLine {
  readonly browsers: readonly string[]
  readonly default_browser: string
  readonly timezone: string
  readonly language: string
  readonly gpc: boolean
  /** JSON of every receipt and token that was examined. */
  readonly verdicts: string
  /** JSON of the deliveries as they were planned in the answer. */
  readonly deliveries: string
  readonly request_id: string
}

export interface VisitFacts extends VisitSource {
  readonly visit_id: string
  readonly issued_at_ms: number
  readonly referrer: string
  /** JSON of the visitor's identifiers, by provider. */
  readonly identities: string
  readonly gpc: boolean
}

interface ReceiptHistory {
  readonly visit_id: string
  readonly activated_at_ms: number | null
  readonly revoked_at_ms: number | null
}

export interface DeliveryFacts {
  readonly destination: string
  readonly job_id: string
  readonly provider: string
  readonly status: string
  readonly reason: string
  readonly detail: string
  readonly changed_at_ms: number
  readonly next_attempt_at_ms: number | null
  readonly deadline_at_ms: number | null
}

export interface AttemptFacts {
  readonly destination: string
  readonly attempt_id: string
  readonly number: number
  readonly started_at_ms: number
  readonly duration_ms: number
  readonly request_url: string
  readonly request_body: string
  /** 0 if there was no answer. */
  readonly response_status: number
  readonly response_body: string
  readonly outcome: string
  readonly code: string
}

export interface InstallDetail {
  readonly install: InstallFacts
  readonly visits: readonly VisitFacts[]
  readonly receipts: readonly ReceiptHistory[]
  readonly handoffs: readonly { readonly visit_id: string; readonly asked_at_ms: number }[]
  readonly deliveries: readonly DeliveryFacts[]
  readonly attempts: readonly AttemptFacts[]
}

export interface InstallAddress {
  readonly organization: string
  readonly website: string
  readonly event: string
}

/** Address of the same facts as JSON. */
export function installPath({ organization, website, event }: InstallAddress): string {
  return path('/api/organizations/:organization/installs/:website/:event', { organization, website, event })
}

export function installQuery(key: InstallAddress) {
  return queryOptions({
    queryKey: ['install', key],
    queryFn: ({ signal }) => ask<InstallDetail>(installPath(key), { signal }),
  })
}
