/** Makes one attempt for the jobs of a batch: builds requests, claims jobs, sends, and hands the results over. */

import { randomBytes } from 'node:crypto'

import type { SkipReason } from '../../domain/reasons.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Job } from '../../domain/records.ts'
import { cleanOutcomes } from './attempt-log.ts'
import {
  allSettled,
  type AttemptResults,
  type BatchPart,
  type ExchangeResult,
  type PreparedJob,
} from './attempt-results.ts'
import type { ProviderLine } from '../exchange/exchange.ts'
import type { JobClaims } from './job-claims.ts'
import type { JobJournal } from './job-journal.ts'
import type { RequestBatch, RequestRoom } from './request-batch.ts'
import type { DestinationContext, ProviderReply, ProviderRequest, Verdict } from '../providers/provider.ts'
import { AnswerCache } from './answer-cache.ts'
import { BUSY_MS, contextOf } from './next-action.ts'

interface AttemptDeps {
  readonly line: ProviderLine
  readonly room: RequestRoom
  readonly claims: JobClaims
  readonly journal: JobJournal
  readonly results: AttemptResults
  readonly nowMs: () => number
}

/** No part of a refused batch is sent later than this: the claim must still cover its exchange. */
const LAST_PART_MS = 2 * LIMITS.webhookMs

interface BatchAttempt {
  readonly batch: RequestBatch
  readonly context: DestinationContext
  readonly startedAtMs: number
}

export class Attempts {
  readonly #deps: AttemptDeps
  readonly #answers = new AnswerCache<ExchangeResult>()

  constructor(deps: AttemptDeps) {
    this.#deps = deps
  }

  /** Rejects only if a result could not be recorded; the jobs are then still on the log. */
  async make(batch: RequestBatch): Promise<void> {
    try {
      await this.#make(batch)
    } catch (error) {
      this.#deps.results.unrecorded(batch, error)
      throw error
    }
  }

