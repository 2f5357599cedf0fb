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

export type SourceDimension = 'source' | 'medium' | 'campaign' | 'referrer' | 'page'

interface Listed {
  readonly total: FunnelCounts
  readonly values: readonly (FunnelCounts & { readonly value: string })[]
  /** What the listed values leave of the total. */
  readonly other: FunnelCounts
}

export interface SourceFigures extends Bounds, Listed {
  readonly before: Listed
}

export interface InstallCounts {
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

export interface MatchFigures extends Bounds {
  readonly total: InstallCounts
  readonly before: { readonly total: InstallCounts }
  readonly path: ListedInstalls
  readonly platform: ListedInstalls
  readonly policy: ListedInstalls
  readonly agent: ListedInstalls
  readonly reason: readonly { readonly value: string; readonly installs: number }[]
  readonly timeToInstall: readonly { readonly fromSeconds: number; readonly installs: number }[]
  readonly agentPages: readonly (FunnelCounts & { readonly agent: string; readonly page: string })[]
}

export function funnelQuery(organization: string, filters: FigureFilters) {
  return figuresQuery<FunnelFigures>('funnel', organization, filters)
}

export function matchQuery(organization: string, filters: FigureFilters) {
  return figuresQuery<MatchFigures>('match', organization, filters)
}

export function sourcesQuery(organization: string, filters: FigureFilters, by: SourceDimension) {
  return figuresQuery<SourceFigures>('sources', organization, filters, { by })
}

/** The figures before stay on the page while others are asked for: it does not jump. */
function figuresQuery<T>(page: string, organization: string, filters: FigureFilters, more = {}) {
  const { website } = filters
  const wanted = query({ ...boundsOf(filters), website, ...more })
  return queryOptions({
    queryKey: ['figures', page, organization, wanted],
    queryFn: ({ signal }) =>
      ask<T>(path(`/api/organizations/:organization/${page}`, { organization }) + wanted, { signal }),
    placeholderData: keepPreviousData,
  })
}
