/** Sends one event to one webhook: a signed call through the address guard, and what follows from its answer. */

import { MINUTE_MS } from '../../domain/durations.ts'
import { holdMs, JITTER, nextStep, tierFor, type AttemptResult, type NextStep } from '../../domain/delivery/attempts.ts'
import type { WebhookAttemptRecord, WebhookJob } from '../../domain/records.ts'
import { outcomeOf } from '../../domain/streams/pace.ts'
import { webhookAttempt, webhookEntry } from '../../domain/webhooks/jobs.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import { appendUntilStopped } from '../sure-appends.ts'
import { callOutbound, type OutboundParts } from '../outbound/call.ts'
import { lookAgainAtMs, type CatalogWaits } from '../catalog-waits.ts'
import { webhookHeaders } from '../streams/signature.ts'
import type { DestinationGate } from '../worker/destination-gate.ts'
import type { WebhookNews } from './news.ts'
import type { WebhookRecipient } from './recipient.ts'

export interface DeliverParts {
  readonly eventLog: LogWriter
  readonly gate: DestinationGate
  readonly news: WebhookNews
  readonly waits: CatalogWaits
  readonly recipientOf: (job: WebhookJob) => WebhookRecipient | null
  readonly outbound: OutboundParts
  readonly nowMs: () => number
  /** In [0, 1). */
  readonly random: () => number
  /** Aborted when the process stops. */
  readonly signal: AbortSignal
}

/** Some ms pass between the decision to wait 30 s and the choice of a tier; they must not select a shorter tier. */
const DECIDED_AGO_MS = 1_000
const ANSWER_CHARS = 1_024
/** A postponed job is tried this long before its deadline at the latest. */
const LAST_CALL_MS = MINUTE_MS

/** True if its receiver was called. Resolves once what follows is on the log; rejects only if the process stops before. */
export async function deliverJob(parts: DeliverParts, key: string, job: WebhookJob): Promise<boolean> {
  const target = parts.recipientOf(job)
  if (target === null) return uncalled(withoutTarget(parts, job))
  const nowMs = parts.nowMs()
  if (nowMs >= job.deadlineAtMs) return uncalled(end(parts, target, job))
  const isTest = job.type === 'test'
  const isReady = target.secrets.length > 0 && (isTest || !target.webhook.isPaused)
  if (!isReady) return uncalled(holdJob(parts, job))
  if (!isTest && parts.gate.admit(key, webhookSetup(target), nowMs).kind === 'hold')
    return uncalled(holdJob(parts, job))
  await attempt(parts, key, { job, target })
  return true
}

async function uncalled(ended: Promise<void> | void): Promise<false> {
  await ended
  return false
}

/** A job that found no place waits until one is expected to be free, but not too close to its deadline. */
export function postponeJob(parts: DeliverParts, job: WebhookJob, freeAtMs: number): Promise<void> {
  const latestMs = Math.max(job.deadlineAtMs - LAST_CALL_MS, parts.nowMs())
  return wait(parts, { ...job, dueAtMs: Math.min(freeAtMs, latestMs) })
}

/**
 * A webhook that this process does not know was deleted only if the catalog here is at least as new as the job. A test is asked for by somebody
 * who sees the webhook.
 */
async function withoutTarget(parts: DeliverParts, job: WebhookJob): Promise<void> {
  const { waits, news, nowMs } = parts
  if (!waits.isBehind(job.catalogNumber) && job.type !== 'test') return news.dropped()
  if (nowMs() >= job.deadlineAtMs) return end(parts, null, job)
  const dueAtMs = lookAgainAtMs(nowMs(), waits.waitFor(job.catalogNumber))
  await wait(parts, { ...job, dueAtMs: Math.min(dueAtMs, job.deadlineAtMs) })
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
  const tried: WebhookJob = { ...job, attempts: job.attempts + 1 }
  const step = stepAfter(parts, tried, result)
  await learn(parts, key, { target, status: reply.status, isTaken, isTest: job.type === 'test' })
  const answer = log.responseBody.slice(0, ANSWER_CHARS)
  const shown = { startedAtMs, durationMs: parts.nowMs() - startedAtMs, status: reply.status, error, answer }
  await settle(parts, { job: tried, target }, { step, shown })
}

/** A test is attempted once: the person waiting for it wants to see the result. */
function stepAfter({ nowMs, random }: DeliverParts, tried: WebhookJob, result: AttemptResult): NextStep {
  if (tried.type === 'test' && result.kind !== 'delivered') return { kind: 'failed', reason: 'attempt_failed' }
  const context = { nowMs: nowMs(), random: random(), dedupeMs: null }
  return nextStep({ ...tried, unclearSinceMs: null }, result, context)
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

/** `target`: null if this process does not know the webhook. */
interface EndedJob {
  readonly job: WebhookJob
  readonly target: WebhookRecipient | null
}

type Shown = Pick<WebhookAttemptRecord, 'startedAtMs' | 'durationMs' | 'status' | 'error' | 'answer'>

const STATE_AFTER = { done: 'delivered', retry: 'retrying', expired: 'expired', failed: 'failed' } as const

/** First the job's next entry, then the record that is shown: after a crash in between, the attempt is repeated and nothing is lost. */
async function settle(
  parts: DeliverParts,
  { job, target }: EndedJob,
  { step, shown }: { readonly step: NextStep; readonly shown: Shown },
): Promise<void> {
  if (step.kind === 'retry') await wait(parts, { ...job, dueAtMs: step.dueAtMs })
  const state = STATE_AFTER[step.kind]
  parts.news.tried(state)
  const nextAttemptAtMs = step.kind === 'retry' ? step.dueAtMs : null
  const record = webhookAttempt(job, { ...shown, state, nextAttemptAtMs })
  await appendUntilStopped(parts, 'webhook_attempts', webhookEntry(record))
  const isLost = (state === 'failed' || state === 'expired') && job.type !== 'test'
  if (isLost && target !== null) await parts.news.tell(target, 'webhook_failing')
}

function end(parts: DeliverParts, target: WebhookRecipient | null, job: WebhookJob): Promise<void> {
  const shown = { startedAtMs: parts.nowMs(), durationMs: 0, status: 0, error: 'deadline_passed', answer: '' }
  const step = { kind: 'expired', reason: 'deadline_passed' } as const
  return settle(parts, { job: { ...job, attempts: job.attempts + 1 }, target }, { step, shown })
}

/** About as long as it has already waited, but never beyond its deadline. */
function holdJob(parts: DeliverParts, job: WebhookJob): Promise<void> {
  const nowMs = parts.nowMs()
  const waitMs = Math.round(holdMs(nowMs - job.happenedAtMs) * (1 + JITTER * parts.random()))
  return wait(parts, { ...job, dueAtMs: Math.min(nowMs + waitMs, job.deadlineAtMs) })
}

function wait(parts: DeliverParts, job: WebhookJob): Promise<void> {
  const tier = tierFor(job.dueAtMs - parts.nowMs() + DECIDED_AGO_MS)
  return appendUntilStopped(parts, `webhooks.${tier}`, webhookEntry(job))
}

/** Everything that decides whether it is accepted; kept in memory and compared, never shown. */
function webhookSetup({ webhook, secrets }: WebhookRecipient): string {
  return JSON.stringify([webhook.url, secrets[0]])
}
