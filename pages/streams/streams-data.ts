/** Log streams and webhooks: their states, what their receivers answered, and actions on them. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import type { Condition } from '../../domain/resources/conditions.ts'
import { ask, path, query } from '../data/ask.ts'
import type { ResourceRow } from '../data/resources.ts'

type ObjectPart = Pick<ResourceRow, 'namespace' | 'name' | 'version' | 'origin'> & {
  readonly conditions: readonly Condition[]
}

/** Something that a stream left out. */
export interface StreamGap {
  readonly reason: string
  /** Null if nobody can know, as the times. */
  readonly dropped: number | null
  readonly from: number | null
  readonly to: number | null
  /** When its receiver was informed; null: not yet. */
  readonly toldAt: number | null
}

/** Times are Unix ms. */
export interface ListedStream extends ObjectPart {
  readonly displayName?: string
  readonly paused: boolean
  readonly to: 'webhook' | 's3'
  readonly url?: string
  readonly endpoint?: string
  readonly bucket?: string
  readonly prefix?: string
  /** Null: nobody has looked after it yet. */
  readonly state: string | null
  /** Records that are still to be sent. */
  readonly behind: number
  readonly lagMs: number | null
  readonly deliveredAt: number | null
  readonly failingSince: number | null
  readonly retryAt: number | null
  readonly lastError: string | null
  readonly delivered: number
  readonly dropped: number
  /** Its receiver has said that it wants this. */
  readonly isProven: boolean
  readonly gaps: readonly StreamGap[]
}

interface StreamAttempt {
  readonly id: string
  readonly kind: string
  readonly at: number
  readonly records: number
  readonly bytes: number
  readonly tookMs: number
  /** 0: no answer came. */
  readonly status: number
  readonly error: string | null
  readonly answer: string
}

export interface ListedWebhook extends ObjectPart {
  readonly displayName: string
  readonly url: string
  readonly events: readonly string[]
  readonly paused: boolean
  /** RFC 3339; null: there is one secret. */
  readonly previousSecretUntil: string | null
  readonly state: string
  readonly lastDay: { readonly delivered: number; readonly waiting: number; readonly lost: number }
  readonly lastAttemptAt: number | null
  readonly lastDeliveredAt: number | null
  /** Empty if the last attempt was delivered. */
  readonly lastError: string
}

export interface WebhookAttempt {
  readonly message: string
  readonly type: string
  readonly website: string
  readonly happenedAt: number
  readonly number: number
  readonly startedAt: number
  readonly durationMs: number
  readonly state: string
  readonly status: number
  readonly error: string
  readonly answer: string
  readonly nextAttemptAt: number | null
}

interface LostEvent {
  readonly message: string
  readonly type: string
  readonly website: string
  readonly happenedAt: number
  readonly attempts: number
  readonly state: string
  readonly status: number
  readonly error: string
}

const STREAMS = '/api/organizations/:organization/streams'
const WEBHOOKS = '/api/organizations/:organization/webhooks'
/** All that these pages know is asked for again after an action. */
export const STREAMS_KEY = 'streams'
/** People watch whether it works again. */
const AGAIN_MS = 5_000

export interface StreamRef {
  readonly organization: string
  readonly stream: string
}

export interface WebhookRef {
  readonly organization: string
  readonly namespace: string
  readonly name: string
}

export function streamsQuery(organization: string) {
  return queryOptions({
    queryKey: [STREAMS_KEY, organization, 'streams'],
    queryFn: ({ signal }) =>
      ask<{ readonly streams: readonly ListedStream[] }>(path(STREAMS, { organization }), { signal }).then(
        ({ streams }) => streams,
      ),
    refetchInterval: AGAIN_MS,
  })
}

export function streamAttemptsQuery({ organization, stream }: StreamRef) {
  return queryOptions({
    queryKey: [STREAMS_KEY, organization, 'attempts', stream],
    queryFn: ({ signal }) =>
      ask<{ readonly attempts: readonly StreamAttempt[] }>(
        path(`${STREAMS}/:stream/attempts`, { organization, stream }),
        { signal },
      ).then(({ attempts }) => attempts),
    refetchInterval: AGAIN_MS,
  })
}

type StreamAction = 'test' | 'skip' | 'resend' | 'pause' | 'resume'

export function actOnStream(
  { organization, stream }: StreamRef,
  action: StreamAction,
  body?: object,
): Promise<unknown> {
  const address = path(`${STREAMS}/:stream/${action}`, { organization, stream })
  return ask(address, { method: 'POST', ...(body === undefined ? { body: {} } : { body }) })
}

/** The new secret, which is never shown again. */
export function changeStreamSecret({ organization, stream }: StreamRef): Promise<{ readonly secret: string }> {
  return ask(path(`${STREAMS}/:stream/secret`, { organization, stream }), { method: 'POST', body: {} })
}

export function webhooksQuery(organization: string) {
  return queryOptions({
    queryKey: [STREAMS_KEY, organization, 'webhooks'],
    queryFn: ({ signal }) =>
      ask<{ readonly webhooks: readonly ListedWebhook[] }>(path(WEBHOOKS, { organization }), { signal }).then(
        ({ webhooks }) => webhooks,
      ),
    refetchInterval: AGAIN_MS,
  })
}

function webhookPath(ref: WebhookRef, what: string): string {
  return path(`${WEBHOOKS}/:namespace/:name${what}`, { ...ref })
}

export function webhookAttemptsQuery(ref: WebhookRef) {
  return infiniteQueryOptions({
    queryKey: [STREAMS_KEY, ref.organization, 'webhook attempts', ref.namespace, ref.name],
    queryFn: ({ pageParam, signal }) =>
      ask<{ readonly attempts: readonly WebhookAttempt[]; readonly next: string | null }>(
        webhookPath(ref, '/attempts') + query({ cursor: pageParam ?? undefined }),
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: AGAIN_MS,
  })
}

export function lostEventsQuery(ref: WebhookRef) {
  return queryOptions({
    queryKey: [STREAMS_KEY, ref.organization, 'lost', ref.namespace, ref.name],
    queryFn: ({ signal }) =>
      ask<{ readonly lost: readonly LostEvent[]; readonly mayHaveMore: boolean }>(webhookPath(ref, '/lost'), {
        signal,
      }),
  })
}

/** The ID of the message, by which its attempt is found. */
export function askWebhookTest(ref: WebhookRef): Promise<{ readonly message: string }> {
  return ask(webhookPath(ref, '/test'), { method: 'POST', body: {} })
}

/** One event that was given up, or the newest of them. */
export function sendLostAgain(
  ref: WebhookRef,
  message?: string,
): Promise<{ readonly replayed: number; readonly mayHaveMore: boolean }> {
  return ask(webhookPath(ref, '/replay'), { method: 'POST', body: message === undefined ? {} : { message } })
}

/** The new secret, which is never shown again. */
export function changeWebhookSecret(ref: WebhookRef): Promise<{ readonly secret: string }> {
  return ask(webhookPath(ref, '/secret'), { method: 'POST', body: {} })
}

interface NewWebhook {
  readonly name?: string
  readonly displayName?: string
  readonly url: string
  readonly events: readonly string[]
}

export function makeWebhook(
  organization: string,
  wanted: NewWebhook,
): Promise<{ readonly namespace: string; readonly name: string; readonly secret: string }> {
  return ask(path(WEBHOOKS, { organization }), { method: 'POST', body: wanted })
}
