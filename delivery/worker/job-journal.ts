/** Writes what becomes of a job: its record for the facts, and its next entry on the log where there is one. */

import { holdMs, JITTER, tierFor, type NextStep } from '../../domain/delivery/attempts.ts'
import type { DeliveryReason } from '../../domain/delivery/deliveries.ts'
import type { DeliveryStatus, SessionMode } from '../../domain/model.ts'
import {
  encodeRecord,
  recordKey,
  type ActivityRecord,
  type Attempt,
  type DeadLetter,
  type DeliveryRecord,
  type Job,
  type Topic,
} from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

/** Nobody waits for these appends but the worker, so they may take longer than a request could. */
const APPEND_DEADLINE_MS = 5_000
const APPEND_TRIES = 4
const APPEND_PAUSE_MS = 250
/** Between the decision to wait 30 s and the choice of a tier pass some ms; they must not make it a shorter tier. */
const DECIDED_AGO_MS = 1_000

export interface JournalDeps {
  readonly eventLog: Pick<EventLog, 'append'>
  readonly nowMs: () => number
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly metrics: WorkerMetrics
}

/** What a record says beside the job's own facts. */
export interface Told {
  readonly status: DeliveryStatus
  readonly reason: DeliveryReason | ''
  readonly sessionMode: SessionMode
  readonly detail: string
  readonly nextAttemptAtMs: number | null
  readonly attempt: Attempt | null
}

export interface JobJournal {
  tell(job: Job, told: Told): Promise<void>
  /** Puts the job into the waiting room that fits its due time. */
  wait(job: Job): Promise<void>
  /** Puts it off without an attempt, for a while or until a known moment; the reason is told once. */
  hold(job: Job, reason: DeliveryReason, untilMs?: number): Promise<void>
  /** Writes a finished attempt and what follows from it: first the job's next entry, then the record. */
  settle(job: Job, step: NextStep, told: Pick<Told, 'sessionMode' | 'detail' | 'attempt'>): Promise<void>
  /** Ends a job that was not sent this time. */
  end(job: Job, step: { status: 'skipped' | 'expired'; reason: DeliveryReason }): Promise<void>
  activity(entry: ActivityRecord): Promise<void>
}

/** Every function rejects only after several tries; the caller's batch then comes again. */
export function createJobJournal(deps: JournalDeps): JobJournal {
  const append = (topic: Topic, key: string, value: string): Promise<void> =>
    appendPatiently(deps.eventLog, topic, { key, value })

  const tell: JobJournal['tell'] = (job, told) => {
    const nowMs = deps.nowMs()
    deps.metrics.told(told.status, told.reason, nowMs - job.install.receivedAtMs)
    const record = deliveryRecord(job, told, nowMs)
    return append('deliveries', recordKey(job.website, job.jobId), encodeRecord(record))
  }

  const wait: JobJournal['wait'] = (job) => {
    const tier = tierFor(job.dueAtMs - deps.nowMs() + DECIDED_AGO_MS)
    return append(`deliver.${job.provider}.${tier}`, recordKey(job.website, job.jobId), encodeRecord(job))
  }

  const hold: JobJournal['hold'] = async (job, reason, untilMs) => {
    const nowMs = deps.nowMs()
    const freeAtMs = untilMs ?? nowMs + stretched(holdMs(nowMs - job.createdAtMs), deps.random())
    // What the provider has taken already waits for its verdict beyond the deadline.
    const latestMs = job.accepted === undefined ? job.deadlineAtMs : Number.MAX_SAFE_INTEGER
    const held = { ...job, heldFor: reason, dueAtMs: Math.min(freeAtMs, latestMs) }
    await wait(held)
    if (job.heldFor === reason) return
    const nextAttemptAtMs = untilMs ?? null
    const told = { status: 'retrying', reason, detail: '', nextAttemptAtMs, attempt: null } as const
    await tell(job, { ...told, sessionMode: job.sessionMode })
  }

  const settle: JobJournal['settle'] = async (job, step, told) => {
    if (step.kind === 'retry') await wait(withoutHold({ ...job, dueAtMs: step.dueAtMs }))
    if (step.kind === 'failed')
      await append('dead-letters', recordKey(job.website, job.jobId), deadLetterOf(job, step, told))
    const reason = step.kind === 'done' ? '' : step.reason
    const nextAttemptAtMs = step.kind === 'retry' ? step.dueAtMs : null
    await tell(job, { ...told, status: STATUS_AFTER[step.kind], reason, nextAttemptAtMs })
  }

  const end: JobJournal['end'] = (job, step) =>
    tell(job, { ...step, sessionMode: 'none', detail: '', nextAttemptAtMs: null, attempt: null })

  function deadLetterOf(job: Job, step: { reason: DeliveryReason }, told: Pick<Told, 'attempt'>): string {
    const code = told.attempt?.code ?? ''
    const reason = code === '' ? step.reason : `${step.reason}: ${code}`
    const letter: DeadLetter = { v: job.v, job: withoutHold(job), reason, failedAtMs: deps.nowMs() }
    return encodeRecord(letter)
  }

  const activity: JobJournal['activity'] = (entry) =>
    append('activity', recordKey(entry.website, entry.id), encodeRecord(entry))

  return { tell, wait, hold, settle, end, activity }
}

/** Appends one entry, trying again for a few seconds: what it tells has happened already and must not get lost. */
export async function appendPatiently(
  eventLog: Pick<EventLog, 'append'>,
  topic: Topic,
  entry: { readonly key: string; readonly value: string },
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await eventLog.append(topic, [entry], { deadlineMs: APPEND_DEADLINE_MS })
      return
    } catch (error) {
      if (tries >= APPEND_TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, APPEND_PAUSE_MS * tries))
    }
  }
}

const STATUS_AFTER = { done: 'delivered', retry: 'retrying', expired: 'expired', failed: 'failed' } as const

function deliveryRecord(job: Job, told: Told, nowMs: number): DeliveryRecord {
  const { jobId, website, organization, destination, provider, attempts, deadlineAtMs } = job
  return {
    v: 1,
    kind: 'delivery',
    jobId,
    website,
    organization,
    eventId: job.install.eventId,
    destination,
    provider,
    ...told,
    attempts,
    // The plan's own record bears the time of the install; a worker's slower clock must not sort before it.
    atMs: Math.max(nowMs, job.createdAtMs + 1),
    deadlineAtMs,
    installReceivedAtMs: job.install.receivedAtMs,
    ...(job.corrects === true ? { corrects: true } : {}),
    retentionDays: job.retentionDays,
    logRetentionDays: job.logRetentionDays,
  }
}

function stretched(waitMs: number, random: number): number {
  return Math.round(waitMs * (1 + JITTER * random))
}

function withoutHold(job: Job): Job {
  const { heldFor: _heldFor, ...free } = job
  return free
}
