/** Makes one attempt of one job: claim, request, exchange, outcome, and what is written of it. */

import { randomBytes } from 'node:crypto'

import { destinationKey } from '../domain/catalog.ts'
import { jobAfter, nextStep, type AttemptResult, type NextStep } from '../domain/attempts.ts'
import { PROVIDER_FACTS, type SkipReason } from '../domain/deliveries.ts'
import { LIMITS } from '../domain/limits.ts'
import type { Attempt, Job } from '../domain/records.ts'
import type { CourierDeps } from './courier.ts'
import { setupOf, type DestinationGate } from './destination-gate.ts'
import { hide, hideInBody } from './hide.ts'
import type { JobJournal } from './job-journal.ts'
import { exchange } from './exchange.ts'
import type { DestinationContext, ProviderReply, ProviderRequest, Verdict } from './provider.ts'
import { targetOf } from './send.ts'
import { BUSY_MS, contextOf, type Goal } from './way.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

export interface AttemptDeps extends CourierDeps {
  readonly journal: JobJournal
  readonly gate: DestinationGate
  readonly metrics: WorkerMetrics
}

/** A claim outlives the longest exchange; a worker that died with one blocks its job no longer than this. */
const CLAIM_MS = 3 * LIMITS.webhookMs

/** Rejects only where the outcome could not be written; the job is then still on the log. */
export async function makeAttempt(deps: AttemptDeps, job: Job, goal: Goal): Promise<void> {
  const context = contextOf(goal)
  const request = buildRequest(deps, job, context)
  if (request.kind !== 'send') {
    await endUnsent(deps, job, request)
    deps.settledJobs.add(job)
    return
  }
  const owner = randomBytes(8).toString('hex')
  if (!(await hasClaimed(deps, job, owner))) {
    await deps.journal.wait({ ...job, dueAtMs: deps.nowMs() + BUSY_MS })
    return
  }
  try {
    await exchangeAndSettle(deps, job, { goal, context, request: request.request })
    deps.settledJobs.add(job)
  } finally {
    // A claim that cannot be given back runs out by itself.
    await deps.hotState.releaseJob(job.jobId, owner).catch(() => undefined)
  }
}

interface Errand {
  readonly goal: Goal
  readonly context: DestinationContext
  readonly request: ProviderRequest
}

async function exchangeAndSettle(deps: AttemptDeps, job: Job, errand: Errand): Promise<void> {
  const startedAtMs = deps.nowMs()
  const judge = (reply: ProviderReply): Verdict => judged(deps, job, reply, errand.context)
  const { request, reply, outcome: raw } = await exchange(deps, errand.request, errand.goal.secrets, judge)
  const endedAtMs = deps.nowMs()
  const outcome = cleanOutcome(raw, request)
  deps.metrics.attempt(outcome.kind, endedAtMs - startedAtMs)
  const result = resultOf(outcome, reply)
  const after = jobAfter(job, result, endedAtMs)
  const { dedupeMs } = PROVIDER_FACTS[job.provider]
  const step = nextStep(after, result, { nowMs: endedAtMs, random: deps.random(), dedupeMs })
  if (request.checkedHere === undefined) await tellGate(deps, job, { outcome, goal: errand.goal })
  const attempt = attemptOf(deps, { number: after.attempts, startedAtMs, endedAtMs }, { request, reply, outcome, step })
  const told = { sessionMode: request.sessionMode, detail: detailOf(request, errand.context), attempt }
  await deps.journal.settle(after, step, told)
  const fields = { provider: job.provider, jobId: job.jobId, code: outcome.code, ms: attempt.durationMs }
  deps.logger.debug({ ...fields, next: step.kind }, 'attempt made')
}

type Built =
  | { readonly kind: 'send'; readonly request: ProviderRequest }
  | { readonly kind: 'skip'; readonly reason: SkipReason }
  | { readonly kind: 'broken' }

/** A job that no request can be built of is a fault of ours; it must not stop the jobs behind it. */
function buildRequest(deps: AttemptDeps, job: Job, context: DestinationContext): Built {
  try {
    const { provider } = deps
    const isTaken = job.accepted !== undefined && provider.verdict !== undefined
    const request = isTaken
      ? provider.verdict.request(job.accepted, context)
      : provider.request(job, context, deps.nowMs())
    return 'kind' in request ? request : { kind: 'send', request }
  } catch (error) {
    const cause = error instanceof Error ? error.name : 'unknown'
    deps.logger.error({ provider: job.provider, jobId: job.jobId, cause }, 'request cannot be built')
    return { kind: 'broken' }
  }
}

/** Of a job that was taken the answer tells the verdict; of any other, what became of it. */
function judged(deps: AttemptDeps, job: Job, reply: ProviderReply, context: DestinationContext): Verdict {
  const { verdict, outcome } = deps.provider
  return job.accepted !== undefined && verdict !== undefined ? verdict.outcome(reply) : outcome(reply, context)
}

