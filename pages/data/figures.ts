/** Figures of a period: the funnel, where visits came from, and how installs were matched. One request per page. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'

import { emptyRow } from '../../domain/figures/installs.ts'
import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path, query } from './ask.ts'
import {
  lastDay,
  periodParameters,
  type Bounds,
  type CountingFilters,
  type FigureFilters,
  type FilteredFigures,
  type PeriodFilters,
} from './period.ts'

export type FunnelCounts = NonNullable<JsonFrom<'funnel'>['total']>

export type FunnelFigures = JsonFrom<'funnel'>

export type SourceDimension = JsonFrom<'sources'>['by']

export type SourceFigures = JsonFrom<'sources'>

export type ValuedInstalls = MatchFigures['path'][number]

export type MatchFigures = JsonFrom<'match'>

/** A copied command that several installations ran. */
export type SharedCommand = SharedCommands['commands'][number]

export type SharedCommands = JsonFrom<'sharedCommands'>

export function funnelQuery(organization: string, filters: FilteredFigures) {
  return figuresQuery<FunnelFigures>('funnel', organization, filters)
}

export function matchQuery(organization: string, filters: CountingFilters) {
  return figuresQuery<MatchFigures>('match', organization, filters)
}

/** Of the last 24 hours. */
export function liveFunnelQuery(organization: string) {
  const address =
    path('/api/organizations/:organization/funnel', { organization }) + query({ ...lastDay(), compare: 'off' })
  return queryOptions({
    queryKey: ['figures', address],
    queryFn: ({ signal }) => ask<FunnelFigures>(address, { signal }),
  })
}

export function sharedCommandsQuery(organization: string, filters: FigureFilters) {
  return figuresQuery<SharedCommands>('shared-commands', organization, filters)
}

export function sourcesQuery(organization: string, filters: CountingFilters, by: SourceDimension) {
  return figuresQuery<SourceFigures>('sources', organization, filters, { by })
}

/** Previous figures stay on the page while new ones load, so that it does not jump. */
function figuresQuery<T>(page: FiguresName, organization: string, filters: CountingFilters, more: FigureChoice = {}) {
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
  filters: CountingFilters,
  more: FigureChoice = {},
): string {
  const { website, leftOut, filter } = filters
  const { bucket, ...compared } = periodParameters(filters)
  const period = page === 'funnel' ? { ...compared, bucket } : compared
  const wanted = query({ ...period, website, leftOut, filter, ...more })
  return path(`/api/organizations/:organization/${page}`, { organization }) + wanted
}

/** As a request takes it, and of one website. */
export interface SuggestionPeriod extends PeriodFilters, Partial<Bounds> {
  readonly website?: string
}

/** Values that installs and visits of a period have, an empty one if some have none; those of the most installs first. */
export function suggestionsQuery(organization: string, period: SuggestionPeriod, by: SourceDimension) {
  const address =
    path('/api/organizations/:organization/sources', { organization }) + query({ ...period, compare: 'off', by })
  return queryOptions({
    queryKey: ['figures', address],
    queryFn: ({ signal }) => ask<SourceFigures>(address, { signal }),
    select: ({ rows }) =>
      rows
        .filter(({ row }) => row === 'value' || row === emptyRow(by))
        .map(({ value, installs }) => ({ value, installs })),
  })
}
