/**
 * Meta: the form of an install in the Conversions API, and the meaning of Meta's answers.
 *
 * Sources, under developers.facebook.com (read in November 2026): [E]
 * documentation/ads-commerce/conversions-api/parameters/server-event (2026-02-12), [F]
 * documentation/ads-commerce/conversions-api/parameters/fbp-and-fbc (2026-01-09), [U]
 * docs/marketing-api/conversions-api/using-the-api, [D] docs/marketing-apis/data-processing-options, [L]
 * docs/marketing-api/overview/rate-limiting; and for the meaning of error codes [R] facebookUtils/networkHandler.js of
 * rudderlabs/rudder-transformer, an open connector that handles all of them.
 */

import type { Job } from '../../domain/records.ts'
import {
  CLICK_LIFETIME_MS,
  clickId,
  installAtMs,
  isOptedOut,
  landedAtMs,
  skip,
  type Row,
  requestOfMany,
  requestOfOne,
  testEventCode,
  type RequestEnvelope,
} from './ad-click.ts'
import { httpOutcome } from './http-outcome.ts'
import { integerOf, jsonObject } from './json-answer.ts'
import { objectOf, textOf, type JsonObject } from '../../domain/strict-json.ts'
import type { DestinationContext, Outcome, Provider, ProviderReply, Skip } from './provider.ts'
import { MINUTE_MS } from '../../domain/durations.ts'

const ROWS = { row: metaRow, envelope: metaEnvelope }

export const meta: Provider = {
  id: 'meta',
  request: (job, destination, nowMs) => requestOfOne(ROWS, job, destination, nowMs),
  outcome: (reply) => metaOutcome(reply, 1),
  testIdentities: () => ({ meta: { fbclid: 'whence-send-test' } }),
  batch: {
    // As many as a request may hold; one bad event fails them all, and none is named [U].
    maxJobs: 1_000,
    request: requestOfMany(ROWS),
    outcomes(reply, jobs) {
      const outcome = metaOutcome(reply, jobs.length)
      return outcome.kind === 'refused' && jobs.length > 1 ? 'split' : jobs.map(() => outcome)
    },
  },
}

/** Versions of the Conversions API live for two years at least [U]. */
const VERSION = 'v26.0'

function metaRow(job: Job, destination: DestinationContext, nowMs: number): Row | Skip {
  if (isOptedOut(job)) return skip('gpc')
  const identity = job.visit.identities.meta ?? {}
  const fbc = fbcOf(job, nowMs)
  const fbp = isBrowserId(identity.fbp) ? identity.fbp : null
  const used = [...(fbc === null ? [] : [fbc]), ...(fbp === null ? [] : [{ value: fbp, name: 'fbp' }])]
  // Without an identifier Meta refuses the event and with it the batch [E, user_data].
  if (used.length === 0) return skip('no_identifier')
  const isLimited = destination.settings['limitedDataUse'] === true
  return {
    body: {
      event_name: textOf(destination.settings['eventName']) || 'CLIInstall',
      // Whole seconds; milliseconds would be a date of the far future [E].
      event_time: Math.floor(installAtMs(job, nowMs) / 1_000),
      // With the name of the event Meta's key for repeats, for 48 h [E].
      event_id: job.jobId,
      // `website` requires the visitor's user agent, which the service does not keep [E].
      action_source: 'system_generated',
      // Click IDs go in the clear and unchanged, never hashed [F].
      user_data: { ...(fbc === null ? {} : { fbc: fbc.value }), ...(fbp === null ? {} : { fbp }) },
      ...dataProcessing(isLimited),
    },
    detail: used.map(({ name }) => name).join(' and '),
    secrets: [...used.map(({ value }) => value), ...(identity.fbclid === undefined ? [] : [identity.fbclid])],
  }
}

function metaEnvelope(rows: readonly Row[], destination: DestinationContext): RequestEnvelope {
  const { settings, secrets, isValidateOnly } = destination
  const accessToken = textOf(secrets['accessToken'])
  const testCode = testEventCode(destination)
  return {
    method: 'POST',
    path: `/${VERSION}/${textOf(settings['pixelId'])}/events`,
    query: {},
    // A token in the URL would end up in logs on the way [U takes both].
    headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
    body: JSON.stringify({
      data: rows.map(({ body }) => body),
      ...(testCode === null ? {} : { test_event_code: testCode }),
    }),
    secrets: [accessToken, ...rows.flatMap((row) => row.secrets)],
    // Meta has no validation that does not count: it counts test events like any other [U].
    ...(testCode === null
      ? {}
      : { validation: 'sent as a test event, which Meta shows under Test Events and also counts' }),
    ...(isValidateOnly && testCode === null ? { checkedHere: [] } : {}),
  }
}

