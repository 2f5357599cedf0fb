/** Lists deliveries that failed for good and sends them again, under their old IDs, if that still makes sense. */

import type { OwnedWebsite } from '../../domain/model.ts'
import { ownersOf } from '../../ports/facts/query-parts.ts'
import { BoundedMap } from '../../common/bounded-map.ts'
import { isBeyondDedupe } from '../../domain/delivery/attempts.ts'
import { recordOfJob } from '../../domain/delivery/record-of-job.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import { readRecord } from '../../domain/read-record.ts'
import type { ReadDeadLetter } from '../../domain/read-record.ts'
import { encodeRecord, recordKey } from '../../domain/records.ts'
import type { LogWriter, LogReader } from '../../ports/event-log/event-log.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import { appendWithRetries } from '../sure-appends.ts'
import { SECOND_MS } from '../../domain/durations.ts'

export interface DeadLetterFilter {
  readonly website?: string
  readonly organization?: string
  readonly destination?: string
  /** The beginning of the reason, for example `refused` or `refused: http_400`. */
  readonly reason?: string
  /** One of these; absent: any. */
  readonly jobIds?: ReadonlySet<string>
  readonly failed?: FailedWithin
}

export interface ReplayDeps {
  readonly eventLog: LogWriter & LogReader
  readonly facts: FactsReader
  readonly nowMs: () => number
  /** Of the newest catalog that is known where the replay is asked for; absent: jobs keep the one that planned them. */
  readonly catalogNumber?: () => number
  readonly pace?: ReplayPace
  /** Also those that the provider may have and would count again: only if a person asked for just these. */
  readonly mayCountTwice?: boolean
}

/** From the first (inclusive) to the second (exclusive); Unix ms of the failure. */
interface FailedWithin {
  readonly sinceMs?: number
  readonly untilMs?: number
}

/** Replays are sent at a rate that does not crowd out fresh jobs. */
interface ReplayPace {
  /** The default is 50. */
  readonly perSecond?: number
  /** Resolves after this many ms; the default is a real wait. */
  readonly pause?: (waitMs: number) => Promise<void>
}

/**
 * `deadline_passed`: the provider would no longer accept it. `not_failed`: it was replayed before, or has not ended. `may_count_twice`: an attempt
 * ended without a clear answer, so that the provider may have it, and would no longer recognise its ID.
 */
export type ReplayRefusal = 'deadline_passed' | 'not_failed' | 'may_count_twice'

/** The result of one letter, and the progress of the whole. */
export interface ReplayStep extends Replayed {
  readonly done: number
  readonly of: number
}

interface ReplayTotals {
  readonly replayed: number
  readonly refused: number
  readonly unread: UnreadLetters
}

/** Dead letters that this release cannot read; they stay where they are and are not handled. */
export interface UnreadLetters {
  readonly count: number
  /** Those written by a later release, which can read them. */
  readonly newer: number
  /** Offsets of the first of them. */
  readonly offsets: readonly number[]
}

interface ListedLetters {
  readonly letters: readonly ReadDeadLetter[]
  readonly unread: UnreadLetters
}

export const REPLAYS_PER_S = { fallback: 50, max: 1_000 } as const

const MOST_LISTED = 1_000
/** The most letters that one replay reads, the newest ones; only their offsets are kept in memory. */
const MOST_REPLAYED = 200_000
const READ_ENTRIES = 500
const OFFSETS_TOLD = 10

/** Offsets by job ID, ascending. */
type LastLetters = ReadonlyMap<string, number>

/**
 * The last letter of each job, if it matches the filter, and of these the newest `most`; oldest failure first. Reads the topic twice from its start.
 */
export async function listDeadLetters(
  eventLog: LogReader,
  filter: DeadLetterFilter = {},
  most = MOST_LISTED,
): Promise<ListedLetters> {
  const { last, unread } = await lastLetters(eventLog, filter, Math.min(most, MOST_LISTED))
  const letters: ReadDeadLetter[] = []
  for await (const page of lettersAt(eventLog, last)) letters.push(...page)
  return { letters, unread }
}

