/** Builds records as they are on the event log, each complete and different only if a test says so. */

import { addFactRows } from '../../delivery/facts-writer/fact-rows.ts'
import type { EntryPlace } from '../../delivery/facts-writer/fact-rows.ts'
import type { AlertRecord } from '../../domain/alerts/alert.ts'
import { plainVisit, type Visit } from '../../domain/collection/visit-fields.ts'
import type { Install } from '../../domain/model.ts'
import type {
  ActivationRecord,
  ActivityRecord,
  Attempt,
  DecisionRecord,
  DeliveryRecord,
  HandoffRecord,
  InstallRecord,
  LogRecord,
  RequestLog,
  RequestRecord,
  VisitRecord,
  WebhookAttemptRecord,
} from '../../domain/records.ts'
import type { FactTable } from '../../ports/facts/columns.ts'
import type { FactRow, Facts } from '../../ports/facts/facts.ts'

/** The middle of a day in the middle of a month; nothing that a test stores is old enough to be deleted. */
export const SAMPLE_MS = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 43_200_000

let serial = 0

/** A text that no other test uses. */
export function unique(prefix: string): string {
  serial += 1
  return `${prefix}-${process.pid}-${serial}`
}

/** 32 hex digits that no other test uses. */
export function visitId(): string {
  serial += 1
  return serial.toString(16).padStart(32, '0')
}

export function request(changes: Partial<RequestLog> = {}): RequestLog {
  serial += 1
  return {
    id: serial.toString(16).padStart(28, '0'),
    receivedAtMs: SAMPLE_MS,
    durationMs: 1.25,
    website: 'acme',
    organization: 'acme',
    method: 'POST',
    path: '/v1/visits',
    status: 200,
    code: '',
    origin: 'https://acme.dev',
    userAgent: 'test/1',
    addressHash: 'a1b2',
    body: '{"project":"acme"}',
    bodyForm: 'text',
    bodyBytes: 18,
    isRedacted: false,
    logRetentionDays: 30,
    ...changes,
  }
}

export function visit(changes: Partial<Visit> = {}): Visit {
  return plainVisit({
    website: 'acme',
    visitId: visitId(),
    organization: 'acme',
    issuedAtMs: SAMPLE_MS,
    urlId: 'url_0123456789abcdef',
    origin: 'https://acme.dev',
    pageUrl: 'https://acme.dev/install',
    referrer: 'https://search.example/',
    landedAtMs: SAMPLE_MS - 5_000,
    utm: { source: 'search', campaign: 'spring' },
    identities: { ga4: { 'G-ABC': { client_id: '1.2', session_id: '3' } } },
    client: { language: 'de' },
    ...changes,
  })
}

export function visitRecord(changes: Partial<Visit> = {}): VisitRecord {
  const own = visit(changes)
  const { website, organization } = own
  return { v: 1, kind: 'visit', request: request({ website, organization }), visit: own, retentionDays: 395 }
}

export function activationRecord(changes: Partial<ActivationRecord> & { readonly website: string }): ActivationRecord {
  return {
    v: 1,
    kind: 'activation',
    organization: 'acme',
    request: request({ website: changes.website, path: '/v1/visits/activate' }),
    visitId: visitId(),
    issuedAtMs: SAMPLE_MS,
    activatedAtMs: SAMPLE_MS + 500,
    revokedVisitId: null,
    revokedIssuedAtMs: null,
    isPredecessorUnknown: false,
    retentionDays: 395,
    ...changes,
  }
}

export function handoffRecord(changes: Partial<HandoffRecord> & { readonly website: string }): HandoffRecord {
  return {
    v: 1,
    kind: 'handoff',
    organization: 'acme',
    request: request({ website: changes.website, path: '/v1/handoffs' }),
    visitId: visitId(),
    issuedAtMs: SAMPLE_MS,
    askedAtMs: SAMPLE_MS + 100,
    gpc: false,
    isCopied: true,
    isHandoffOnly: false,
    visit: null,
    retentionDays: 395,
    ...changes,
  }
}

export function installRecord(changes: Partial<Install> = {}): InstallRecord {
  const own: Install = {
    website: 'acme',
    organization: 'acme',
    eventId: unique('event'),
    installationId: unique('installation'),
    eventType: 'install_completed',
    receivedAtMs: SAMPLE_MS,
    installPath: 'cli',
    platform: 'linux',
    arch: 'x86_64',
    browsers: ['chromium', 'firefox'],
    defaultBrowser: 'firefox',
    timezone: 'Europe/Berlin',
    language: 'de_DE',
    productVersion: '1.4.0',
    place: 'readme',
    isCi: false,
    isContainer: false,
    isTest: false,
    resolution: 'unmatched',
    selectionPolicy: 'none',
    candidateCount: 0,
    visitId: null,
    visitIssuedAtMs: null,
    gpc: false,
    verdicts: [{ visitId: null, issuedAtMs: null, verdict: 'forged' }],
    deliveries: [],
    catalogNumber: 1,
    answer: {
      ok: true,
      event_id: changes.eventId ?? 'event',
      duplicate: false,
      resolution: 'unmatched',
      candidate_count: 0,
      selection_policy: 'none',
      ga: { status: 'not_queued', deliveries: [] },
    },
    ...changes,
  }
  const { website, organization } = own
  const log = request({ website, organization, path: '/v1/events' })
  return { v: 1, kind: 'install', request: log, install: own, retentionDays: 395 }
}

