/**
 * EventLog with a spool in front: entries that the log cannot take now are kept on this machine's disk and copied to it later.
 *
 * An append goes to the log. If the log does not store it within half of its deadline, or if the spool already holds
 * entries of its topic, it goes to the spool and resolves once it is durable there. One consumer per topic copies the
 * spool to the log in order, and deletes what the log acknowledged.
 *
 * When little is left, appends of the topic wait until the spool is empty: otherwise a steady stream would pass through
 * it for ever.
 *
 * An install that rests on what the spool holds goes through it too, and comes after that on the log: whoever reads it there, and
 * waits for everything before it, would otherwise not know of its visit and activation.
 *
 * Order per key: an append comes after every append of its topic that had resolved when it was called. Appends in
 * flight when the log fails may change places. What the log stored without acknowledging it is stored again.
 */

import { setTimeout as wait } from 'node:timers/promises'

import { every, type Repetition } from '../../../common/every.ts'
import { RECEIPT_TOPICS, UNKNOWN_ENDS } from '../../../domain/collection/facts-lag.ts'
import { LIMITS } from '../../../domain/limits.ts'
import type { Topic } from '../../../domain/records.ts'

import type {
  AppendOptions,
  Batch,
  BatchHandler,
  BatchOutcome,
  ConsumeOptions,
  Consumer,
  Entry,
  EventLog,
  EventLogHealth,
  LogRefusal,
  Newest,
  SpoolHealth,
  StoredEntry,
  TopicLag,
  TopicProgress,
} from '../event-log.ts'
import { LogUnavailable } from '../event-log.ts'
import type { LmdbEventLog } from '../lmdb/lmdb.ts'
import { SpoolHandovers } from './handovers.ts'
import { topicParts, spooledBytes, SpoolCounts } from './counts.ts'

export interface SpoolOptions {
  /** Most bytes of entries that may wait in the spool; above it appends are refused. */
  readonly maxBytes: number
  /** A larger entry is refused before it is spooled: the log would never accept it. */
  readonly maxEntryBytes?: number
  readonly closing?: Partial<SpoolClosing>
  readonly nowMs?: () => number
  /** Called when the first entry is spooled, and when the spool is empty again. */
  readonly onSpooling?: (isSpooling: boolean) => void
}

/** How long `close` keeps copying entries to the log, in ms. */
interface SpoolClosing {
  readonly drainMs: number
  /** Without any progress. */
  readonly stalledMs: number
}

export interface SpooledEventLog extends EventLog {
  spool(): SpoolHealth
}

const GROUP = 'drain'
const KIB = 1024
const DRAIN_ENTRIES = 2_000
const SCAN_ENTRIES = 1_000
/** The log gets this share of an append's deadline, the spool the rest. */
const LOG_SHARE = 0.5
/** After a refusal, appends go straight to the spool for this long, instead of each waiting for the log. */
const AVOID_MS = 1_000
/** When no more than this is left of a topic, its appends wait for the log. */
const HANDOVER_ENTRIES = DRAIN_ENTRIES
const BEGIN_DRAINS_EVERY_MS = 500
/** Topics whose entries decide about those of another one. */
const RESTS_ON: { readonly [T in Topic]?: readonly Topic[] } = { installs: RECEIPT_TOPICS }
/** How soon entries that must come later are looked at again. */
const COME_LATER_MS = 50
const CLOSE_LOOK_MS = 20
const MAX_ENTRY_BYTES = 900 * KIB
/** How long the log may take for one part copied from the spool. */
const DRAIN_DEADLINE_MS = 5_000
const CLOSING: SpoolClosing = { drainMs: 10_000, stalledMs: 3_000 }

/** The spool's LMDB log deletes copied entries at once, to free its room. */
export const SPOOL_LOG_OPTIONS = {
  keeping: { keepMs: () => 0, keepsUnfollowed: true, trimEveryMs: 1_000 },
  pace: { retryMs: { first: 100, most: 2_000 } },
} as const

/**
 * Takes over both logs: `close` closes them. At once it starts to copy the entries that an earlier process left in the spool, and
 * resolves when they are counted; the log may be unreachable.
 */
export async function spooledEventLog(
  log: EventLog,
  spool: LmdbEventLog,
  options: SpoolOptions,
): Promise<SpooledEventLog> {
  const spooled = new LogWithSpool(log, spool, options)
  await spooled.takeUp()
  return spooled
}

class LogWithSpool implements SpooledEventLog {
  readonly #log: EventLog
  readonly #spool: LmdbEventLog
  readonly #maxEntryBytes: number
  readonly #closing: SpoolClosing
  readonly #nowMs: () => number
  readonly #onSpooling: (isSpooling: boolean) => void
  readonly #counts: SpoolCounts
  readonly #drains = new Map<Topic, Promise<Consumer>>()
  readonly #handovers = new SpoolHandovers()
  readonly #begins: Repetition
  #avoidUntilMs = Number.NEGATIVE_INFINITY
  #progressAtMs = performance.now()
  #underWay = 0
  #onIdle: () => void = () => undefined
  #isSpooling = false
  #isClosed = false
  #isEnding = false

