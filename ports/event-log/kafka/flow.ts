/** One partition of one consumer: buffers what was fetched, and hands it to the handler in order, batch by batch. */

import type { Topic } from '../../../domain/records.ts'

import { BatchPace, type PaceOptions } from '../batch-pace.ts'
import type { BatchHandler, BatchOutcome, ConsumeOptions, StoredEntry } from '../event-log.ts'
import { MAX_OPEN_ENTRIES } from '../event-log.ts'
import { OpenBatches } from '../open-batches.ts'

interface FlowOptions {
  readonly source: FlowSource
  readonly consumer: FlowConsumer
  readonly bounds: FlowBounds
  readonly pace: PaceOptions
  readonly nowMs: () => number
  readonly onFailure: (error: unknown) => void
}

/** The partition. */
interface FlowSource {
  readonly topic: Topic
  readonly partition: number
  /** Commits to Kafka that everything below the offset is done; rejects if that failed. */
  readonly commit: (partition: number, offset: number) => Promise<void>
}

interface FlowConsumer {
  readonly handler: BatchHandler
  readonly options: ConsumeOptions
}

interface FlowBounds {
  /** Above this a batch is handed over however few entries it has, and fetching stops; in bytes of values. */
  readonly maxBytes: number
  /** Shared by all partitions of this process. */
  readonly budget: FlowBudget
}

export interface FlowBudget {
  bytes: number
  readonly maxBytes: number
}

/** A batch as Kafka delivered it. */
interface FetchedBatch {
  /** In order, not empty. */
  readonly entries: readonly StoredEntry[]
  /** Offset after the newest entry of the partition. */
  readonly endOffset: number
}

