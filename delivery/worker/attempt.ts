/** Makes one attempt for the jobs of a batch: builds requests, claims jobs, sends, and records the result of each job. */

import { randomBytes } from 'node:crypto'

import { loggedFault } from '../../common/fault.ts'
import { jobAfter, nextStep, type AttemptResult } from '../../domain/delivery/attempts.ts'
import type { SkipReason } from '../../domain/reasons.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Job } from '../../domain/records.ts'
import { attemptRecord, cleanOutcomes, detailOf, redactedExchange, type LoggedExchange } from './attempt-log.ts'
import { exchange, type ExchangeDeps, type Exchanged } from '../exchange/exchange.ts'
import type { JobVerbs } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import { noteSpan } from '../../runtime/tracing.ts'
import type { SettledJobs } from '../recovery/settled-jobs.ts'
import type { DestinationGate } from './destination-gate.ts'
import { recordOutcome, worstOf } from './destination-health.ts'
import type { JobJournal } from './job-journal.ts'
import type { BatchSizes, RequestBatch } from './request-batch.ts'
import type { DestinationContext, Provider, ProviderReply, ProviderRequest, Verdict } from '../providers/provider.ts'
import type { Quotas } from './quota.ts'
import type { AnswerCache } from './answer-cache.ts'
import { BUSY_MS, contextOf } from './next-action.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

export interface AttemptDeps extends ExchangeDeps {
  readonly provider: Provider
  /** Origin of the provider's API, for the request address in the attempt's record. */
  readonly baseUrl: string
  readonly hotState: JobVerbs
  readonly settledJobs: SettledJobs
  readonly gate: DestinationGate
  readonly nowMs: () => number
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly logger: Logger
  readonly journal: JobJournal
  readonly metrics: WorkerMetrics
  readonly sizes: BatchSizes
  readonly quotas: Quotas
  readonly answers: AnswerCache<ExchangeResult>
}

/** The result of one exchange: one outcome per job, or `split` if the provider refused the batch as a whole. */
export type ExchangeResult = Exchanged<readonly Verdict[] | Verdict | 'split'> & {
  readonly startedAtMs: number
  readonly endedAtMs: number
}

/** A claim outlives the longest exchange; the claim of a worker that died blocks its job no longer than this. */
const CLAIM_MS = 3 * LIMITS.webhookMs
/** No part of a refused batch is sent later than this: the claim must still cover its exchange. */
const LAST_PART_MS = 2 * LIMITS.webhookMs

/** A job with the request for it alone, which holds no other job's identifiers. */
interface PreparedJob {
  readonly job: Job
  readonly request: ProviderRequest
}

interface BatchAttempt {
  readonly batch: RequestBatch
  readonly context: DestinationContext
  readonly startedAtMs: number
}

/** Rejects only if a result could not be recorded; the jobs are then still on the log. */
export async function makeAttempt(deps: AttemptDeps, batch: RequestBatch): Promise<void> {
  const context = contextOf(batch.target)
  const built = batch.jobs.map((job) => ({ job, ...buildRequest(deps, job, context) }))
  await allSettled(built.flatMap((each) => (each.kind === 'send' ? [] : [endUnsent(deps, each.job, each)])))
  const sendable = built.flatMap((each) => (each.kind === 'send' ? [{ job: each.job, request: each.request }] : []))
  const owner = randomBytes(8).toString('hex')
  const ready = await claimJobs(deps, sendable, owner)
  if (ready.length === 0) return
  try {
    await sendPart(deps, { batch, context, startedAtMs: deps.nowMs() }, { ready, refusedWith: [] })
  } finally {
    // A claim that cannot be released expires by itself.
    await Promise.all(ready.map(({ job }) => deps.hotState.releaseJob(job.jobId, owner).catch(() => undefined)))
  }
}

interface BatchPart {
  readonly ready: readonly PreparedJob[]
  readonly refusedWith: readonly number[]
}

/** Splits a batch that is refused as a whole, down to single jobs; each part is recorded before the next one is sent. */
async function sendPart(deps: AttemptDeps, attempt: BatchAttempt, part: BatchPart): Promise<void> {
  const { ready, refusedWith } = part
  const startedAtMs = deps.nowMs()
  if (startedAtMs - attempt.startedAtMs > LAST_PART_MS) {
    await allSettled(ready.map(({ job }) => deps.journal.wait({ ...job, dueAtMs: startedAtMs + BUSY_MS })))
    return
  }
  const request = requestOf(deps, ready, attempt.context)
  if (request === null) return sendHalves(deps, attempt, part)
  const { answer, isFresh } = await exchangeOnce(deps, attempt, { ready, request })
  const { outcome, reply } = answer
  if (outcome !== 'split') {
    if (ready.length > 1 && refusedWith.length === 0) deps.sizes.taken(attempt.batch.key, ready.length)
    const outcomes = cleanOutcomes(outcomesOf(outcome, ready.length), answer.request)
    await settlePart(deps, attempt, { part, outcomes, answer, isFresh })
    return
  }
  deps.sizes.refused(attempt.batch.key, ready.length)
  deps.metrics.attempt('split', answer.endedAtMs - answer.startedAtMs)
  await sendHalves(deps, attempt, { ready, refusedWith: [...refusedWith, reply.status] })
}