/**
 * Returns jobs to their worker, under their old IDs and at a bounded rate. `onStep` is called for every letter that
 * matches the filter, oldest failure first. If it is stopped, all reported replays are done; a second call continues
 * with the rest.
 */
export async function replayDeadLetters(
  deps: ReplayDeps,
  filter: DeadLetterFilter,
  onStep: (step: ReplayStep) => void = () => undefined,
): Promise<ReplayTotals> {
  const { eventLog, pace = {} } = deps
  const { perSecond = REPLAYS_PER_S.fallback, pause = pauseFor } = pace
  const { last, unread } = await lastLetters(eventLog, filter, MOST_REPLAYED)
  let replayed = 0
  let done = 0
  for await (const letters of lettersAt(eventLog, last, perSecond)) {
    // Refusals cost the providers nothing, so only replays count towards the rate.
    if (replayed > 0) await pause(SECOND_MS)
    for (const { letter, refusal } of await replaySome(deps, letters)) {
      replayed += refusal === null ? 1 : 0
      done += 1
      onStep({ letter, refusal, done, of: last.size })
    }
  }
  return { replayed, refused: done - replayed, unread }
}

interface Replayed {
  readonly letter: ReadDeadLetter
  readonly refusal: ReplayRefusal | null
}

async function replaySome(deps: ReplayDeps, letters: readonly ReadDeadLetter[]): Promise<readonly Replayed[]> {
  const failed = await failedNow(deps.facts, letters)
  const steps = letters.map((letter) => ({ letter, refusal: replayRefusal(deps, letter, failed) }))
  const allowed = steps.filter(({ refusal }) => refusal === null)
  await Promise.all(allowed.map(({ letter }) => replayOne(deps, letter)))
  return steps
}

function pauseFor(waitMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, waitMs))
}

/**
 * Offset of each job's last letter, if it matches: an older letter lacks the later attempts. If there are more than `most`,
 * the newest. An unreadable letter hides no other.
 */
async function lastLetters(
  eventLog: LogReader,
  filter: DeadLetterFilter,
  most: number,
): Promise<{ readonly last: LastLetters; readonly unread: UnreadLetters }> {
  const lastOf = new BoundedMap<string, number>(most)
  const unread = { count: 0, newer: 0, offsets: new Array<number>() }
  const pass = (offset: number, isNewer: boolean): void => {
    unread.count += 1
    if (isNewer) unread.newer += 1
    if (unread.offsets.length < OFFSETS_TOLD) unread.offsets.push(offset)
  }
  const take = (offset: number, letter: ReadDeadLetter): void => {
    lastOf.delete(letter.job.jobId)
    if (isWanted(letter, filter)) lastOf.set(letter.job.jobId, offset)
  }
  for await (const entries of entriesFrom(eventLog, 0)) {
    for (const { offset, value } of entries) {
      const reading = readRecord('deadLetter', value)
      if (reading.kind === 'record') take(offset, reading.record)
      else pass(offset, reading.kind === 'newer')
    }
  }
  return { last: new Map(lastOf.entries()), unread }
}

/** At most `most` at a time; never none. */
async function* lettersAt(
  eventLog: LogReader,
  last: LastLetters,
  most: number = READ_ENTRIES,
): AsyncGenerator<readonly ReadDeadLetter[]> {
  const [first] = last.values()
  if (first === undefined) return
  let left = last.size
  for await (const entries of entriesFrom(eventLog, first)) {
    const wanted = entries.flatMap(({ offset, value }) => {
      const reading = readRecord('deadLetter', value)
      // A log of several partitions has several entries at one offset; the others do not belong here.
      return reading.kind === 'record' && last.get(reading.record.job.jobId) === offset ? [reading.record] : []
    })
    for (let from = 0; from < wanted.length; from += most) yield wanted.slice(from, from + most)
    left -= wanted.length
    // Letters that arrive meanwhile are left for another run; otherwise reading might never end.
    if (left === 0) return
  }
}

