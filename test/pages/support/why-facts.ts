/** Two weeks of a website: visits from everywhere, installs of all kinds, and one with everything that can be said of one. */

import type { Install } from '../../../domain/model.ts'
import type { LogRecord } from '../../../domain/records.ts'
import { createKeyring } from '../../../runtime/keyring.ts'
import {
  activationRecord,
  attempt,
  deliveryRecord,
  handoffRecord,
  installRecord,
  requestRecord,
  visitRecord,
} from '../../contract/fact-samples.ts'
import { SECRET } from '../../dashboard/support/stage.ts'

const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** What strangers may send: markup, right to left, four-byte characters. */
export const HOSTILE = '<img src=x onerror=alert(1)> \u202eabc \u{1f600}'
/** As hostile as a name can be: characters that turn text around are refused in it. */
export const HOSTILE_NAME = '<img src=x onerror=alert(1)> abc \u{1f600}'

const KEY_ID = createKeyring([SECRET]).currentKeyId.toString(16).padStart(2, '0')
let serial = 0
/** An ID that says when its visit was issued. */
function idAt(ms: number): string {
  serial += 1
  return KEY_ID + Math.floor(ms).toString(16).padStart(12, '0') + serial.toString(16).padStart(18, '0')
}

/** An ID that says when its request came. */
function requestIdAt(ms: number): string {
  serial += 1
  return Math.floor(ms).toString(16).padStart(12, '0') + serial.toString(16).padStart(16, '0')
}

/** With a request of the moment at which it came, and of the right organisation: the line of it in Logs. */
function withOwnRequest<Kept extends LogRecord>(record: Kept): Kept {
  const receivedAtMs = cameAtMs(record)
  // One that was given its request already keeps it.
  if (receivedAtMs === null || !('request' in record) || record.request.receivedAtMs === receivedAtMs) return record
  return { ...record, request: { ...record.request, ...SITE, receivedAtMs, id: requestIdAt(receivedAtMs) } }
}

function cameAtMs(record: LogRecord): number | null {
  switch (record.kind) {
    case 'visit':
      return record.visit.issuedAtMs
    case 'activation':
      return record.activatedAtMs
    case 'handoff':
      return record.askedAtMs
    case 'install':
      return record.install.receivedAtMs
    default:
      return null
  }
}

const SOURCES = [
  { utm: { source: 'newsletter', medium: 'email', campaign: 'launch' }, referrer: '' },
  { utm: {}, referrer: 'https://github.com/acme/cli' },
  { utm: { source: 'google', medium: 'cpc', campaign: 'spring' }, referrer: 'https://www.google.com/' },
  { utm: {}, referrer: '' },
  { utm: { source: HOSTILE }, referrer: '' },
] as const
const PAGES = ['/install', '/docs/quickstart', '/'] as const
const MACHINES = [
  { platform: 'darwin', arch: 'arm64' },
  { platform: 'linux', arch: 'x86_64' },
  { platform: 'linux', arch: 'aarch64' },
  { platform: 'linux', arch: 'x86_64' },
] as const
const AGENTS = ['', '', 'claude-code', '', 'cursor'] as const
const LOST = ['expired', 'never_activated', 'revoked', 'forged', null, null, null] as const

const SITE = { website: 'acme-docs', organization: 'acme' } as const

/** The visit whose copied command others ran too. */
const SHARED = 16

