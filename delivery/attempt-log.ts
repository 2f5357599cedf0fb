/** Makes what is kept of an attempt: no secret, no identifier of anybody, 64 KB of each body. */

import { randomBytes } from 'node:crypto'

import type { NextStep } from '../domain/attempts.ts'
import type { Attempt } from '../domain/records.ts'
import { hide, hideInBody } from './hide.ts'
import type { DestinationContext, ProviderReply, ProviderRequest, Verdict } from './provider.ts'
import { targetOf } from './send.ts'

/** One exchange as all the deliveries that it carried saw it. */
export interface Exchange {
  readonly startedAtMs: number
  readonly endedAtMs: number
  /** As it was sent, with the secrets of all that it carried. */
  readonly sent: ProviderRequest
  readonly reply: ProviderReply
  /** The answer's body as it may be kept; made once for all of them. */
  readonly keptBody: string
  readonly baseUrl: string
  /** How many deliveries it was about. */
  readonly jobs: number
  /** Statuses of requests that carried these deliveries before, with others, and were refused whole. */
  readonly refusedWith: readonly number[]
}

/** Of one delivery in it. */
export interface Part {
  /** As it would have been sent alone: its own entry in the provider's envelope, and nobody else's. */
  readonly request: ProviderRequest
  readonly number: number
  readonly outcome: Verdict
  readonly step: NextStep
}

/** The answer without secrets and identifiers; a provider may repeat in it what it was sent. */
export function keptBodyOf(sent: ProviderRequest, reply: ProviderReply): string {
  return hideInBody(reply.body, sent.secrets, { isCut: reply.failure !== '' })
}

/** A provider's own words may repeat what it was sent. */
export function cleanOutcome(outcome: Verdict, sent: ProviderRequest): Verdict {
  return { ...outcome, code: hide(outcome.code, sent.secrets) }
}

export function attemptOf(exchange: Exchange, part: Part): Attempt {
  const { sent, reply, startedAtMs, endedAtMs } = exchange
  return {
    attemptId: randomBytes(16).toString('hex'),
    number: part.number,
    startedAtMs,
    durationMs: endedAtMs - startedAtMs,
    requestUrl: hide(new URL(targetOf(sent), exchange.baseUrl).href, sent.secrets),
    requestBody: hideInBody(part.request.body, part.request.secrets, { isCut: false }),
    responseStatus: reply.status,
    responseBody: exchange.keptBody,
    outcome: part.outcome.kind,
    code: part.outcome.code,
    nextStep: stepText(part.step),
  }
}

/** What the request used of the visit, and what company it had. */
export function detailOf(exchange: Exchange, request: ProviderRequest, context: DestinationContext): string {
  const parts = [
    ...(context.isValidateOnly ? [validationOf(request)] : []),
    request.detail,
    ...(exchange.jobs > 1 ? [`one of ${exchange.jobs} in a request`] : []),
    ...(exchange.refusedWith.length > 0 ? [`refused before together with others (${statusesOf(exchange)})`] : []),
  ]
  return parts.filter((part) => part !== '').join('; ')
}

function statusesOf({ refusedWith }: Exchange): string {
  return refusedWith.map((status) => `HTTP ${status}`).join(', ')
}

function validationOf(request: ProviderRequest): string {
  const place = request.checkedHere === undefined ? 'validated only' : 'checked here only'
  return request.validation ?? `${place}, nothing is reported`
}

function stepText(step: NextStep): string {
  if (step.kind === 'retry') return `again at ${new Date(step.dueAtMs).toISOString()}`
  return step.kind === 'done' ? 'done' : `${step.kind}: ${step.reason}`
}
