/** The bounded queue in front of the log: accepts appends, and ends each when it is stored or at its deadline. */

import type { Topic } from '../../../domain/records.ts'

import type { AppendPatience } from '../append-patience.ts'
import { nextLookMs } from '../append-patience.ts'
import type { Entry } from '../event-log.ts'
import { LogUnavailable } from '../event-log.ts'
import { entryBytes } from './chunks.ts'

export interface Append {
  readonly topic: Topic
  readonly entries: readonly Entry[]
  readonly bytes: number
}

interface WaitingAppend extends Append {
  /** On the monotonic clock. */
  readonly sinceMs: number
  readonly patience: AppendPatience
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  isAnswered: boolean
}

export interface AppendBounds {
  readonly maxBytes: number
  readonly maxEntries: number
  /** How long the log has been stuck, in ms; 0 if it makes progress. */
  readonly stuckMs: () => number
}

/** Both bounds count what waits and what is being written. */
export class AppendQueue {
  readonly #bounds: AppendBounds
  #waiting: WaitingAppend[] = []
  readonly #underWay = new Set<readonly WaitingAppend[]>()
  #bytes = 0
  #entries = 0
  #timer: NodeJS.Timeout | null = null
  #timerAtMs = Number.POSITIVE_INFINITY
  #drained: (() => void)[] = []
  #expiredAtMs = Number.NEGATIVE_INFINITY

  constructor(bounds: AppendBounds) {
    this.#bounds = bounds
  }

  get bytes(): number {
    return this.#bytes
  }

  get isFull(): boolean {
    return this.#bytes >= this.#bounds.maxBytes || this.#entries >= this.#bounds.maxEntries
  }

  /** When an append was last refused at its deadline, if none has been stored since; on the monotonic clock. */
  get expiredAtMs(): number {
    return this.#expiredAtMs
  }

  /** Rejects at once if the entries do not fit, otherwise when they failed or reached their deadline. */
  add(topic: Topic, entries: readonly Entry[], patience: AppendPatience): Promise<void> {
    let bytes = 0
    for (const entry of entries) bytes += entryBytes(entry)
    if (this.#bytes + bytes > this.#bounds.maxBytes || this.#entries + entries.length > this.#bounds.maxEntries) {
      return Promise.reject(new LogUnavailable('the append queue is full'))
    }
    const sinceMs = performance.now()
    this.#bytes += bytes
    this.#entries += entries.length
    this.#armTimer(sinceMs + Math.min(patience.deadlineMs, patience.patienceMs))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ topic, entries, bytes, sinceMs, patience, resolve, reject, isAnswered: false })
    })
  }

  /** Hands over what waits, for one transaction, with a function that answers all of it afterwards. */
  take(): { readonly appends: readonly Append[]; readonly settle: (failure: LogUnavailable | null) => void } {
    const taken = this.#waiting
    this.#waiting = []
    if (taken.length > 0) this.#underWay.add(taken)
    return { appends: taken, settle: (failure) => this.#settle(taken, failure) }
  }

  /** Resolves when nothing waits any more; bounded by the deadlines. */
  drained(): Promise<void> {
    return this.#entries === 0 ? Promise.resolve() : new Promise((resolve) => this.#drained.push(resolve))
  }

  #settle(taken: readonly WaitingAppend[], failure: LogUnavailable | null): void {
    if (!this.#underWay.delete(taken)) return
    if (failure === null) this.#expiredAtMs = Number.NEGATIVE_INFINITY
    for (const append of taken) {
      this.#forget(append)
      if (append.isAnswered) continue
      append.isAnswered = true
      if (failure === null) append.resolve()
      else append.reject(failure)
    }
    this.#afterChange()
  }

  #forget(append: Append): void {
    this.#bytes -= append.bytes
    this.#entries -= append.entries.length
  }

  #afterChange(): void {
    if (this.#waiting.length > 0 || this.#underWay.size > 0) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#timerAtMs = Number.POSITIVE_INFINITY
    for (const resolve of this.#drained.splice(0)) resolve()
  }

  /**
   * One timer for all appends: set to the earliest deadline, and only moved if it fires or a sooner deadline arrives.
   */
  #armTimer(atMs: number): void {
    if (atMs >= this.#timerAtMs) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    // After a stall of the event loop, news of stored entries runs after the timers that are overdue.
    const look = (): void => void setImmediate(() => this.#endOverdue())
    this.#timer = setTimeout(look, Math.max(0, atMs - performance.now()))
  }

  #endOverdue(): void {
    this.#timer = null
    this.#timerAtMs = Number.POSITIVE_INFINITY
    const log = { nowMs: performance.now(), stuckMs: this.#bounds.stuckMs() }
    const overdue = new LogUnavailable('the entries were not durable by their deadline')
    for (const append of [...[...this.#underWay].flat(), ...this.#waiting]) {
      if (append.isAnswered) continue
      const lookMs = nextLookMs(append, log)
      if (lookMs !== null) this.#armTimer(lookMs)
      else {
        append.isAnswered = true
        this.#expiredAtMs = log.nowMs
        append.reject(overdue)
      }
    }
    // What is being written may still be stored. What is only queued must never be: its caller got an error.
    for (const append of this.#waiting) if (append.isAnswered) this.#forget(append)
    this.#waiting = this.#waiting.filter((append) => !append.isAnswered)
    this.#afterChange()
  }
}
