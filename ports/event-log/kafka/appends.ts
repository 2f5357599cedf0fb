/**
 * The bounded queue in front of Kafka: gathers appends of one topic into batches, and ends each append at its deadline.
 */

import type { Topic } from '../../../domain/records.ts'

import type { AppendPatience } from '../append-patience.ts'
import type { Entry } from '../event-log.ts'
import { LogUnavailable } from '../event-log.ts'
import { settleAppend, WaitingAppends, type AppendBounds, type WaitingAppend } from '../waiting-appends.ts'

interface KafkaQueueOptions extends AppendBounds {
  /** Most bytes of one batch; the broker's own bound is on the batch of one partition. */
  readonly batchBytes: number
}

export interface Sending {
  readonly topic: Topic
  /** Null if nothing waits. */
  take(): readonly Entry[] | null
  /** Ends the batch taken last: its appends are answered, or wait for a retry if they still have time. */
  settle(failure: SendFailure | null): void
}

export interface SendFailure {
  readonly error: Error
  readonly isRetriable: boolean
}

interface PartlyStored extends WaitingAppend {
  /** Entries from the front that are durable. */
  stored: number
}

interface TopicQueue {
  readonly topic: Topic
  readonly waiting: PartlyStored[]
  /** Entries of the batch in flight: the first entries of `waiting` that are not yet stored. */
  underWay: number
  /** Since when a batch has been in flight or retried, restarted with each batch stored; null if none is. */
  stuckSinceMs: number | null
  /** When an append was last refused at its deadline, if nothing of the topic has been stored since. */
  expiredAtMs: number
}

/** Size of an entry in a batch, besides its key and value. */
const ENTRY_OVERHEAD_BYTES = 24

export function kafkaEntryBytes({ key, value }: Entry): number {
  return ENTRY_OVERHEAD_BYTES + Buffer.byteLength(key) + Buffer.byteLength(value)
}

/**
 * Both bounds count the appends that wait and those in flight. Only one batch per topic is in flight at a time, which keeps
 * the order per key through every retry; appends that arrive meanwhile form the next batch.
 */
export class KafkaAppendQueue {
  readonly #batchBytes: number
  readonly #all: WaitingAppends
  readonly #queues = new Map<Topic, TopicQueue>()

  constructor(options: KafkaQueueOptions) {
    this.#batchBytes = options.batchBytes
    this.#all = new WaitingAppends(options, () => this.#endOverdue())
  }

  get bytes(): number {
    return this.#all.bytes
  }

  get isFull(): boolean {
    return this.#all.isFull
  }

  /** How long the slowest topic has stored nothing although entries wait, in ms. */
  get stuckMs(): number {
    return Math.max(0, ...[...this.#queues.values()].map(stuckMsOf))
  }

  /**
   * When an append was last refused at its deadline, if nothing of its topic has been stored since; on the monotonic clock. What is
   * stored of other topics says nothing about it: their partitions have other leaders.
   */
  get expiredAtMs(): number {
    return Math.max(Number.NEGATIVE_INFINITY, ...[...this.#queues.values()].map(({ expiredAtMs }) => expiredAtMs))
  }

  /** Rejects at once if the entries do not fit, otherwise if they fail or reach their deadline. */
  add(topic: Topic, entries: readonly Entry[], patience: AppendPatience): Promise<void> {
    let bytes = 0
    for (const entry of entries) bytes += kafkaEntryBytes(entry)
    const sinceMs = this.#all.enter(entries, bytes, patience)
    if (sinceMs === null) return Promise.reject(new LogUnavailable('the append queue is full'))
    return new Promise((resolve, reject) => {
      const append = { entries, bytes, sinceMs, patience, resolve, reject, stored: 0, isAnswered: false }
      this.#queueOf(topic).waiting.push(append)
    })
  }

  sending(topic: Topic): Sending {
    const queue = this.#queueOf(topic)
    return {
      topic,
      take: () => this.#take(queue),
      settle: (failure) => this.#settle(queue, failure),
    }
  }

  /** Resolves when nothing waits any more; bounded by the deadlines and by the bound on each send. */
  drained(): Promise<void> {
    return this.#all.drained()
  }

  #queueOf(topic: Topic): TopicQueue {
    const known = this.#queues.get(topic)
    if (known !== undefined) return known
    const never = Number.NEGATIVE_INFINITY
    const queue: TopicQueue = { topic, waiting: [], underWay: 0, stuckSinceMs: null, expiredAtMs: never }
    this.#queues.set(topic, queue)
    return queue
  }

  #take(queue: TopicQueue): readonly Entry[] | null {
    const taken: Entry[] = []
    let bytes = 0
    for (const append of queue.waiting) {
      const isWhole = append.stored === 0 && bytes + append.bytes <= this.#batchBytes
      if (isWhole) {
        for (const entry of append.entries) taken.push(entry)
        bytes += append.bytes
        continue
      }
      for (let index = append.stored; index < append.entries.length; index++) {
        const entry = append.entries[index]
        if (entry === undefined) break
        bytes += kafkaEntryBytes(entry)
        if (bytes > this.#batchBytes && taken.length > 0) break
        taken.push(entry)
      }
      if (bytes > this.#batchBytes) break
    }
    queue.underWay = taken.length
    if (taken.length === 0) {
      queue.stuckSinceMs = null
      return null
    }
    queue.stuckSinceMs ??= performance.now()
    return taken
  }

  #settle(queue: TopicQueue, failure: SendFailure | null): void {
    let left = queue.underWay
    queue.underWay = 0
    if (failure === null) {
      queue.stuckSinceMs = null
      queue.expiredAtMs = Number.NEGATIVE_INFINITY
      this.#all.stored()
    }
    let isOver = 0
    for (const append of queue.waiting) {
      if (left === 0) break
      const part = Math.min(left, append.entries.length - append.stored)
      left -= part
      if (failure === null) append.stored += part
      else if (!failure.isRetriable) settleAppend(append, appendFailed(failure.error))
      if (append.stored === append.entries.length) settleAppend(append, null)
      if (append.isAnswered) isOver++
    }
    if (isOver > 0) this.#forgetAnswered(queue)
  }

  /** Skips the batch in flight, which counts its entries. */
  #forgetAnswered(queue: TopicQueue): void {
    let left = queue.underWay
    let kept = 0
    for (const append of queue.waiting) {
      const isUnderWay = left > 0
      left -= Math.min(left, append.entries.length - append.stored)
      if (append.isAnswered && !isUnderWay) {
        this.#all.leave(append)
      } else queue.waiting[kept++] = append
    }
    queue.waiting.length = kept
  }

  #endOverdue(): void {
    const nowMs = performance.now()
    for (const queue of this.#queues.values()) {
      if (this.#all.endOverdue(queue.waiting, { nowMs, stuckMs: stuckMsOf(queue) })) queue.expiredAtMs = nowMs
      // An append in flight may still be stored. One that was not sent must never be: its caller got an error.
      this.#forgetAnswered(queue)
    }
  }
}

function stuckMsOf({ stuckSinceMs }: TopicQueue): number {
  return stuckSinceMs === null ? 0 : performance.now() - stuckSinceMs
}

function appendFailed(error: Error): LogUnavailable {
  return new LogUnavailable(error.message, { cause: error })
}
