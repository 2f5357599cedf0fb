/** Sends to one webhook: a challenge, batches, tests. Every call goes through the guard for tenants' addresses. */

import { gzipSync } from 'node:zlib'

import { sha256Hex } from '../../common/digest.ts'
import type { LogStream } from '../../domain/catalog.ts'
import { outcomeOf, type SendOutcome } from '../../domain/streams/pace.ts'
import type { SentBatch, StreamPlan } from '../../domain/streams/progress.ts'
import type { SentRecord } from '../../domain/streams/record.ts'
import { batchBody, returnsChallenge, testBody, verifyBody } from '../../domain/streams/webhook-body.ts'
import { callOutbound, type OutboundParts } from '../outbound/call.ts'
import { secretsAt, webhookHeaders, type SigningKeys } from './signature.ts'

/** The address of a stream and its credentials. */
export type StreamTarget = WebhookTarget | BucketTarget

interface WebhookTarget extends SigningKeys {
  readonly kind: 'webhook'
  readonly url: string
}

export interface BucketTarget extends NonNullable<LogStream['s3']> {
  readonly kind: 's3'
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of credentials that are temporary. */
  readonly sessionToken: string | null
}

export interface Sent {
  readonly outcome: SendOutcome
  readonly shown: SentBatch
}

export interface StreamSender {
  /** Sends the challenge; null if the credentials replace it. */
  readonly verify: ((challenge: string) => Promise<Sent>) | null
  /** Packs a batch; the result sends it, and holds nothing but what is sent. */
  readonly pack: (plan: StreamPlan, records: readonly SentRecord[]) => () => Promise<Sent>
  readonly test: (id: string) => Promise<Sent>
}

interface SenderParts {
  /** The stream's name in bodies. */
  readonly stream: string
  readonly target: WebhookTarget
  /** For tests; a batch is sent as it was planned. */
  readonly compress: boolean
  readonly outbound: OutboundParts
  readonly nowMs: () => number
}

/** Changes with everything that may turn a refusal into an acceptance. */
export function targetDigest(target: StreamTarget): string {
  return sha256Hex(JSON.stringify(target.kind === 'webhook' ? [target.url, target.secret] : target))
}

/** Digest of what must pass the challenge, whatever its credentials are. */
export function addressDigest(target: StreamTarget): string {
  return sha256Hex(
    target.kind === 'webhook' ? target.url : JSON.stringify([target.endpoint, target.bucket, target.addressing]),
  )
}

/** Most bytes of an answer that are kept. */
export const ANSWER_CHARS = 1_024
const NOT_RETURNED: SendOutcome = {
  isTaken: false,
  isLasting: true,
  isTooLarge: false,
  error: 'challenge_not_returned',
  retryAfterMs: null,
}

interface StreamMessage {
  readonly isPacked: boolean
  readonly kind: SentBatch['kind']
  readonly id: string
  readonly text: string
  readonly records: number
  /** Of an answer whose status is a success. */
  readonly accepts?: (reply: { readonly headers: Readonly<Record<string, string>>; readonly body: string }) => boolean
}

export function webhookSender(
  parts: SenderParts,
): StreamSender & { readonly verify: NonNullable<StreamSender['verify']> } {
  const { stream, nowMs } = parts
  return {
    verify: (challenge) => {
      const accepts: StreamMessage['accepts'] = (reply) => returnsChallenge(reply, challenge)
      return packedPost(parts, {
        kind: 'verify',
        id: `verify-${challenge}`,
        isPacked: false,
        text: verifyBody(stream, challenge),
        records: 0,
        accepts,
      })()
    },
    pack: (plan, records) => {
      const texts = records.map(({ text }) => text)
      const text = batchBody(stream, plan, texts)
      const isPacked = plan.form.compress
      return packedPost(parts, { kind: 'batch', id: plan.id, text, isPacked, records: records.length })
    },
    test: (id) => {
      const text = testBody(stream, id, nowMs())
      return packedPost(parts, { kind: 'test', id, text, isPacked: parts.compress, records: 1 })()
    },
  }
}

function packedPost(parts: SenderParts, { text, ...message }: StreamMessage): () => Promise<Sent> {
  const body = message.isPacked ? gzipSync(text) : Buffer.from(text)
  return () => post(parts, { ...message, body })
}

interface PackedMessage extends Omit<StreamMessage, 'text'> {
  readonly body: Buffer
}

async function post({ target, outbound, nowMs }: SenderParts, message: PackedMessage): Promise<Sent> {
  const { kind, id, body, isPacked, records, accepts = () => true } = message
  const atMs = nowMs()
  const secrets = secretsAt(target, atMs)
  const headers = {
    'content-type': 'application/json',
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
    ...webhookHeaders({ id, body, atMs }, ...secrets),
  }
  const call = { url: target.url, method: 'POST', headers, body, secrets } as const
  const { reply, log } = await callOutbound(call, outbound)
  const judged = outcomeOf(reply, nowMs())
  const outcome = judged.isTaken && !accepts(reply) ? NOT_RETURNED : judged
  const answer = log.responseBody.slice(0, ANSWER_CHARS)
  const shown = { id, kind, atMs, records, bytes: body.length, tookMs: nowMs() - atMs, status: reply.status }
  return { outcome, shown: { ...shown, error: outcome.error, answer } }
}
