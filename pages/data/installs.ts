/** Installs: a list of them by any filter, and one with everything that explains it. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import { LEFT_OUT_CHOICES, type InstallDimension, type LeftOutChoice } from '../../domain/figures/installs.ts'
import { partialOf } from '../../domain/typed-keys.ts'
import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path, query, FIRST_PAGE } from './ask.ts'
import { momentsOf } from './lines.ts'
import { filtersIn, valueFilters, type ValueFilters } from './value-filters.ts'

/** As in the address; names and values are those of the API. */
export interface ShownInstallFilters extends ValueFilters {
  readonly website?: string
  readonly eventType?: string
  readonly resolution?: string
  readonly policy?: string
  readonly reason?: string
  readonly visit?: string
  /** `agent`: any coding agent. */
  readonly ranBy?: string
  /** What figures count it as. */
  readonly kind?: string
  /** Unix ms: when the visit of the install began. */
  readonly visitSince?: number
  readonly visitUntil?: number
  /** Whole seconds from that visit to the install: at least, and fewer than. */
  readonly leastVisitAge?: number
  readonly visitAgeBelow?: number
  /** What becomes of those from CI, containers and tests, which figures leave out. */
  readonly leftOut?: LeftOutChoice
  /** Unix ms, inclusive. */
  readonly since?: number
  /** Unix ms, exclusive. */
  readonly until?: number
}

const NAMES = ['website', 'kind', 'eventType', 'resolution', 'policy', 'visit', 'ranBy'] as const
const NUMBERS = ['visitSince', 'visitUntil', 'leastVisitAge', 'visitAgeBelow'] as const

export function installFiltersOf(search: Readonly<Record<string, unknown>>): ShownInstallFilters {
  const textOf = (name: string, isEmptyToo: boolean) => {
    const value = search[name]
    if (typeof value !== 'string' && typeof value !== 'number') return undefined
    return value === '' && !isEmptyToo ? undefined : String(value)
  }
  const leftOut = LEFT_OUT_CHOICES.find((choice) => choice === search['leftOut'])
  const numberOf = (name: string) => (typeof search[name] === 'number' ? search[name] : undefined)
  return {
    ...partialOf(NAMES, (name) => textOf(name, false)),
    // Empty: no reason was recorded.
    ...partialOf(['reason'] as const, (name) => textOf(name, true)),
    ...valueFilters(search),
    ...partialOf(NUMBERS, numberOf),
    ...(leftOut === undefined ? {} : { leftOut }),
    ...momentsOf(search),
  }
}

/** Of these every event is told, whether figures count it or not. */
const OF_EVERY_EVENT: ReadonlySet<InstallDimension> = new Set(['path', 'platform', 'agent'])

/** The list holds what figures count by these filters: nothing from CI, containers and tests, unless that is asked for. */
export function areOfFigures(filters: ShownInstallFilters): boolean {
  const isOfFigures = filtersIn(filters).some(({ dimension }) => !OF_EVERY_EVENT.has(dimension))
  return filters.kind !== undefined || isOfFigures
}

export type InstallLine = ListedInstall['install']

export type ListedInstall = JsonFrom<'installs'>['installs'][number]

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
      ask<JsonFrom<'installs'>>(installsPath(organization) + query({ ...filters, cursor: pageParam ?? undefined }), {
        signal,
      }),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) =>
      state.data?.pages.every(({ installs }) => installs.length === 0) ? AGAIN_MS : false,
  })
}

/** The same installs as a file. */
export function installsExport(organization: string, filters: ShownInstallFilters): string {
  return `${installsPath(organization)}/export${query({ ...filters })}`
}

export type InstallFacts = InstallDetail['install']

export type VisitFacts = InstallDetail['visits'][number]

export type DeliveryFacts = InstallDetail['deliveries'][number]

export type AttemptFacts = InstallDetail['attempts'][number]

export type InstallDetail = JsonFrom<'install'>

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
