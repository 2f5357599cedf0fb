/** Consumer groups on the LMDB log: each group gets one batch at a time, in order, until its handler resolves. */

import { setImmediate as nextTurn } from 'node:timers/promises'

import type { Topic } from '../../../domain/records.ts'

import { BatchPace, type ConsumerPace } from '../batch-pace.ts'
import type { Batch, BatchHandler, BatchOutcome, ConsumeOptions, Consumer, StoredEntry } from '../event-log.ts'
import { MAX_OPEN_ENTRIES } from '../event-log.ts'
import { OpenBatches } from '../open-batches.ts'

/** The parts of the log that a group needs. */
interface GroupSource {
  readonly nowMs: () => number
  endOffset(): number
  read(fromOffset: number, maxEntries: number): readonly StoredEntry[]
  offsetSince(sinceMs: number): number
  /** Remembers the position and stores it soon. */
  commit(position: number): void
  /** Resolves when all positions committed so far are durable. */
  durable(): Promise<void>
}

export interface GroupOptions {
  readonly topic: Topic
  readonly group: string
  readonly pace: ConsumerPace
  readonly onHandlerFailure: (error: unknown, topic: Topic, group: string) => void
}

interface GroupMember {
  readonly handler: BatchHandler
  readonly options: ConsumeOptions
}

/** A batch and the member that handles it. */
interface InHand {
  readonly member: GroupMember
  /** Resolves when it has ended or was given up. */
  readonly ended: PromiseWithResolvers<void>
  /** Given up: its outcome is ignored. */
  isLost: boolean
}

/** About 2 ms of decoding. */
const SLICE_ENTRIES = 250
const MAX_BATCH_CHARS = 16 * 1024 * 1024

