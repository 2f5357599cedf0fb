/**
 * GA4: the form of an install in Google's Measurement Protocol, and the meaning of Google's answers.
 *
 * Sources, under developers.google.com/analytics/devguides/collection/protocol/ga4 (read in November 2026): [R]
 * reference, [S] sending-events, [U] use-cases, [V] validating-events.
 */

import { parsedAs, shapeOf, isList } from '../../domain/guards.ts'
import { isGa4ClientId } from '../../domain/delivery/deliveries.ts'
import { ga4 as descriptor } from '../../domain/providers/ga4.ts'
import type { SessionMode } from '../../domain/model.ts'
import type { Job } from '../../domain/records.ts'
import { httpOutcome } from './http-outcome.ts'
import type { DestinationContext, Outcome, Provider, ProviderReply, ProviderRequest, Skip } from './provider.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { textOf, memberOf } from '../../domain/strict-json.ts'

export const ga4: Provider = {
  id: 'ga4',
  request: ga4Request,
  outcome: ga4Outcome,
  testIdentities: ({ measurementId }, atMs) => {
    const atS = String(Math.floor(atMs / 1_000))
    return { ga4: { [textOf(measurementId)]: { client_id: `1000000000.${atS}`, session_id: atS } } }
  },
}

/** Google joins an event to a web session only if the request comes within a day of the session's start [U]. */
const JOINABLE_MS = 24 * HOUR_MS
/** Longest value of a custom parameter in a standard property [S, limitations]. */
const PARAM_CHARS = 100

const UNCHECKED = 'validated only, nothing is reported, and neither measurement ID nor API secret is checked'

interface Identity {
  readonly client_id?: string
  readonly session_id?: string
}

/** Session and time of the event, and their description for `explain`. */
interface Timing {
  readonly sessionId: string | null
  readonly atMs: number
  readonly sessionMode: SessionMode
  readonly detail: string
}

function ga4Request(job: Job, destination: DestinationContext, nowMs: number): ProviderRequest | Skip {
  const measurementId = textOf(destination.settings['measurementId'])
  const apiSecret = textOf(destination.secrets['apiSecret'])
  const identity: Identity = job.visit.identities.ga4?.[measurementId] ?? {}
  const clientId = identity.client_id
  // An invented client ID would be accepted and would create a new user who never visited [R, client_id]: nothing is
  // sent.
  if (!isGa4ClientId(clientId)) return { kind: 'skip', reason: 'no_client_id' }

  const timing = timingOf(job, identity, nowMs)
  const body = {
    client_id: clientId,
    // Microseconds: milliseconds would be accepted without an error and dated 1970 [R].
    timestamp_micros: timing.atMs * 1_000,
    ...ga4Consent(job),
    // Advised for validation only: there it also refuses wrong types and times past the limit [V].
    ...(destination.isValidateOnly ? { validation_behavior: 'ENFORCE_RECOMMENDATIONS' } : {}),
    // The names are the contract's event types; none of them is reserved [R, reserved names].
    events: [{ name: job.install.eventType, params: paramsOf(job, timing) }],
  }
  return {
    method: 'POST',
    // The validation server takes the same request; nothing that it receives reaches reports [V].
    path: destination.isValidateOnly ? '/debug/mp/collect' : '/mp/collect',
    query: { measurement_id: measurementId, api_secret: apiSecret },
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    sessionMode: timing.sessionMode,
    detail: timing.detail,
    secrets: [apiSecret, clientId, ...(timing.sessionId === null ? [] : [timing.sessionId])],
    // The validation server checks neither the measurement ID nor the secret [V].
    ...(destination.isValidateOnly ? { validation: UNCHECKED } : {}),
  }
}

/**
 * Inside the reconstruction window the event carries the visit's session and, while Google accepts it, the visit's own
 * time, which is inside that session; later it carries the true time of the install. Google silently replaces a time
 * past the limit [R, timestamp_micros], so none is ever sent: the job expires first.
 */
