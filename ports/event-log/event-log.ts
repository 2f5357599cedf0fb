/**
 * EventLog: the durable, ordered record of what happened.
 *
 * Promises of every adapter (held by test/contract/event-log.contract.ts):
 * - `append` resolves only when all entries are durable. Entries of one call stay in order. It rejects with
 *   `LogUnavailable` at once if the queue is full, or when the deadline passes; the entries may then be stored or not. It rejects
 *   with `TopicUnavailable` if it is this topic alone that cannot be used.
 * - `consume` delivers at least once, in order per key. A batch is redelivered until its handler resolves; only then is
 *   the position committed. Two consumers of one group share the partitions; each group sees everything.
 * - Every queue is bounded in bytes and in count.
 */

import { Outage } from '../../common/outage.ts'
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
 * What a handler did with a batch; undefined means it finished all of it. `done` counts the entries from the front that
 * are finished; the rest is redelivered. `resumeAtMs` pauses this partition until then, without leaving the group and
 * without pausing other partitions.
 */
export interface BatchOutcome {
  readonly done: number
  readonly resumeAtMs?: number
  /**
   * Present: the handler has taken over the entries that count as done, and they are finished when this resolves. The next batch is handed over
   * at once, as long as no more than `MAX_OPEN_ENTRIES` are open; the position is committed only up to the lowest entry that is not
   * finished. If it rejects, everything from there on is redelivered, also what has been finished since.
   */
  readonly until?: Promise<unknown>
}

/** Entries of one partition that may be handed over beyond the lowest one that is not finished. */
export const MAX_OPEN_ENTRIES = 5_000

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
   * Goes back to the first entry appended at `sinceMs` or later (Unix ms), in the partitions of this consumer; never
   * forward. Resolves once the redelivered entries are settled and committed. Rejects if the store is unreachable; some
   * partitions may then have gone back.
   */
  rewind(sinceMs: number): Promise<void>
  /**
   * Stops after the current batch and all that were taken over; resolves when their outcome is committed. What takes longer than `IN_HAND_MS`
   * is given up: its outcome is ignored, and it is redelivered.
   */
  close(): Promise<void>
}

/** How long a stop waits for a batch that is being handled, in ms; a process has 25 s for all its parts. */
export const IN_HAND_MS = 8_000

export interface AppendOptions {
  /** How long the caller waits for a stuck log, in ms; the default is `LIMITS.appendDeadlineMs`. */
  readonly deadlineMs?: number
  /**
   * The longest it waits while the log keeps storing other entries, in ms; the default is the longer of
   * `LIMITS.appendPatienceMs` and the deadline.
   */
  readonly patienceMs?: number
}

/** How far back `readLast` reaches. */
export type Newest =
  /** The last ones of each partition. */
  | { readonly entries: number }
  /** Those appended within this time before the newest entry of the topic, in ms; a store may give a few older ones too. */
  | { readonly windowMs: number }
  /** All from these offsets on, by partition. Rejects with `LogUnavailable` if it is not certain that nothing is missing. */
  | { readonly from: Offsets }

export interface TopicLag {
  readonly topic: Topic
  readonly group: string
  readonly entries: number
}

/**
 * A group's progress in a topic, for each of its partitions. Null where it is not known: nobody knows the partition's leader for
 * certain, or the leader gives no answer, or entries wait in a spool.
 */
export interface TopicProgress {
  /**
   * Committed offset: the first entry that is not done. For a new group, the oldest entry kept. Not known either if it is beyond
   * the end: then the group has not read the topic since that began again.
   */
  readonly done: Offsets
  /** After the newest entry. */
  readonly ends: Offsets
}

/**
 * Why appends are refused: `late`: one was not stored by its deadline a moment ago; `failing`: the store refused one or could not be
 * reached. Each is a value of a metric's label.
 */
export type LogRefusal = 'closed' | 'queue_full' | 'disk_full' | 'spool_full' | 'late' | 'failing'

export interface EventLogHealth {
  readonly isAccepting: boolean
  /** Null while it accepts. */
  readonly refuses: LogRefusal | null
  /** True if a disk has too little room for new entries; absent otherwise. */
  readonly isDiskFull?: true
  readonly queuedBytes: number
  /** Above it appends are refused at once. */
  readonly maxQueuedBytes: number
  readonly lastAppendAtMs: number | null
  /** When a consumer of this process last got an answer from the store, even an empty one; null without consumers. */
  readonly lastFetchAtMs: number | null
}

/** Entries on this machine's disk that are still to be copied to the log. */
export interface SpoolHealth {
  readonly entries: number
  readonly bytes: number
  readonly maxBytes: number
  /** How long its oldest entry has been waiting, in ms; null if it is empty. */
  readonly oldestAgeMs: number | null
}

/** Appends. */
export interface LogWriter {
  /**
   * Only on a log that makes some topics when they are first needed: makes this one ahead, with what is of use only with it, so that
   * the first append need not wait for it. Rejects with `LogUnavailable`; an append then tries again.
   */
  prepare?(topic: Topic): Promise<void>
  append(topic: Topic, entries: readonly Entry[], options?: AppendOptions): Promise<void>
}

/** Consumes as a member of a group. */
export interface LogConsumers {
  consume(topic: Topic, group: string, handler: BatchHandler, options: ConsumeOptions): Promise<Consumer>
}

/** Reads from an offset on. */
export interface LogReader {
  /** Reads entries without a group; for tools such as replay. */
  read(topic: Topic, fromOffset: number, maxEntries: number): Promise<readonly StoredEntry[]>
}

/** Reads what was appended last. */
export interface LogTail {
  /**
   * Reads the newest entries without a group, page by page, in order within a partition. It does not wait for entries that are
   * appended after the call began. For a process that must know at its start what happened just before.
   */
  readLast(topic: Topic, newest: Newest): AsyncIterable<readonly StoredEntry[]>
}

/** Tells how far groups have read. */
export interface LogProgress {
  /**
   * Every entry whose append had resolved before the call is below `ends`, where that is known; `done` was read before. Rejects
   * while the log is unreachable.
   */
  progress(topic: Topic, group: string): Promise<TopicProgress>
}

/** Tells whether the log takes entries. */
export interface LogStatus {
  health(): EventLogHealth
  /** Only on a log with a spool in front of it (`spooled.ts`). */
  spool?(): SpoolHealth
}

/** How far each group is behind. */
export interface LogLag {
  lag(): Promise<readonly TopicLag[]>
}

/** The whole log; whoever needs one part of it names that part. */
export interface EventLog extends LogWriter, LogConsumers, LogReader, LogTail, LogProgress, LogStatus, LogLag {
  /**
   * Only on a log in a folder of this machine: copies the whole log, and the stores that share its commits, into another folder
   * while it is in use. Every append that had resolved before the call is in the copy.
   */
  copyTo?(folder: string): Promise<void>
  /** Refuses new appends, finishes those accepted, stops consumers. Engines that hang are given some seconds; the rest is refused. */
  close(): Promise<void>
}

/** The log cannot take the entries now; the caller answers 503 and promises nothing. */
export class LogUnavailable extends Outage {
  override readonly name = 'LogUnavailable'
}

/**
 * This topic is not there and cannot be made, or could lose what is appended: nothing was stored. Other topics may take entries, and this one
 * only once somebody has helped.
 */
export class TopicUnavailable extends LogUnavailable {}
