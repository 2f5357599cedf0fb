/** Makes what is kept of an attempt: no secret, no identifier of anybody, 64 KB of each body. */

import { randomBytes } from 'node:crypto'

import type { NextStep } from '../../domain/delivery/attempts.ts'
import type { Attempt } from '../../domain/records.ts'
import { hide, hideInBody } from '../exchange/hide.ts'
import type { DestinationContext, ProviderReply, ProviderRequest, Verdict } from '../providers/provider.ts'
import { targetOf } from '../exchange/send.ts'

/** One exchange as all the deliveries that it carried saw it. */
export interface Exchange {
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly reply: ProviderReply
  /** Address and answer as they may be kept; made once for all of them. */
  readonly kept: KeptExchange
  /** How many deliveries it was about. */
  readonly jobs: number
  /** Statuses of requests that carried these deliveries before, with others, and were refused whole. */
  readonly refusedWith: readonly number[]
}

export interface KeptExchange {
  readonly requestUrl: string
  readonly responseBody: string
}

/** Of one delivery in it. */
export interface Part {
  /** As it would have been sent alone: its own entry in the provider's envelope, and nobody else's. */
  readonly request: ProviderRequest
  readonly number: number
  readonly outcome: Verdict
  readonly step: NextStep
}

/** Without secrets and identifiers of any delivery in it; a provider may repeat in its answer what it was sent. */
export function keptOf(baseUrl: string, sent: ProviderRequest, reply: ProviderReply): KeptExchange {
  return {
    requestUrl: hide(new URL(targetOf(sent), baseUrl).href, sent.secrets),
    responseBody: hideInBody(reply.body, sent.secrets, { isCut: reply.failure !== '' }),
  }
}

/** A provider's own words may repeat what it was sent. Most outcomes of a request are one: each is looked at once. */
export function cleanOutcomes(outcomes: readonly Verdict[], sent: ProviderRequest): readonly Verdict[] {
  const clean = new Map<Verdict, Verdict>()
  return outcomes.map((outcome) => {
    const known = clean.get(outcome) ?? { ...outcome, code: hide(outcome.code, sent.secrets) }
    clean.set(outcome, known)
    return known
  })
}

export function attemptOf(exchange: Exchange, part: Part): Attempt {
  const { kept, reply, startedAtMs, endedAtMs } = exchange
  return {
    attemptId: randomBytes(16).toString('hex'),
    number: part.number,
    startedAtMs,
    durationMs: endedAtMs - startedAtMs,
    requestUrl: kept.requestUrl,
    requestBody: hideInBody(part.request.body, part.request.secrets, { isCut: false }),
    responseStatus: reply.status,
    responseBody: kept.responseBody,
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
