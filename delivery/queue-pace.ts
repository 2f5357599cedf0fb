/** Estimates when a busy destination will have a free slot for a job, so that the job is not retried in vain. */

import { TIERS } from '../domain/records.ts'

interface Pace {
  /** Smoothed duration of one exchange. */
  exchangeMs: number
  /** All slots up to this moment are promised to jobs. */
  bookedUntilMs: number
}

/** Assumed until the first exchange has ended. */
const FIRST_EXCHANGE_MS = 100
/** Weight of the newest exchange in the smoothed duration. */
const NEWEST = 0.2
/** No job is deferred for longer at once: the queue before it may shrink. */
const LONGEST_MS = TIERS['30m'] * 1_000
/** At this many destinations, those without waiting jobs are forgotten. */
const SWEEP_SIZE = 2_000

/** Knows only how far each destination's queue reaches; the jobs themselves wait on the log. */
export class QueuePace {
  readonly #paces = new Map<string, Pace>()
  readonly #inFlight: number

  /** `inFlight`: how many concurrent exchanges a destination gets. */
  constructor(inFlight: number) {
    this.#inFlight = inFlight
  }

  /** When to retry, in Unix ms, at least `leastMs` from now; every call queues behind the one before. */
  book(key: string, leastMs: number, nowMs: number): number {
    const pace = this.#paceOf(key, nowMs)
    const fromMs = Math.max(pace.bookedUntilMs, nowMs + leastMs)
    pace.bookedUntilMs = Math.min(fromMs + pace.exchangeMs / this.#inFlight, nowMs + LONGEST_MS)
    return Math.min(Math.ceil(fromMs), nowMs + LONGEST_MS)
  }

  /** Whether all slots are promised beyond this moment. */
  isCrowded(key: string, nowMs: number): boolean {
    return (this.#paces.get(key)?.bookedUntilMs ?? 0) > nowMs
  }

  /** Smoothed duration of one exchange, in ms. */
  exchangeMs(key: string): number {
    return this.#paces.get(key)?.exchangeMs ?? FIRST_EXCHANGE_MS
  }

  took(key: string, exchangeMs: number, nowMs: number): void {
    const pace = this.#paceOf(key, nowMs)
    pace.exchangeMs += NEWEST * (exchangeMs - pace.exchangeMs)
  }

  #paceOf(key: string, nowMs: number): Pace {
    const known = this.#paces.get(key)
    if (known !== undefined) return known
    if (this.#paces.size >= SWEEP_SIZE) {
      for (const [other, { bookedUntilMs }] of this.#paces) if (bookedUntilMs <= nowMs) this.#paces.delete(other)
    }
    const pace = { exchangeMs: FIRST_EXCHANGE_MS, bookedUntilMs: 0 }
    this.#paces.set(key, pace)
    return pace
  }
}
