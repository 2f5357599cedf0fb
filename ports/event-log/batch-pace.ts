/**
 * When a consumer gets its next batch: not before what it asked to wait for, nor before a retry's pause is over, and not before a
 * batch is full or its oldest entry has lingered. Both logs hand over their batches by it.
 */

import { IN_HAND_MS, type BatchOutcome, type StoredEntry } from './event-log.ts'

export interface PaceOptions {
  /** Pause before a batch is retried after its handler threw: doubles from `first` to `most`, in ms. */
  readonly retryMs: { readonly first: number; readonly most: number }
  /** A paused or lingering partition checks the clock at least this often, because clocks jump. */
  readonly recheckMs: number
  /** In [0, 1); spreads the pauses. */
  readonly random: () => number
}

/** How a log hands batches over to its consumers. */
export interface ConsumerPace extends PaceOptions {
  /** How long a stop waits for a batch that is being handled, in ms. */
  readonly inHandMs: number
}

export const CONSUMER_PACE: ConsumerPace = {
  retryMs: { first: 100, most: 30_000 },
  recheckMs: 1_000,
  random: Math.random,
  inHandMs: IN_HAND_MS,
}

interface DueBatch {
  readonly lingerMs: number
  /** Nothing is gained by waiting for more. */
  readonly isFull: boolean
  /** When its oldest entry was appended. */
  readonly oldestAtMs: () => number
}

const MAX_DOUBLINGS = 30

export class BatchPace {
  readonly #options: PaceOptions
  readonly #nowMs: () => number
  #failures = 0
  /** Real time, not the log's clock: the pause protects this process and the handler's backends. */
  #retryAtMs = Number.NEGATIVE_INFINITY
  #heldUntilMs = Number.NEGATIVE_INFINITY

  /** `nowMs` is the log's clock. */
  constructor(options: PaceOptions, nowMs: () => number) {
    this.#options = options
    this.#nowMs = nowMs
  }

  /** How long until this batch may be handed over, in ms; 0 or less: now. */
  waitMs({ lingerMs, isFull, oldestAtMs }: DueBatch): number {
    const { recheckMs } = this.#options
    const retryMs = this.#retryAtMs - performance.now()
    if (retryMs > 0) return retryMs
    const heldMs = this.#heldUntilMs - this.#nowMs()
    if (heldMs > 0) return Math.min(heldMs, recheckMs)
    if (lingerMs === 0 || isFull) return 0
    // The time may come from another machine's clock: never wait longer than the linger itself.
    return Math.min(oldestAtMs() + lingerMs - this.#nowMs(), lingerMs, recheckMs)
  }

  /** The entries that the handler is done with, of a batch. */
  apply(entries: readonly StoredEntry[], outcome: BatchOutcome | void): readonly StoredEntry[] {
    const done = Math.min(Math.max(outcome?.done ?? entries.length, 0), entries.length)
    this.#heldUntilMs = outcome?.resumeAtMs ?? Number.NEGATIVE_INFINITY
    // Without progress or a time to resume, the handler would be called in a tight loop.
    if (done === 0 && outcome?.resumeAtMs === undefined) this.failed()
    else this.#failures = 0
    return entries.slice(0, done)
  }

  /** The batch comes again after a pause. */
  failed(): void {
    this.#retryAtMs = performance.now() + this.backoffMs(this.#failures)
    this.#failures = Math.min(this.#failures + 1, MAX_DOUBLINGS)
  }

  backoffMs(failures: number): number {
    const { retryMs, random } = this.#options
    return Math.min(retryMs.most, retryMs.first * 2 ** Math.min(failures, MAX_DOUBLINGS)) * (0.5 + random() / 2)
  }

  /** Other entries come next: they are not held. */
  wentBack(): void {
    this.#heldUntilMs = Number.NEGATIVE_INFINITY
  }

  /** A retry need not wait: somebody else handles it. */
  retryNow(): void {
    this.#retryAtMs = Number.NEGATIVE_INFINITY
  }
}