async function* entriesFrom(
  eventLog: LogReader,
  start: number,
): AsyncGenerator<readonly { readonly offset: number; readonly value: string }[]> {
  for (let offset = start; ;) {
    const entries = await eventLog.read('dead-letters', offset, READ_ENTRIES)
    const last = entries.at(-1)
    if (last === undefined) return
    yield entries
    offset = last.offset + 1
  }
}

function isWanted({ job, reason, failedAtMs }: ReadDeadLetter, filter: DeadLetterFilter): boolean {
  return (
    isFor(job, filter) &&
    filter.jobIds?.has(job.jobId) !== false &&
    (filter.reason === undefined || reason.startsWith(filter.reason)) &&
    failedAtMs >= (filter.failed?.sinceMs ?? 0) &&
    failedAtMs < (filter.failed?.untilMs ?? Number.POSITIVE_INFINITY)
  )
}

function isFor(job: ReadDeadLetter['job'], { organization, website, destination }: DeadLetterFilter): boolean {
  return (
    (website === undefined || job.website === website) &&
    (organization === undefined || job.organization === organization) &&
    (destination === undefined || job.destination === destination)
  )
}

/** Keys of letters whose delivery is still failed: a letter stays on the log after its job was replayed. */
async function failedNow(facts: FactsReader, letters: readonly ReadDeadLetter[]): Promise<ReadonlySet<string>> {
  const rows = await facts.run('dispatchedJobs', {
    ...ownersOf(letters.map(({ job }) => job)),
    event_ids: letters.map(({ job }) => job.install.eventId),
  })
  const failed = rows.filter((row) => row.status === 'failed')
  return new Set(failed.map((row) => deliveryKey(row, row.event_id, row.destination)))
}

function replayRefusal(
  { nowMs, mayCountTwice = false }: ReplayDeps,
  { job }: ReadDeadLetter,
  failed: ReadonlySet<string>,
): ReplayRefusal | null {
  if (job.deadlineAtMs <= nowMs()) return 'deadline_passed'
  if (!failed.has(deliveryKey(job, job.install.eventId, job.destination))) return 'not_failed'
  return !mayCountTwice && isForgotten(job, nowMs()) ? 'may_count_twice' : null
}

/** The provider may have it, and would no longer recognise its ID. */
function isForgotten(job: ReadDeadLetter['job'], nowMs: number): boolean {
  return isBeyondDedupe(job, nowMs, PROVIDER_DESCRIPTORS[job.provider].dedupeMs)
}

/** The attempt count continues, so that the worker does not take the job for a settled one. */
async function replayOne(deps: ReplayDeps, { job }: ReadDeadLetter): Promise<void> {
  const nowMs = deps.nowMs()
  // Its destination may have been made again since it was planned.
  const known = { ...job, catalogNumber: Math.max(job.catalogNumber, deps.catalogNumber?.() ?? 0) }
  const key = recordKey(job, job.jobId)
  await appendWithRetries(deps.eventLog, `deliver.${job.provider}`, {
    key,
    value: encodeRecord({ ...known, dueAtMs: nowMs, ...(isForgotten(job, nowMs) ? { unclearSinceMs: null } : {}) }),
  })
  const { sessionMode } = job
  const outcome = {
    status: 'pending',
    reason: '',
    sessionMode,
    detail: 'replayed',
    nextAttemptAtMs: nowMs,
    attempt: null,
  } as const
  const record = recordOfJob(known, outcome, nowMs)
  await appendWithRetries(deps.eventLog, 'deliveries', { key, value: encodeRecord(record) })
}

/** Tells deliveries apart: whose website, which event, where to. */
export function deliveryKey(of: OwnedWebsite, eventId: string, destination: string): string {
  return `${recordKey(of, eventId)}/${destination}`
}