export class Group {
  readonly #source: GroupSource
  readonly #options: GroupOptions
  #members: GroupMember[] = []
  /** Of the next batch; what lies before it may still be open. */
  #position: number
  readonly #open = new OpenBatches({
    onDone: (offset) => this.#done(offset),
    onFailure: (error) => this.#openFailed(error),
  })
  #inHand: InHand | null = null
  readonly #pace: BatchPace
  #timer: NodeJS.Timeout | null = null
  /** Offset to go back to once the current batch has ended. */
  #rewindTo: number | null = null

  constructor(source: GroupSource, position: number, options: GroupOptions) {
    this.#source = source
    this.#position = position
    this.#options = options
    this.#pace = new BatchPace(options.pace, source.nowMs)
  }

  /** Everything before it is done. */
  get position(): number {
    return this.#open.firstOffset ?? this.#position
  }

  get hasMembers(): boolean {
    return this.#members.length > 0
  }

  add(handler: BatchHandler, options: ConsumeOptions): Consumer {
    const member = { handler, options }
    this.#members.push(member)
    this.wake()
    return { rewind: (sinceMs) => this.#rewind(sinceMs), close: () => this.#stop(member) }
  }

  /** Hands over the next batch if one is due; called whenever something may have changed. */
  wake(): void {
    if (this.#inHand !== null || this.#open.entries >= MAX_OPEN_ENTRIES) return
    const member = this.#members[0]
    if (member === undefined || this.#source.endOffset() <= this.#position) return
    const waitMs = this.#waitMsOrRetry(member.options)
    if (waitMs === null) return
    if (waitMs > 0) return this.#wakeIn(waitMs)
    this.#clearTimer()
    // Members take turns: the current one goes to the back.
    this.#members.push(...this.#members.splice(0, 1))
    const inHand: InHand = { member, ended: Promise.withResolvers<void>(), isLost: false }
    this.#inHand = inHand
    void this.#hand(inHand).finally(() => inHand.isLost || this.#released(inHand))
  }

  /** Stops all members; one may be stopping already, with a batch in progress. */
  async close(): Promise<void> {
    const inHand = this.#inHand
    await Promise.all(this.#members.map((member) => this.#stop(member)))
    await inHand?.ended.promise
  }

  async #stop(member: GroupMember): Promise<void> {
    this.#members = this.#members.filter((other) => other !== member)
    if (this.#members.length === 0) this.#clearTimer()
    if (this.#inHand?.member === member) await this.#endOf(this.#inHand)
    if (this.#members.length === 0) await this.#endOfOpen()
    await this.#source.durable()
  }

  /** What is not finished in time comes again to whoever joins next. */
  async #endOfOpen(): Promise<void> {
    const timer = setTimeout(() => this.#giveUpOpen(), this.#options.pace.inHandMs)
    await this.#open.settled()
    clearTimeout(timer)
  }

  #giveUpOpen(): void {
    this.#position = this.position
    this.#open.forget()
  }

  async #endOf(inHand: InHand): Promise<void> {
    const giveUp = (): void => {
      inHand.isLost = true
      this.#released(inHand)
    }
    const timer = setTimeout(giveUp, this.#options.pace.inHandMs)
    await inHand.ended.promise
    clearTimeout(timer)
  }

  async #rewind(sinceMs: number): Promise<void> {
    const offset = this.#source.offsetSince(sinceMs)
    this.#rewindTo = Math.min(offset, this.#rewindTo ?? offset)
    if (this.#inHand === null) this.#goBack()
    else await this.#inHand.ended.promise
    await this.#source.durable()
  }

  /** Everything from the lowest entry that is not finished on comes again. */
  #openFailed(error: unknown): void {
    this.#rewindTo = Math.min(this.position, this.#rewindTo ?? Number.POSITIVE_INFINITY)
    this.#failed(error)
    if (this.#inHand === null) this.#goBack()
  }

  #goBack(): void {
    const offset = this.#rewindTo
    this.#rewindTo = null
    if (offset === null || offset >= this.#position) return
    this.#open.forget()
    this.#position = offset
    this.#pace.wentBack()
    this.#source.commit(offset)
    setImmediate(() => this.wake())
  }

  /** Null if the log could not be read; that must not end the calling transaction. */
  #waitMsOrRetry(options: ConsumeOptions): number | null {
    try {
      return this.#waitMs(options)
    } catch (error) {
      this.#failed(error)
      return null
    }
  }

  #waitMs({ lingerMs = 0, maxEntries }: ConsumeOptions): number {
    const isFull = this.#source.endOffset() - this.#position >= maxEntries
    const oldestAtMs = (): number => this.#source.read(this.#position, 1)[0]?.appendedAtMs ?? Number.NEGATIVE_INFINITY
    return this.#pace.waitMs({ lingerMs, isFull, oldestAtMs })
  }

  async #hand(inHand: InHand): Promise<void> {
    const { handler, options } = inHand.member
    try {
      const entries = await this.#readInSlices(options.maxEntries)
      if (entries.length === 0) return
      const batch: Batch = { topic: this.#options.topic, partition: 0, entries }
      const outcome = await handler(batch)
      if (!inHand.isLost) this.#apply(entries, outcome)
    } catch (error) {
      if (!inHand.isLost) this.#failed(error)
    }
  }

  /** Decoding thousands of entries takes tens of milliseconds, so requests run in between. */
  async #readInSlices(maxEntries: number): Promise<readonly StoredEntry[]> {
    const entries: StoredEntry[] = []
    let chars = 0
    while (entries.length < maxEntries && chars < MAX_BATCH_CHARS) {
      const wanted = Math.min(SLICE_ENTRIES, maxEntries - entries.length)
      const slice = this.#source.read(this.#position + entries.length, wanted)
      for (const entry of slice) chars += entry.value.length
      entries.push(...slice)
      if (slice.length < wanted) break
      await nextTurn()
    }
    return entries
  }

  #failed(error: unknown): void {
    this.#options.onHandlerFailure(error, this.#options.topic, this.#options.group)
    this.#pace.failed()
    if (this.#inHand === null) setImmediate(() => this.wake())
  }

  #apply(entries: readonly StoredEntry[], outcome: BatchOutcome | void): void {
    const taken = this.#pace.apply(entries, outcome)
    const last = taken.at(-1)
    if (last !== undefined) {
      this.#position = last.offset + 1
      this.#open.add(taken, outcome?.until)
    }
  }

  #done(offset: number): void {
    this.#source.commit(offset)
    // Others may have waited because too many were open.
    if (this.#inHand === null) this.wake()
  }

  #released(inHand: InHand): void {
    this.#inHand = null
    inHand.ended.resolve()
    this.#goBack()
    if (this.#members.length === 0) return this.#clearTimer()
    // Lets the event loop turn between two batches, so that handlers that end at once do not starve others.
    setImmediate(() => this.wake())
  }

  #wakeIn(delayMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.wake()
    }, delayMs)
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#pace.retryNow()
  }
}
