/** EventLog on LMDB: one partition per topic, offsets counted from 0, synced to disk before an append resolves. */

import { every, type Repetition } from '../../../common/every.ts'
import type { Topic } from '../../../domain/records.ts'
import { LIMITS } from '../../../domain/limits.ts'
import type { LmdbEnvironment } from '../../shared/lmdb/environment.ts'
import type { Table } from '../../shared/lmdb/table.ts'

import type {
  BatchHandler,
  ConsumeOptions,
  Consumer,
  Entry,
  EventLog,
  EventLogHealth,
  LogRefusal,
  Newest,
  StoredEntry,
  TopicLag,
  TopicProgress,
} from '../event-log.ts'
import { LogUnavailable } from '../event-log.ts'
import { patienceOf } from '../append-patience.ts'
import { CONSUMER_PACE, type ConsumerPace } from '../batch-pace.ts'
import { AppendQueue, type LmdbAppendOptions } from './appends.ts'
import { isKeyShort } from './chunks.ts'
import type { AppendBounds } from '../waiting-appends.ts'
import { Group } from './groups.ts'
import type { GroupOptions } from './groups.ts'
import { Topics } from './topics.ts'

export interface LmdbEventLogOptions {
  /** Of the appends that wait for the disk. */
  readonly bounds?: Partial<AppendBounds>
  readonly pace?: Partial<ConsumerPace>
  readonly keeping?: Partial<LmdbKeeping>
  /** Called for each handler that threw, with its error. */
  readonly onHandlerFailure?: GroupOptions['onHandlerFailure']
  /** Called if a regular run of `trim` fails: nothing is deleted until one succeeds. */
  readonly onTrimFailure?: (error: unknown) => void
}

/** How long entries stay. */
interface LmdbKeeping {
  /** After all groups have passed them. */
  readonly keepMs: (topic: Topic) => number
  /** Whether they are kept, however old they are, as long as the topic has no group. */
  readonly keepsUnfollowed: boolean
  /** Pause between two runs of `trim`; with `Infinity` there are none. */
  readonly trimEveryMs: number
}

export interface LmdbEventLog extends EventLog {
  append(topic: Topic, entries: readonly Entry[], options?: LmdbAppendOptions): Promise<void>
  /**
   * Deletes entries that are old enough and that every known group has passed; returns the number of chunks deleted.
   */
  trim(): Promise<number>
}

/** The page size of `readLast`. */
const PAGE_ENTRIES = 1_000
const TRIM_CHUNKS_PER_TRANSACTION = 200
/** Far more groups than this service has; bounds what is read at the start. */
const MAX_GROUPS = 10_000
/** After an append missed its deadline, the log reports for this long that it refuses appends. */
const FAILURE_SHOWN_MS = 2_000
/** Below this, a transaction is only slow, for example beside merges on the same disk; above it the disk is stuck. */
const STUCK_MS = 2_500
const BOUNDS: AppendBounds = { maxBytes: 64 * 1024 * 1024, maxEntries: 100_000 }
const KEEPING: LmdbKeeping = {
  keepMs: (topic) => (topic === 'dead-letters' ? LIMITS.deadLetterKeepMs : LIMITS.eventLogKeepMs),
  keepsUnfollowed: false,
  trimEveryMs: 600_000,
}

/** Opens the log in an environment; close it before the environment. */
export async function lmdbEventLog(
  environment: LmdbEnvironment,
  options: LmdbEventLogOptions = {},
): Promise<LmdbEventLog> {
  return new LogInLmdb(environment, options)
}

class LogInLmdb implements LmdbEventLog {
  readonly #environment: LmdbEnvironment
  readonly #bounds: AppendBounds
  readonly #pace: ConsumerPace
  readonly #keeping: LmdbKeeping
  readonly #onHandlerFailure: GroupOptions['onHandlerFailure']
  readonly #topics: Topics
  readonly #queue: AppendQueue
  readonly #positions: Table
  readonly #groups = new Map<Topic, Map<string, Group>>()
  readonly #trims: Repetition
  #lastAppendAtMs: number | null = null
  #lastFetchAtMs: number | null = null
  #isClosed = false
  #trimming: Promise<number> | null = null