/** A visit and how far it came: the more of its number is even, the further. */
function visitStory(atMs: number, index: number): readonly LogRecord[] {
  const { utm, referrer } = SOURCES[index % SOURCES.length]!
  const visitId = idAt(atMs)
  const about = { ...SITE, visitId, issuedAtMs: atMs }
  const path = PAGES[index % PAGES.length]!
  const visit = visitRecord({
    ...about,
    utm,
    referrer,
    pageUrl: `https://docs.acme.example${path}`,
    origin: 'https://docs.acme.example',
  })
  const records: LogRecord[] = [visit]
  if (index % 8 !== 7) records.push(activationRecord({ ...about, activatedAtMs: atMs + 600 }))
  if (index % 2 === 0) records.push(handoffRecord({ ...about, askedAtMs: atMs + 20_000 }))
  if (index % 4 === 0) {
    const chosen = { visitId, visitIssuedAtMs: atMs, resolution: 'matched', candidateCount: 1 } as const
    const selectionPolicy = index % 8 === 0 ? 'handoff' : 'latest_visit'
    records.push(machine(index, { ...chosen, selectionPolicy, receivedAtMs: atMs + 90_000 * ((index % 5) + 1) }))
    if (index % 12 === 0) {
      const run = { ...chosen, eventType: 'first_run', selectionPolicy: 'same_installation' } as const
      records.push(machine(index, { ...run, receivedAtMs: atMs + 20 * MINUTE_MS }))
    }
  }
  if (index === SHARED) {
    const byToken = { visitId, visitIssuedAtMs: atMs, resolution: 'matched', selectionPolicy: 'handoff' } as const
    for (let run = 1; run <= 4; run++) {
      records.push(machine(index, { ...byToken, candidateCount: 1, receivedAtMs: atMs + run * 3 * MINUTE_MS }))
    }
  }
  if (index % 7 === 0) records.push(lostInstall(atMs, index))
  return records
}

function machine(index: number, changes: Partial<Install>) {
  const agent = AGENTS[index % AGENTS.length]!
  return installRecord({
    ...SITE,
    ...MACHINES[index % MACHINES.length]!,
    installPath: 'cli',
    verdicts: [],
    ...(agent === '' ? {} : { agent }),
    ...changes,
  })
}

function lostInstall(atMs: number, index: number) {
  const verdict = LOST[(index / 7) % LOST.length] ?? null
  const verdicts = verdict === null ? [] : [{ visitId: null, issuedAtMs: null, verdict }]
  return machine(index, { receivedAtMs: atMs + MINUTE_MS, verdicts })
}

/** An install that has everything: three visits, of which one was chosen, and deliveries in every state. */
function fullStory(nowMs: number): readonly LogRecord[] {
  const receivedAtMs = nowMs - 55 * MINUTE_MS
  const [old, replaced, chosen] = [31 * DAY_MS, 4 * DAY_MS, 26 * HOUR_MS].map((ms) => receivedAtMs - ms) as [
    number,
    number,
    number,
  ]
  const visits = [old, replaced, chosen].map((issuedAtMs, place) => ({
    ...SITE,
    visitId: idAt(issuedAtMs),
    issuedAtMs,
    ...ORIGINS[place]!,
  }))
  const [first, second, third] = visits as [(typeof visits)[0], (typeof visits)[0], (typeof visits)[0]]
  const install = installRecord({
    ...SITE,
    eventId: 'event-picture',
    installationId: 'installation-picture',
    receivedAtMs,
    platform: 'darwin',
    arch: 'arm64',
    installPath: 'homebrew',
    agent: 'claude-code',
    resolution: 'matched',
    selectionPolicy: 'latest_visit',
    candidateCount: 1,
    visitId: third.visitId,
    visitIssuedAtMs: chosen,
    verdicts: [
      { visitId: first.visitId, issuedAtMs: old, verdict: 'expired' },
      { visitId: second.visitId, issuedAtMs: replaced, verdict: 'revoked' },
      { visitId: third.visitId, issuedAtMs: chosen, verdict: 'active' },
    ],
    deliveries: PLANS,
  })
  const { request } = install
  return [
    ...visits.map((visit) => visitRecord(visit)),
    ...visits.map(({ visitId, issuedAtMs }) =>
      activationRecord({ ...SITE, visitId, issuedAtMs, activatedAtMs: issuedAtMs + 1_200 }),
    ),
    activationRecord({
      ...SITE,
      visitId: third.visitId,
      issuedAtMs: chosen,
      activatedAtMs: chosen + 1_300,
      revokedVisitId: second.visitId,
      revokedIssuedAtMs: replaced,
    }),
    handoffRecord({ ...SITE, visitId: third.visitId, issuedAtMs: chosen, askedAtMs: chosen + 4 * MINUTE_MS }),
    {
      ...install,
      request: {
        ...request,
        id: requestIdAt(receivedAtMs),
        receivedAtMs,
        body: JSON.stringify({ event_id: 'event-picture', note: HOSTILE }),
      },
    },
    ...deliveriesOf(receivedAtMs, nowMs),
  ]
}

