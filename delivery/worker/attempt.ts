/** Makes one attempt of the jobs of a parcel: requests, claims, the exchange, and what is written of each job. */

import { randomBytes } from 'node:crypto'

import { jobAfter, nextStep, type AttemptResult } from '../../domain/delivery/attempts.ts'
import { PROVIDER_FACTS, type SkipReason } from '../../domain/delivery/deliveries.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Job } from '../../domain/records.ts'
import { attemptOf, cleanOutcomes, detailOf, keptOf, type Exchange } from './attempt-log.ts'
import { exchange, type ExchangeDeps, type Exchanged } from '../exchange/exchange.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { SettledJobs } from '../recovery/settled-jobs.ts'
import type { DestinationGate } from './destination-gate.ts'
import { gravestOf, tellGate } from './gate-news.ts'
import type { JobJournal } from './job-journal.ts'
import type { Parcel, ParcelSizes } from './parcel.ts'
import type { DestinationContext, Provider, ProviderReply, ProviderRequest, Verdict } from '../providers/provider.ts'
import type { Quotas } from './quota.ts'
import type { AskedOnce } from './asked-once.ts'
import { BUSY_MS, contextOf } from './way.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

export interface AttemptDeps extends ExchangeDeps {
  readonly provider: Provider
  /** Origin of the provider's API, for what is kept of the request's address. */
  readonly baseUrl: string
  readonly hotState: Pick<HotState, 'claimJob' | 'releaseJob'>
  readonly settledJobs: SettledJobs
  readonly gate: DestinationGate
  readonly nowMs: () => number
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly logger: Pick<Logger, 'debug' | 'warn' | 'error'>
  readonly journal: JobJournal
  readonly metrics: WorkerMetrics
  readonly sizes: ParcelSizes
  readonly quotas: Quotas
  readonly answers: AskedOnce<Answer>
}

/** What one exchange came to: one outcome for each job in it, or its refusal as a whole. */
export type Answer = Exchanged<readonly Verdict[] | Verdict | 'split'> & {
  readonly startedAtMs: number
  readonly endedAtMs: number
}

/** A claim outlives the longest exchange; a worker that died with one blocks its job no longer than this. */
const CLAIM_MS = 3 * LIMITS.webhookMs
/** No part of a refused parcel is sent later than this: the claim must still cover its exchange. */
const PARTS_MS = 2 * LIMITS.webhookMs

/** One job with its own request, which no other job's identifiers are in. */
interface Ready {
  readonly job: Job
  readonly request: ProviderRequest
}

interface Errand {
  readonly parcel: Parcel
  readonly context: DestinationContext
  readonly startedAtMs: number
}

/** Rejects only where an outcome could not be written; the jobs are then still on the log. */
export async function makeAttempt(deps: AttemptDeps, parcel: Parcel): Promise<void> {
  const context = contextOf(parcel.goal)
  const built = parcel.jobs.map((job) => ({ job, ...buildRequest(deps, job, context) }))
  await all(built.flatMap((each) => (each.kind === 'send' ? [] : [endUnsent(deps, each.job, each)])))
  const sendable = built.flatMap((each) => (each.kind === 'send' ? [{ job: each.job, request: each.request }] : []))
  const owner = randomBytes(8).toString('hex')
  const ready = await claimed(deps, sendable, owner)
  if (ready.length === 0) return
  try {
    await sendPart(deps, { parcel, context, startedAtMs: deps.nowMs() }, { ready, refusedWith: [] })
  } finally {
    // A claim that cannot be given back runs out by itself.
    await Promise.all(ready.map(({ job }) => deps.hotState.releaseJob(job.jobId, owner).catch(() => undefined)))
  }
}

interface PartOfParcel {
  readonly ready: readonly Ready[]
  readonly refusedWith: readonly number[]
}

