/** Records what attempts came to: the metrics, the health of the destination, and the result of each job. */

import { loggedFault } from '../../common/fault.ts'
import { jobAfter, nextStep, type AttemptResult } from '../../domain/delivery/attempts.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import type { Job } from '../../domain/records.ts'
import type { Logger } from '../../runtime/logger.ts'
import { noteSpan } from '../../runtime/tracing.ts'
import type { Exchanged } from '../exchange/exchange.ts'
import { attemptRecord, detailOf, redactedExchange, type LoggedExchange } from './attempt-log.ts'
import { worstOf } from './destination-health.ts'
import type { JobJournal } from './job-journal.ts'
import { contextOf, type DeliveryTarget } from './next-action.ts'
import type { DestinationContext, ProviderReply, ProviderRequest, Verdict } from '../providers/provider.ts'
import type { RequestBatch } from './request-batch.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

/** The result of one exchange: one outcome per job, or `split` if the provider refused the batch as a whole. */
export type ExchangeResult = Exchanged<readonly Verdict[] | Verdict | 'split'> & {
  readonly startedAtMs: number
  readonly endedAtMs: number
}

interface ResultParts {
  /** Origin of the provider's API, for the request address in the attempt's record. */
  readonly baseUrl: string
  readonly journal: JobJournal
  /** Updates the health of the destination to which this job was sent. */
  readonly learn: (job: Job, result: { readonly outcome: Verdict; readonly target: DeliveryTarget }) => Promise<void>
  readonly metrics: WorkerMetrics
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly logger: Logger
}

/** A job with the request for it alone, which holds no other job's identifiers. */
export interface PreparedJob {
  readonly job: Job
  readonly request: ProviderRequest
}

/** Jobs of a batch that one request carries. */
export interface BatchPart {
  readonly ready: readonly PreparedJob[]
  /** Statuses of earlier requests that carried them together with others and were refused as a whole. */
  readonly refusedWith: readonly number[]
}

interface PartResult {
  readonly part: BatchPart
  readonly outcomes: readonly Verdict[]
  readonly answer: ExchangeResult
  /** This very attempt made the request; another one may have asked for the same verdict. */
  readonly isFresh: boolean
}

export interface AttemptResults {
  /** Rejects if a result could not be recorded; the job is then still on the log. */
  readonly settle: (target: DeliveryTarget, result: PartResult) => Promise<void>
  /** The provider refused a batch as a whole. */
  readonly split: (answer: ExchangeResult) => void
  /** No request could be made of the job, which is our own fault. */
  readonly broken: (job: Job, error: unknown) => void
  /** Results could not be recorded. */
  readonly unrecorded: (batch: RequestBatch, error: unknown) => void
}

export function createAttemptResults(parts: ResultParts): AttemptResults {
  const { metrics, logger } = parts
  return {
    settle: (target, result) => settlePart(parts, target, result),
    split: (answer) => metrics.attempt('split', answer.endedAtMs - answer.startedAtMs),
    broken({ provider, jobId }, error) {
      logger.error({ provider, jobId, ...loggedFault(error) }, 'request cannot be built')
    },
    unrecorded({ jobs, key, target }, error) {
      const { provider } = target.destination
      logger.error({ provider, destination: key, jobs: jobs.length, ...loggedFault(error) }, 'attempt not recorded')
    },
  }
}

async function settlePart(deps: ResultParts, target: DeliveryTarget, result: PartResult): Promise<void> {
  const { part, outcomes, answer, isFresh } = result
  const worst = worstOf(outcomes)
  if (isFresh && worst !== undefined) deps.metrics.attempt(worst.kind, answer.endedAtMs - answer.startedAtMs)
  const first = part.ready[0]?.job
  if (isFresh && first !== undefined && worst !== undefined && answer.request.checkedHere === undefined)
    await deps.learn(first, { outcome: worst, target })
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
  const context = contextOf(target)
  const settle = (ready: PreparedJob, outcome: Verdict): Promise<void> =>
    settleJob(deps, { ready, outcome, exchanged, context, random })
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

async function settleJob(deps: ResultParts, result: JobResult): Promise<void> {
  const { outcome, exchanged, context, random } = result
  const { job, request } = result.ready
  const nowMs = exchanged.endedAtMs
  const attempted = resultOf(outcome, exchanged.reply)
  const after = jobAfter(job, attempted, nowMs)
  const { dedupeMs } = PROVIDER_DESCRIPTORS[job.provider]
  const step = nextStep(after, attempted, { nowMs, random, dedupeMs })
  const attempt = attemptRecord(exchanged, { request, number: after.attempts, outcome, step })
  const detail = detailOf(exchanged, request, context)
  await deps.journal.settle(job, { job: after, step }, { sessionMode: request.sessionMode, detail, attempt })
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

function resultOf(outcome: Verdict, reply: ProviderReply): AttemptResult {
  const retryAfter = outcome.kind === 'throttled' ? outcome.retryAfter : null
  const reference = outcome.kind === 'accepted' ? { reference: outcome.reference } : {}
  return { kind: outcome.kind, retryAfter, isUnclear: reply.isUnclear, ...reference }
}

/** Waits for all of them even if one rejects, so that as much as possible is recorded. */
export async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  const broken = (await Promise.allSettled(work)).find((each) => each.status === 'rejected')
  if (broken !== undefined) throw new Error('not every result could be recorded', { cause: broken.reason })
}
