/** One record for every topic that is read, as the release writes it whose code this is. */

import { encodeRecord, recordKey, type MailJob, type ReplayRecord, type WebhookJob } from '../../domain/records.ts'
import {
  activationRecord,
  activityRecord,
  alertRecord,
  decisionRecord,
  deliveryRecord,
  handoffRecord,
  requestRecord,
  webhookAttemptRecord,
  visitRecord,
} from '../contract/fact-samples.ts'
import { spendRecords } from '../contract/spend-samples.ts'
import { installOf, NOON_MS, recordOf, visitOf, WEBSITE } from '../../fixtures/delivery/builders.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'

export interface SampleEntry {
  readonly topic: string
  readonly key: string
  readonly value: string
}

/** The webhook of organisation `acme`. */
export const SAMPLE_WEBHOOK = 'default/acme-events'

/** Visit IDs begin with their time, as the service issues them. */
const VISIT = visitOf({ visitId: `00${(NOON_MS - 7_200_000).toString(16).padStart(12, '0')}${'ab'.repeat(9)}` })
const LATE_VISIT_ID = `00${(NOON_MS - 3_600_000).toString(16).padStart(12, '0')}${'cd'.repeat(9)}`

export function sampleEntries(): readonly SampleEntry[] {
  const times = { receivedAtMs: NOON_MS }
  const parked = { v: 1, record: installNamed('event-parked'), firstSeenAtMs: NOON_MS, dueAtMs: NOON_MS }
  const letter = { v: 1, job: jobNamed('event-dead'), reason: 'refused: http_400', failedAtMs: NOON_MS }
  const waiting = { ...activation(LATE_VISIT_ID, NOON_MS - 3_600_000), isPredecessorUnknown: true }
  const records: readonly (readonly [string, object])[] = [
    ['visits', { ...visitRecord(VISIT), ...requested(times) }],
    ['activations', { ...activation(VISIT.visitId, VISIT.issuedAtMs), ...requested(times) }],
    [
      'handoffs',
      { ...handoffRecord({ website: WEBSITE, issuedAtMs: NOON_MS, askedAtMs: NOON_MS }), ...requested(times) },
    ],
    ['installs', installNamed('event-fresh')],
    ['requests', requestRecord(times)],
    ['deliveries', failedDelivery()],
    ['activity', activityRecord({ website: WEBSITE, organization: 'acme', atMs: NOON_MS })],
    ['deliver.ga4', jobNamed('event-job')],
    ['dispatch.5s', parked],
    ['dead-letters', letter],
    ['state.5s', { v: 1, record: waiting, dueAtMs: NOON_MS }],
    ['install_decisions', decisionRecord(installNamed('event-fresh'), { visitId: VISIT.visitId })],
    ['replays', replayOrder()],
    ['webhook_attempts', webhookAttemptRecord({ website: WEBSITE })],
    ['spend', spendImport()],
    ['alerts', alertRecord({ website: WEBSITE })],
    ['mail', mailNamed('sample-mail')],
    ['mail.5s', mailNamed('sample-mail-again')],
    ['webhooks', webhookJob('sample-told')],
    ['webhooks.5s', webhookJob('sample-told-again')],
  ]
  return records.map(([topic, record], index) => entry(topic, record, index))
}

function replayOrder(): ReplayRecord {
  return {
    v: 1,
    kind: 'replay',
    id: 'sample-replay',
    organization: 'acme',
    website: WEBSITE,
    // Its row is kept for some days only, by the real clock.
    askedAtMs: Date.now(),
    sinceMs: 0,
    untilMs: NOON_MS,
    session: 'of-a-person',
    policy: { policy: 'latest_visit', windowMs: 1, isTokensOnly: false },
  }
}

function spendImport(): object {
  const [, whole] = spendRecords({
    organization: 'acme',
    website: WEBSITE,
    atMs: NOON_MS,
    rows: [['2026-11-01', 'google', 'launch', 1]],
  })
  return whole ?? {}
}

function mailNamed(mailId: string): MailJob {
  return {
    v: 1,
    mailId,
    letter: { kind: 'sign-in', link: 'ab'.repeat(16) },
    tries: 0,
    createdAtMs: NOON_MS,
    dueAtMs: NOON_MS,
    deadlineAtMs: NOON_MS + 3_600_000,
  }
}

/** One that webhooks are told of. */
function failedDelivery(): ReturnType<typeof deliveryRecord> {
  const own = { website: WEBSITE, organization: 'acme', eventId: 'event-failed', atMs: NOON_MS } as const
  return deliveryRecord({ ...own, status: 'failed', reason: 'refused' })
}

function webhookJob(eventId: string): WebhookJob {
  const body = { type: 'delivery.expired', timestamp: new Date(NOON_MS).toISOString(), data: { eventId } }
  return {
    v: 1,
    messageId: eventId,
    organization: 'acme',
    website: WEBSITE,
    webhook: SAMPLE_WEBHOOK,
    attempts: 0,
    type: 'delivery.expired',
    body: JSON.stringify(body),
    catalogNumber: 1,
    logRetentionDays: 30,
    happenedAtMs: NOON_MS,
    dueAtMs: NOON_MS,
    deadlineAtMs: NOON_MS + 3_600_000,
  }
}

function entry(topic: string, record: object, index: number): SampleEntry {
  const value = encodeRecord(record as Parameters<typeof encodeRecord>[0])
  // ClickHouse deletes by the real clock; these moments are fixed, and shall be there in years.
  const kept = value.replaceAll(/"(retentionDays|logRetentionDays)":\d+/g, '"$1":20000')
  return { topic, key: recordKey({ organization: 'acme', website: WEBSITE }, `sample-${index}`), value: kept }
}

function requested(times: { readonly receivedAtMs: number }): object {
  return { request: requestRecord({ website: WEBSITE, ...times }).request }
}

function activation(visitId: string, issuedAtMs: number): ReturnType<typeof activationRecord> {
  return activationRecord({ website: WEBSITE, visitId, issuedAtMs, activatedAtMs: NOON_MS - 60_000 })
}

function installNamed(eventId: string): ReturnType<typeof recordOf> {
  return recordOf(installOf({ visit: VISIT, overrides: { eventId } }))
}

function jobNamed(eventId: string): ReturnType<typeof jobOf> {
  return jobOf({ visit: VISIT, install: { eventId } })
}
