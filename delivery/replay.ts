/** Lists deliveries that failed for good and sends them again, under their old IDs, where that still makes sense. */

import { encodeRecord, decodeRecord, recordKey, type DeadLetter, type DeliveryRecord } from '../domain/records.ts'
import type { EventLog } from '../ports/event-log/event-log.ts'
import type { FactsReader } from './dispatch-reads.ts'
import { appendPatiently } from './job-journal.ts'

export interface DeadLetterFilter {
  readonly website?: string
  readonly destination?: string
  /** The beginning of the reason, for example `refused` or `refused: http_400`. */
  readonly reason?: string
  readonly jobId?: string
  /** From the first, to before the second; Unix ms of the failure. */
  readonly sinceMs?: number
  readonly untilMs?: number
  /** Most letters returned; the newest. The default is 1,000. */
  readonly limit?: number
}

export interface ReplayDeps {
  readonly eventLog: Pick<EventLog, 'append' | 'read'>
  readonly facts: FactsReader
  readonly nowMs: () => number
}

/** `deadline_passed`: the provider would no longer take it. `not_failed`: it was replayed before, or has not ended. */
export type ReplayRefusal = 'deadline_passed' | 'not_failed'

export interface ReplayResult {
  readonly replayed: readonly DeadLetter[]
  readonly refused: readonly { readonly letter: DeadLetter; readonly reason: ReplayRefusal }[]
}

const MOST_LETTERS = 1_000
const READ_ENTRIES = 500
/** Replays go out at this pace, so that they do not crowd out what is fresh. */
const PER_SECOND = 50

/** The last letter of each job that fits the filter, oldest failure first; reads the topic once from its start. */
export async function listDeadLetters(
  eventLog: Pick<EventLog, 'read'>,
  filter: DeadLetterFilter = {},
): Promise<DeadLetter[]> {
  const limit = Math.min(filter.limit ?? MOST_LETTERS, MOST_LETTERS)
  const letters = new Map<string, DeadLetter>()
  let offset = 0
  for (;;) {
    const entries = await eventLog.read('dead-letters', offset, READ_ENTRIES)
    const last = entries.at(-1)
    if (last === undefined) return [...letters.values()]
    for (const entry of entries) {
      const letter = decodeRecord<DeadLetter>(entry.value)
      if (!fits(letter, filter)) continue
      letters.delete(letter.job.jobId)
      letters.set(letter.job.jobId, letter)
      if (letters.size > limit) letters.delete(letters.keys().next().value ?? '')
    }
    offset = last.offset + 1
  }
}

/** Puts jobs back to their worker, at a bounded pace; every one comes back as replayed or refused. */
export async function replayDeadLetters(deps: ReplayDeps, letters: readonly DeadLetter[]): Promise<ReplayResult> {
  const replayed: DeadLetter[] = []
  const refused: { letter: DeadLetter; reason: ReplayRefusal }[] = []
  for (let from = 0; from < letters.length; from += PER_SECOND) {
    if (from > 0) await new Promise((resolve) => setTimeout(resolve, 1_000))
    const some = letters.slice(from, from + PER_SECOND)
    const failed = await failedNow(deps.facts, some)
    for (const letter of some) {
      const reason = refusalOf(letter, failed, deps.nowMs())
      if (reason === null) {
        await replayOne(deps, letter)
        replayed.push(letter)
      } else refused.push({ letter, reason })
    }
  }
  return { replayed, refused }
}

function fits({ job, reason, failedAtMs }: DeadLetter, filter: DeadLetterFilter): boolean {
  return (
    (filter.website === undefined || job.website === filter.website) &&
    (filter.destination === undefined || job.destination === filter.destination) &&
    (filter.jobId === undefined || job.jobId === filter.jobId) &&
    (filter.reason === undefined || reason.startsWith(filter.reason)) &&
    failedAtMs >= (filter.sinceMs ?? 0) &&
    failedAtMs < (filter.untilMs ?? Number.POSITIVE_INFINITY)
  )
}

/** Keys of those whose delivery stands as failed: a letter stays on the log after its job was replayed. */
async function failedNow(facts: FactsReader, letters: readonly DeadLetter[]): Promise<ReadonlySet<string>> {
  const rows = await facts.run('dispatchedJobs', {
    websites: letters.map(({ job }) => job.website),
    event_ids: letters.map(({ job }) => job.install.eventId),
  })
  const failed = rows.filter((row) => row.status === 'failed')
  return new Set(failed.map((row) => deliveryKey(row.website, row.event_id, row.destination)))
}

function refusalOf({ job }: DeadLetter, failed: ReadonlySet<string>, nowMs: number): ReplayRefusal | null {
  if (job.deadlineAtMs <= nowMs) return 'deadline_passed'
  return failed.has(deliveryKey(job.website, job.install.eventId, job.destination)) ? null : 'not_failed'
}

/** Attempts are counted on, so that the worker does not take the job for one that it has settled. */
async function replayOne(deps: ReplayDeps, { job }: DeadLetter): Promise<void> {
  const nowMs = deps.nowMs()
  const key = recordKey(job.website, job.jobId)
  await appendPatiently(deps.eventLog, `deliver.${job.provider}`, {
    key,
    value: encodeRecord({ ...job, dueAtMs: nowMs }),
  })
  const { jobId, website, organization, destination, provider, sessionMode, attempts, deadlineAtMs } = job
  const record: DeliveryRecord = {
    v: 1,
    kind: 'delivery',
    jobId,
    website,
    organization,
    eventId: job.install.eventId,
    destination,
    provider,
    status: 'pending',
    reason: '',
    sessionMode,
    detail: 'replayed',
    attempts,
    atMs: nowMs,
    nextAttemptAtMs: nowMs,
    deadlineAtMs,
    attempt: null,
    retentionDays: job.retentionDays,
    logRetentionDays: job.logRetentionDays,
  }
  await appendPatiently(deps.eventLog, 'deliveries', { key, value: encodeRecord(record) })
}

function deliveryKey(website: string, eventId: string, destination: string): string {
  return `${website}/${eventId}/${destination}`
}
