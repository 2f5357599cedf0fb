/** The topics of the log in LMDB: assigns offsets, writes and reads chunks, and deletes what is no longer needed. */

import type { Database } from 'lmdb'

import type { Topic } from '../../../domain/records.ts'
import type { LmdbEnvironment } from '../../shared/lmdb/environment.ts'
import type { WriteOne } from '../../shared/lmdb/committer.ts'
import type { Table } from '../../shared/lmdb/table.ts'

import type { Entry, Newest, StoredEntry } from '../event-log.ts'
import type { Append } from './appends.ts'
import type { Chunk } from './chunks.ts'
import {
  chunkKey,
  decodeChunk,
  encodeChunk,
  endOf,
  entryBytes,
  chunkPlace,
  seekKey,
  topicBounds,
  topicOf,
} from './chunks.ts'

/** Small enough to read whole for a few entries, large enough to save writes; 256 KiB was no faster. */
const CHUNK_BYTES = 64 * 1024
/** Consumers that keep up are served from memory: no decoding, and the file's pages stay out of the process. */
const RECENT_BYTES = 16 * 1024 * 1024
const MAX_BATCH_BYTES = 16 * 1024 * 1024

interface TopicLog {
  readonly topic: Topic
  /** Offset after the last durable entry. */
  endOffset: number
  /** The latest chunks, ascending and without gaps; empty without consumers. */
  readonly recent: RecentChunk[]
  lastRead: Chunk | null
  isConsumed: boolean
}

interface RecentChunk extends Chunk {
  readonly bytes: number
}

export class Topics {
  readonly #log: Database<Buffer, Buffer>
  readonly #ends: Table
  readonly #nowMs: () => number
  readonly #topics = new Map<Topic, TopicLog>()
  readonly #removals: Buffer[] = []
  #recentBytes = 0

