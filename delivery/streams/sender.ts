/** Sends to one webhook: a challenge, batches, tests. Every call goes through the guard for addresses of tenants. */

import { gzipSync } from 'node:zlib'

import { sha256Hex } from '../../common/digest.ts'
import { outcomeOf, type SendOutcome } from '../../domain/streams/pace.ts'
import type { SentBatch, StreamPlan } from '../../domain/streams/progress.ts'
import { batchBody, returnsChallenge, testBody, verifyBody } from '../../domain/streams/webhook-body.ts'
import { callOutbound, type OutboundParts } from '../outbound/call.ts'
import { webhookHeaders } from './signature.ts'

/** Where a stream sends to, and with what. */
export interface StreamTarget {
  readonly url: string
  /** Signs what is posted. */
  readonly secret: string
}

export interface Sent {
  readonly outcome: SendOutcome
  readonly shown: SentBatch
}

export interface StreamSender {
  /** Whether the address wants what is to come. */
  readonly verify: (challenge: string) => Promise<Sent>
  readonly batch: (plan: StreamPlan, records: readonly string[]) => Promise<Sent>
  readonly test: (id: string) => Promise<Sent>
}

interface SenderParts {
  /** As bodies name it. */
  readonly stream: string
  readonly target: StreamTarget
  readonly compress: boolean
  readonly outbound: OutboundParts
  readonly nowMs: () => number
}

/** Changes with everything that may make a refused batch welcome. */
export function targetDigest({ url, secret }: StreamTarget): string {
  return sha256Hex(JSON.stringify([url, secret]))
}

const ANSWER_CHARS = 1_024
const NOT_RETURNED = { isTaken: false, isLasting: true, error: 'challenge_not_returned', retryAfterMs: null } as const

interface StreamMessage {
  readonly kind: SentBatch['kind']
  readonly id: string
  readonly text: string
  readonly records: number
  /** Of an answer whose status is a success. */
  readonly accepts?: (reply: { readonly headers: Readonly<Record<string, string>>; readonly body: string }) => boolean
}

export function webhookSender(parts: SenderParts): StreamSender {
  const { stream, nowMs } = parts
  return {
    verify: (challenge) => {
      const accepts: StreamMessage['accepts'] = (reply) => returnsChallenge(reply, challenge)
      return post(parts, {
        kind: 'verify',
        id: `verify-${challenge}`,
        text: verifyBody(stream, challenge),
        records: 0,
        accepts,
      })
    },
    batch: (plan, records) => {
      const text = batchBody(stream, plan, records)
      return post(parts, { kind: 'batch', id: plan.id, text, records: records.length })
    },
    test: (id) => post(parts, { kind: 'test', id, text: testBody(stream, id, nowMs()), records: 1 }),
  }
}

async function post({ target, compress, outbound, nowMs }: SenderParts, message: StreamMessage): Promise<Sent> {
  const { kind, id, text, records, accepts = () => true } = message
  const isPacked = compress && kind !== 'verify'
  const body = isPacked ? gzipSync(text) : Buffer.from(text)
  const atMs = nowMs()
  const headers = {
    'content-type': 'application/json',
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
    ...webhookHeaders({ id, body, atMs }, target.secret),
  }
  const call = { url: target.url, method: 'POST', headers, body, secrets: [target.secret] } as const
  const { reply, log } = await callOutbound(call, outbound)
  const judged = outcomeOf(reply)
  const outcome = judged.isTaken && !accepts(reply) ? NOT_RETURNED : judged
  const answer = log.responseBody.slice(0, ANSWER_CHARS)
  const shown = { id, kind, atMs, records, bytes: body.length, tookMs: nowMs() - atMs, status: reply.status }
  return { outcome, shown: { ...shown, error: outcome.error, answer } }
}