async function sendHalves(deps: AttemptDeps, attempt: BatchAttempt, { ready, refusedWith }: BatchPart): Promise<void> {
  // The quota was taken for one request only.
  deps.quotas.spend(attempt.context, { requests: 2, deliveries: ready.length }, deps.nowMs())
  const middle = Math.ceil(ready.length / 2)
  await sendPart(deps, attempt, { ready: ready.slice(0, middle), refusedWith })
  await sendPart(deps, attempt, { ready: ready.slice(middle), refusedWith })
}

/** One outcome for several jobs applies to each of them. */
function outcomesOf(outcome: readonly Verdict[] | Verdict, jobs: number): readonly Verdict[] {
  const unknown: Verdict = { kind: 'retry', code: 'unreadable_answer' }
  return Array.from({ length: jobs }, (_, index) => ('kind' in outcome ? outcome : (outcome[index] ?? unknown)))
}

/** A verdict is requested once for all jobs that wait for it, whichever batches they are in. */
function exchangeOnce(
  deps: AttemptDeps,
  { batch, context }: BatchAttempt,
  { ready, request }: { ready: readonly PreparedJob[]; request: ProviderRequest },
): Promise<{ answer: ExchangeResult; isFresh: boolean }> {
  const ask = async (): Promise<ExchangeResult> => {
    const startedAtMs = deps.nowMs()
    const judge = (reply: ProviderReply): readonly Verdict[] | Verdict | 'split' =>
      judgeReply(deps, ready, reply, context)
    const exchanged = await exchange(deps, request, batch.target.secrets, judge)
    return { ...exchanged, startedAtMs, endedAtMs: deps.nowMs() }
  }
  const reference = ready[0]?.job.accepted?.reference
  if (reference === undefined) return ask().then((answer) => ({ answer, isFresh: true }))
  return deps.answers.get(`${batch.key}\n${reference}`, deps.nowMs(), ask)
}

/** Null if a job has become too old since its own request was built: splitting the batch then finds out which. */
function requestOf(
  deps: AttemptDeps,
  ready: readonly PreparedJob[],
  context: DestinationContext,
): ProviderRequest | null {
  const [first] = ready
  if (first === undefined) throw new Error('a batch without jobs')
  const { batch } = deps.provider
  if (ready.length === 1 || first.job.accepted !== undefined || batch === undefined) return first.request
  try {
    return batch.request(jobsOf(ready), context, deps.nowMs())
  } catch {
    return null
  }
}

/** Reads the reply: for jobs that the provider accepted earlier it is the verdict, for others the outcome of sending. */
function judgeReply(
  { provider }: AttemptDeps,
  ready: readonly PreparedJob[],
  reply: ProviderReply,
  context: DestinationContext,
): readonly Verdict[] | Verdict | 'split' {
  const { verdict, outcome, batch } = provider
  if (ready[0]?.job.accepted !== undefined && verdict !== undefined) return verdict.outcome(reply)
  return ready.length === 1 || batch === undefined
    ? outcome(reply, context)
    : batch.outcomes(reply, jobsOf(ready), context)
}

function jobsOf(ready: readonly PreparedJob[]): readonly Job[] {
  return ready.map(({ job }) => job)
}

interface PartResult {
  readonly part: BatchPart
  readonly outcomes: readonly Verdict[]
  readonly answer: ExchangeResult
  readonly isFresh: boolean
}

async function settlePart(deps: AttemptDeps, attempt: BatchAttempt, result: PartResult): Promise<void> {
  const { part, outcomes, answer, isFresh } = result
  const worst = worstOf(outcomes)
  if (isFresh && worst !== undefined) deps.metrics.attempt(worst.kind, answer.endedAtMs - answer.startedAtMs)
  const first = part.ready[0]?.job
  if (isFresh && first !== undefined && worst !== undefined && answer.request.checkedHere === undefined)
    await recordOutcome(deps, first, { outcome: worst, target: attempt.batch.target })
  const exchanged: LoggedExchange = {
    startedAtMs: answer.startedAtMs,
    endedAtMs: answer.endedAtMs,
    reply: answer.reply,
    kept: redactedExchange(deps.baseUrl, answer.request, answer.reply),
    jobs: part.ready.length,
    refusedWith: part.refusedWith,
  }
  // One random number for the batch: its jobs fall due together, so that one request carries them again or asks for their verdicts.
  const random = deps.random()
  const settle = (ready: PreparedJob, outcome: Verdict): Promise<void> =>
    settleJob(deps, { ready, outcome, exchanged, context: attempt.context, random })
  await allSettled(
    part.ready.flatMap((ready, index) => {
      const outcome = outcomes[index]
      return outcome === undefined ? [] : [settle(ready, outcome)]
    }),
  )
}