/** Halves what is refused whole, down to single jobs; each part is written down before the next one is sent. */
async function sendPart(deps: AttemptDeps, errand: Errand, part: PartOfParcel): Promise<void> {
  const { ready, refusedWith } = part
  const startedAtMs = deps.nowMs()
  if (startedAtMs - errand.startedAtMs > PARTS_MS) {
    await all(ready.map(({ job }) => deps.journal.wait({ ...job, dueAtMs: startedAtMs + BUSY_MS })))
    return
  }
  const request = requestOf(deps, ready, errand.context)
  if (request === null) return sendHalves(deps, errand, part)
  const { answer, isFresh } = await answerTo(deps, errand, { ready, request })
  const { outcome, reply } = answer
  if (outcome !== 'split') {
    if (ready.length > 1 && refusedWith.length === 0) deps.sizes.taken(errand.parcel.key, ready.length)
    const outcomes = cleanOutcomes(outcomesOf(outcome, ready.length), answer.request)
    await settlePart(deps, errand, { part, outcomes, answer, isFresh })
    return
  }
  deps.sizes.refused(errand.parcel.key, ready.length)
  deps.metrics.attempt('split', answer.endedAtMs - answer.startedAtMs)
  await sendHalves(deps, errand, { ready, refusedWith: [...refusedWith, reply.status] })
}

async function sendHalves(deps: AttemptDeps, errand: Errand, { ready, refusedWith }: PartOfParcel): Promise<void> {
  // The room that was taken was for one request.
  deps.quotas.spend(errand.context, { requests: 2, deliveries: ready.length }, deps.nowMs())
  const middle = Math.ceil(ready.length / 2)
  await sendPart(deps, errand, { ready: ready.slice(0, middle), refusedWith })
  await sendPart(deps, errand, { ready: ready.slice(middle), refusedWith })
}

/** One outcome over several jobs holds for each of them. */
function outcomesOf(outcome: readonly Verdict[] | Verdict, jobs: number): readonly Verdict[] {
  const unknown: Verdict = { kind: 'retry', code: 'unreadable_answer' }
  return Array.from({ length: jobs }, (_, index) => ('kind' in outcome ? outcome : (outcome[index] ?? unknown)))
}

/** A verdict is asked for once for all that wait for it, in whatever parcels they are. */
function answerTo(
  deps: AttemptDeps,
  { parcel, context }: Errand,
  { ready, request }: { ready: readonly Ready[]; request: ProviderRequest },
): Promise<{ answer: Answer; isFresh: boolean }> {
  const ask = async (): Promise<Answer> => {
    const startedAtMs = deps.nowMs()
    const judge = (reply: ProviderReply): readonly Verdict[] | Verdict | 'split' => judged(deps, ready, reply, context)
    const exchanged = await exchange(deps, request, parcel.goal.secrets, judge)
    return { ...exchanged, startedAtMs, endedAtMs: deps.nowMs() }
  }
  const reference = ready[0]?.job.accepted?.reference
  if (reference === undefined) return ask().then((answer) => ({ answer, isFresh: true }))
  return deps.answers.get(`${parcel.key}\n${reference}`, deps.nowMs(), ask)
}

/** Null where time has made one of them unsendable since its own request was built: then smaller parts tell which. */
function requestOf(deps: AttemptDeps, ready: readonly Ready[], context: DestinationContext): ProviderRequest | null {
  const [first] = ready
  if (first === undefined) throw new Error('a parcel without jobs')
  const { batch } = deps.provider
  if (ready.length === 1 || first.job.accepted !== undefined || batch === undefined) return first.request
  try {
    return batch.request(jobsOf(ready), context, deps.nowMs())
  } catch {
    return null
  }
}

/** Of jobs that were taken the answer tells the verdict; of any other, what became of them. */
function judged(
  { provider }: AttemptDeps,
  ready: readonly Ready[],
  reply: ProviderReply,
  context: DestinationContext,
): readonly Verdict[] | Verdict | 'split' {
  const { verdict, outcome, batch } = provider
  if (ready[0]?.job.accepted !== undefined && verdict !== undefined) return verdict.outcome(reply)
  return ready.length === 1 || batch === undefined
    ? outcome(reply, context)
    : batch.outcomes(reply, jobsOf(ready), context)
}

function jobsOf(ready: readonly Ready[]): readonly Job[] {
  return ready.map(({ job }) => job)
}

interface Settling {
  readonly part: PartOfParcel
  readonly outcomes: readonly Verdict[]
  readonly answer: Answer
  readonly isFresh: boolean
}