function endUnsent(deps: AttemptDeps, job: Job, built: Exclude<Built, { kind: 'send' }>): Promise<void> {
  if (built.kind === 'skip') {
    return deps.journal.end(job, { status: 'skipped', reason: built.reason })
  }
  const told = { sessionMode: 'none', detail: '', attempt: null } as const
  // Counted as an attempt, so that a replay is not taken for this one.
  return deps.journal.settle({ ...job, attempts: job.attempts + 1 }, { kind: 'failed', reason: 'unreadable_job' }, told)
}

/** Without HotState deliveries go on: each log partition has one reader, and providers know a repeated ID. */
async function hasClaimed(deps: AttemptDeps, job: Job, owner: string): Promise<boolean> {
  try {
    return await deps.hotState.claimJob(job.jobId, owner, CLAIM_MS)
  } catch {
    deps.logger.warn({ provider: job.provider }, 'delivering without claims')
    return true
  }
}

async function tellGate(deps: AttemptDeps, job: Job, end: { outcome: Verdict; goal: Goal }): Promise<void> {
  const key = destinationKey(job.website, job.destination)
  const nowMs = deps.nowMs()
  if (end.outcome.kind === 'credentials') {
    const setup = setupOf(end.goal.destination, end.goal.secrets)
    const isNew = deps.gate.pause(key, { reason: 'credentials_refused', setup }, nowMs)
    if (isNew)
      await announce(deps, job, 'destination_paused', `The provider refuses its credentials (${end.outcome.code}).`)
    return
  }
  if (end.outcome.kind === 'retry' || end.outcome.kind === 'throttled') {
    const hasOpened = deps.gate.failed(key, nowMs)
    if (hasOpened) deps.logger.warn({ destination: key, code: end.outcome.code }, 'breaker opened')
    return
  }
  const hasResumed = deps.gate.succeeded(key, nowMs)
  if (hasResumed) await announce(deps, job, 'destination_resumed', 'The provider accepts its credentials again.')
}

async function announce(deps: AttemptDeps, job: Job, type: string, message: string): Promise<void> {
  const nowMs = deps.nowMs()
  deps.logger.warn({ destination: destinationKey(job.website, job.destination), type }, 'destination changed state')
  await deps.journal.activity({
    v: 1,
    kind: 'activity',
    id: nowMs.toString(16).padStart(12, '0') + randomBytes(8).toString('hex'),
    atMs: nowMs,
    organization: job.organization,
    website: job.website,
    type,
    subject: job.destination,
    message,
    logRetentionDays: job.logRetentionDays,
  })
}

function resultOf(outcome: Verdict, reply: ProviderReply): AttemptResult {
  const retryAfter = outcome.kind === 'throttled' ? outcome.retryAfter : null
  const reference = outcome.kind === 'accepted' ? { reference: outcome.reference } : {}
  return { kind: outcome.kind, retryAfter, isUnclear: reply.isUnclear, ...reference }
}

/** A provider's own words may repeat what it was sent. */
function cleanOutcome(outcome: Verdict, request: ProviderRequest): Verdict {
  return { ...outcome, code: hide(outcome.code, request.secrets) }
}

function detailOf(request: ProviderRequest, context: DestinationContext): string {
  if (!context.isValidateOnly) return request.detail
  const place = request.checkedHere === undefined ? 'validated only' : 'checked here only'
  return `${request.validation ?? `${place}, nothing is reported`}; ${request.detail}`
}

interface Span {
  readonly number: number
  readonly startedAtMs: number
  readonly endedAtMs: number
}

interface Ended {
  readonly request: ProviderRequest
  readonly reply: ProviderReply
  readonly outcome: Verdict
  readonly step: NextStep
}

/** The attempt as it is kept: no secret, no identifier, 64 KB of each body. */
function attemptOf(deps: AttemptDeps, span: Span, ended: Ended): Attempt {
  const { request } = ended
  const isCut = ended.reply.failure !== ''
  return {
    attemptId: randomBytes(16).toString('hex'),
    number: span.number,
    startedAtMs: span.startedAtMs,
    durationMs: span.endedAtMs - span.startedAtMs,
    requestUrl: hide(new URL(targetOf(request), deps.baseUrl).href, request.secrets),
    requestBody: hideInBody(request.body, request.secrets, { isCut: false }),
    responseStatus: ended.reply.status,
    responseBody: hideInBody(ended.reply.body, request.secrets, { isCut }),
    outcome: ended.outcome.kind,
    code: ended.outcome.code,
    nextStep: stepText(ended.step),
  }
}

function stepText(step: NextStep): string {
  if (step.kind === 'retry') return `again at ${new Date(step.dueAtMs).toISOString()}`
  return step.kind === 'done' ? 'done' : `${step.kind}: ${step.reason}`
}
