/** Figures of a period: the funnel, where visits came from, and how installs were matched. One request per page. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import type { VisitSource } from '../../domain/collection/visit-source.ts'
import { ask, path, query } from './ask.ts'
import { boundsOf, daysOf, type Bounds, type FigureFilters } from './period.ts'

export interface FunnelCounts {
  readonly visits: number
  readonly activated: number
  readonly copied: number
  readonly started: number
  readonly completed: number
  readonly first_run: number
}

/** Of every answer with figures. */
interface CountedFigures extends Bounds {
  /** Unix ms at which made-up traffic ends that they count; null: they count none. */
  readonly exampleUntil: number | null
}

export interface FunnelFigures extends CountedFigures {
  readonly total: FunnelCounts
  readonly before: { readonly total: FunnelCounts }
  readonly stepMs: number
  readonly steps: readonly (FunnelCounts & { readonly at: number })[]
}

export type SourceDimension = 'source' | 'medium' | 'campaign' | 'referrer' | 'page'

interface Listed {
  readonly total: FunnelCounts
  readonly values: readonly (FunnelCounts & { readonly value: string })[]
  /** The total minus the listed values. */
  readonly other: FunnelCounts
}

export interface SourceFigures extends CountedFigures, Listed {
  readonly before: Listed
}

interface InstallCounts {
  readonly started: number
  readonly completed: number
  readonly first_run: number
  readonly matched: number
  readonly unmatched: number
  readonly counted: number
}

export type ValuedInstalls = InstallCounts & { readonly value: string }

interface ListedInstalls {
  readonly values: readonly ValuedInstalls[]
  readonly other: InstallCounts
}

interface MatchedInstalls {
  readonly total: InstallCounts
  readonly path: ListedInstalls
  readonly platform: ListedInstalls
  readonly policy: ListedInstalls
  readonly agent: ListedInstalls
  readonly reason: readonly { readonly value: string; readonly installs: number }[]
}

export interface MatchFigures extends CountedFigures, MatchedInstalls {
  readonly before: MatchedInstalls
  readonly timeToInstall: readonly { readonly fromSeconds: number; readonly installs: number }[]
  readonly agentPages: readonly (FunnelCounts & { readonly agent: string; readonly page: string })[]
}

/** A copied command that several installations ran. */
export interface SharedCommand {
  readonly website: string
  readonly visit_id: string
  readonly installations: number
  readonly events: number
  readonly completed: number
  readonly by_agents: number
  readonly first_ms: number
  readonly last_ms: number
  /** Null if it is no longer kept. */
  readonly visit: VisitSource | null
  readonly before: { readonly installations: number }
}

export interface SharedCommands extends CountedFigures {
  readonly leastInstallations: number
  readonly mostListed: number
  readonly commands: readonly SharedCommand[]
}

export function funnelQuery(organization: string, filters: FigureFilters) {
  return figuresQuery<FunnelFigures>('funnel', organization, filters)
}

export function matchQuery(organization: string, filters: FigureFilters) {
  return figuresQuery<MatchFigures>('match', organization, filters)
}

/** The service looks no further back for them at once. */
export const MOST_COMMAND_DAYS = 30

export function sharedCommandsQuery(organization: string, filters: FigureFilters) {
  return figuresQuery<SharedCommands>('shared-commands', organization, commandFilters(filters))
}

export function commandFilters(filters: FigureFilters): FigureFilters {
  return { ...filters, days: Math.min(daysOf(filters), MOST_COMMAND_DAYS) }
}

export function sourcesQuery(organization: string, filters: FigureFilters, by: SourceDimension) {
  return figuresQuery<SourceFigures>('sources', organization, filters, { by })
}

/** Previous figures stay on the page while new ones load, so that it does not jump. */
function figuresQuery<T>(page: FiguresName, organization: string, filters: FigureFilters, more: FigureChoice = {}) {
  const address = figuresPath(page, organization, filters, more)
  return queryOptions({
    queryKey: ['figures', address],
    queryFn: ({ signal }) => ask<T>(address, { signal }),
    placeholderData: keepPreviousData,
  })
}

type FiguresName = 'funnel' | 'match' | 'sources' | 'shared-commands'
type FigureChoice = { readonly by?: SourceDimension }

/** Where the same figures are read as JSON. */
export function figuresPath(
  page: FiguresName,
  organization: string,
  filters: FigureFilters,
  more: FigureChoice = {},
): string {
  const { website } = filters
  const wanted = query({ ...boundsOf(filters), website, ...more })
  return path(`/api/organizations/:organization/${page}`, { organization }) + wanted
}
