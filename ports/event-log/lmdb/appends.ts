/** The bounded queue in front of the log: accepts appends, and ends each when it is stored or at its deadline. */

import type { Topic } from '../../../domain/records.ts'

import type { AppendPatience } from '../append-patience.ts'
import type { AppendOptions, Entry } from '../event-log.ts'
import { LogUnavailable } from '../event-log.ts'
import { settleAppend, WaitingAppends, type AppendBounds, type WaitingAppend } from '../waiting-appends.ts'
import { entryBytes } from './chunks.ts'

export interface Append {
  readonly topic: Topic
  readonly entries: readonly Entry[]
  readonly bytes: number
}

/**
 * Called once it is certain whether the entries are stored: with the answer, or later if that came at the deadline. Never called
 * if the storage fails meanwhile.
 */
type OnKnown = (isStored: boolean) => void

export interface LmdbAppendOptions extends AppendOptions {
  readonly onKnown?: OnKnown
}

interface QueuedAppend extends WaitingAppend, Append {
  readonly onKnown: OnKnown | undefined
}

interface AppendQueueOptions extends AppendBounds {
  /** How long the log has been stuck, in ms; 0 if it makes progress. */
  readonly stuckMs: () => number
}

/** Both bounds count the appends that wait and those that are being written. */
export class AppendQueue {
  readonly #stuckMs: () => number
  readonly #all: WaitingAppends
  #waiting: QueuedAppend[] = []
  readonly #underWay = new Set<readonly QueuedAppend[]>()

  constructor(options: AppendQueueOptions) {
    this.#stuckMs = options.stuckMs
    this.#all = new WaitingAppends(options, () => this.#endOverdue())
  }

  get bytes(): number {
    return this.#all.bytes
  }

  get isFull(): boolean {
    return this.#all.isFull
  }

  /** When an append was last refused at its deadline, if none has been stored since; on the monotonic clock. */
  get expiredAtMs(): number {
    return this.#all.expiredAtMs
  }

  /** Rejects at once if the entries do not fit, otherwise if they fail or reach their deadline. */
  add(topic: Topic, entries: readonly Entry[], patience: AppendPatience, onKnown?: OnKnown): Promise<void> {
    let bytes = 0
    for (const entry of entries) bytes += entryBytes(entry)
    const sinceMs = this.#all.enter(entries, bytes, patience)
    if (sinceMs === null) {
      onKnown?.(false)
      return Promise.reject(new LogUnavailable('the append queue is full'))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ topic, entries, bytes, sinceMs, patience, resolve, reject, onKnown, isAnswered: false })
    })
  }

  /** Hands over the waiting appends, for one transaction, with a function that answers all of them afterwards. */
  take(): { readonly appends: readonly Append[]; readonly settle: (failure: LogUnavailable | null) => void } {
    const taken = this.#waiting
    this.#waiting = []
    if (taken.length > 0) this.#underWay.add(taken)
    return { appends: taken, settle: (failure) => this.#settle(taken, failure) }
  }

  /** Resolves when nothing waits any more; the deadlines bound that. */
  drained(): Promise<void> {
    return this.#all.drained()
  }

  #settle(taken: readonly QueuedAppend[], failure: LogUnavailable | null): void {
    if (!this.#underWay.delete(taken)) return
    if (failure === null) this.#all.stored()
    for (const append of taken) {
      settleAppend(append, failure)
      this.#all.leave(append)
      if (failure === null) append.onKnown?.(true)
    }
  }

  #endOverdue(): void {
    const log = { nowMs: performance.now(), stuckMs: this.#stuckMs() }
    for (const underWay of this.#underWay) this.#all.endOverdue(underWay, log)
    this.#all.endOverdue(this.#waiting, log)
    // An append that is being written may still be stored. One that is only queued must never be: its caller got an error.
    const overdue = this.#waiting.filter(({ isAnswered }) => isAnswered)
    this.#waiting = this.#waiting.filter(({ isAnswered }) => !isAnswered)
    for (const append of overdue) {
      this.#all.leave(append)
      append.onKnown?.(false)
    }
  }
}
