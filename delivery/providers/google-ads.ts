/**
 * Google Ads: the form of an install in the Data Manager API, and the meaning of Google's answers and later verdicts.
 *
 * Sources, read in November 2026: [P] google/ads/datamanager/v1/*.proto and datamanager_grpc_service_config.json in
 * googleapis/googleapis; under developers.google.com/data-manager/api: [L] devguides/limits, [D] devguides/diagnostics,
 * [E] devguides/concepts/understand-errors, [M] devguides/events/google-ads/offline/upgrade/field-mappings;
 * [A] support.google.com/google-ads/answer/16194756 on session attributes; and for the wait after a click
 * [C] google/ads/googleads/v25/errors/conversion_upload_error.proto, TOO_RECENT_EVENT, of the older upload.
 */

import type { Accepted, Job } from '../../domain/records.ts'
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
  type RequestEnvelope,
} from './ad-click.ts'
import { sessionAttributes } from './google-session.ts'
import { httpOutcome } from './http-outcome.ts'
import { codeWord, jsonObject, objectsOf } from './json-answer.ts'
import { objectOf, textOf, type JsonObject } from '../../domain/strict-json.ts'
import type {
  DestinationContext,
  OauthGrant,
  Outcome,
  Provider,
  ProviderReply,
  ProviderRequest,
  Skip,
  Verdict,
} from './provider.ts'

const ROWS = { row: googleRow, envelope: googleEnvelope }

export const googleAds: Provider = {
  id: 'google_ads',
  // Either of two sets, so no single name is needed.
  request: (job, destination, nowMs) => requestOfOne(ROWS, job, destination, nowMs),
  outcome: googleOutcome,
  testIdentities: () => ({ google_ads: { gclid: 'whence-send-test' } }),
  notBeforeMs,
  auth: { grant: grantOf },
  verdict: { request: verdictRequest, outcome: verdictOutcome },
  // 300 writes a minute and 100,000 a day for a project of Google Cloud [L].
  quotas: [
    { counts: 'requests', units: 300, perMs: 60_000, bucketOf: projectOf },
    { counts: 'requests', units: 100_000, perMs: 86_400_000, bucketOf: projectOf },
  ],
  batch: {
    // As many as a request may hold; one invalid event fails them all [L, E].
    maxJobs: 2_000,
    request: requestOfMany(ROWS),
    outcomes(reply, jobs, destination) {
      const outcome = googleOutcome(reply, destination)
      return outcome.kind === 'refused' && jobs.length > 1 ? 'split' : jobs.map(() => outcome)
    },
  },
}

/** Conversion imports do not know a younger click yet [C]; Data Manager documents the error, but not the time. */
const FRESH_CLICK_MS = 6 * 3_600_000

const SCOPE = 'https://www.googleapis.com/auth/datamanager'
/** Named inside an assertion. The address in a key file was chosen by whoever wrote the file, so nothing is ever sent there. */
const AUDIENCE = 'https://oauth2.googleapis.com/token'

interface Click {
  readonly field: 'gclid' | 'wbraid' | 'gbraid'
  readonly id: string
  readonly atMs: number
}

/** One identifier is sent: a gclid if there is one, as a braid does not suit every kind of conversion action [M]. */
function clickOf(job: Job): Click | null {
  const { gclid, wbraid, gbraid, gcl_aw: cookie } = job.visit.identities.google_ads ?? {}
  const kept = /^GCL\.([0-9]{10})\.(.+)$/.exec(cookie ?? '')
  const cookieId = clickId(kept?.[2])
  const id = clickId(gclid) ?? cookieId
  // The cookie has the time of the click, if it is for this click.
  const clickedAtMs = id !== null && id === cookieId ? Number(kept?.[1]) * 1_000 : landedAtMs(job)
  if (id !== null) return { field: 'gclid', id, atMs: Math.min(clickedAtMs, job.visit.issuedAtMs) }
  for (const [field, value] of [
    ['wbraid', wbraid],
    ['gbraid', gbraid],
  ] as const) {
    const braid = clickId(value)
    if (braid !== null) return { field, id: braid, atMs: landedAtMs(job) }
  }
  return null
}