/** The decision that a pending install is matched to a visit; or not, if `changes` say so. */
export function decisionRecord({ install }: InstallRecord, changes: Partial<DecisionRecord> = {}): DecisionRecord {
  const { website, organization, eventId, eventType, installationId, installPath, receivedAtMs } = install
  const { productVersion, place, isCi, isContainer, deliveries, answer } = install
  const outcome = {
    resolution: 'matched',
    selectionPolicy: 'latest_visit',
    candidateCount: 1,
    visitId: visitId(),
    visitIssuedAtMs: SAMPLE_MS - 1_000,
    gpc: false,
    verdicts: [],
    isTest: false,
    ...changes,
  } as const
  return {
    v: 1,
    kind: 'install_decision',
    website,
    organization,
    eventId,
    eventType,
    installationId,
    installPath,
    productVersion,
    place,
    receivedAtMs,
    isCi,
    isContainer,
    deliveries,
    answer: { ...answer, resolution: outcome.resolution, selection_policy: outcome.selectionPolicy },
    decidedAtMs: SAMPLE_MS + 2_000,
    catalogNumber: 1,
    retentionDays: 395,
    ...outcome,
  }
}

export function requestRecord(changes: Partial<RequestLog> = {}): RequestRecord {
  return { v: 1, kind: 'request', request: request(changes) }
}

export function attempt(changes: Partial<Attempt> = {}): Attempt {
  return {
    attemptId: unique('attempt'),
    number: 1,
    startedAtMs: SAMPLE_MS + 1_000,
    durationMs: 80.5,
    requestUrl: 'https://provider.example/collect',
    requestBody: '{}',
    responseStatus: 204,
    responseBody: '',
    outcome: 'delivered',
    code: '',
    nextStep: 'done',
    ...changes,
  }
}

export function deliveryRecord(changes: Partial<DeliveryRecord> = {}): DeliveryRecord {
  return {
    v: 1,
    kind: 'delivery',
    jobId: unique('job'),
    website: 'acme',
    organization: 'acme',
    eventId: unique('event'),
    destination: 'acme-ga4',
    provider: 'ga4',
    status: 'pending',
    reason: '',
    sessionMode: 'client_only',
    detail: '',
    attempts: 0,
    atMs: SAMPLE_MS,
    nextAttemptAtMs: null,
    deadlineAtMs: SAMPLE_MS + 86_400_000,
    attempt: null,
    installReceivedAtMs: changes.atMs ?? SAMPLE_MS,
    catalogNumber: 1,
    retentionDays: 395,
    logRetentionDays: 30,
    ...changes,
  }
}

export function webhookAttemptRecord(changes: Partial<WebhookAttemptRecord> = {}): WebhookAttemptRecord {
  return {
    v: 1,
    kind: 'webhook_attempt',
    organization: 'acme',
    website: 'acme',
    webhook: 'default/events',
    messageId: unique('message'),
    type: 'install.matched',
    body: '{}',
    happenedAtMs: SAMPLE_MS,
    number: 1,
    startedAtMs: SAMPLE_MS + 1_000,
    durationMs: 20,
    state: 'failed',
    status: 500,
    error: 'http_500',
    answer: 'no',
    nextAttemptAtMs: null,
    logRetentionDays: 30,
    ...changes,
  }
}

export function activityRecord(changes: Partial<ActivityRecord> = {}): ActivityRecord {
  return {
    v: 1,
    kind: 'activity',
    id: unique('activity'),
    atMs: SAMPLE_MS,
    organization: 'acme',
    website: 'acme',
    type: 'rate_limit_reached',
    subject: 'visits',
    message: 'More than 6,000 visits a minute.',
    logRetentionDays: 30,
    ...changes,
  }
}

export function alertRecord(changes: Partial<AlertRecord> = {}): AlertRecord {
  return {
    v: 1,
    kind: 'alert',
    id: unique('alert'),
    organization: 'acme',
    website: 'acme',
    rule: 'InstallsDown',
    of: '',
    period: '2026-11-27',
    state: 'opened',
    atMs: SAMPLE_MS,
    value: 12,
    expected: 40,
    threshold: 50,
    catalogNumber: 1,
    ...changes,
  }
}

/** The rows of records at ascending offsets, by table. */
export function rowsOf(records: readonly LogRecord[], firstOffset = 0): ReadonlyMap<FactTable, readonly FactRow[]> {
  const tables = new Map<FactTable, FactRow[]>()
  for (const [index, record] of records.entries()) {
    const place: EntryPlace = { topic: 'visits', partition: 0, offset: firstOffset + index }
    addFactRows(record, place, (table, row) => {
      const rows = tables.get(table) ?? []
      rows.push(row)
      tables.set(table, rows)
    })
  }
  return tables
}

/** Inserts the rows of records, one insert per table. */
export async function store(facts: Facts, records: readonly LogRecord[], firstOffset = 0): Promise<void> {
  for (const [table, rows] of rowsOf(records, firstOffset)) await facts.insert(table, rows)
}

/** Lists one day around the samples. */
export const AROUND = { since_ms: SAMPLE_MS - 86_400_000, until_ms: SAMPLE_MS + 86_400_000, limit: 200 } as const
