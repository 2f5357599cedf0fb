/**
 * TikTok: the form of an install in the Events API 1.3 ("Events 2.0"), and the meaning of TikTok's answers.
 *
 * The reference at business-api.tiktok.com could not be read in November 2026. Sources are TikTok's help pages [H]
 * ads.tiktok.com/help (Events API, event deduplication, attribution windows), and connectors that agree: [R]
 * src/v0/destinations/tiktok_ads of rudderlabs/rudder-transformer, with its README and business logic, [S]
 * stape-io/tiktok-tag (template.js, issue 10).
 */

import type { Job } from '../../domain/records.ts'
import {
  clickId,
  installAtMs,
  isOptedOut,
  landedAtMs,
  requestOfMany,
  requestOfOne,
  skip,
  type Row,
  testEventCode,
  type RequestEnvelope,
} from './ad-click.ts'
import { httpOutcome } from './http-outcome.ts'
import { integerOf, jsonObject } from './json-answer.ts'
import { textOf } from '../../domain/strict-json.ts'
import type { DestinationContext, Outcome, Provider, ProviderReply, Skip } from './provider.ts'

const ROWS = { row: tiktokRow, envelope: tiktokEnvelope }

export const tiktok: Provider = {
  id: 'tiktok',
  request: (job, destination, nowMs) => requestOfOne(ROWS, job, destination, nowMs),
  outcome: tiktokOutcome,
  testIdentities: () => ({ tiktok: { ttclid: 'whence-send-test' } }),
  // 1,000 requests a second for a token [R], which belongs to a pixel.
  quotas: [
    { counts: 'requests', units: 1_000, perMs: 1_000, bucketOf: ({ settings }) => textOf(settings['pixelCode']) },
  ],
  batch: {
    // As many as a request may hold [R].
    maxJobs: 1_000,
    request: requestOfMany(ROWS),
    outcomes(reply, jobs) {
      const outcome = tiktokOutcome(reply)
      return outcome.kind === 'refused' && jobs.length > 1 ? 'split' : jobs.map(() => outcome)
    },
  },
}

/** The longest window in which a click counts [H]. */
const CLICK_WINDOW_MS = 28 * 86_400_000

function tiktokRow(job: Job, destination: DestinationContext, nowMs: number): Row | Skip {
  if (isOptedOut(job)) return skip('gpc')
  const identity = job.visit.identities.tiktok ?? {}
  const isFresh = nowMs - (identity.ttclid_at ?? landedAtMs(job)) < CLICK_WINDOW_MS
  const ttclid = isFresh ? clickId(identity.ttclid) : null
  const ttp = clickId(identity.ttp)
  if (ttclid === null && ttp === null) return skip('no_identifier')
  return {
    body: {
      event: textOf(destination.settings['eventName']) || 'Download',
      // Whole seconds [R].
      event_time: Math.floor(installAtMs(job, nowMs) / 1_000),
      // With pixel and event TikTok's key for repeats, for 48 h [H]; always a text, or it is refused [S, issue 10].
      event_id: job.jobId,
      // Both are sent in the clear; unknown ones are omitted, never sent empty [R].
      user: { ...(ttclid === null ? {} : { ttclid }), ...(ttp === null ? {} : { ttp }) },
      page: { url: job.visit.pageUrl },
      properties: { content_type: 'product' },
      limited_data_use: destination.settings['limitedDataUse'] === true,
    },
    detail: [...(ttclid === null ? [] : ['ttclid']), ...(ttp === null ? [] : ['ttp'])].join(' and '),
    secrets: [ttclid, ttp].filter((value) => value !== null),
  }
}

function tiktokEnvelope(rows: readonly Row[], destination: DestinationContext): RequestEnvelope {
  const { settings, secrets, isValidateOnly } = destination
  const accessToken = textOf(secrets['accessToken'])
  const testCode = testEventCode(destination)
  const body = {
    event_source: 'web',
    event_source_id: textOf(settings['pixelCode']),
    ...(testCode === null ? {} : { test_event_code: testCode }),
    data: rows.map((row) => row.body),
  }
  return {
    method: 'POST',
    // Without the trailing slash it is a different address [R].
    path: '/open_api/v1.3/event/track/',
    query: {},
    headers: { 'content-type': 'application/json', 'access-token': accessToken },
    body: JSON.stringify(body),
    secrets: [accessToken, ...rows.flatMap((row) => row.secrets)],
    ...(testCode === null ? {} : { validation: 'sent as a test event, which TikTok shows under Test Events' }),
    ...(isValidateOnly && testCode === null ? { checkedHere: [] } : {}),
  }
}

const OK = 0
/** Some of the events were accepted; connectors treat it as a success, as it names none to send again [R]. */
const PARTIAL = 20_001
const THROTTLED: ReadonlySet<number> = new Set([40_100])
const CREDENTIALS: ReadonlySet<number> = new Set([40_001, 40_105])

/** Most answers are HTTP 200 whatever their content: the code in the body decides [R]. */
function tiktokOutcome(reply: ProviderReply): Outcome {
  const { status } = reply
  if (status === 429 || status >= 500) return httpOutcome(reply)
  const code = integerOf(jsonObject(reply.body)['code'])
  if (code !== null && code !== OK) return codeOutcome(code, reply)
  if (status !== 200) return httpOutcome(reply)
  return code === OK ? { kind: 'delivered', code: '0' } : { kind: 'retry', code: 'unreadable_answer' }
}

function codeOutcome(code: number, reply: ProviderReply): Outcome {
  const shown = String(code)
  if (code === PARTIAL) return { kind: 'delivered', code: `${shown} partial success` }
  if (THROTTLED.has(code)) return { kind: 'throttled', code: shown, retryAfter: reply.headers['retry-after'] ?? null }
  if (CREDENTIALS.has(code)) return { kind: 'credentials', code: shown }
  // Codes from 40000 on are about the request, those from 50000 on about TikTok.
  return code >= 40_000 && code < 50_000 ? { kind: 'refused', code: shown } : { kind: 'retry', code: shown }
}