  constructor(log: EventLog, spool: LmdbEventLog, options: SpoolOptions) {
    const { maxBytes, maxEntryBytes = MAX_ENTRY_BYTES, nowMs = Date.now, onSpooling = () => undefined } = options
    this.#log = log
    this.#spool = spool
    this.#maxEntryBytes = maxEntryBytes
    this.#closing = { ...CLOSING, ...options.closing }
    this.#nowMs = nowMs
    this.#onSpooling = onSpooling
    this.#counts = new SpoolCounts(maxBytes, nowMs)
    this.#begins = every(BEGIN_DRAINS_EVERY_MS, () => this.#beginDrains(), {
      firstMs: BEGIN_DRAINS_EVERY_MS,
      onFailure: () => undefined,
    })
  }

  async takeUp(): Promise<void> {
    // Frees the room of what an earlier process had copied.
    await this.#spool.trim()
    const held = (await this.#spool.lag()).filter(({ entries }) => entries > 0)
    // All are counted before any is copied, as some must come after others.
    for (const { topic } of held) await this.#count(topic)
    for (const { topic } of held) await this.#drainOf(topic)
    this.#tell()
  }

  async append(topic: Topic, entries: readonly Entry[], options?: AppendOptions): Promise<void> {
    if (this.#isClosed) throw new LogUnavailable('the log is closed')
    if (entries.length === 0) return
    this.#underWay++
    try {
      await this.#append(topic, entries, options?.deadlineMs ?? LIMITS.appendDeadlineMs)
    } finally {
      this.#underWay--
      if (this.#underWay === 0) this.#onIdle()
    }
  }

  consume(topic: Topic, group: string, handler: BatchHandler, options: ConsumeOptions): Promise<Consumer> {
    return this.#log.consume(topic, group, handler, options)
  }

  read(topic: Topic, fromOffset: number, maxEntries: number): Promise<readonly StoredEntry[]> {
    return this.#log.read(topic, fromOffset, maxEntries)
  }

  readLast(topic: Topic, newest: Newest): AsyncIterable<readonly StoredEntry[]> {
    return this.#log.readLast(topic, newest)
  }

  lag(): Promise<readonly TopicLag[]> {
    return this.#log.lag()
  }

  async progress(topic: Topic, group: string): Promise<TopicProgress> {
    // Entries in the spool have no place in the log yet.
    if (this.#counts.holds(topic)) return { done: UNKNOWN_ENDS, ends: UNKNOWN_ENDS }
    return this.#log.progress(topic, group)
  }

  health(): EventLogHealth {
    const log = this.#log.health()
    const spool = this.#spool.health()
    const refuses = this.#refuses(log.refuses, spool.refuses)
    const times = [log.lastAppendAtMs, spool.lastAppendAtMs].filter((time) => time !== null)
    return {
      isAccepting: refuses === null,
      refuses,
      ...(spool.isDiskFull === true ? { isDiskFull: true as const } : {}),
      queuedBytes: log.queuedBytes + spool.queuedBytes,
      maxQueuedBytes: log.maxQueuedBytes + spool.maxQueuedBytes,
      lastFetchAtMs: log.lastFetchAtMs,
      lastAppendAtMs: times.length === 0 ? null : Math.max(...times),
    }
  }

  spool(): SpoolHealth {
    return this.#counts.health()
  }

  /** It refuses only what neither of the two takes; what the spool lacks is then to be mended first. */
  #refuses(log: LogRefusal | null, spool: LogRefusal | null): LogRefusal | null {
    if (this.#isClosed) return 'closed'
    if (log === null) return null
    return this.#counts.hasRoomFor(1) ? spool : 'spool_full'
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
    await this.#drainBeforeClose()
    this.#isEnding = true
    this.#handovers.endAll()
    await this.#begins.close()
    await this.#spool.close()
    await this.#log.close()
  }

  async #append(topic: Topic, entries: readonly Entry[], deadlineMs: number): Promise<void> {
    const endAtMs = performance.now() + deadlineMs
    await this.#handovers.wait(topic, deadlineMs * LOG_SHARE)
    const nowMs = performance.now()
    const isAvoided = nowMs < this.#avoidUntilMs && this.#counts.hasRoomFor(spooledBytes(entries))
    if (!this.#isBehindSpool(topic) && !isAvoided) {
      try {
        const forLogMs = (endAtMs - nowMs) * LOG_SHARE
        return await this.#log.append(topic, entries, { deadlineMs: forLogMs, patienceMs: forLogMs })
      } catch (error) {
        if (!(error instanceof LogUnavailable)) throw error
        this.#avoidUntilMs = performance.now() + AVOID_MS
      }
    }
    await this.#keep(topic, entries, endAtMs - performance.now())
  }

  #isBehindSpool(topic: Topic): boolean {
    return [topic, ...(RESTS_ON[topic] ?? [])].some((other) => this.#counts.holds(other))
  }

  async #keep(topic: Topic, entries: readonly Entry[], deadlineMs: number): Promise<void> {
    const maxEntryBytes = this.#maxEntryBytes
    const bytes = spooledBytes(entries)
    if (bytes > maxEntryBytes && entries.some((entry) => spooledBytes([entry]) > maxEntryBytes)) {
      throw new RangeError(`an entry is above ${maxEntryBytes} bytes`)
    }
    if (!this.#counts.hasRoomFor(bytes)) throw new LogUnavailable('the log is unavailable and the spool is full')
    const { refuses } = this.#spool.health()
    // A full queue refuses by itself at once what does not fit.
    if (refuses !== null && refuses !== 'queue_full')
      throw new LogUnavailable('the log is unavailable and the spool accepts nothing')
    this.#counts.begin(topic, entries.length, bytes)
    const onKnown = (isStored: boolean): void => {
      if (isStored) return
      this.#counts.refused(topic, entries.length, bytes)
      this.#noteIfEmpty(topic)
    }
    this.#tell()
    // In one turn, and so in one transaction: after a crash no entry is left without a group that follows.
    this.#drainOf(topic).catch(() => undefined)
    await this.#spool.append(topic, entries, { deadlineMs, onKnown })
  }

  #noteIfEmpty(topic: Topic): void {
    if (!this.#counts.holds(topic)) this.#handovers.end(topic)
    this.#tell()
  }

  #drainOf(topic: Topic): Promise<Consumer> {
    const known = this.#drains.get(topic)
    if (known !== undefined) return known
    const handle = (batch: Batch): Promise<BatchOutcome> => this.#drain(batch)
    const draining = this.#spool.consume(topic, GROUP, handle, { maxEntries: DRAIN_ENTRIES })
    this.#drains.set(topic, draining)
    draining.catch(() => this.#drains.delete(topic))
    return draining
  }

  /** Those from the front that are older than everything that they may rest on. */
  #inTurn(topic: Topic, entries: readonly StoredEntry[]): readonly StoredEntry[] {
    const beforeMs = this.#counts.oldestAtMs(RESTS_ON[topic] ?? [])
    const first = entries.findIndex(({ appendedAtMs }) => appendedAtMs >= beforeMs)
    return first === -1 ? entries : entries.slice(0, first)
  }

  async #drain({ topic, entries: fetched }: Batch): Promise<BatchOutcome> {
    const entries = this.#inTurn(topic, fetched)
    if (entries.length === 0) return { done: 0, resumeAtMs: this.#nowMs() + COME_LATER_MS }
    const left = this.#counts.entriesOf(topic) - entries.length
    if (left <= HANDOVER_ENTRIES && this.#isLogThere()) this.#handovers.begin(topic)
    let done = 0
    try {
      for (const part of topicParts(entries)) {
        if (this.#isEnding) break
        await this.#log.append(topic, part, { deadlineMs: DRAIN_DEADLINE_MS })
        done += part.length
        this.#progressAtMs = performance.now()
        this.#counts.drained(topic, part, entries[done])
      }
    } catch (error) {
      this.#handovers.end(topic)
      if (done === 0) throw error
      return { done }
    }
    // The log answers again: the next append need not avoid it.
    this.#avoidUntilMs = Number.NEGATIVE_INFINITY
    this.#noteIfEmpty(topic)
    return { done }
  }

  /** Only while the log is known to take entries; otherwise appends would wait for nothing. */
  #isLogThere(): boolean {
    return performance.now() >= this.#avoidUntilMs && this.#log.health().isAccepting
  }

  /** Tries again to begin the drains that could not begin. */
  #beginDrains(): void {
    for (const topic of this.#counts.held()) this.#drainOf(topic).catch(() => undefined)
  }

  async #count(topic: Topic): Promise<void> {
    let offset = (await this.#spool.progress(topic, GROUP)).done[0] ?? 0
    for (;;) {
      const entries = await this.#spool.read(topic, offset, SCAN_ENTRIES)
      const last = entries.at(-1)
      if (last === undefined) return
      this.#counts.found(topic, entries)
      offset = last.offset + 1
      await wait(0)
    }
  }

  async #drainBeforeClose(): Promise<void> {
    const { drainMs, stalledMs } = this.#closing
    const endAtMs = performance.now() + drainMs
    this.#progressAtMs = performance.now()
    while (this.#counts.entries > 0 && performance.now() < endAtMs) {
      if (performance.now() - this.#progressAtMs > stalledMs) return
      await wait(CLOSE_LOOK_MS)
    }
  }

  #tell(): void {
    const isSpooling = this.#counts.entries > 0
    if (isSpooling === this.#isSpooling) return
    this.#isSpooling = isSpooling
    this.#onSpooling(isSpooling)
  }
}