const ORIGINS = [
  { utm: {}, referrer: 'https://news.example/item?id=1', pageUrl: 'https://docs.acme.example/' },
  { utm: { source: 'newsletter', medium: 'email', campaign: 'launch' }, pageUrl: 'https://docs.acme.example/docs' },
  {
    utm: { source: 'google', medium: 'cpc', campaign: `spring ${HOSTILE}` },
    pageUrl: 'https://docs.acme.example/install?utm_source=google',
    referrer: 'javascript:alert(1)',
  },
] as const

const plan = (destination: string, provider: 'ga4' | 'google_ads' | 'meta', reason = '') =>
  ({
    destination,
    provider,
    status: reason === '' ? 'pending' : 'skipped',
    sessionMode: 'none',
    reason,
  }) as Install['deliveries'][number]
const PLANS = [plan('acme-ga4', 'ga4'), plan('acme-ads', 'google_ads'), plan('acme-meta', 'meta', 'no_identifier')]

function deliveriesOf(receivedAtMs: number, nowMs: number): readonly LogRecord[] {
  const of = { ...SITE, eventId: 'event-picture', deadlineAtMs: receivedAtMs + 72 * HOUR_MS } as const
  const ga4 = { ...of, destination: 'acme-ga4', provider: 'ga4', jobId: 'job-picture-ga4' } as const
  const ads = { ...of, destination: 'acme-ads', provider: 'google_ads', jobId: 'job-picture-ads' } as const
  const sentBody = JSON.stringify({ client_id: '1.2', events: [{ name: 'install_completed' }] })
  const failing = { outcome: 'retry', code: 'http_503', requestBody: sentBody, responseStatus: 503 } as const
  const busy = '{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}'
  const tries = [2, 40, 300, 1_900].map((seconds, place) =>
    attempt({ ...failing, number: place + 1, startedAtMs: receivedAtMs + seconds * 1_000, responseBody: busy }),
  )
  const good = attempt({ number: 2, startedAtMs: receivedAtMs + 31_000, requestBody: sentBody })
  const bad = attempt({
    ...failing,
    startedAtMs: receivedAtMs + 1_500,
    responseStatus: 0,
    responseBody: '',
    code: 'timeout',
  })
  return [
    deliveryRecord({ ...ga4, status: 'retrying', reason: 'attempt_failed', atMs: receivedAtMs + 1_600, attempt: bad }),
    deliveryRecord({
      ...ga4,
      status: 'delivered',
      attempts: 2,
      atMs: receivedAtMs + 31_100,
      attempt: good,
      detail: 'client ID only: the visit has no session of this measurement ID',
    }),
    ...tries.map((made, place) =>
      deliveryRecord({
        ...ads,
        status: 'retrying',
        reason: 'attempt_failed',
        attempts: place + 1,
        atMs: made.startedAtMs + 90,
        attempt: made,
        nextAttemptAtMs: nowMs + 40 * MINUTE_MS,
      }),
    ),
  ]
}

/** Deliveries that failed for good, one for each of these events, which the provider would still accept. */
export const REFUSED_EVENTS = Array.from({ length: 7 }, (_, index) => `event-refused-${index}`)
export const jobOfEvent = (eventId: string): string => eventId.replace('event', 'job')

