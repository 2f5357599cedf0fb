/** The record of a delivery that reached a new state: written by its worker, and by a replay. */

import type { DeliveryRecord, Job } from '../records.ts'

/** What a delivery record states in addition to the job's own facts. */
export type RecordedOutcome = Pick<
  DeliveryRecord,
  'status' | 'reason' | 'sessionMode' | 'detail' | 'nextAttemptAtMs' | 'attempt'
>

/** `nowMs`: the time of the process that records it. */
export function recordOfJob(job: Job, outcome: RecordedOutcome, nowMs: number): DeliveryRecord {
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
    ...outcome,
    attempts,
    // A plan's record carries the time of the install. A process whose clock is behind must not write a record that sorts before it.
    atMs: Math.max(nowMs, job.createdAtMs + 1),
    deadlineAtMs,
    installReceivedAtMs: job.install.receivedAtMs,
    ...(job.corrects === true ? { corrects: true } : {}),
    catalogNumber: job.catalogNumber,
    retentionDays: job.retentionDays,
    logRetentionDays: job.logRetentionDays,
  }
}
