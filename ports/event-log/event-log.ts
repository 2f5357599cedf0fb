/**
 * EventLog: the durable, ordered record of what happened.
 *
 * Promises of every adapter (test/contract/event-log.contract.ts shows them):
 * - `append` resolves only when all entries are durable. Entries of one call stay in order; it rejects with
 *   `LogUnavailable` when the queue is full (at once) or the deadline passes; then the entries may or may not be stored.
 * - `consume` delivers at least once, in order per key. A batch comes again until its handler resolves; the position is
 *   committed only afterwards. Two consumers of one group share the partitions; two groups see everything each.
 * - Every queue is bounded in bytes and in count.
 */

import type { Offsets } from '../../domain/collection/facts-lag.ts'
import type { Topic } from '../../domain/records.ts'

export interface Entry {
  readonly key: string
  readonly value: string
}

export interface StoredEntry extends Entry {
  readonly offset: number
  readonly appendedAtMs: number
}

export interface Batch {
  readonly topic: Topic
  readonly partition: number
  /** Never empty; ascending offsets. */
  readonly entries: readonly StoredEntry[]
}

/**
 * What a handler did with a batch. Nothing returned means all of it. `done` counts entries from the front that are
 * finished (the rest comes again); `resumeAtMs` holds this partition until then, without leaving the group and without
 * holding others.
 */
export interface BatchOutcome {
  readonly done: number
  readonly resumeAtMs?: number
}

export type BatchHandler = (batch: Batch) => Promise<BatchOutcome | void>

export interface ConsumeOptions {
  /** Most entries in one batch. */
  readonly maxEntries: number
  /** A batch smaller than `maxEntries` is handed over once its oldest entry has waited this long. 0 hands over at once. */
  readonly lingerMs?: number
  /** Where a new group starts; the default is the oldest entry kept. */
  readonly from?: 'oldest' | 'newest'
}

export interface Consumer {
  /**
   * Goes back to the first entry appended at `sinceMs` or later (Unix ms), in the partitions this consumer has; never
   * forward. Resolves when what comes again is settled and committed; rejects where the store is away, and may then have
   * gone back in part.
   */
  rewind(sinceMs: number): Promise<void>
  /** Stops after the batch in hand; resolves when its outcome is committed. */
  stop(): Promise<void>
}

export interface AppendOptions {
  /** How long the caller waits where the log takes nothing any more, in ms; the default is `LIMITS.appendDeadlineMs`. */
  readonly deadlineMs?: number
  /**
   * How long it waits at most, behind others that are stored meanwhile, in ms; the default is `LIMITS.appendPatienceMs`, or
   * the deadline where that is longer.
   */
  readonly patienceMs?: number
}

export interface TopicLag {
  readonly topic: Topic
  readonly group: string
  readonly entries: number
}

/** How far a group has come in a topic, by partition. */
export interface TopicProgress {
  /** Of the first entry that is not done, as committed; that of the oldest one kept where the group is new. */
  readonly done: Offsets
  /** After the newest entry. */
  readonly ends: Offsets
}

export interface EventLogHealth {
  readonly isAccepting: boolean
  /** True where a disk has too little room to take anything; absent where none has. */
  readonly isDiskFull?: true
  readonly queuedBytes: number
  /** Above it appends are refused at once. */
  readonly maxQueuedBytes: number
  readonly lastAppendAtMs: number | null
  /** When a consumer of this process last heard from the store, also that there is nothing new; null without any. */
  readonly lastFetchAtMs: number | null
}

/** What waits on this machine's disk to be brought to the log. */
export interface SpoolHealth {
  readonly entries: number
  readonly bytes: number
  readonly maxBytes: number
  /** How long its oldest entry has been waiting, in ms; null where it is empty. */
  readonly oldestAgeMs: number | null
}

export interface EventLog {
  append(topic: Topic, entries: readonly Entry[], options?: AppendOptions): Promise<void>
  consume(topic: Topic, group: string, handler: BatchHandler, options: ConsumeOptions): Promise<Consumer>
  /** Reads entries without a group, from an offset on; for tools such as replay. */
  read(topic: Topic, fromOffset: number, maxEntries: number): Promise<readonly StoredEntry[]>
  lag(): Promise<readonly TopicLag[]>
  /** Every entry whose append had resolved before the call lies below `ends`. Rejects while the log is away. */
  progress(topic: Topic, group: string): Promise<TopicProgress>
  health(): EventLogHealth
  /** Only of a log with a spool in front of it (`spooled.ts`). */
  spool?(): SpoolHealth
  /** Refuses new appends, finishes those accepted, stops consumers. */
  close(): Promise<void>
}

/** The log cannot take the entries now; the caller answers 503 and promises nothing. */
export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable'
}