/** Validation checks only the request, so there is nothing to wait for. */
function notBeforeMs(job: Job, destination: DestinationContext): number {
  const click = clickOf(job)
  return click === null || destination.isValidateOnly ? 0 : click.atMs + FRESH_CLICK_MS
}

function googleRow(job: Job, destination: DestinationContext, nowMs: number): Row | Skip {
  // Google would discard it as DENIED_CONSENT [P, processing_errors].
  if (isOptedOut(job)) return skip('gpc')
  const click = clickOf(job)
  if (click === null) return skip('no_identifier')
  if (nowMs - click.atMs >= CLICK_LIFETIME_MS) return skip('too_old')
  const attributes = sessionAttributes(job.visit)
  return {
    body: {
      // Google's key for repeats [P, event].
      transactionId: job.jobId,
      eventTimestamp: new Date(installAtMs(job, nowMs)).toISOString(),
      // Optional in the definition, but the service requires it for Google Ads.
      eventSource: 'WEB',
      adIdentifiers: { [click.field]: click.id, ...(attributes === null ? {} : { sessionAttributes: attributes }) },
      ...adsConsent(destination),
    },
    detail: attributes === null ? click.field : `${click.field} and session attributes`,
    secrets: [click.id, ...(attributes === null ? [] : [attributes])],
  }
}

/**
 * The consent of the visitors as stated by the website's owner. Without a statement the field is omitted: the service
 * does not know whether a visitor consented, and claiming it would be wrong.
 */
function adsConsent({ settings }: DestinationContext): JsonObject {
  const { consent } = settings
  if (consent !== 'Granted' && consent !== 'NotPersonalized') return {}
  const adPersonalization = consent === 'Granted' ? 'CONSENT_GRANTED' : 'CONSENT_DENIED'
  return { consent: { adUserData: 'CONSENT_GRANTED', adPersonalization } }
}

function googleEnvelope(rows: readonly Row[], destination: DestinationContext): RequestEnvelope {
  const { settings, isValidateOnly } = destination
  const account = (accountId: unknown) => ({ accountType: 'GOOGLE_ADS', accountId: textOf(accountId) })
  const loginCustomerId = textOf(settings['loginCustomerId'])
  const target = {
    operatingAccount: account(settings['customerId']),
    // With direct access, naming a manager is refused as missing permission.
    ...(loginCustomerId === '' ? {} : { loginAccount: account(loginCustomerId) }),
    // The number of the conversion action, not its resource name [M].
    productDestinationId: textOf(settings['conversionActionId']),
  }
  return {
    method: 'POST',
    path: '/v1/events:ingest',
    query: {},
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      destinations: [target],
      events: rows.map(({ body }) => body),
      // Checks everything and keeps nothing; no verdict follows [D].
      validateOnly: isValidateOnly,
    }),
    secrets: rows.flatMap((row) => row.secrets),
  }
}

/** Three values for a person's consent, or the key file of a service account. */
function grantOf(secrets: Readonly<Record<string, string>>): OauthGrant | null {
  const { clientId = '', clientSecret = '', refreshToken = '', serviceAccountJson = '' } = secrets
  if (clientId !== '' && clientSecret !== '' && refreshToken !== '') {
    return { kind: 'refresh_token', clientId, clientSecret, refreshToken }
  }
  const key = jsonObject(serviceAccountJson)
  const issuer = textOf(key['client_email'])
  const privateKeyPem = textOf(key['private_key'])
  if (issuer === '' || privateKeyPem === '') return null
  const keyId = textOf(key['private_key_id'])
  return { kind: 'assertion', issuer, privateKeyPem, keyId, scope: SCOPE, audience: AUDIENCE }
}

/**
 * The project that owns the credentials: a client's ID begins with its number, a service account's address ends in it.
 */
function projectOf({ secrets }: DestinationContext): string {
  const grant = grantOf(secrets)
  if (grant?.kind === 'refresh_token') return grant.clientId.split('-')[0] ?? ''
  return grant?.issuer.split('@').at(-1) ?? ''
}

