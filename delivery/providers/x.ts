/**
 * X: the form of an install in the Conversion API for the web, and the meaning of X's answers.
 *
 * Sources, read in November 2026: [W] docs.x.com/x-ads-api/measurement/web-conversions, [L]
 * docs.x.com/x-ads-api/fundamentals/rate-limiting, [E] docs.x.com/x-ads-api/fundamentals/error-codes-and-responses, and
 * [S] README and template.js of stape-io/twitter-tag (June 2026), which describe the pixel token.
 */

import type { Job } from '../../domain/records.ts'
import { CLICK_LIFETIME_MS, clickId, installAtMs, isOptedOut, landedAtMs, skip, type Row } from './ad-click.ts'
import { requestOfMany, requestOfOne, type RequestEnvelope } from './ad-click.ts'
import { httpOutcome } from './http-outcome.ts'
import { codeWord, integerOf, jsonObject, objectsOf } from './json-answer.ts'
import { objectOf, textOf } from '../../domain/strict-json.ts'
import type { DestinationContext, Outcome, Provider, ProviderReply, Skip } from './provider.ts'

const ROWS = { row: xRow, envelope: xEnvelope }

export const x: Provider = {
  id: 'x',
  request: (job, destination, nowMs) => requestOfOne(ROWS, job, destination, nowMs),
  outcome: (reply) => xOutcome(reply, 1),
  testIdentities: () => ({ x: { twclid: 'whence-send-test' } }),
  // 60,000 events in a quarter of an hour per account; another page says 100,000 requests, so the lower limit applies
  // [L].
  quotas: [
    { counts: 'deliveries', units: 60_000, perMs: 900_000, bucketOf: ({ settings }) => textOf(settings['pixelId']) },
  ],
  batch: {
    // As many as a request may hold; it is accepted as a whole or not at all [W].
    maxJobs: 500,
    request: requestOfMany(ROWS),
    outcomes(reply, jobs) {
      const outcome = xOutcome(reply, jobs.length)
      return outcome.kind === 'refused' && jobs.length > 1 ? 'split' : jobs.map(() => outcome)
    },
  },
}

function xRow(job: Job, destination: DestinationContext, nowMs: number): Row | Skip {
  // The API has no field for an opt-out: its documentation requires the advertiser to send nothing [W].
  if (isOptedOut(job)) return skip('gpc')
  const { twclid: sent, twclid_at: clickedAtMs } = job.visit.identities.x ?? {}
  const twclid = clickId(sent)
  if (twclid === null) return skip('no_identifier')
  // The longest window after an engagement [W].
  if (nowMs - (clickedAtMs ?? landedAtMs(job)) >= CLICK_LIFETIME_MS) return skip('too_old')
  return {
    body: {
      // With milliseconds and a zone, or it is refused [W].
      conversion_time: new Date(installAtMs(job, nowMs)).toISOString(),
      // An event of the account, created beforehand; not an ID of this conversion [W].
      event_id: textOf(destination.settings['eventId']),
      // With the event X's key for repeats, for 48 h [W].
      conversion_id: job.jobId,
      // One object per identifier. Address and user agent would require each other, and neither is kept [W].
      identifiers: [{ twclid }],
      number_items: 1,
    },
    detail: 'twclid',
    secrets: [twclid],
  }
}

function xEnvelope(rows: readonly Row[], destination: DestinationContext): RequestEnvelope {
  const { settings, secrets, isValidateOnly } = destination
  const pixelToken = textOf(secrets['pixelToken'])
  const pixelId = textOf(settings['pixelId'])
  return {
    method: 'POST',
    path: `/12/measurement/conversions/${pixelId}`,
    query: {},
    // Instead of a signature of OAuth 1.0a, which ends in December 2026 [S].
    headers: { 'content-type': 'application/json', 'x-pixel-token': pixelToken },
    body: JSON.stringify({ conversions: rows.map(({ body }) => body) }),
    secrets: [pixelToken, ...rows.flatMap((row) => row.secrets)],
    // There is no test facility [W].
    ...(isValidateOnly ? { checkedHere: faultsOf(pixelId, textOf(settings['eventId'])) } : {}),
  }
}

/** IDs of pixels are numbers in base 36; IDs of events are such a number, alone or after the pixel's [W]. */
function faultsOf(pixelId: string, eventId: string): string[] {
  const isPixel = /^[a-z0-9]{1,20}$/.test(pixelId)
  const isEvent = /^[a-z0-9]{1,20}$/.test(eventId) || /^tw-[a-z0-9]{1,20}-[a-z0-9]{1,20}$/.test(eventId)
  return [...(isPixel ? [] : ['pixelId is not a pixel ID']), ...(isEvent ? [] : ['eventId is not an event ID'])]
}

/** X's statuses for an unknown pixel or event, and for a token without access to it: a person must fix that [E]. */
const CONFIGURATION: ReadonlySet<number> = new Set([401, 403, 404])
/** A lock of X's own that was not free in time [E]. */
const LOCKED = 423

function xOutcome(reply: ProviderReply, sent: number): Outcome {
  const { status } = reply
  const answer = jsonObject(reply.body)
  if (status === 200) {
    const processed = integerOf(objectOf(answer['data'])['conversions_processed'])
    if (processed === null) return { kind: 'retry', code: 'unreadable_answer' }
    if (processed === 0) return { kind: 'refused', code: 'conversions_processed 0' }
    return { kind: 'delivered', code: processed === sent ? 'processed' : `processed ${processed} of ${sent}` }
  }
  const plain = httpOutcome(reply)
  // Only X's own error codes count as a wrong setting: any web server in between may answer 404.
  const words = objectsOf(answer['errors']).map((error) => codeWord(error['code']))
  const code = words.find((word) => word !== '') ?? plain.code
  if (status === LOCKED) return { kind: 'retry', code }
  if (plain.kind === 'throttled') return { ...plain, code, retryAfter: plain.retryAfter ?? resetDate(reply) }
  if (CONFIGURATION.has(status) && words.length > 0) return { kind: 'credentials', code }
  return { ...plain, code }
}

/** The end of the window as an HTTP date, if known: Unix seconds in either of two headers [L]. */
function resetDate(reply: ProviderReply): string | null {
  const text = reply.headers['x-account-rate-limit-reset'] ?? reply.headers['x-rate-limit-reset'] ?? ''
  return /^[0-9]{10}$/.test(text) ? new Date(Number(text) * 1_000).toUTCString() : null
}