interface JobResult {
  readonly ready: PreparedJob
  readonly outcome: Verdict
  readonly exchanged: LoggedExchange
  readonly context: DestinationContext
  readonly random: number
}

async function settleJob(deps: AttemptDeps, result: JobResult): Promise<void> {
  const { outcome, exchanged, context, random } = result
  const { job, request } = result.ready
  const nowMs = exchanged.endedAtMs
  const attempted = resultOf(outcome, exchanged.reply)
  const after = jobAfter(job, attempted, nowMs)
  const { dedupeMs } = PROVIDER_DESCRIPTORS[job.provider]
  const step = nextStep(after, attempted, { nowMs, random, dedupeMs })
  const attempt = attemptRecord(exchanged, { request, number: after.attempts, outcome, step })
  const detail = detailOf(exchanged, request, context)
  await deps.journal.settle(after, step, { sessionMode: request.sessionMode, detail, attempt })
  deps.settledJobs.add(job)
  traceAttempt(after, outcome, exchanged)
  const fields = { provider: job.provider, jobId: job.jobId, code: outcome.code, ms: attempt.durationMs }
  deps.logger.debug({ ...fields, next: step.kind }, 'attempt made')
}

function traceAttempt({ traceparent, provider, attempts }: Job, { kind, code }: Verdict, sent: LoggedExchange): void {
  if (traceparent === undefined) return
  const status = { 'http.response.status_code': sent.reply.status }
  const attributes = { ...status, 'whence.attempt': attempts, 'whence.outcome': kind, 'whence.code': code }
  const times = { startMs: sent.startedAtMs, endMs: sent.endedAtMs }
  noteSpan({ name: `deliver ${provider}`, kind: 'CLIENT', parent: traceparent, attributes, ...times })
}

type BuildResult =
  | { readonly kind: 'send'; readonly request: ProviderRequest }
  | { readonly kind: 'skip'; readonly reason: SkipReason }
  | { readonly kind: 'broken' }

/** If no request can be built for a job, that is our own fault; it must not stop other jobs. */
function buildRequest(deps: AttemptDeps, job: Job, context: DestinationContext): BuildResult {
  try {
    const { provider } = deps
    const isAccepted = job.accepted !== undefined && provider.verdict !== undefined
    const request = isAccepted
      ? provider.verdict.request(job.accepted, context)
      : provider.request(job, context, deps.nowMs())
    return 'kind' in request ? request : { kind: 'send', request }
  } catch (error) {
    deps.logger.error({ provider: job.provider, jobId: job.jobId, ...loggedFault(error) }, 'request cannot be built')
    return { kind: 'broken' }
  }
}

async function endUnsent(deps: AttemptDeps, job: Job, built: Exclude<BuildResult, { kind: 'send' }>): Promise<void> {
  if (built.kind === 'skip') {
    await deps.journal.end(job, { status: 'skipped', reason: built.reason })
  } else {
    const unsent = { sessionMode: 'none', detail: '', attempt: null } as const
    const counted = { ...job, attempts: job.attempts + 1 }
    // Counted as an attempt, so that a replay is not mistaken for this one.
    await deps.journal.settle(counted, { kind: 'failed', reason: 'unreadable_job' }, unsent)
  }
  deps.settledJobs.add(job)
}

/** The jobs that this worker may attempt; those that another worker has claimed are deferred for a short while. */
async function claimJobs(
  deps: AttemptDeps,
  ready: readonly PreparedJob[],
  owner: string,
): Promise<readonly PreparedJob[]> {
  const isOurs = await Promise.all(ready.map(({ job }) => hasClaimed(deps, job, owner)))
  const others = ready.filter((_, index) => isOurs[index] !== true)
  await allSettled(others.map(({ job }) => deps.journal.wait({ ...job, dueAtMs: deps.nowMs() + BUSY_MS })))
  return ready.filter((_, index) => isOurs[index] === true)
}

/** If the hot state is unavailable, deliveries go on: each log partition has one reader, and providers recognise a repeated ID. */
async function hasClaimed(deps: AttemptDeps, job: Job, owner: string): Promise<boolean> {
  try {
    return await deps.hotState.claimJob(job.jobId, owner, CLAIM_MS)
  } catch {
    deps.logger.warn({ provider: job.provider }, 'delivering without claims')
    return true
  }
}

function resultOf(outcome: Verdict, reply: ProviderReply): AttemptResult {
  const retryAfter = outcome.kind === 'throttled' ? outcome.retryAfter : null
  const reference = outcome.kind === 'accepted' ? { reference: outcome.reference } : {}
  return { kind: outcome.kind, retryAfter, isUnclear: reply.isUnclear, ...reference }
}

/** Waits for all of them even if one rejects, so that as much as possible is recorded. */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  const broken = (await Promise.allSettled(work)).find((each) => each.status === 'rejected')
  if (broken !== undefined) throw new Error('not every result could be recorded', { cause: broken.reason })
}