/** 200 means accepted for processing; the verdict comes later [D]. */
function googleOutcome(reply: ProviderReply, destination: DestinationContext): Outcome {
  if (reply.status !== 200) return googleErrorOutcome(reply)
  // A truncated body may lack only its end; without the ID the verdict cannot be requested.
  if (reply.failure !== '') return { kind: 'retry', code: 'unreadable_answer' }
  if (destination.isValidateOnly) return { kind: 'delivered', code: 'validated' }
  const reference = textOf(jsonObject(reply.body)['requestId'])
  if (!/^[A-Za-z0-9_./=:-]{1,200}$/.test(reference)) return { kind: 'retry', code: 'unreadable_answer' }
  return { kind: 'accepted', code: 'accepted', reference }
}

const THROTTLED: ReadonlySet<string> = new Set(['RESOURCE_EXHAUSTED'])
/** The first two by the service's own configuration [P], the others by their meaning. */
const PASSING: ReadonlySet<string> = new Set(['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'INTERNAL', 'ABORTED', 'UNKNOWN'])

function googleErrorOutcome(reply: ProviderReply): Outcome {
  const error = objectOf(jsonObject(reply.body)['error'])
  const status = codeWord(error['status'])
  const plain = httpOutcome(reply)
  if (status === '') return plain
  const reasons = objectsOf(error['details']).map((detail) => codeWord(detail['reason']))
  const reason = reasons.find((word) => word !== '') ?? ''
  const code = `${status} ${reason}`.trim()
  if (THROTTLED.has(status)) return { kind: 'throttled', code, retryAfter: reply.headers['retry-after'] ?? null }
  if (PASSING.has(status) && plain.kind === 'refused') return { kind: 'retry', code }
  return { ...plain, code }
}

function verdictRequest(accepted: Accepted, _destination: DestinationContext): ProviderRequest {
  return {
    method: 'GET',
    path: '/v1/requestStatus:retrieve',
    query: { requestId: accepted.reference },
    headers: {},
    body: '',
    sessionMode: 'none',
    detail: "asked for Google's verdict",
    secrets: [],
  }
}

const REASON_PREFIX = /^PROCESSING_ERROR_REASON_/
/** The same conversion was counted before, as a repeat should be. */
const COUNTED: ReadonlySet<string> = new Set(['DUPLICATE_TRANSACTION_ID', 'DUPLICATE_GCLID'])
const MAY_PASS: ReadonlySet<string> = new Set(['TOO_RECENT_CLICK', 'INTERNAL_ERROR'])

/** Only counts are reported, never which event: a mixed verdict stays one for the whole request [D]. */
function verdictOutcome(reply: ProviderReply): Verdict {
  if (reply.status !== 200) {
    const outcome = googleErrorOutcome(reply)
    return outcome.kind === 'refused' ? { kind: 'undecided', code: outcome.code } : outcome
  }
  const rows = objectsOf(jsonObject(reply.body)['requestStatusPerDestination'])
  const states = new Set(rows.map((row) => textOf(row['requestStatus'])))
  const reasons = reasonsOf(rows)
  const code = [...states, ...reasons].map(codeWord).join(' ').slice(0, 200)
  const isJudged = states.size > 0 && [...states].every((state) => JUDGED.has(state))
  if (!isJudged) return { kind: 'undecided', code: code === '' ? 'unreadable_answer' : code }
  if (states.size > 1 || !states.has('FAILED')) return { kind: 'delivered', code }
  if (reasons.length > 0 && reasons.every((reason) => COUNTED.has(reason))) return { kind: 'delivered', code }
  const mayPass = reasons.length > 0 && reasons.every((reason) => MAY_PASS.has(reason))
  return { kind: mayPass ? 'resend' : 'refused', code }
}

const JUDGED: ReadonlySet<string> = new Set(['SUCCESS', 'PARTIAL_SUCCESS', 'FAILED'])

function reasonsOf(rows: readonly JsonObject[]): readonly string[] {
  const counts = rows.flatMap((row) => objectsOf(objectOf(row['errorInfo'])['errorCounts']))
  return [...new Set(counts.map((count) => textOf(count['reason']).replace(REASON_PREFIX, '')))]
}
