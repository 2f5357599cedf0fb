/** Turns events into jobs: one for each webhook that wants the event. Repeating this gives the same jobs. */

import type { Organization, Webhook } from '../catalog.ts'
import { LIMITS } from '../limits.ts'
import { MINUTE_MS } from '../durations.ts'
import type { Sha256Hex } from '../origin.ts'
import { encodeRecord, recordKey, type WebhookAttemptRecord, type WebhookJob } from '../records.ts'
import type { NoticedEvent } from './events.ts'
import { hourDueAtMs, hourEvent, isToldByHour } from './slack-hour.ts'
import { WEBHOOK_MESSAGES, type WebhookPayload } from './payloads.ts'

type JobOwner = { readonly id: string; readonly logRetentionDays: number }

/** What a job is made with, besides its event: a function that hashes, and the number of the catalog. */
interface JobTools {
  readonly sha256Hex: Sha256Hex
  readonly catalogNumber: number
}

/** Whether any webhook in force wants the event. A paused webhook gets none. */
export function wantsAny(event: NoticedEvent, organization: Pick<Organization, 'webhooks'>): boolean {
  return webhooksWanting(event, organization).length > 0
}

function webhooksWanting({ type }: NoticedEvent, { webhooks }: Pick<Organization, 'webhooks'>): readonly Webhook[] {
  return webhooks.filter(({ isPaused, events }) => !isPaused && events.includes(type))
}

/** One for each webhook that wants the event; of the format Slack one for all installs of an hour, which each of them gives again. */
export function webhookJobs(
  event: NoticedEvent,
  organization: JobOwner & Pick<Organization, 'webhooks'>,
  tools: JobTools,
): readonly WebhookJob[] {
  return webhooksWanting(event, organization).map((webhook) => {
    const isOfHour = webhook.format === 'Slack' && isToldByHour(event)
    if (!isOfHour) return eventJob(event, webhook.id, organization, tools)
    const hour = hourEvent(event)
    return { ...eventJob(hour, webhook.id, organization, tools), dueAtMs: hourDueAtMs(hour.happenedAtMs) }
  })
}

function eventJob(
  { type, website, data, happenedAtMs, identity }: NoticedEvent,
  webhook: Webhook['id'],
  organization: JobOwner,
  { sha256Hex, catalogNumber }: JobTools,
): WebhookJob {
  const messageId = idOf(happenedAtMs, sha256Hex(`${organization.id}\n${webhook}\n${identity}`))
  const payload: WebhookPayload = { type, timestamp: new Date(happenedAtMs).toISOString(), data }
  const forMs = LIMITS.webhookTryMs
  return jobOf({ organization, webhook, website, messageId, payload, happenedAtMs, forMs, catalogNumber })
}

/** How long a test may wait to be sent; it is sent only once. */
const TEST_MS = 5 * MINUTE_MS

interface TestMaking {
  readonly nowMs: number
  /** 16 hex digits. */
  readonly random: string
  readonly catalogNumber: number
}

export function webhookTestJob(
  organization: JobOwner,
  webhook: Webhook['id'],
  { nowMs, random, catalogNumber }: TestMaking,
): WebhookJob {
  const { example: data } = WEBHOOK_MESSAGES.test
  const payload: WebhookPayload = { type: 'test', timestamp: new Date(nowMs).toISOString(), data }
  const messageId = idOf(nowMs, random)
  return jobOf({
    organization,
    webhook,
    website: '',
    messageId,
    payload,
    happenedAtMs: nowMs,
    forMs: TEST_MS,
    catalogNumber,
  })
}

interface NewJob extends Pick<WebhookJob, 'webhook' | 'website' | 'messageId' | 'happenedAtMs' | 'catalogNumber'> {
  readonly organization: JobOwner
  readonly payload: WebhookPayload
  /** How long it is attempted, counted from the event. */
  readonly forMs: number
}

function jobOf({ organization, payload, forMs, ...own }: NewJob): WebhookJob {
  const { happenedAtMs } = own
  return {
    v: 1,
    ...own,
    organization: organization.id,
    type: payload.type,
    body: JSON.stringify(payload),
    deadlineAtMs: happenedAtMs + forMs,
    attempts: 0,
    dueAtMs: happenedAtMs,
    logRetentionDays: organization.logRetentionDays,
  }
}

/** The latest attempt at a job, which the job counts already. */
export function webhookAttempt(
  { organization, website, webhook, messageId, type, body, happenedAtMs, logRetentionDays, attempts }: WebhookJob,
  seen: Omit<WebhookAttemptRecord, 'v' | 'kind' | 'number' | keyof WebhookJob>,
): WebhookAttemptRecord {
  const own = { organization, website, webhook, messageId, type, body, happenedAtMs, logRetentionDays }
  return { v: 1, kind: 'webhook_attempt', ...own, number: attempts, ...seen }
}

/** The entry of the log that holds one. */
export function webhookEntry(record: WebhookJob | WebhookAttemptRecord): { key: string; value: string } {
  return { key: recordKey(record, record.messageId), value: encodeRecord(record) }
}

/** 28 hex digits, ascending with the time of the event, as everywhere. */
function idOf(atMs: number, digest: string): string {
  return atMs.toString(16).padStart(12, '0') + digest.slice(0, 16)
}
