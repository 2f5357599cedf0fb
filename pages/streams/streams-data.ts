/** Log streams and webhooks: their states, what their receivers answered, and actions on them. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path, query, FIRST_PAGE } from '../data/ask.ts'
import { keepSecret, save } from '../data/resources.ts'

/** Something that a stream left out. */
export type StreamGap = ListedStream['gaps'][number]

export type ListedStream = JsonFrom<'streams'>['streams'][number]

export type ListedWebhook = JsonFrom<'webhooks'>['webhooks'][number]

export type WebhookAttempt = JsonFrom<'webhookAttempts'>['attempts'][number]

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
      ask<JsonFrom<'streams'>>(path(STREAMS, { organization }), { signal }).then(({ streams }) => streams),
    refetchInterval: AGAIN_MS,
  })
}

export function streamAttemptsQuery({ organization, stream }: StreamRef) {
  return queryOptions({
    queryKey: [STREAMS_KEY, organization, 'attempts', stream],
    queryFn: ({ signal }) =>
      ask<JsonFrom<'streamAttempts'>>(path(`${STREAMS}/:stream/attempts`, { organization, stream }), { signal }).then(
        ({ attempts }) => attempts,
      ),
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
export function changeStreamSecret({ organization, stream }: StreamRef): Promise<JsonFrom<'rotateStreamSecret'>> {
  return ask(path(`${STREAMS}/:stream/secret`, { organization, stream }), { method: 'POST', body: {} })
}

export function webhooksQuery(organization: string) {
  return queryOptions({
    queryKey: [STREAMS_KEY, organization, 'webhooks'],
    queryFn: ({ signal }) =>
      ask<JsonFrom<'webhooks'>>(path(WEBHOOKS, { organization }), { signal }).then(({ webhooks }) => webhooks),
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
      ask<JsonFrom<'webhookAttempts'>>(webhookPath(ref, '/attempts') + query({ cursor: pageParam ?? undefined }), {
        signal,
      }),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ next }) => next,
    refetchInterval: AGAIN_MS,
  })
}

export function lostEventsQuery(ref: WebhookRef) {
  return queryOptions({
    queryKey: [STREAMS_KEY, ref.organization, 'lost', ref.namespace, ref.name],
    queryFn: ({ signal }) =>
      ask<JsonFrom<'lostEvents'>>(webhookPath(ref, '/lost'), {
        signal,
      }),
  })
}

/** The ID of the message, by which its attempt is found. */
export function askWebhookTest(ref: WebhookRef): Promise<JsonFrom<'testWebhook'>> {
  return ask(webhookPath(ref, '/test'), { method: 'POST', body: {} })
}

/** One event that was given up, or the newest of them. */
export function sendLostAgain(ref: WebhookRef, message?: string): Promise<JsonFrom<'replayLost'>> {
  return ask(webhookPath(ref, '/replay'), { method: 'POST', body: message === undefined ? {} : { message } })
}

/** The new secret, which is never shown again. */
export function changeWebhookSecret(ref: WebhookRef): Promise<JsonFrom<'rotateWebhookSecret'>> {
  return ask(webhookPath(ref, '/secret'), { method: 'POST', body: {} })
}

interface NewWebhook {
  readonly name?: string
  readonly displayName?: string
  readonly url: string
  readonly events: readonly string[]
}

/** Made, with the secret that is shown once; null: its secret is its address. */
export interface MadeWebhook {
  readonly namespace: string
  readonly name: string
  readonly secret: string | null
}

export function makeWebhook(organization: string, wanted: NewWebhook): Promise<MadeWebhook> {
  return ask<JsonFrom<'createWebhook'>>(path(WEBHOOKS, { organization }), { method: 'POST', body: wanted })
}

const ADDRESS_KEY = 'url'

/** The address becomes a Secret first. */
export async function makeSlackWebhook(organization: string, { url, events }: NewWebhook): Promise<MadeWebhook> {
  const wanted = { organization, kind: 'Webhook', stored: null, name: '' } as const
  const name = await keepSecret({ ...wanted, spec: {} }, { [ADDRESS_KEY]: url })
  const made = await save({ ...wanted, spec: { format: 'Slack', urlSecretRef: { name, key: ADDRESS_KEY }, events } })
  return { namespace: made.namespace, name: made.name, secret: null }
}
