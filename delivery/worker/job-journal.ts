/** Records what happens to a job: a delivery record for the facts and, if the job goes on, its next entry on the log. */

import { holdMs, JITTER, tierFor, type NextStep } from '../../domain/delivery/attempts.ts'
import { recordOfJob, type RecordedOutcome } from '../../domain/delivery/record-of-job.ts'
import type { DeliveryReason, DeadLetterReason } from '../../domain/reasons.ts'
import {
  encodeRecord,
  recordKey,
  type ActivityRecord,
  type Attempt,
  type DeadLetter,
  type Job,
  type Topic,
} from '../../domain/records.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { SettledJobs } from '../recovery/settled-jobs.ts'
import { appendWithRetries } from '../sure-appends.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

/** Some ms pass between the decision to wait 30 s and the choice of a tier; they must not select a shorter tier. */
const DECIDED_AGO_MS = 1_000

interface JournalDeps {
  readonly eventLog: LogWriter
  readonly nowMs: () => number
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly metrics: WorkerMetrics
  readonly settledJobs: SettledJobs
}

/** What is recorded of an attempt beside the step that follows it. */
interface AttemptEnd {
  readonly sessionMode: RecordedOutcome['sessionMode']
  readonly detail: string
  readonly attempt: Attempt | null
}

export interface JobJournal {
  record(job: Job, outcome: RecordedOutcome): Promise<void>
  /** Puts the job into the tier that fits its due time. */
  wait(job: Job): Promise<void>
  /** Defers the job without an attempt, for a while or until a known moment; the reason is recorded once. */
  hold(job: Job, reason: DeliveryReason, untilMs?: number): Promise<void>
  /** Records a finished attempt and what follows: first the job's next entry, then the delivery record. `after`: the job as it is then. */
  settle(job: Job, after: { readonly job: Job; readonly step: NextStep }, outcome: AttemptEnd): Promise<void>
  /** Ends a job that was not sent this time. */
  end(job: Job, step: { status: 'skipped' | 'expired'; reason: DeliveryReason }): Promise<void>
  activity(entry: ActivityRecord): Promise<void>
}

/** Every function rejects only after several tries; the caller's batch is then delivered again. */
export function createJobJournal(deps: JournalDeps): JobJournal {
  const append = (topic: Topic, key: string, value: string): Promise<void> =>
    appendWithRetries(deps.eventLog, topic, { key, value })

  const record: JobJournal['record'] = (job, outcome) => {
    const nowMs = deps.nowMs()
    deps.metrics.recorded(outcome.status, outcome.reason, nowMs - job.install.receivedAtMs)
    const entry = encodeRecord(recordOfJob(job, outcome, nowMs))
    return append('deliveries', recordKey(job, job.jobId), entry)
  }

  const wait: JobJournal['wait'] = (job) => {
    const tier = tierFor(job.dueAtMs - deps.nowMs() + DECIDED_AGO_MS)
    return append(`deliver.${job.provider}.${tier}`, recordKey(job, job.jobId), encodeRecord(job))
  }

  const hold: JobJournal['hold'] = async (job, reason, untilMs) => {
    const nowMs = deps.nowMs()
    const freeAtMs = untilMs ?? nowMs + stretched(holdMs(nowMs - job.createdAtMs), deps.random())
    // A job that the provider has accepted waits for its verdict beyond the deadline.
    const latestMs = job.accepted === undefined ? job.deadlineAtMs : Number.MAX_SAFE_INTEGER
    const held = { ...job, heldFor: reason, dueAtMs: Math.min(freeAtMs, latestMs) }
    await wait(held)
    if (job.heldFor === reason) return
    const nextAttemptAtMs = untilMs ?? null
    const outcome = { status: 'retrying', reason, detail: '', nextAttemptAtMs, attempt: null } as const
    await record(job, { ...outcome, sessionMode: job.sessionMode })
  }

  const settle: JobJournal['settle'] = async (before, { job, step }, outcome) => {
    if (step.kind === 'retry') await wait(withoutHold({ ...job, dueAtMs: step.dueAtMs }))
    if (step.kind === 'failed')
      await append('dead-letters', recordKey(job, job.jobId), deadLetterOf(job, step, outcome))
    const reason = step.kind === 'done' ? '' : step.reason
    const nextAttemptAtMs = step.kind === 'retry' ? step.dueAtMs : null
    await record(job, { ...outcome, status: STATUS_AFTER[step.kind], reason, nextAttemptAtMs })
    deps.settledJobs.add(before)
  }

  const end: JobJournal['end'] = async (job, { status, reason }) => {
    await record(job, { status, reason, sessionMode: 'none', detail: '', nextAttemptAtMs: null, attempt: null })
    deps.settledJobs.add(job)
  }

  function deadLetterOf(job: Job, step: { reason: DeliveryReason }, outcome: AttemptEnd): string {
    const code = outcome.attempt?.code ?? ''
    const reason: DeadLetterReason = code === '' ? step.reason : `${step.reason}: ${code}`
    const letter: DeadLetter = { v: job.v, job: withoutHold(job), reason, failedAtMs: deps.nowMs() }
    return encodeRecord(letter)
  }

  const activity: JobJournal['activity'] = (entry) =>
    append('activity', recordKey(entry, entry.id), encodeRecord(entry))

  return { record, wait, hold, settle, end, activity }
}

const STATUS_AFTER = { done: 'delivered', retry: 'retrying', expired: 'expired', failed: 'failed' } as const

function stretched(waitMs: number, random: number): number {
  return Math.round(waitMs * (1 + JITTER * random))
}

function withoutHold(job: Job): Job {
  const { heldFor: _heldFor, ...free } = job
  return free
}
