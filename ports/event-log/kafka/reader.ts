/** Reads a topic from an offset on, outside the groups of the roles. */

import { randomUUID } from 'node:crypto'

import type { Admin, Consumer, EachBatchPayload, Kafka } from 'kafkajs'

import type { Newest, StoredEntry } from '../event-log.ts'
import { LogUnavailable } from '../event-log.ts'
import { storedEntry } from './client.ts'
import { topicRanges, type PartitionRange } from './questions/positions.ts'

interface ReaderOptions {
  readonly kafka: Kafka
  readonly ask: <T>(question: (admin: Admin) => Promise<T>) => Promise<T>
  readonly topicName: string
  /** Prefix of the reader's own group, which commits no positions and is deleted with it. */
  readonly groupPrefix: string
  readonly onIdle: () => void
}

/** Offsets of one partition, up to but without `end`. */
interface ReadRange {
  readonly partition: number
  readonly from: number
  readonly end: number
}

interface PartitionEntries extends ReadRange {
  readonly entries: readonly StoredEntry[]
}

interface PartitionSlice extends ReadRange {
  readonly entries: StoredEntry[]
  isDone: boolean
}

interface RangeRead {
  readonly parts: ReadonlyMap<number, PartitionSlice>
  readonly maxEntries: number
  readonly finished: PromiseWithResolvers<void>
}

const READ_MS = 30_000
const FETCH_WAIT_MS = 50
/** Joining a group can take seconds, so a reader stays open for the pages that usually follow. */
const IDLE_MS = 10_000

export class TopicReader {
  readonly #options: ReaderOptions
  readonly #groupId: string
  #consumer: Promise<Consumer> | null = null
  #query: RangeRead | null = null
  #last: Promise<unknown> = Promise.resolve()
  #idleTimer: NodeJS.Timeout | null = null

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#groupId = `${options.groupPrefix}reader-${randomUUID()}`
  }

  /**
   * All partitions from one offset on, by offset and then partition. Entries with the same offset come together, even
   * if that exceeds `maxEntries`, so that reading on from the last offset plus one skips nothing.
   */
  read(fromOffset: number, maxEntries: number): Promise<readonly StoredEntry[]> {
    return this.#inTurn(() => this.#read(fromOffset, maxEntries))
  }

  async close(): Promise<void> {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer)
    const consumer = this.#consumer
    this.#consumer = null
    if (consumer === null) return
    await consumer.then((connected) => connected.disconnect()).catch(() => undefined)
    await this.#options.ask((admin) => admin.deleteGroups([this.#groupId])).catch(() => undefined)
  }

  /** Up to `maxEntries` entries of each of these ranges, which must exist. */
  readRanges(ranges: readonly ReadRange[], maxEntries: number): Promise<readonly PartitionEntries[]> {
    return this.#inTurn(() => this.#entriesOf(ranges, maxEntries))
  }

  /** One at a time: they share a consumer. */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#last.then(act)
    this.#last = result.catch(() => undefined)
    return result
  }

  async #read(fromOffset: number, maxEntries: number): Promise<readonly StoredEntry[]> {
    const ranges = await this.#options.ask((admin) => topicRanges(admin, this.#options.topicName))
    const wanted = ranges.map(({ partition, low, end }) => ({ partition, from: Math.max(low, fromOffset), end }))
    return firstRows(await this.#entriesOf(wanted, maxEntries), maxEntries)
  }

  async #entriesOf(ranges: readonly ReadRange[], maxEntries: number): Promise<readonly PartitionEntries[]> {
    const parts = ranges
      .filter(({ from, end }) => from < end)
      .map((range): PartitionSlice => ({ ...range, entries: [], isDone: false }))
    if (parts.length === 0 || maxEntries <= 0) return []
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer)
    try {
      return await this.#collect(parts, maxEntries)
    } catch (error) {
      await this.close()
      if (error instanceof LogUnavailable) throw error
      throw new LogUnavailable('Kafka could not be read', { cause: error })
    } finally {
      this.#idleTimer = setTimeout(() => this.#options.onIdle(), IDLE_MS).unref()
    }
  }

  async #collect(parts: readonly PartitionSlice[], maxEntries: number): Promise<readonly PartitionSlice[]> {
    const { topicName } = this.#options
    const finished = Promise.withResolvers<void>()
    const timer = setTimeout(() => finished.reject(new LogUnavailable('reading took too long')), READ_MS)
    // It may reject before it is awaited.
    finished.promise.catch(() => undefined)
    try {
      this.#consumer ??= this.#connect()
      const consumer = await Promise.race([this.#consumer, finished.promise.then(() => this.#consumer)])
      if (consumer === null) throw new LogUnavailable('the log is closed')
      this.#query = { parts: new Map(parts.map((part) => [part.partition, part])), maxEntries, finished }
      for (const { partition, from } of parts) consumer.seek({ topic: topicName, partition, offset: String(from) })
      consumer.resume([{ topic: topicName, partitions: parts.map(({ partition }) => partition) }])
      await finished.promise
      consumer.pause([{ topic: topicName }])
      return parts
    } finally {
      clearTimeout(timer)
      this.#query = null
    }
  }

  async #connect(): Promise<Consumer> {
    const { kafka, topicName } = this.#options
    const consumer = kafka.consumer({
      groupId: this.#groupId,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      allowAutoTopicCreation: false,
      retry: { retries: 3, restartOnFailure: async () => false },
    })
    const joined = Promise.withResolvers<void>()
    consumer.on(consumer.events.GROUP_JOIN, () => joined.resolve())
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      const error = new LogUnavailable('Kafka could not be read', { cause: payload.error })
      joined.reject(error)
      this.#query?.finished.reject(error)
    })
    await consumer.connect()
    await consumer.subscribe({ topic: topicName, fromBeginning: true })
    const running = consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: async (payload) => this.#fetched(payload),
    })
    consumer.pause([{ topic: topicName }])
    await running
    await joined.promise
    return consumer
  }

  #fetched(payload: EachBatchPayload): void {
    const { batch } = payload
    const query = this.#query
    const part = query?.parts.get(batch.partition)
    if (query === null || part === undefined || payload.isStale()) return
    for (const message of batch.messages) {
      if (part.isDone || Number(message.offset) < part.from) continue
      part.entries.push(storedEntry(message))
      part.isDone = part.entries.length >= query.maxEntries
    }
    payload.resolveOffset(batch.lastOffset())
    if (Number(batch.lastOffset()) >= part.end - 1) part.isDone = true
    if ([...query.parts.values()].every(({ isDone }) => isDone)) query.finished.resolve()
  }
}

