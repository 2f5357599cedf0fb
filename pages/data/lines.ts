/** Lines of Logs: their shape in the API, the filters of lists, and where new lines come from. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import { partialOf } from '../../domain/typed-keys.ts'
import type { JsonFrom } from '../../dashboard/api/routes.ts'
import type { LogLine } from '../../domain/logs/line.ts'
import { ask, path, query, FIRST_PAGE } from './ask.ts'

/** As in the address; names and values are those of the API. */
export interface LogFilters {
  readonly website?: string
  readonly direction?: string
  readonly status?: string
  readonly kind?: string
  readonly code?: string
  readonly path?: string
  readonly reference?: string
  readonly text?: string
  /** Unix ms, inclusive. */
  readonly since?: number
  /** Unix ms, exclusive. */
  readonly until?: number
}

const FILTER_NAMES = ['website', 'direction', 'status', 'kind', 'code', 'path', 'reference', 'text'] as const

/** The filters of an address; anything else in it is left out. */
export function filtersOf(search: Readonly<Record<string, unknown>>): LogFilters {
  const texts = partialOf(FILTER_NAMES, (name) => {
    const value = search[name]
    return (typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined
  })
  return { ...texts, ...momentsOf(search) }
}

/** The time bounds in an address. */
export function momentsOf(search: Readonly<Record<string, unknown>>): {
  readonly since?: number
  readonly until?: number
} {
  const { since, until } = search
  return {
    ...(typeof since === 'number' ? { since } : {}),
    ...(typeof until === 'number' ? { until } : {}),
  }
}

function logsPath(organization: string): string {
  return path('/api/organizations/:organization/logs', { organization })
}

/** The same lines as a file. */
export function logsExport(organization: string, filters: LogFilters): string {
  return `${logsPath(organization)}/export${query({ ...filters })}`
}

export function logsQuery(organization: string, filters: LogFilters) {
  return infiniteQueryOptions({
    queryKey: ['logs', organization, filters],
    queryFn: ({ pageParam, signal }) =>
      ask<JsonFrom<'logs'>>(logsPath(organization) + query({ ...filters, cursor: pageParam ?? undefined }), { signal }),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ next }) => next,
    // A search of bodies takes a while and goes back in time: it is not repeated because a tab is looked at again.
    ...(filters.text === undefined ? {} : { staleTime: Infinity }),
  })
}

/** Source of new lines. A stream has no filter by text or time: only stored lines can be searched. */
export function tailPath(
  organization: string,
  { text: _text, since: _since, until: _until, ...filters }: LogFilters,
): string {
  return `${logsPath(organization)}/tail${query({ ...filters })}`
}

export function livePath(organization: string): string {
  return path('/api/organizations/:organization/live', { organization })
}

/** A line with its bodies, under the names of the stored columns. */
export type LineDetail = Readonly<Record<string, unknown>>

export function lineQuery(organization: string, line: Pick<LogLine, 'direction' | 'website' | 'id' | 'event'>) {
  const { direction, website, id, event = '' } = line
  // A request of the dashboard is of no website.
  const values = { organization, website: website === '' ? '~' : website, id, event }
  const address =
    direction === 'inbound'
      ? path('/api/organizations/:organization/logs/requests/:website/:id', values)
      : path('/api/organizations/:organization/logs/attempts/:website/:event/:id', values)
  return queryOptions({
    queryKey: ['line', organization, direction, website, id],
    queryFn: ({ signal }): Promise<LineDetail> => ask<JsonFrom<'loggedRequest' | 'loggedAttempt'>>(address, { signal }),
    staleTime: Infinity,
  })
}

/** Resolves pasted text to what to search for; a receipt goes into the request's body, never into an address. */
export function resolveReference(organization: string, text: string): Promise<readonly string[]> {
  return ask<JsonFrom<'logReference'>>(`${logsPath(organization)}/reference`, {
    method: 'POST',
    body: { text },
  }).then(({ references }) => references)
}