  async #make(batch: RequestBatch): Promise<void> {
    const { claims, nowMs } = this.#deps
    const context = contextOf(batch.target)
    const built = batch.jobs.map((job) => ({ job, ...this.#build(job, context) }))
    await allSettled(built.flatMap((each) => (each.kind === 'send' ? [] : [this.#endUnsent(each.job, each)])))
    const sendable = built.flatMap((each) => (each.kind === 'send' ? [{ job: each.job, request: each.request }] : []))
    const owner = randomBytes(8).toString('hex')
    const ready = await this.#claim(sendable, owner)
    if (ready.length === 0) return
    try {
      await this.#sendPart({ batch, context, startedAtMs: nowMs() }, { ready, refusedWith: [] })
    } finally {
      await claims.release(jobsOf(ready), owner)
    }
  }

  /** Splits a batch that is refused as a whole, down to single jobs; each part is recorded before the next one is sent. */
  async #sendPart(attempt: BatchAttempt, part: BatchPart): Promise<void> {
    const { room, results, nowMs } = this.#deps
    const { ready, refusedWith } = part
    if (nowMs() - attempt.startedAtMs > LAST_PART_MS) return this.#wait(jobsOf(ready))
    const request = this.#requestOf(ready, attempt.context)
    if (request === null) return this.#sendHalves(attempt, part)
    const { answer, isFresh } = await this.#exchangeOnce(attempt, ready, request)
    const { outcome, reply } = answer
    if (outcome !== 'split') {
      if (ready.length > 1 && refusedWith.length === 0) room.sizes.taken(attempt.batch.key, ready.length)
      const outcomes = cleanOutcomes(outcomesOf(outcome, ready.length), answer.request)
      return results.settle(attempt.batch.target, { part, outcomes, answer, isFresh })
    }
    room.sizes.refused(attempt.batch.key, ready.length)
    results.split(answer)
    await this.#sendHalves(attempt, { ready, refusedWith: [...refusedWith, reply.status] })
  }

  async #sendHalves(attempt: BatchAttempt, { ready, refusedWith }: BatchPart): Promise<void> {
    // The quota was taken for one request only.
    const spending = { requests: 2, deliveries: ready.length }
    this.#deps.room.quotas.spend(attempt.context, spending, this.#deps.nowMs())
    const middle = Math.ceil(ready.length / 2)
    await this.#sendPart(attempt, { ready: ready.slice(0, middle), refusedWith })
    await this.#sendPart(attempt, { ready: ready.slice(middle), refusedWith })
  }

  /** A verdict is requested once for all jobs that wait for it, whichever batches they are in. */
  async #exchangeOnce(
    { batch, context }: BatchAttempt,
    ready: readonly PreparedJob[],
    request: ProviderRequest,
  ): Promise<{ answer: ExchangeResult; isFresh: boolean }> {
    const { line, nowMs } = this.#deps
    const ask = async (): Promise<ExchangeResult> => {
      const startedAtMs = nowMs()
      const judge = (reply: ProviderReply): readonly Verdict[] | Verdict | 'split' => this.#judge(ready, reply, context)
      const exchanged = await line.exchange(request, batch.target.secrets, judge)
      return { ...exchanged, startedAtMs, endedAtMs: nowMs() }
    }
    const reference = ready[0]?.job.accepted?.reference
    if (reference === undefined) return { answer: await ask(), isFresh: true }
    return this.#answers.get(`${batch.key}\n${reference}`, nowMs(), ask)
  }

  /** Null if a job has become too old since its own request was built: splitting the batch then finds out which. */
  #requestOf(ready: readonly PreparedJob[], context: DestinationContext): ProviderRequest | null {
    const [first] = ready
    if (first === undefined) throw new Error('a batch without jobs')
    const { batch } = this.#deps.line.provider
    if (ready.length === 1 || first.job.accepted !== undefined || batch === undefined) return first.request
    try {
      return batch.request(jobsOf(ready), context, this.#deps.nowMs())
    } catch {
      return null
    }
  }

  /** Reads the reply: for jobs that the provider accepted earlier it is the verdict, for others the outcome of sending. */
  #judge(
    ready: readonly PreparedJob[],
    reply: ProviderReply,
    context: DestinationContext,
  ): readonly Verdict[] | Verdict | 'split' {
    const { verdict, outcome, batch } = this.#deps.line.provider
    if (ready[0]?.job.accepted !== undefined && verdict !== undefined) return verdict.outcome(reply)
    return ready.length === 1 || batch === undefined
      ? outcome(reply, context)
      : batch.outcomes(reply, jobsOf(ready), context)
  }

  /** If no request can be built for a job, that is our own fault; it must not stop other jobs. */
  #build(job: Job, context: DestinationContext): BuildResult {
    try {
      const { provider } = this.#deps.line
      const isAccepted = job.accepted !== undefined && provider.verdict !== undefined
      const request = isAccepted
        ? provider.verdict.request(job.accepted, context)
        : provider.request(job, context, this.#deps.nowMs())
      return 'kind' in request ? request : { kind: 'send', request }
    } catch (error) {
      this.#deps.results.broken(job, error)
      return { kind: 'broken' }
    }
  }

  async #endUnsent(job: Job, built: Exclude<BuildResult, { kind: 'send' }>): Promise<void> {
    const { journal } = this.#deps
    if (built.kind === 'skip') return journal.end(job, { status: 'skipped', reason: built.reason })
    const unsent = { sessionMode: 'none', detail: '', attempt: null } as const
    // Counted as an attempt, so that a replay is not mistaken for this one.
    const counted = { ...job, attempts: job.attempts + 1 }
    await journal.settle(job, { job: counted, step: { kind: 'failed', reason: 'unreadable_job' } }, unsent)
  }

  /** The jobs that this worker may attempt; those that another worker has claimed are deferred for a short while. */
  async #claim(ready: readonly PreparedJob[], owner: string): Promise<readonly PreparedJob[]> {
    const isOurs = await this.#deps.claims.take(jobsOf(ready), owner)
    const others = ready.filter((_, index) => isOurs[index] !== true)
    await this.#wait(jobsOf(others))
    return ready.filter((_, index) => isOurs[index] === true)
  }

  async #wait(jobs: readonly Job[]): Promise<void> {
    const { journal, nowMs } = this.#deps
    await allSettled(jobs.map((job) => journal.wait({ ...job, dueAtMs: nowMs() + BUSY_MS })))
  }
}

type BuildResult =
  | { readonly kind: 'send'; readonly request: ProviderRequest }
  | { readonly kind: 'skip'; readonly reason: SkipReason }
  | { readonly kind: 'broken' }

/** One outcome for several jobs applies to each of them. */
function outcomesOf(outcome: readonly Verdict[] | Verdict, jobs: number): readonly Verdict[] {
  const unknown: Verdict = { kind: 'retry', code: 'unreadable_answer' }
  return Array.from({ length: jobs }, (_, index) => ('kind' in outcome ? outcome : (outcome[index] ?? unknown)))
}

function jobsOf(ready: readonly PreparedJob[]): readonly Job[] {
  return ready.map(({ job }) => job)
}