/** The cookie wins; otherwise it is built from the click ID and the time at which that was first seen [F]. */
function fbcOf(job: Job, nowMs: number): { value: string; name: string } | null {
  const { fbc, fbclid } = job.visit.identities.meta ?? {}
  if (fbc !== undefined && isFreshClick(fbc, nowMs)) return { value: fbc, name: 'fbc of the cookie' }
  const id = clickId(fbclid)
  if (id === null) return null
  const value = `fb.1.${Math.round(landedAtMs(job))}.${id}`
  return isFreshClick(value, nowMs) ? { value, name: 'fbc from fbclid' } : null
}

/** A malformed one fails its whole batch, and so does a click older than 90 days or from the future [F]. */
function isFreshClick(fbc: string, nowMs: number): boolean {
  const atMs = Number(
    /^fb\.[0-9]{1,2}\.([0-9]{13})\.[A-Za-z0-9_~-][A-Za-z0-9_.~-]{0,999}$/.exec(fbc)?.[1] ?? Number.NaN,
  )
  return atMs <= nowMs + MINUTE_MS && nowMs - atMs < CLICK_LIFETIME_MS
}

/** `fb`, subdomain index, milliseconds, random number; a further segment may follow [F]. */
function isBrowserId(fbp: string | undefined): fbp is string {
  return fbp !== undefined && /^fb\.[0-9]{1,2}\.[0-9]{10,14}\.[0-9]{1,20}(?:\.[A-Za-z0-9_-]{1,100})?$/.test(fbp)
}

/**
 * An empty list explicitly limits nothing. If both numbers are 0, Meta derives the state from the visitor's address
 * [D]; no address is kept, so a limit names the one state whose number is documented, and applies to all visitors.
 */
function dataProcessing(isLimited: boolean): JsonObject {
  if (!isLimited) return { data_processing_options: [] }
  return {
    data_processing_options: ['LDU'],
    data_processing_options_country: 1,
    data_processing_options_state: 1_000,
  }
}

/** Error codes by the necessary reaction [R, L]; a subcode follows a slash. */
const THROTTLED: ReadonlySet<number> = new Set([4, 17, 32, 613, 80_003, 80_004])
const CREDENTIALS: ReadonlySet<string> = new Set(['3', '10', '190', '294', '100/33'])
const PASSING: ReadonlySet<number> = new Set([1, 2, 341, 368, 5_000, 21_009])
const PERMANENT: ReadonlySet<number> = new Set([100, 105])

function metaOutcome(reply: ProviderReply, sent: number): Outcome {
  const answer = jsonObject(reply.body)
  const error = objectOf(answer['error'])
  const code = integerOf(error['code'])
  if (code !== null) return metaErrorOutcome(reply, error, code)
  if (reply.status === 200) return receivedOutcome(answer, sent)
  const plain = httpOutcome(reply)
  // Meta's own refusals are JSON; a page of HTML comes from a server in front of it [R].
  const isForeign = plain.kind === 'refused' && reply.status >= 400
  return isForeign ? { kind: 'retry', code: `${plain.code} unreadable` } : plain
}

/** A count that does not match is no reason to send all of them again: the missing ones are unknown. */
function receivedOutcome(answer: JsonObject, sent: number): Outcome {
  const received = integerOf(answer['events_received'])
  if (received === null) return { kind: 'retry', code: 'unreadable_answer' }
  if (received === 0) return { kind: 'refused', code: 'events_received 0' }
  return { kind: 'delivered', code: received === sent ? 'received' : `received ${received} of ${sent}` }
}

function metaErrorOutcome(reply: ProviderReply, error: JsonObject, code: number): Outcome {
  const subcode = integerOf(error['error_subcode'])
  const shown = subcode === null ? String(code) : `${code}/${subcode}`
  const retryAfter = reply.headers['retry-after'] ?? null
  if (THROTTLED.has(code) || reply.status === 429) return { kind: 'throttled', code: shown, retryAfter }
  // All codes from 200 to 299 are about permissions.
  const isPermission = code >= 200 && code < 300
  if (isPermission || CREDENTIALS.has(String(code)) || CREDENTIALS.has(shown))
    return { kind: 'credentials', code: shown }
  if (error['is_transient'] === true || PASSING.has(code)) return { kind: 'retry', code: shown }
  if (PERMANENT.has(code)) return { kind: 'refused', code: shown }
  return { ...httpOutcome(reply), code: shown }
}