  constructor(environment: LmdbEnvironment, options: LmdbEventLogOptions) {
    const { onHandlerFailure = () => undefined, onTrimFailure = () => undefined } = options
    this.#environment = environment
    this.#bounds = { ...BOUNDS, ...options.bounds }
    this.#pace = { ...CONSUMER_PACE, ...options.pace }
    this.#keeping = { ...KEEPING, ...options.keeping }
    this.#onHandlerFailure = onHandlerFailure
    this.#topics = new Topics(environment)
    this.#queue = new AppendQueue({ ...this.#bounds, stuckMs: () => this.#stuckMs() })
    this.#positions = environment.openTable('log-positions')
    for (const { key, value } of this.#positions.range({ start: '', end: '\uffff', limit: MAX_GROUPS })) {
      const [topic = '', name = ''] = key.split('\n')
      // A topic of another release too: what its consumers have read of it is trimmed, and the rest is kept for them.
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the name of a topic, if not of this release
      this.#addGroup(topic as Topic, name, Number(value))
    }
    environment.committer.contribute((write) => {
      const { appends, settle } = this.#queue.take()
      if (appends.length === 0) return null
      const finish = this.#topics.write(appends, write)
      return (failure) => {
        if (failure !== null) return settle(new LogUnavailable(failure.message, { cause: failure }))
        const grown = finish()
        this.#lastAppendAtMs = this.#environment.nowMs()
        settle(null)
        for (const topic of grown) for (const group of this.#groupsOf(topic)) group.wake()
      }
    })
    const trim = async (): Promise<void> => void (await this.trim())
    const { trimEveryMs } = this.#keeping
    this.#trims = every(trimEveryMs, trim, { firstMs: trimEveryMs, onFailure: onTrimFailure })
  }

  append(topic: Topic, entries: readonly Entry[], options?: LmdbAppendOptions): Promise<void> {
    const refusal = this.#refusalOf(entries)
    if (refusal !== null) {
      options?.onKnown?.(false)
      return Promise.reject(refusal)
    }
    const appended = this.#queue.add(topic, entries, patienceOf(options), options?.onKnown)
    this.#environment.committer.request()
    return appended
  }

  async consume(topic: Topic, name: string, handler: BatchHandler, options: ConsumeOptions): Promise<Consumer> {
    if (this.#isClosed) throw new LogUnavailable('the log is closed')
    const known = this.#groups.get(topic)?.get(name)
    const group = known ?? this.#addGroup(topic, name, this.#startOf(topic, options))
    if (known === undefined) {
      // Stored before the first batch: a new group must not start elsewhere after a crash, and trim must respect it.
      this.#positions.put(groupKey(topic, name), String(group.position))
      await this.#environment.committer.durable()
    }
    this.#topics.setConsumed(topic, true)
    const consumer = group.add(handler, options)
    return {
      rewind: (sinceMs) => consumer.rewind(sinceMs),
      close: async () => {
        await consumer.close()
        if (!this.#groupsOf(topic).some((other) => other.hasMembers)) this.#topics.setConsumed(topic, false)
      },
    }
  }

  async read(topic: Topic, fromOffset: number, maxEntries: number): Promise<readonly StoredEntry[]> {
    return this.#topics.read(topic, fromOffset, maxEntries)
  }

  async *readLast(topic: Topic, newest: Newest): AsyncGenerator<readonly StoredEntry[]> {
    const { endOffset } = this.#topics.of(topic)
    let offset = this.#topics.offsetOfNewest(topic, newest)
    while (offset < endOffset) {
      const entries = this.#topics.read(topic, offset, Math.min(PAGE_ENTRIES, endOffset - offset))
      const last = entries.at(-1)
      if (last === undefined) return
      yield entries
      offset = last.offset + 1
    }
  }

  async lag(): Promise<readonly TopicLag[]> {
    const lags: TopicLag[] = []
    for (const [topic, groups] of this.#groups) {
      const { endOffset } = this.#topics.of(topic)
      for (const [group, { position }] of groups) lags.push({ topic, group, entries: endOffset - position })
    }
    return lags
  }

  async progress(topic: Topic, name: string): Promise<TopicProgress> {
    const position = this.#groups.get(topic)?.get(name)?.position ?? this.#topics.oldestOffset(topic)
    return { done: [position], ends: [this.#topics.of(topic).endOffset] }
  }

  health(): EventLogHealth {
    const refuses = this.#refuses()
    return {
      isAccepting: refuses === null,
      refuses,
      ...(this.#environment.committer.isFull ? { isDiskFull: true as const } : {}),
      queuedBytes: this.#queue.bytes,
      maxQueuedBytes: this.#bounds.maxBytes,
      lastAppendAtMs: this.#lastAppendAtMs,
      lastFetchAtMs: this.#lastFetchAtMs,
    }
  }

  #refuses(): LogRefusal | null {
    // Asked first: it looks whether a full disk has room again.
    const isRefused = this.#refusal() !== null
    if (this.#isClosed) return 'closed'
    if (this.#environment.committer.isFull) return 'disk_full'
    if (isRefused) return 'failing'
    if (this.#queue.isFull) return 'queue_full'
    const isStalled = this.#environment.committer.underWayMs > LIMITS.appendDeadlineMs
    return isStalled || performance.now() - this.#queue.expiredAtMs < FAILURE_SHOWN_MS ? 'late' : null
  }

  trim(): Promise<number> {
    this.#trimming ??= this.#trimAll().finally(() => (this.#trimming = null))
    return this.#trimming
  }

  copyTo(folder: string): Promise<void> {
    return this.#environment.copyTo(folder)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const trimsEnded = this.#trims.close()
    await this.#queue.drained()
    const groups = [...this.#groups.values()].flatMap((ofTopic) => [...ofTopic.values()])
    await Promise.allSettled(groups.map((group) => group.close()))
    await trimsEnded
    await this.#trimming?.catch(() => undefined)
  }

  #stuckMs(): number {
    const { underWayMs } = this.#environment.committer
    return underWayMs < STUCK_MS ? 0 : underWayMs
  }

  #refusalOf(entries: readonly Entry[]): Error | null {
    const reason = this.#refusal()
    if (reason !== null) return new LogUnavailable(reason)
    return entries.every(isKeyShort) ? null : new RangeError('an entry has a key above 65,535 bytes')
  }

  #refusal(): string | null {
    return this.#isClosed ? 'the log is closed' : this.#environment.committer.unavailabilityFor(this.#queue.bytes)
  }

  #startOf(topic: Topic, { from = 'oldest' }: ConsumeOptions): number {
    return from === 'oldest' ? this.#topics.oldestOffset(topic) : this.#topics.of(topic).endOffset
  }

  #addGroup(topic: Topic, name: string, position: number): Group {
    const key = groupKey(topic, name)
    const source = {
      nowMs: this.#environment.nowMs,
      endOffset: () => this.#topics.of(topic).endOffset,
      read: (fromOffset: number, maxEntries: number) => {
        this.#lastFetchAtMs = this.#environment.nowMs()
        return this.#topics.read(topic, fromOffset, maxEntries)
      },
      offsetSince: (sinceMs: number) => this.#topics.offsetSince(topic, sinceMs),
      commit: (next: number) => {
        this.#positions.put(key, String(next))
        const followers = this.#groupsOf(topic).filter((other) => other.hasMembers)
        this.#topics.passed(topic, Math.min(...followers.map((other) => other.position)))
      },
      durable: () => this.#environment.committer.durable(),
    }
    const group = new Group(source, position, {
      topic,
      group: name,
      pace: this.#pace,
      onHandlerFailure: this.#onHandlerFailure,
    })
    const ofTopic = this.#groups.get(topic) ?? new Map<string, Group>()
    this.#groups.set(topic, ofTopic.set(name, group))
    return group
  }

  #groupsOf(topic: Topic): Group[] {
    return [...(this.#groups.get(topic)?.values() ?? [])]
  }

  /** In small transactions, so that appends run in between. */
  async #trimTopic(topic: Topic, bounds: { belowOffset: number; beforeMs: number }): Promise<number> {
    let removed = 0
    let count = 0
    do {
      count = this.#topics.removeOldest(topic, { ...bounds, maxChunks: TRIM_CHUNKS_PER_TRANSACTION })
      if (count > 0) await this.#environment.committer.durable()
      removed += count
    } while (count === TRIM_CHUNKS_PER_TRANSACTION && !this.#isClosed)
    return removed
  }

  async #trimAll(): Promise<number> {
    let removed = 0
    for (const { topic, endOffset } of [...this.#topics.all()]) {
      const positions = this.#groupsOf(topic).map(({ position }) => position)
      if (positions.length === 0 && this.#keeping.keepsUnfollowed) continue
      const belowOffset = Math.min(endOffset, ...positions)
      const beforeMs = this.#environment.nowMs() - this.#keeping.keepMs(topic)
      removed += await this.#trimTopic(topic, { belowOffset, beforeMs })
    }
    return removed
  }
}

function groupKey(topic: Topic, name: string): string {
  return `${topic}\n${name}`
}
