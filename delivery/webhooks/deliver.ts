/** Sends one event to one webhook: a signed call through the address guard, and what follows from its answer. */

import type { AttemptResult } from '../../domain/delivery/attempts.ts'
import type { WebhookJob } from '../../domain/records.ts'
import { addressParts } from '../../domain/webhooks/slack-address.ts'
import { hourOfJob } from '../../domain/webhooks/slack-hour.ts'
import { outcomeOf } from '../../domain/streams/pace.ts'
import { callOutbound, type OutboundParts } from '../outbound/call.ts'
import { webhookHeaders } from '../streams/signature.ts'
import type { DestinationGate } from '../worker/destination-gate.ts'
import type { WebhookJournal } from './job-journal.ts'
import type { WebhookNews } from './news.ts'
import type { WebhookRecipient, WebhookRecipients } from './recipient.ts'
import { isRefusedBySlack, type Slack } from './slack.ts'

export interface DeliverParts {
  readonly recipients: WebhookRecipients
  readonly journal: WebhookJournal
  readonly gate: DestinationGate
  readonly news: WebhookNews
  readonly outbound: OutboundParts
  readonly slack: Slack
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
  const isHour = target.webhook.format === 'Slack' && hourOfJob(job) !== null
  if (isHour && nowMs < job.dueAtMs) return uncalled(journal.wait(job))
  if (!isTest && gate.admit(key, webhookSetup(target), nowMs).kind === 'hold') return uncalled(journal.hold(job))
  if (target.webhook.format === 'Slack') return deliverToSlack(parts, key, { job, target })
  await attempt(parts, key, { job, target }, signedCall({ job, target }, nowMs))
  return true
}

/** Of jobs about one hour the first that is taken counts. */
async function deliverToSlack(parts: DeliverParts, key: string, told: ToldJob): Promise<boolean> {
  const { slack, journal } = parts
  const begun = await slack.begin(told.job)
  if (begun === 'later') return uncalled(journal.hold(told.job))
  let isTaken = begun === 'taken'
  try {
    if (isTaken) return false
    // The facts of the hour may be away.
    const body = await slack.bodyOf(told.job).catch(() => null)
    if (body === null) return await uncalled(journal.hold(told.job))
    isTaken = await attempt(parts, key, told, slackCall(parts, told, body))
    return true
  } finally {
    await slack.end(told.job, isTaken)
  }
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

type WebhookCall = Parameters<typeof callOutbound>[0]

/** Resolves with whether it was taken. */
async function attempt(
  parts: DeliverParts,
  key: string,
  { job, target }: ToldJob,
  call: WebhookCall,
): Promise<boolean> {
  const startedAtMs = parts.nowMs()
  const { reply, log } = await callOutbound(call, outboundOf(parts, target))
  const { isTaken, error } = outcomeOf(reply, startedAtMs)
  const retryAfter = reply.headers['retry-after'] ?? null
  const isRefused = target.webhook.format === 'Slack' && isRefusedBySlack(reply.status)
  const kind = isTaken ? 'delivered' : isRefused ? 'refused' : 'retry'
  const result: AttemptResult = { kind, retryAfter, isUnclear: false }
  await learn(parts, key, { target, status: reply.status, isTaken, isTest: job.type === 'test' })
  const answer = log.responseBody.slice(0, ANSWER_CHARS)
  const shown = { startedAtMs, durationMs: parts.nowMs() - startedAtMs, status: reply.status, error, answer }
  await parts.journal.attempted({ job, target }, result, shown)
  return isTaken
}

function outboundOf({ outbound, slack }: DeliverParts, { webhook }: WebhookRecipient): OutboundParts {
  const isStoodInFor = webhook.format === 'Slack' && slack.standIn !== undefined
  return isStoodInFor ? { ...outbound, trustedOrigin: slack.standIn } : outbound
}

const JSON_BODY = { 'content-type': 'application/json' }

function signedCall({ job, target }: ToldJob, atMs: number): WebhookCall {
  const { messageId: id, body } = job
  const { url, secrets } = target
  const headers = { ...JSON_BODY, ...webhookHeaders({ id, body, atMs }, ...secrets) }
  return { url, method: 'POST', headers, body, secrets }
}

/** An address of another service is none: the guard refuses it. */
function slackCall({ slack }: DeliverParts, { target }: ToldJob, body: string): WebhookCall {
  const { url } = target
  const secrets = addressParts(url)
  return { url: slack.targetOf(url), method: 'POST', headers: JSON_BODY, body, secrets }
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
  else if (!hasLeft(target, status)) gate.failed(key, nowMs())
  else if (gate.pause(key, { reason: 'refused', setup: webhookSetup(target) }, nowMs()))
    await news.tell(target, 'webhook_paused')
}

/** Nobody takes anything there any more: of Slack the channel or the webhook is gone, or may not be written to. */
function hasLeft({ webhook }: WebhookRecipient, status: number): boolean {
  return status === 410 || (webhook.format === 'Slack' && (status === 403 || status === 404))
}

/** Everything that decides whether it is accepted; kept in memory and compared, never shown. */
function webhookSetup({ url, secrets }: WebhookRecipient): string {
  return JSON.stringify([url, secrets[0]])
}