function timingOf(job: Job, identity: Identity, nowMs: number): Timing {
  const installAtMs = Math.min(job.install.receivedAtMs, nowMs)
  const sessionId = isSessionId(identity.session_id) ? identity.session_id : null
  if (job.sessionMode !== 'original_session_window') {
    return {
      sessionId: null,
      atMs: installAtMs,
      sessionMode: 'client_only',
      detail: 'client ID only: the visit is older than the reconstruction window',
    }
  }
  if (sessionId === null) {
    return {
      sessionId,
      atMs: installAtMs,
      sessionMode: 'client_only',
      detail: 'client ID only: the visit has no session of this measurement ID',
    }
  }
  const startedAtMs = sessionStartMs(sessionId, job)
  const inSessionAtMs = Math.min(Math.max(startedAtMs, job.visit.issuedAtMs), installAtMs)
  const isTaken = nowMs - inSessionAtMs <= descriptor.maxAgeMs
  const joinableUntilMs = startedAtMs + JOINABLE_MS
  const time = isTaken
    ? 'timestamp inside that session'
    : 'timestamp of the install, as the session is older than GA4 accepts'
  const join =
    nowMs <= joinableUntilMs
      ? 'GA4 can join it to the session'
      : 'GA4 can no longer join it to the session, which began more than 24 h ago'
  return {
    sessionId,
    atMs: isTaken ? inSessionAtMs : installAtMs,
    sessionMode: 'original_session_window',
    detail: `original session, ${time}; ${join}`,
  }
}

/** A web session's ID is the Unix second it began; if the value cannot be that, the visit's own time is used. */
function sessionStartMs(sessionId: string, job: Job): number {
  const startMs = Number(sessionId) * 1_000
  const isPlausible = Math.abs(startMs - job.visit.issuedAtMs) <= JOINABLE_MS
  return isPlausible ? startMs : job.visit.issuedAtMs
}

/** A positive integer [R, session_id]. */
function isSessionId(value: string | undefined): value is string {
  return value !== undefined && /^[1-9][0-9]{0,18}$/.test(value)
}

/**
 * Session and time come from the visit; ID, time, platform and path from the install. Page, referrer and UTM values are
 * not sent: GA4 has its own from the session, and sending them again could override it.
 */
function paramsOf(job: Job, timing: Timing): Record<string, string | number> {
  const { installPath, platform, receivedAtMs, kind } = job.install
  return {
    ...(timing.sessionId === null ? {} : { session_id: timing.sessionId }),
    // Without it the event shows in real time and is missing from reports; zero counts as no activity [S].
    engagement_time_msec: 1,
    install_id: job.jobId,
    install_time: new Date(receivedAtMs).toISOString(),
    install_kind: kind,
    ...(platform === '' ? {} : { platform: paramText(platform) }),
    ...(installPath === null || installPath === '' ? {} : { install_path: paramText(installPath) }),
  }
}

/**
 * Under Global Privacy Control both are denied. Without it the field is omitted: Google then uses the consent that this
 * client gave on the website [R, consent], which the service does not know and must not override.
 */
function ga4Consent(job: Job): { consent?: { ad_user_data: 'DENIED'; ad_personalization: 'DENIED' } } {
  const isOptedOut = job.install.gpc || job.visit.gpc
  return isOptedOut ? { consent: { ad_user_data: 'DENIED', ad_personalization: 'DENIED' } } : {}
}

/** The live endpoint answers 2xx to anything it receives, well-formed or not [R]: delivered means accepted. */
function ga4Outcome(reply: ProviderReply, destination: DestinationContext): Outcome {
  const { status } = reply
  if (status >= 200 && status < 300) {
    return destination.isValidateOnly ? verdictOf(reply) : { kind: 'delivered', code: 'accepted' }
  }
  return httpOutcome(reply)
}

/** No message means valid; the API secret is not covered, because the validation server does not check it [V]. */
function verdictOf(reply: ProviderReply): Outcome {
  const messages = validationMessages(reply.body)
  if (messages === null) return { kind: 'retry', code: 'unreadable_verdict' }
  const first = messages[0]
  if (first === undefined) return { kind: 'delivered', code: 'validated' }
  const more = messages.length > 1 ? ` and ${messages.length - 1} more` : ''
  return { kind: 'refused', code: `${first}${more}` }
}

/** Code and field of each message; null if the answer is not as documented. */
function validationMessages(body: string): readonly string[] | null {
  const messages = parsedAs(hasMessages, body)?.validationMessages
  if (messages === undefined) return null
  return messages.map((entry) => {
    return paramText(`${textOf(memberOf(entry, 'validationCode'))} ${textOf(memberOf(entry, 'fieldPath'))}`.trim())
  })
}

const hasMessages = shapeOf<{ readonly validationMessages: readonly unknown[] }>({ validationMessages: isList })

function paramText(value: string): string {
  return value.slice(0, PARAM_CHARS).toWellFormed()
}
