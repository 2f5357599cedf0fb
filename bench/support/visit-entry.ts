/** Makes visits, and attempts of webhooks, as entries of the log, for benchmarks that need no api. */

import { plainVisit } from '../../domain/collection/visit-fields.ts'
import { WEBHOOK_MESSAGES } from '../../domain/webhooks/payloads.ts'
import { webhookEntry } from '../../domain/webhooks/jobs.ts'
import { encodeRecord, recordKey } from '../../domain/records.ts'
import type { VisitRecord } from '../../domain/records.ts'
import type { Entry } from '../../ports/event-log/event-log.ts'

/** A visit like the example page's, with its request log: about 2.2 KB, of which the body is 0.9 KB. */
export function visitEntry(number: number, nowMs: number): Entry {
  const random = randomOf(number)
  const issuedAtMs = nowMs + Math.floor(number / 10)
  const time = issuedAtMs.toString(16).padStart(12, '0')
  const visitId = `01${time}${random(10)}${random(8)}`
  const { page, identities, client, source } = sentBy(number, nowMs)
  const sent = { project: 'acme-dev', ...page, identities, previous_receipt: null, source, gpc: false, client }
  const record: VisitRecord = {
    v: 1,
    kind: 'visit',
    request: requestOf(JSON.stringify(sent), {
      id: `${time}${random(16)}`,
      receivedAtMs: issuedAtMs,
      addressHash: random(32),
    }),
    visit: plainVisit({
      website: 'acme-dev',
      visitId,
      organization: 'acme',
      issuedAtMs,
      urlId: page.url_id,
      origin: 'https://acme.dev',
      pageUrl: page.page_url,
      referrer: page.referrer,
      sourceReferrer: source.referrer,
      landedAtMs: source.landed_at,
      utm: source.utm,
      identities,
      client,
    }),
    retentionDays: 395,
  }
  return { key: recordKey({ organization: 'acme', website: 'acme-dev' }, visitId), value: encodeRecord(record) }
}

/** The answered call of a webhook that the install of a visit led to: about 0.7 KB. */
export function webhookAttemptEntry(number: number, nowMs: number): Entry {
  const happenedAtMs = nowMs + number
  const random = randomOf(number)
  const type = 'install.matched'
  const data = { ...WEBHOOK_MESSAGES[type].example, visitId: random(32) }
  const body = JSON.stringify({ type, timestamp: new Date(happenedAtMs).toISOString(), data })
  const messageId = happenedAtMs.toString(16).padStart(12, '0') + random(16)
  return webhookEntry({
    v: 1,
    kind: 'webhook_attempt',
    organization: 'acme',
    website: 'acme-dev',
    webhook: 'default/shop',
    messageId,
    type,
    body,
    happenedAtMs,
    number: 1,
    startedAtMs: happenedAtMs + 40,
    durationMs: 12.5,
    state: 'delivered',
    status: 200,
    error: '',
    answer: 'ok',
    nextAttemptAtMs: null,
    logRetentionDays: 30,
  })
}

/** Hex digits that look random and are the same for the same visit. */
function randomOf(number: number): (chars: number) => string {
  return (chars) => {
    let text = ''
    for (let seed = number + 1; text.length < chars; seed++)
      text += Math.imul(seed, 2_654_435_761).toString(16).replace('-', 'f')
    return text.slice(0, chars)
  }
}

/** What the SDK sends. */
function sentBy(number: number, nowMs: number) {
  const random = randomOf(number)
  const identities = {
    ga4: { 'G-ABC1234567': { client_id: `${number}.1795254036`, session_id: `17952${number}` } },
    google_ads: { gclid: random(60), gcl_aw: random(80) },
    meta: { fbp: `fb.1.1795254036.${number}` },
  }
  const utm = { source: 'google', medium: 'cpc', campaign: 'spring', term: 'cli tool', content: 'headline' }
  const client = { architecture: 'x86', bitness: '64', touch: false, timezone: 'Europe/Berlin', language: 'de-DE' }
  const page = {
    url_id: 'url_0123456789abcdef',
    page_url: 'https://acme.dev/docs/install',
    referrer: 'https://www.google.com/',
  }
  const source = { referrer: 'https://www.google.com/', utm, landed_at: nowMs + number - 1_000 }
  return { identities, client, page, source }
}

function requestOf(
  body: string,
  own: Pick<VisitRecord['request'], 'id' | 'receivedAtMs' | 'addressHash'>,
): VisitRecord['request'] {
  return {
    ...own,
    durationMs: 1.234,
    website: 'acme-dev',
    organization: 'acme',
    method: 'POST',
    path: '/v1/visits',
    status: 200,
    code: '',
    origin: 'https://acme.dev',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
    body,
    bodyForm: 'text',
    bodyBytes: body.length,
    isRedacted: false,
    logRetentionDays: 30,
  }
}
