/** Replays of decisions: their parameters, progress and results. Polled while one is running. */

import { queryOptions } from '@tanstack/react-query'

import type { ReplayResult, UnfinishedReplay } from '../../domain/collection/replay-decision.ts'
import type { VisitPolicy } from '../../domain/model.ts'
import { ask, path } from '../data/ask.ts'

export interface ReplayLine {
  readonly id: string
  readonly website: string
  /** Unix ms, like the next two. */
  readonly askedAt: number
  readonly since: number
  readonly until: number
  readonly policy: VisitPolicy
  readonly windowDays: number
  readonly tokensOnly: boolean
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'
  readonly installs: number
  /** Why it has no result; null unless it has failed. */
  readonly failure: Exclude<NonNullable<UnfinishedReplay['failure']>, 'cancelled'> | null
  /** From 0 to 1. */
  readonly progress: number
}

interface Replay extends ReplayLine {
  /** Null until it is done; with at most 200 of the changed installs. */
  readonly result: ReplayResult | null
}

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
      ask<{ readonly replays: readonly ReplayLine[] }>(path(PATH, { organization }), { signal }).then(
        ({ replays }) => replays,
      ),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) === true ? AGAIN_MS : false),
  })
}

export function replayQuery(organization: string, id: string) {
  return queryOptions({
    queryKey: ['replay', organization, id],
    queryFn: ({ signal }) => ask<Replay>(path(`${PATH}/:id`, { organization, id }), { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isOpen(state.data) ? AGAIN_MS : false),
  })
}

/** The ID of the new replay. */
export function sendReplayWish(organization: string, wish: ReplayWish): Promise<{ readonly id: string }> {
  return ask(path(PATH, { organization }), { method: 'POST', body: wish })
}

export function sendCancellation(organization: string, id: string): Promise<unknown> {
  return ask(path(`${PATH}/:id/cancel`, { organization, id }), { method: 'POST', body: {} })
}
