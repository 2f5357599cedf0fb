/** The part of an append queue that every store needs: its bounds, one timer for all deadlines, and how an append ends. */

import { nextLookMs, type AppendPatience, type WaitingTimes } from './append-patience.ts'
import { LogUnavailable, type Entry } from './event-log.ts'

export interface AppendBounds {
  readonly maxBytes: number
  readonly maxEntries: number
}

/** Whoever waits for an append. */
interface AppendCaller {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  isAnswered: boolean
}

interface SizedEntries {
  readonly entries: readonly Entry[]
  readonly bytes: number
}

export interface WaitingAppend extends WaitingTimes, SizedEntries, AppendCaller {}

/** How long a log is reported as full after an append did not fit. */
const FULL_SHOWN_MS = 2_000

/** All times are of the monotonic clock, in ms. The bounds count the appends that wait and those that are being stored. */
export class WaitingAppends {
  readonly #bounds: AppendBounds
  readonly #onDue: () => void
  #bytes = 0
  #entries = 0
  #appends = 0
  #timer: NodeJS.Timeout | null = null
  #timerAtMs = Number.POSITIVE_INFINITY
  #drained: (() => void)[] = []
  #expiredAtMs = Number.NEGATIVE_INFINITY
  #fullAtMs = Number.NEGATIVE_INFINITY

  /** Calls `onDue` when a deadline may have passed; it answers with `endOverdue`. */
  constructor(bounds: AppendBounds, onDue: () => void) {
    this.#bounds = bounds
    this.#onDue = onDue
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Also for a moment after an append did not fit, although a smaller one might; until something is stored. */
  get isFull(): boolean {
    const isAtBound = this.#bytes >= this.#bounds.maxBytes || this.#entries >= this.#bounds.maxEntries
    return isAtBound || performance.now() - this.#fullAtMs < FULL_SHOWN_MS
  }

  /** When an append was refused because its time was over, if none has been stored since. */
  get expiredAtMs(): number {
    return this.#expiredAtMs
  }

  /** Since when the append waits; null if it does not fit any more. */
  enter(entries: readonly Entry[], bytes: number, patience: AppendPatience): number | null {
    const sinceMs = performance.now()
    if (this.#bytes + bytes > this.#bounds.maxBytes || this.#entries + entries.length > this.#bounds.maxEntries) {
      this.#fullAtMs = sinceMs
      return null
    }
    this.#bytes += bytes
    this.#entries += entries.length
    this.#appends++
    this.#armTimer(sinceMs + Math.min(patience.deadlineMs, patience.patienceMs))
    return sinceMs
  }

  /** It no longer waits, and is not being stored. */
  leave({ bytes, entries }: SizedEntries): void {
    this.#bytes -= bytes
    this.#entries -= entries.length
    this.#appends--
    if (this.#appends > 0) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#timerAtMs = Number.POSITIVE_INFINITY
    for (const resolve of this.#drained.splice(0)) resolve()
  }

  /** Something was stored: the log makes progress. */
  stored(): void {
    this.#expiredAtMs = this.#fullAtMs = Number.NEGATIVE_INFINITY
  }

  /** Resolves when nothing waits any more; the deadlines bound that. */
  drained(): Promise<void> {
    return this.#appends === 0 ? Promise.resolve() : new Promise((resolve) => this.#drained.push(resolve))
  }

  /**
   * Refuses those whose time is over, and sets the timer for the others. They leave the queue only when the caller says so. True if
   * any was refused.
   */
  endOverdue(appends: Iterable<WaitingAppend>, log: { readonly nowMs: number; readonly stuckMs: number }): boolean {
    let isAnyRefused = false
    for (const append of appends) {
      if (append.isAnswered) continue
      const lookMs = nextLookMs(append, log)
      if (lookMs !== null) this.#armTimer(lookMs)
      else {
        this.#expiredAtMs = log.nowMs
        isAnyRefused = true
        settleAppend(append, new LogUnavailable('the entries were not durable by their deadline'))
      }
    }
    return isAnyRefused
  }

  /** One timer for all, set for the earliest deadline; it is set again only when it fires or is too late. */
  #armTimer(atMs: number): void {
    if (atMs >= this.#timerAtMs) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    // If the event loop was blocked, results that arrived meanwhile are reported after its timers.
    const look = (): void => void setImmediate(() => this.#look())
    this.#timer = setTimeout(look, Math.max(0, atMs - performance.now()))
  }

  #look(): void {
    this.#timer = null
    this.#timerAtMs = Number.POSITIVE_INFINITY
    this.#onDue()
  }
}

/** Answers an append once; `failure` is null if it is durable. */
export function settleAppend(append: AppendCaller, failure: Error | null): void {
  if (append.isAnswered) return
  append.isAnswered = true
  if (failure === null) append.resolve()
  else append.reject(failure)
}
