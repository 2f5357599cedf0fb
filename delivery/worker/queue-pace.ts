/** Gives jobs that found their destination busy a time at which it will have room, so that they do not ask in vain. */

import { TIERS } from '../../domain/records.ts'

interface Pace {
  /** Of one exchange, smoothed. */
  exchangeMs: number
  /** Up to when the destination's room is promised. */
  bookedUntilMs: number
}

/** Until one was seen. */
const FIRST_EXCHANGE_MS = 100
/** The part of the newest exchange in the smoothed time. */
const NEWEST = 0.2
/** Nobody is put off for longer at once: what stands before may dissolve. */
const LONGEST_MS = TIERS['30m'] * 1_000
/** Destinations remembered before those with nobody waiting are swept out. */
const SWEEP_SIZE = 2_000

/** A queue without entries: only how far it reaches is known here, the jobs themselves wait on the log. */
export class QueuePace {
  readonly #paces = new Map<string, Pace>()
  readonly #inFlight: number

  /** `inFlight`: how many exchanges a destination has under way at a time. */
  constructor(inFlight: number) {
    this.#inFlight = inFlight
  }

  /** The moment to come back at, `leastMs` from now or later; every call takes its place behind the one before. */
  book(key: string, leastMs: number, nowMs: number): number {
    const pace = this.#paceOf(key, nowMs)
    const fromMs = Math.max(pace.bookedUntilMs, nowMs + leastMs)
    pace.bookedUntilMs = Math.min(fromMs + pace.exchangeMs / this.#inFlight, nowMs + LONGEST_MS)
    return Math.min(Math.ceil(fromMs), nowMs + LONGEST_MS)
  }

  /** Whether places are promised beyond the time that a short wait could bring. */
  isCrowded(key: string, nowMs: number): boolean {
    return (this.#paces.get(key)?.bookedUntilMs ?? 0) > nowMs
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
