/** Has a webhook send a test, or events again that were given up: jobs on the log, as of everything else. */

import { LIMITS } from '../../domain/limits.ts'
import type { WebhookAttemptRecord, WebhookJob } from '../../domain/records.ts'
import { webhookAttempt, webhookEntry, webhookTestJob } from '../../domain/webhooks/jobs.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import type { Randomness } from '../../runtime/random.ts'
import type { ReadScope } from '../reads/scope.ts'
import type { Inventory } from '../resources/inventory.ts'
import type { NoteActivity } from '../events/activity.ts'
import { answer, answerAccepted, type OrganizationCall, type CallTo } from '../http/call.ts'
import { refuseByRate, webhookTestHit } from '../http/limits.ts'
import { messagesSince, ownWebhook, webhookId, webhookSubject } from './own.ts'
import { MOST_LOST } from '../api/webhooks.ts'
import { LOST_KEPT_MS } from './show.ts'

export interface WebhookSendParts {
  readonly scope: ReadScope
  readonly inventory: Inventory
  readonly hotState: HitCounter
  readonly noteActivity: NoteActivity
  readonly queue: WebhookQueue
}

/** Puts jobs on the log. */
interface WebhookQueue {
  readonly eventLog: LogWriter
  readonly randomness: Randomness
  /** Of the newest catalog that is known. */
  readonly catalogNumber: () => number
}

const RANDOM_BYTES = 8

/** Sent once, also while it is paused; its attempt is found by the ID of the message. */
export function testWebhook(parts: WebhookSendParts) {
  const { inventory, hotState, noteActivity, queue } = parts
  return async (call: CallTo<'testWebhook'>) => {
    const webhook = ownWebhook(call, inventory)
    if ('code' in webhook) return webhook
    const { organization } = call.scope
    const limited = await refuseByRate([webhookTestHit(organization.id)], hotState)
    if (limited !== null) return limited
    const random = queue.randomness.hex(RANDOM_BYTES)
    const made = { nowMs: call.nowMs, random, catalogNumber: queue.catalogNumber() }
    const job = webhookTestJob(organization, webhookId(webhook), made)
    await queue.eventLog.append('webhooks', [webhookEntry(job)])
    await noteActivity(activityOf(call, webhookSubject(webhook), 'webhook_test', 'A test is sent.'))
    return answerAccepted({ message: job.messageId })
  }
}

/** Under their old IDs. Each is shown as waiting at once, so that it is not sent a third time by a second click. */
export function replayLost({ scope, inventory, noteActivity, queue }: WebhookSendParts) {
  return scope(async (reads, call: CallTo<'replayLost'>) => {
    const webhook = ownWebhook(call, inventory)
    if ('code' in webhook) return webhook
    const { message } = call.body
    const since = messagesSince(call.nowMs - LOST_KEPT_MS)
    const rows = await reads.run('lostEvents', {
      webhook: webhookId(webhook),
      since_id: since,
      limit: MOST_LOST,
      ...(message === undefined ? {} : { message_id: message }),
    })
    const catalogNumber = queue.catalogNumber()
    const { id: organization, logRetentionDays } = call.scope.organization
    // Each counts as an attempt of its own, so that what follows has numbers after it.
    const jobs = rows.map((row): WebhookJob => ({
      v: 1,
      messageId: row.message_id,
      organization,
      website: row.event_website,
      webhook: webhookId(webhook),
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- it keeps the type that it was first sent with
      type: row.event_type as WebhookJob['type'],
      body: row.posted,
      happenedAtMs: row.happened_at_ms,
      deadlineAtMs: call.nowMs + LIMITS.webhookTryMs,
      attempts: row.attempts + 1,
      dueAtMs: call.nowMs,
      catalogNumber,
      logRetentionDays,
    }))
    if (jobs.length > 0) {
      await queue.eventLog.append('webhooks', jobs.map(webhookEntry))
      const records = jobs.map((job) => waitingAttempt(job, call.nowMs))
      await queue.eventLog.append('webhook_attempts', records.map(webhookEntry))
      const text = `${jobs.length} events are sent again.`
      await noteActivity(activityOf(call, webhookSubject(webhook), 'webhook_replayed', text))
    }
    return answer({ replayed: jobs.length, mayHaveMore: rows.length >= MOST_LOST })
  })
}

/** Nothing was sent yet. */
function waitingAttempt(job: WebhookJob, nowMs: number): WebhookAttemptRecord {
  const none = { durationMs: 0, status: 0, error: '', answer: '' }
  return webhookAttempt(job, { ...none, startedAtMs: nowMs, state: 'waiting', nextAttemptAtMs: nowMs })
}

function activityOf(
  call: OrganizationCall,
  subject: string,
  type: 'webhook_test' | 'webhook_replayed',
  message: string,
) {
  const { organization } = call.scope
  return {
    organization: organization.id,
    website: '',
    type,
    subject,
    message,
    actor: call.session.person,
    logRetentionDays: organization.logRetentionDays,
  }
}