/** Failed and late deliveries besides, for whoever looks at them all. */
function troubles(nowMs: number): readonly LogRecord[] {
  const failed = { ...SITE, destination: 'acme-ads', provider: 'google_ads', status: 'failed' } as const
  const refusal = { outcome: 'refused', code: 'http_400', responseStatus: 400 } as const
  return [
    ...REFUSED_EVENTS.map((eventId, index) => {
      const atMs = nowMs - (index + 1) * 17 * MINUTE_MS
      const responseBody = JSON.stringify({ error: { message: `Conversion action not found ${HOSTILE}` } })
      return deliveryRecord({
        ...failed,
        reason: 'refused',
        atMs,
        eventId,
        jobId: jobOfEvent(eventId),
        attempts: 1,
        deadlineAtMs: nowMs + 60 * HOUR_MS,
        attempt: attempt({ ...refusal, startedAtMs: atMs - 90, responseBody }),
      })
    }),
    deliveryRecord({
      ...failed,
      reason: 'retries_ran_out',
      atMs: nowMs - 3 * HOUR_MS,
      eventId: 'event-ran-out',
      attempts: 9,
      attempt: attempt({
        number: 9,
        outcome: 'retry',
        code: 'http_500',
        responseStatus: 500,
        startedAtMs: nowMs - 3 * HOUR_MS,
        // As long as providers' pages of errors are.
        responseBody: `${HOSTILE} `.repeat(800),
      }),
    }),
    deliveryRecord({
      ...failed,
      destination: 'acme-ga4',
      provider: 'ga4',
      status: 'expired',
      reason: 'deadline_passed',
      atMs: nowMs - 5 * HOUR_MS,
    }),
    ...Array.from({ length: 24 }, (_, index) =>
      deliveryRecord({
        ...failed,
        destination: 'acme-ga4',
        provider: 'ga4',
        status: 'delivered',
        atMs: nowMs - (index < 18 ? index * HOUR_MS : 8 * DAY_MS),
        attempts: 1,
      }),
    ),
  ]
}

/** Visits of this hour and of one hour of each of the days before. */
export function whyFacts(nowMs: number, days: number): readonly LogRecord[] {
  const records: LogRecord[] = [...fullStory(nowMs), ...troubles(nowMs)]
  for (let day = 0; day < days; day++) {
    const count = 14 - Math.floor(day / 2) + ((day * 5) % 7)
    for (let index = 0; index < count; index++) {
      const atMs = nowMs - day * DAY_MS - (day === 0 ? 25 * MINUTE_MS : 0) - index * 1_000
      records.push(...visitStory(atMs, index + day))
    }
  }
  return records.map(withOwnRequest)
}

/** What comes in just now, as Logs show it: visits whose command is copied, and some that are refused. */
export function recentTraffic(nowMs: number): readonly LogRecord[] {
  return Array.from({ length: 10 }, (_, place) => {
    const atMs = nowMs - (place + 1) * 2 * MINUTE_MS
    const about = { ...SITE, visitId: idAt(atMs), issuedAtMs: atMs }
    const pageUrl = 'https://docs.acme.example/install'
    const refused = { ...SITE, path: '/v1/visits', status: 400, code: 'invalid_field' }
    return [
      withOwnRequest(visitRecord({ ...about, utm: {}, referrer: '', pageUrl, origin: 'https://docs.acme.example' })),
      withOwnRequest(activationRecord({ ...about, activatedAtMs: atMs + 700 })),
      withOwnRequest(handoffRecord({ ...about, askedAtMs: atMs + 30_000 })),
      requestRecord({
        ...refused,
        receivedAtMs: atMs + 60_000,
        id: requestIdAt(atMs + 60_000),
        origin: 'https://docs.acme.example',
        userAgent: HOSTILE,
        body: JSON.stringify({ project: SITE.website, url: HOSTILE }),
      }),
    ]
  }).flat()
}