async function settlePart(deps: AttemptDeps, errand: Errand, settling: Settling): Promise<void> {
  const { part, outcomes, answer, isFresh } = settling
  const gravest = gravestOf(outcomes)
  if (isFresh && gravest !== undefined) deps.metrics.attempt(gravest.kind, answer.endedAtMs - answer.startedAtMs)
  const first = part.ready[0]?.job
  if (isFresh && first !== undefined && gravest !== undefined && answer.request.checkedHere === undefined)
    await tellGate(deps, first, { outcome: gravest, goal: errand.parcel.goal })
  const exchanged: Exchange = {
    startedAtMs: answer.startedAtMs,
    endedAtMs: answer.endedAtMs,
    reply: answer.reply,
    kept: keptOf(deps.baseUrl, answer.request, answer.reply),
    jobs: part.ready.length,
    refusedWith: part.refusedWith,
  }
  // What went together comes back together: one request again, and one question for all verdicts.
  const random = deps.random()
  const settle = (ready: Ready, outcome: Verdict): Promise<void> =>
    settleJob(deps, { ready, outcome, exchanged, context: errand.context, random })
  await all(
    part.ready.flatMap((ready, index) => {
      const outcome = outcomes[index]
      return outcome === undefined ? [] : [settle(ready, outcome)]
    }),
  )
}

interface JobEnd {
  readonly ready: Ready
  readonly outcome: Verdict
  readonly exchanged: Exchange
  readonly context: DestinationContext
  readonly random: number
}

async function settleJob(deps: AttemptDeps, end: JobEnd): Promise<void> {
  const { outcome, exchanged, context, random } = end
  const { job, request } = end.ready
  const nowMs = exchanged.endedAtMs
  const result = resultOf(outcome, exchanged.reply)
  const after = jobAfter(job, result, nowMs)
  const { dedupeMs } = PROVIDER_FACTS[job.provider]
  const step = nextStep(after, result, { nowMs, random, dedupeMs })
  const attempt = attemptOf(exchanged, { request, number: after.attempts, outcome, step })
  const told = { sessionMode: request.sessionMode, detail: detailOf(exchanged, request, context), attempt }
  await deps.journal.settle(after, step, told)
  deps.settledJobs.add(job)
  const fields = { provider: job.provider, jobId: job.jobId, code: outcome.code, ms: attempt.durationMs }
  deps.logger.debug({ ...fields, next: step.kind }, 'attempt made')
}

type Built =
  | { readonly kind: 'send'; readonly request: ProviderRequest }
  | { readonly kind: 'skip'; readonly reason: SkipReason }
  | { readonly kind: 'broken' }

/** A job that no request can be built of is a fault of ours; it must not stop the jobs beside or behind it. */
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

async function endUnsent(deps: AttemptDeps, job: Job, built: Exclude<Built, { kind: 'send' }>): Promise<void> {
  if (built.kind === 'skip') {
    await deps.journal.end(job, { status: 'skipped', reason: built.reason })
  } else {
    const told = { sessionMode: 'none', detail: '', attempt: null } as const
    const counted = { ...job, attempts: job.attempts + 1 }
    // Counted as an attempt, so that a replay is not taken for this one.
    await deps.journal.settle(counted, { kind: 'failed', reason: 'unreadable_job' }, told)
  }
  deps.settledJobs.add(job)
}

/** Jobs that another worker has are looked at again shortly. */
async function claimed(deps: AttemptDeps, ready: readonly Ready[], owner: string): Promise<readonly Ready[]> {
  const isOurs = await Promise.all(ready.map(({ job }) => hasClaimed(deps, job, owner)))
  const taken = ready.filter((_, index) => isOurs[index] !== true)
  await all(taken.map(({ job }) => deps.journal.wait({ ...job, dueAtMs: deps.nowMs() + BUSY_MS })))
  return ready.filter((_, index) => isOurs[index] === true)
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

function resultOf(outcome: Verdict, reply: ProviderReply): AttemptResult {
  const retryAfter = outcome.kind === 'throttled' ? outcome.retryAfter : null
  const reference = outcome.kind === 'accepted' ? { reference: outcome.reference } : {}
  return { kind: outcome.kind, retryAfter, isUnclear: reply.isUnclear, ...reference }
}

/** Waits for all of them, also where one rejects: what is written then is as complete as it can be. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  const broken = (await Promise.allSettled(work)).find((each) => each.status === 'rejected')
  if (broken !== undefined) throw new Error('not all could be written', { cause: broken.reason })
}