export class PartitionFlow {
  readonly #options: FlowOptions
  #buffer: StoredEntry[] = []
  #bytes = 0
  /** The offset that must come next; null until the first entry shows the group's position. */
  #nextOffset: number | null
  readonly #pace: BatchPace
  #isEnding = false
  #isLost = false
  readonly #open = new OpenBatches({
    onDone: (offset) => this.#done(offset),
    onFailure: (error) => this.#openFailed(error),
  })
  /** What was taken over has to be handed over again. */
  #isOpenFailed = false
  /** Offset up to which everything is done but not stored; null if all is stored. */
  #uncommitted: number | null = null
  #committing: Promise<void> | null = null
  /** True from the call of the handler until its outcome is committed. */
  #isInHand = false
  #wake: () => void = () => undefined
  #wakeCommit: () => void = () => undefined
  /** Called when the current batch has ended and its outcome is committed. */
  #onReleased: (() => void)[] = []
  readonly ended: Promise<void>

  /** `fromOffset`: where to begin; null to begin at the group's own position. */
  constructor(options: FlowOptions, fromOffset: number | null) {
    this.#options = options
    this.#pace = new BatchPace(options.pace, options.nowMs)
    this.#nextOffset = fromOffset
    this.ended = this.#run()
  }

  /** True if nothing more should be fetched for now. */
  get isFull(): boolean {
    const { maxEntries } = this.#options.consumer.options
    const { maxBytes, budget } = this.#options.bounds
    if (this.#buffer.length >= maxEntries || this.#bytes >= maxBytes) return true
    return this.#buffer.length > 0 && budget.bytes >= budget.maxBytes
  }

  /** True if it waits for entries to be fetched. */
  get isIdle(): boolean {
    return this.#buffer.length === 0 && !this.#isInHand
  }

  /**
   * Accepts entries that follow on what it has, and drops those that it had before, because fetching starts over after a rebalance.
   */
  accept({ entries, endOffset }: FetchedBatch): void {
    const first = entries[0]
    if (first === undefined || this.#isLost) return
    const expected = this.#nextOffset ?? first.offset
    if (expected > endOffset) {
      // The log was truncated or recreated below what is done: the old offsets will never come.
      this.#options.onFailure(new Error(`partition ${this.#options.source.partition} ends below what was already done`))
      this.#drop(this.#buffer.length)
      this.#open.forget()
      this.#nextOffset = first.offset
      return this.accept({ entries, endOffset })
    }
    for (const entry of entries) {
      if (entry.offset < expected) continue
      this.#buffer.push(entry)
      this.#count(entry.value.length)
      this.#nextOffset = entry.offset + 1
    }
    // New entries do not cut short the pause between two tries of a commit.
    if (this.#isInHand) return
    if (this.#buffer.length === 0 && this.#open.isEmpty) this.#commitAgain()
    this.#wake()
  }

  /**
   * Waits for the current batch, then drops the buffer and expects `offset` next. False if it has not come that far yet, or
   * if it is ending. `standsAt` is the group's position; it is used if nothing has been fetched so far.
   */
  async goBack(offset: number, standsAt: number | null): Promise<boolean> {
    for (;;) {
      if (this.#isInHand) await new Promise<void>((resolve) => this.#onReleased.push(resolve))
      else if (!this.#open.isEmpty) await this.#open.settled()
      else break
    }
    await this.#committing
    const nextInHand = this.#buffer[0]?.offset ?? this.#nextOffset ?? standsAt
    if (this.#isEnding || nextInHand === null || offset >= nextInHand) return false
    this.#drop(this.#buffer.length)
    this.#nextOffset = offset
    this.#pace.wentBack()
    return true
  }

  /** Hands over no more batches. `isLost`: another member has the partition, so nothing is committed either. */
  end({ isLost }: { readonly isLost: boolean }): void {
    this.#isEnding = true
    this.#isLost ||= isLost
    if (isLost) this.#open.forget()
    this.#wake()
    this.#wakeCommit()
  }

  async #run(): Promise<void> {
    while (!this.#isEnding) {
      const waitMs = this.#waitMs()
      if (waitMs > 0) await wakeablePause(waitMs, (wake) => (this.#wake = wake))
      else await this.#handOver()
    }
    if (!this.#isLost) await this.#open.settled()
    await this.#committing
    this.#drop(this.#buffer.length)
  }

  #waitMs(): number {
    const oldest = this.#buffer[0]
    if (oldest === undefined || this.#open.entries >= MAX_OPEN_ENTRIES) return Number.POSITIVE_INFINITY
    const { lingerMs = 0 } = this.#options.consumer.options
    return this.#pace.waitMs({ lingerMs, isFull: this.isFull, oldestAtMs: () => oldest.appendedAtMs })
  }

  async #handOver(): Promise<void> {
    const { source, consumer } = this.#options
    const { topic, partition } = source
    const { handler, options } = consumer
    const entries = this.#buffer.slice(0, options.maxEntries)
    this.#isInHand = true
    try {
      await this.#apply(entries, await handler({ topic, partition, entries }))
    } catch (error) {
      this.#options.onFailure(error)
      this.#pace.failed()
    } finally {
      this.#isInHand = false
      if (this.#isOpenFailed) this.#takeBack()
      for (const tell of this.#onReleased.splice(0)) tell()
    }
  }

  async #apply(entries: readonly StoredEntry[], outcome: BatchOutcome | void): Promise<void> {
    const taken = this.#pace.apply(entries, outcome)
    if (taken.length === 0) return
    this.#drop(taken.length)
    this.#open.add(taken, outcome?.until)
    // No new batch begins before what is done is stored.
    await this.#committing
  }

  #done(offset: number): void {
    this.#uncommitted = offset
    this.#committing ??= this.#commitDone().finally(() => (this.#committing = null))
    this.#wake()
  }

  async #commitDone(): Promise<void> {
    while (this.#uncommitted !== null) {
      const offset = this.#uncommitted
      this.#uncommitted = null
      await this.#commit(offset)
    }
  }

  #openFailed(error: unknown): void {
    this.#options.onFailure(error)
    this.#pace.failed()
    this.#isOpenFailed = true
    if (!this.#isInHand) this.#takeBack()
  }

  /** Everything from the lowest entry that is not finished on is handed over again. */
  #takeBack(): void {
    this.#isOpenFailed = false
    const again = this.#open.forget()
    this.#buffer = [...again, ...this.#buffer]
    for (const { value } of again) this.#count(value.length)
    this.#wake()
  }

  /** Entries stay done while the position cannot be stored; no new batch begins before it is. */
  async #commit(offset: number): Promise<void> {
    for (let attempt = 0; !this.#isLost; attempt++) {
      try {
        await this.#store(offset)
        return
      } catch (error) {
        this.#options.onFailure(error)
        if (this.#isEnding && attempt >= COMMIT_TRIES_AT_END) return
        await wakeablePause(this.#pace.backoffMs(attempt), (wake) => (this.#wakeCommit = wake))
      }
    }
  }

  /** If entries that are done are fetched again, Kafka does not know the position. */
  #commitAgain(): void {
    if (this.#nextOffset === null) return
    this.#store(this.#nextOffset).catch(this.#options.onFailure)
  }

  #store(offset: number): Promise<void> {
    const { commit, partition } = this.#options.source
    return commit(partition, offset)
  }

  #drop(count: number): void {
    let bytes = 0
    for (const entry of this.#buffer.slice(0, count)) bytes += entry.value.length
    this.#buffer = this.#buffer.slice(count)
    this.#count(-bytes)
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    this.#options.bounds.budget.bytes += bytes
  }
}

/** For `forMs`, which may be infinite, or until the function that `onStart` gets is called. */
function wakeablePause(forMs: number, onStart: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = Number.isFinite(forMs) ? setTimeout(resolve, forMs) : null
    onStart(() => {
      if (timer !== null) clearTimeout(timer)
      resolve()
    })
  })
}

const COMMIT_TRIES_AT_END = 3
