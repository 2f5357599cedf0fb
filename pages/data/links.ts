/** Share links of an organisation, the form of a new one as an address holds it, and what a link shows. */

import { queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { PERIOD_NAMES, type PeriodName } from '../../domain/figures/periods.ts'
import { presentOf } from '../../domain/typed-keys.ts'
import { ask, path } from './ask.ts'
import { valueFilters, type ValueFilters } from './value-filters.ts'

export type SharedFigures = JsonFrom<'sharedFigures'>
export type LinkRow = JsonFrom<'shareLinks'>['links'][number]

export const LINKS = '/api/organizations/:organization/links'

/** As in the address: what the form of a new link begins with. */
export interface LinkForm extends ValueFilters {
  /** The form is open. */
  readonly share?: 'new'
  readonly website?: string
  readonly period?: PeriodName
}

interface AddressOfFigures {
  readonly website?: unknown
  readonly period?: unknown
  readonly filter?: unknown
}

/** Of what an address holds what a link can show: dates stay where they are, and a link moves on. */
export function linkForm({ website, period, filter }: AddressOfFigures): LinkForm {
  return {
    share: 'new',
    ...presentOf({
      website: typeof website === 'string' && website !== '' ? website : undefined,
      period: PERIOD_NAMES.find((name) => name === period),
    }),
    ...valueFilters({ filter }),
  }
}

export function linkFormIn(search: Readonly<Record<string, unknown>>): LinkForm {
  return search['share'] === 'new' ? linkForm(search) : {}
}

export function linksQuery(organization: string) {
  return queryOptions({
    queryKey: ['links', organization],
    queryFn: ({ signal }) =>
      ask<JsonFrom<'shareLinks'>>(path(LINKS, { organization }), { signal }).then(({ links }) => links),
  })
}

/** The service counts it once a minute. */
const FRESH_MS = 60_000

export function sharedQuery(token: string) {
  return queryOptions({
    queryKey: ['shared', token],
    queryFn: ({ signal }) => ask<SharedFigures>(path('/share/:token/figures', { token }), { signal }),
    staleTime: FRESH_MS,
  })
}