  constructor(environment: LmdbEnvironment) {
    this.#log = environment.openLog('log')
    this.#ends = environment.openTable('log-ends')
    this.#nowMs = environment.nowMs
    for (const topic of this.#storedTopics()) this.of(topic)
    environment.committer.contribute((write) => {
      for (const key of this.#removals.splice(0)) write(this.#log, key, null)
      return null
    })
  }

  all(): Iterable<TopicLog> {
    return this.#topics.values()
  }

  of(topic: Topic): TopicLog {
    const known = this.#topics.get(topic)
    if (known !== undefined) return known
    const log: TopicLog = { topic, endOffset: this.#storedEnd(topic), recent: [], lastRead: null, isConsumed: false }
    this.#topics.set(topic, log)
    return log
  }

  /**
   * Writes the appends' entries as chunks. Returns a function to call once they are durable: it moves the ends and
   * returns the topics that grew. If it is not called, the offsets are assigned again.
   */
  write(appends: readonly Append[], write: WriteOne): () => Set<Topic> {
    const appendedAtMs = this.#nowMs()
    const written: { log: TopicLog; endOffset: number; chunks: RecentChunk[] }[] = []
    for (const [topic, ofTopic] of Map.groupBy(appends, (append) => append.topic)) {
      const log = this.of(topic)
      const chunks: RecentChunk[] = []
      let firstOffset = log.endOffset
      for (const { part, bytes } of chunkParts(ofTopic)) {
        write(this.#log, chunkKey(topic, firstOffset, appendedAtMs), encodeChunk(part, bytes))
        if (log.isConsumed) chunks.push({ ...storedChunk(part, firstOffset, appendedAtMs), bytes })
        firstOffset += part.length
      }
      written.push({ log, endOffset: firstOffset, chunks })
    }
    return () => {
      for (const { log, endOffset, chunks } of written) {
        log.endOffset = endOffset
        for (const chunk of chunks) this.#keepRecent(log, chunk)
      }
      return new Set(written.map(({ log }) => log.topic))
    }
  }

  /** Up to `maxEntries` durable entries from `fromOffset` on, fewer if they are large. */
  read(topic: Topic, fromOffset: number, maxEntries: number): StoredEntry[] {
    const log = this.of(topic)
    const entries: StoredEntry[] = []
    let bytes = 0
    let offset = fromOffset
    while (entries.length < maxEntries && offset < log.endOffset && bytes < MAX_BATCH_BYTES) {
      const chunk = this.#chunkAt(log, offset)
      if (chunk === null) break
      const from = Math.max(0, offset - chunk.firstOffset)
      const part = chunk.entries.slice(from, from + maxEntries - entries.length)
      if (part.length === 0) break
      for (const entry of part) bytes += entry.value.length
      entries.push(...part)
      offset = chunk.firstOffset + from + part.length
    }
    return entries
  }

  /** Offset of the first entry appended then or later; the end if there is none. Reads only keys. */
  offsetSince(topic: Topic, sinceMs: number): number {
    let offset = this.of(topic).endOffset
    const { start, end } = topicBounds(topic)
    for (const key of this.#log.getKeys({ start: end, end: start, reverse: true })) {
      const { firstOffset, appendedAtMs } = chunkPlace(key)
      if (appendedAtMs < sinceMs) break
      offset = firstOffset
    }
    return offset
  }

  /** Where the newest entries begin. */
  offsetOfNewest(topic: Topic, newest: Newest): number {
    const { endOffset } = this.of(topic)
    if (endOffset === 0) return 0
    if ('from' in newest) return Math.max(this.oldestOffset(topic), newest.from[0] ?? 0)
    if ('entries' in newest) return Math.max(this.oldestOffset(topic), endOffset - newest.entries)
    const [last] = this.read(topic, endOffset - 1, 1)
    return last === undefined ? endOffset : this.offsetSince(topic, last.appendedAtMs - newest.windowMs)
  }

  oldestOffset(topic: Topic): number {
    const [first] = [...this.#log.getKeys({ ...topicBounds(topic), limit: 1 })]
    return first === undefined ? this.of(topic).endOffset : chunkPlace(first).firstOffset
  }

  /** Starts or stops keeping recent chunks in memory. */
  setConsumed(topic: Topic, isConsumed: boolean): void {
    const log = this.of(topic)
    log.isConsumed = isConsumed
    if (!isConsumed) this.#dropRecent(log, log.recent.length)
  }

  /** Drops recent chunks that every consumer has passed. */
  passed(topic: Topic, offset: number): void {
    const log = this.of(topic)
    const kept = log.recent.findIndex(({ endOffset }) => endOffset > offset)
    this.#dropRecent(log, kept === -1 ? log.recent.length : kept)
  }

  /**
   * Queues the removal of up to `maxChunks` oldest chunks that end at or before `belowOffset` and are older than
   * `beforeMs`; returns how many. The end is stored with it, so that an emptied topic keeps counting.
   */
  removeOldest(topic: Topic, bounds: { belowOffset: number; beforeMs: number; maxChunks: number }): number {
    const log = this.of(topic)
    // One key more than may be removed: a chunk ends at the start of the next.
    const keys = [...this.#log.getKeys({ ...topicBounds(topic), limit: bounds.maxChunks + 1 })]
    let removed = 0
    for (const [index, key] of keys.slice(0, bounds.maxChunks).entries()) {
      const { firstOffset, appendedAtMs } = chunkPlace(key)
      // LMDB shows a chunk as soon as it is on disk; the log learns of it a moment later, and nobody has passed it yet.
      if (firstOffset >= log.endOffset) break
      const next = keys[index + 1]
      const endOffset = next === undefined ? log.endOffset : chunkPlace(next).firstOffset
      if (endOffset > bounds.belowOffset || appendedAtMs >= bounds.beforeMs) break
      this.#removals.push(key)
      removed++
    }
    if (removed > 0) {
      this.#ends.put(topic, String(log.endOffset))
      log.lastRead = null
    }
    return removed
  }

  #chunkAt(log: TopicLog, offset: number): Chunk | null {
    const recent = log.recent
    const firstRecent = recent[0]
    if (firstRecent !== undefined && offset >= firstRecent.firstOffset) return recentAt(recent, offset)
    if (log.lastRead !== null && isInChunk(log.lastRead, offset)) return log.lastRead
    return (log.lastRead = this.#storedChunkAt(log.topic, offset))
  }

  /** The chunk that holds the offset, or the next one if it was deleted. */
  #storedChunkAt(topic: Topic, offset: number): Chunk | null {
    const { start, end } = topicBounds(topic)
    for (const before of this.#log.getRange({
      start: seekKey(topic, offset + 1),
      end: start,
      reverse: true,
      limit: 1,
    })) {
      if (endOf(before) > offset) return decodeChunk(before)
    }
    for (const next of this.#log.getRange({ start: seekKey(topic, offset), end, limit: 1 })) return decodeChunk(next)
    return null
  }

  #storedEnd(topic: Topic): number {
    const { start, end } = topicBounds(topic)
    const kept = Number(this.#ends.get(topic) ?? 0)
    for (const last of this.#log.getRange({ start: end, end: start, reverse: true, limit: 1 })) {
      return Math.max(kept, endOf(last))
    }
    return kept
  }

  /** Jumps from topic to topic, with one read per topic. */
  *#storedTopics(): Iterable<Topic> {
    let start: Buffer | null = Buffer.from([0])
    while (start !== null) {
      const keys: Buffer[] = [...this.#log.getKeys({ start, limit: 1 })]
      start = null
      for (const key of keys) {
        const topic = topicOf(key)
        // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the name of a topic, if not of this release
        yield topic as Topic
        start = topicBounds(topic).end
      }
    }
  }

  #keepRecent(log: TopicLog, chunk: RecentChunk): void {
    if (!log.isConsumed) return
    if (log.recent.at(-1)?.endOffset !== chunk.firstOffset) this.#dropRecent(log, log.recent.length)
    log.recent.push(chunk)
    this.#recentBytes += chunk.bytes
    while (this.#recentBytes > RECENT_BYTES) this.#dropRecent(this.#longestRecent(log), 1)
  }

  /** The topic whose consumers lag most loses its memory first: they read from disk anyway. */
  #longestRecent(log: TopicLog): TopicLog {
    let longest = log
    for (const other of this.#topics.values()) if (other.recent.length > longest.recent.length) longest = other
    return longest
  }

  #dropRecent(log: TopicLog, count: number): void {
    for (const chunk of log.recent.splice(0, count)) this.#recentBytes -= chunk.bytes
  }
}

function* chunkParts(
  appends: readonly Append[],
): Iterable<{ readonly part: readonly Entry[]; readonly bytes: number }> {
  let part: Entry[] = []
  let bytes = 0
  for (const append of appends) {
    for (const entry of append.entries) {
      part.push(entry)
      // Most appends have one entry, whose size is known already.
      bytes += append.entries.length === 1 ? append.bytes : entryBytes(entry)
      if (bytes < CHUNK_BYTES) continue
      yield { part, bytes }
      part = []
      bytes = 0
    }
  }
  if (part.length > 0) yield { part, bytes }
}

function storedChunk(part: readonly Entry[], firstOffset: number, appendedAtMs: number): Chunk {
  const entries = part.map(({ key, value }, index) => ({ key, value, offset: firstOffset + index, appendedAtMs }))
  return { firstOffset, endOffset: firstOffset + part.length, entries }
}

function isInChunk(chunk: Chunk, offset: number): boolean {
  return offset >= chunk.firstOffset && offset < chunk.endOffset
}

function recentAt(recent: readonly RecentChunk[], offset: number): Chunk | null {
  let low = 0
  let high = recent.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    const chunk = recent[middle]
    if (chunk !== undefined && chunk.endOffset > offset) high = middle
    else low = middle + 1
  }
  return recent[low] ?? null
}