function firstRows(parts: readonly PartitionEntries[], maxEntries: number): readonly StoredEntry[] {
  const rows = byOffset(parts)
  return rows.slice(0, wholeRows(rows, maxEntries))
}

/** Entries of several partitions, by offset and then partition. */
function byOffset(parts: readonly PartitionEntries[]): readonly StoredEntry[] {
  return parts
    .flatMap(({ partition, entries }) => entries.map((entry) => ({ partition, entry })))
    .sort((left, right) => left.entry.offset - right.entry.offset || left.partition - right.partition)
    .map(({ entry }) => entry)
}

function wholeRows(rows: readonly StoredEntry[], maxEntries: number): number {
  const cutAt = rows[maxEntries]?.offset
  if (cutAt === undefined || rows[maxEntries - 1]?.offset !== cutAt) return maxEntries
  const first = rows.findIndex(({ offset }) => offset === cutAt)
  if (first > 0) return first
  const next = rows.findIndex(({ offset }) => offset > cutAt)
  return next === -1 ? rows.length : next
}

/** Offsets are looked up for it. */
type Recent = Exclude<Newest, { readonly from: unknown }>

/** The request for one topic. */
interface NewestSource {
  readonly ranges: () => Promise<readonly PartitionRange[]>
  readonly offsetsSince: (sinceMs: number) => Promise<ReadonlyMap<number, number>>
  readonly read: (ranges: readonly ReadRange[], maxEntries: number) => Promise<readonly PartitionEntries[]>
}

/** One value per partition. */
const PAGE_ENTRIES = 1_000

/** Pages of all partitions together; the ends are those at the beginning. */
export async function* newestEntries(newest: Recent, source: NewestSource): AsyncGenerator<readonly StoredEntry[]> {
  let left = await rangesOf(newest, source)
  while (left.length > 0) {
    const parts = await source.read(left, PAGE_ENTRIES)
    const entries = byOffset(parts)
    if (entries.length > 0) yield entries
    left = parts.flatMap(unreadRanges)
  }
}

async function rangesOf(newest: Recent, source: NewestSource): Promise<readonly ReadRange[]> {
  const all = (await source.ranges()).filter(({ low, end }) => low < end)
  if ('entries' in newest) {
    return all.map(({ partition, low, end }) => ({ partition, from: Math.max(low, end - newest.entries), end }))
  }
  if (all.length === 0) return []
  const last = await source.read(
    all.map(({ partition, end }) => ({ partition, from: end - 1, end })),
    1,
  )
  const newestMs = Math.max(...byOffset(last).map(({ appendedAtMs }) => appendedAtMs))
  const starts = await source.offsetsSince(newestMs - newest.windowMs)
  return all.map(({ partition, end }) => ({ partition, from: starts.get(partition) ?? end, end }))
}

/** Nothing arrived although entries were requested: they have been deleted, or the offsets hold no entries. */
function unreadRanges({ partition, entries, end }: PartitionEntries): readonly ReadRange[] {
  const from = (entries.at(-1)?.offset ?? end) + 1
  return from < end ? [{ partition, from, end }] : []
}
