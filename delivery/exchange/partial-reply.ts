/** What has been observed of an HTTP exchange so far, and the reply that it gives once the exchange ends. */

import type { IncomingMessage } from 'node:http'

import { LIMITS } from '../../domain/limits.ts'
import type { ProviderReply } from '../providers/provider.ts'

interface PartialReply {
  answer: IncomingMessage | null
  readonly chunks: Buffer[]
  bytes: number
}

export function nothingSeen(): PartialReply {
  return { answer: null, chunks: [], bytes: 0 }
}

/** Keeps what arrives of a body, up to the limit. `finish` gets the failure, or an empty text; only its first call counts. */
export function collectBody(answer: IncomingMessage, seen: PartialReply, finish: (failure: string) => void): void {
  answer.on('data', (chunk: Buffer) => {
    const room = LIMITS.outboundBodyBytes - seen.bytes
    seen.chunks.push(chunk.subarray(0, room))
    seen.bytes += Math.min(chunk.length, room)
    if (chunk.length > room) finish('too_large')
  })
  answer.on('end', () => finish(answer.complete ? '' : 'connection'))
  answer.on('error', () => finish('connection'))
  answer.on('aborted', () => finish('connection'))
}

/**
 * A status that arrived is reported even if the body did not: for some providers the status alone is the answer.
 * `isUnclear` applies if no answer came: the request may have been processed nevertheless.
 */
export function replyOf(seen: PartialReply, failure: string, isUnclear: boolean): ProviderReply {
  if (seen.answer === null) return noReply(failure, isUnclear)
  return {
    status: seen.answer.statusCode ?? 0,
    headers: Object.fromEntries(Object.entries(seen.answer.headers).map(([name, value]) => [name, String(value)])),
    body: Buffer.concat(seen.chunks).toString('utf8'),
    failure,
    isUnclear: failure === 'timeout' || failure === 'connection',
  }
}

export function noReply(failure: string, isUnclear: boolean): ProviderReply {
  return { status: 0, headers: {}, body: '', failure, isUnclear }
}
