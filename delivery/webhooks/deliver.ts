/** Sends one event to one webhook: a signed call through the address guard, and what follows from its answer. */

import type { AttemptResult } from '../../domain/delivery/attempts.ts'
import type { WebhookJob } from '../../domain/records.ts'
import { outcomeOf } from '../../domain/streams/pace.ts'
import { callOutbound, type OutboundParts } from '../outbound/call.ts'
import { webhookHeaders } from '../streams/signature.ts'
import type { DestinationGate } from '../worker/destination-gate.ts'
import type { WebhookJournal } from './job-journal.ts'
import type { WebhookNews } from './news.ts'
import type { WebhookRecipient, WebhookRecipients } from './recipient.ts'

export interface DeliverParts {
  readonly recipients: WebhookRecipients
  readonly journal: WebhookJournal
  readonly gate: DestinationGate
  readonly news: WebhookNews
  readonly outbound: OutboundParts
  readonly nowMs: () => number
}

const ANSWER_CHARS = 1_024

/** True if its receiver was called. Resolves once what follows is on the log; rejects only if the process stops before. */
export async function deliverJob(parts: DeliverParts, key: string, job: WebhookJob): Promise<boolean> {
  const { journal, gate } = parts
  const target = parts.recipients.of(job)
  if (target === null) return uncalled(withoutTarget(parts, job))
  const nowMs = parts.nowMs()
  if (nowMs >= job.deadlineAtMs) return uncalled(journal.expire({ job, target }))
  const isTest = job.type === 'test'
  const isReady = target.secrets.length > 0 && (isTest || !target.webhook.isPaused)
  if (!isReady) return uncalled(journal.hold(job))
  if (!isTest && gate.admit(key, webhookSetup(target), nowMs).kind === 'hold') return uncalled(journal.hold(job))
  await attempt(parts, key, { job, target })
  return true
}

async function uncalled(ended: Promise<void> | void): Promise<false> {
  await ended
  return false
}

async function withoutTarget({ recipients, journal, news, nowMs }: DeliverParts, job: WebhookJob): Promise<void> {
  if (recipients.isGone(job)) return news.dropped()
  if (nowMs() >= job.deadlineAtMs) return journal.expire({ job, target: null })
  await journal.wait({ ...job, dueAtMs: Math.min(recipients.lookAgainAtMs(job), job.deadlineAtMs) })
}

interface ToldJob {
  readonly job: WebhookJob
  readonly target: WebhookRecipient
}

async function attempt(parts: DeliverParts, key: string, { job, target }: ToldJob): Promise<void> {
  const startedAtMs = parts.nowMs()
  const { messageId: id, body } = job
  const headers = {
    'content-type': 'application/json',
    ...webhookHeaders({ id, body, atMs: startedAtMs }, ...target.secrets),
  }
  const { webhook, secrets } = target
  const call = { url: webhook.url, method: 'POST', headers, body, secrets } as const
  const { reply, log } = await callOutbound(call, parts.outbound)
  const { isTaken, error } = outcomeOf(reply, startedAtMs)
  const retryAfter = reply.headers['retry-after'] ?? null
  const result: AttemptResult = { kind: isTaken ? 'delivered' : 'retry', retryAfter, isUnclear: false }
  await learn(parts, key, { target, status: reply.status, isTaken, isTest: job.type === 'test' })
  const answer = log.responseBody.slice(0, ANSWER_CHARS)
  const shown = { startedAtMs, durationMs: parts.nowMs() - startedAtMs, status: reply.status, error, answer }
  await parts.journal.attempted({ job, target }, result, shown)
}

interface Answered {
  readonly target: WebhookRecipient
  readonly status: number
  readonly isTaken: boolean
  readonly isTest: boolean
}

async function learn({ gate, news, nowMs }: DeliverParts, key: string, answered: Answered): Promise<void> {
  const { target, status, isTaken, isTest } = answered
  if (isTaken) gate.succeeded(key, nowMs())
  else if (isTest) return
  else if (status !== 410) gate.failed(key, nowMs())
  else if (gate.pause(key, { reason: 'refused', setup: webhookSetup(target) }, nowMs()))
    await news.tell(target, 'webhook_paused')
}

/** Everything that decides whether it is accepted; kept in memory and compared, never shown. */
function webhookSetup({ webhook, secrets }: WebhookRecipient): string {
  return JSON.stringify([webhook.url, secrets[0]])
}
