/** Makes the record of an attempt: no secrets, no identifiers of people, 64 KB of each body. */

import { randomBytes } from 'node:crypto'

import type { NextStepText } from '../../domain/reasons.ts'
import type { NextStep } from '../../domain/delivery/attempts.ts'
import type { Attempt } from '../../domain/records.ts'
import { hide, hideInBody } from '../exchange/hide.ts'
import type { DestinationContext, ProviderReply, ProviderRequest, Verdict } from '../providers/provider.ts'
import { requestTarget } from '../exchange/send.ts'

/** One exchange, as recorded for every delivery that it carried. */
export interface LoggedExchange {
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly reply: ProviderReply
  /** Address and answer as they may be stored; made once for all deliveries. */
  readonly kept: RedactedExchange
  /** How many deliveries it carried. */
  readonly jobs: number
  /** Statuses of earlier requests that carried these deliveries together with others and were refused as a whole. */
  readonly refusedWith: readonly number[]
}

interface RedactedExchange {
  readonly requestUrl: string
  readonly responseBody: string
}

/** The part of an exchange that concerns one delivery. */
interface LoggedPart {
  /** The body as if it had been sent alone: its own entry in the provider's envelope and no other. */
  readonly request: ProviderRequest
  readonly number: number
  readonly outcome: Verdict
  readonly step: NextStep
}

/** Removes the secrets and identifiers of every delivery it carried: a provider's answer may repeat what it was sent. */
export function redactedExchange(baseUrl: string, sent: ProviderRequest, reply: ProviderReply): RedactedExchange {
  return {
    requestUrl: hide(new URL(requestTarget(sent), baseUrl).href, sent.secrets),
    responseBody: hideInBody(reply.body, sent.secrets, { isCut: reply.failure !== '' }),
  }
}

/** A provider's code may repeat what it was sent. Most deliveries of a request share one outcome object: each is cleaned once. */
export function cleanOutcomes(outcomes: readonly Verdict[], sent: ProviderRequest): readonly Verdict[] {
  const clean = new Map<Verdict, Verdict>()
  return outcomes.map((outcome) => {
    const known = clean.get(outcome) ?? { ...outcome, code: hide(outcome.code, sent.secrets) }
    clean.set(outcome, known)
    return known
  })
}

export function attemptRecord(exchange: LoggedExchange, part: LoggedPart): Attempt {
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

/** Which parts of the visit the request used, and whether it carried other deliveries. */
export function detailOf(exchange: LoggedExchange, request: ProviderRequest, context: DestinationContext): string {
  const parts = [
    ...(context.isValidateOnly ? [validationOf(request)] : []),
    request.detail,
    ...(exchange.jobs > 1 ? [`one of ${exchange.jobs} in a request`] : []),
    ...(exchange.refusedWith.length > 0 ? [`refused before together with others (${statusesOf(exchange)})`] : []),
  ]
  return parts.filter((part) => part !== '').join('; ')
}

function statusesOf({ refusedWith }: LoggedExchange): string {
  return refusedWith.map((status) => `HTTP ${status}`).join(', ')
}

function validationOf(request: ProviderRequest): string {
  const place = request.checkedHere === undefined ? 'validated only' : 'checked here only'
  return request.validation ?? `${place}, nothing is reported`
}

function stepText(step: NextStep): NextStepText {
  if (step.kind === 'retry') return `again at ${new Date(step.dueAtMs).toISOString()}`
  return step.kind === 'done' ? 'done' : `${step.kind}: ${step.reason}`
}
