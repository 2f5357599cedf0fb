/** Replays of decisions: their parameters, progress and results. Polled while one is running. */

import { queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import type { VisitPolicy } from '../../domain/model.ts'
import { ask, path } from '../data/ask.ts'

export type ReplayLine = JsonFrom<'listReplays'>['replays'][number]

export interface ReplayWish {
  readonly website: string
  readonly policy: VisitPolicy
  readonly windowDays: number
  readonly tokensOnly: boolean
  /** Unix ms. */
  readonly since: number
}

/** The shown replay, as in the address. */
export function replayChoiceOf({ replay }: Readonly<Record<string, unknown>>): { readonly replay?: string } {
  return typeof replay === 'string' && replay !== '' ? { replay } : {}
}

const PATH = '/api/organizations/:organization/replays'
const AGAIN_MS = 2_000

export function isOpen({ state }: ReplayLine): boolean {
  return state === 'waiting' || state === 'running'
}

export function replaysQuery(organization: string) {
  return queryOptions({
    queryKey: ['replays', organization],
    queryFn: ({ signal }) =>
      ask<JsonFrom<'listReplays'>>(path(PATH, { organization }), { signal }).then(({ replays }) => replays),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) === true ? AGAIN_MS : false),
  })
}

export function replayQuery(organization: string, id: string) {
  return queryOptions({
    queryKey: ['replay', organization, id],
    queryFn: ({ signal }) => ask<JsonFrom<'showReplay'>>(path(`${PATH}/:id`, { organization, id }), { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isOpen(state.data) ? AGAIN_MS : false),
  })
}

/** The ID of the new replay. */
export function sendReplayWish(organization: string, wish: ReplayWish): Promise<JsonFrom<'askReplay'>> {
  return ask(path(PATH, { organization }), { method: 'POST', body: wish })
}

export function sendCancellation(organization: string, id: string): Promise<unknown> {
  return ask(path(`${PATH}/:id/cancel`, { organization, id }), { method: 'POST', body: {} })
}
