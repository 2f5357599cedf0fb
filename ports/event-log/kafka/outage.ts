/** What a process does about a topic of which Kafka stores nothing for long (ADR 53). All times are of one monotonic clock, in ms. */

/**
 * `again`: another try, as after any failure. `renew`: with a new client, since the one there may be what fails. `fresh`: with a
 * client of its own for this try alone, beside the process's, to find out which of the two fails.
 */
export type NextTry = 'again' | 'renew' | 'fresh'

export interface OutageTimes {
  /** How long nothing is stored before the client is made anew, and between two such renewals. */
  readonly renewMs: number
  /** How long nothing is stored before fresh connections are tried, and between two such tries. */
  readonly restartMs: number
  readonly freshEveryMs: number
}

export const OUTAGE_TIMES: OutageTimes = { renewMs: 60_000, restartMs: 300_000, freshEveryMs: 10_000 }

/** Of one topic. */
export class Outage {
  readonly #times: OutageTimes
  #sinceMs: number | null = null
  #renewedAtMs = 0
  #freshAtMs = Number.NEGATIVE_INFINITY
  /** A process that has never stored anything was started in the outage: another start would not help either. */
  #hasStored = false
  /** A fresh connection stored what the process could not, once. */
  #isSuspect = false

  constructor(times: OutageTimes) {
    this.#times = times
  }

  /** The process stored something itself: whatever was wrong is over. */
  stored(): void {
    this.#sinceMs = null
    this.#isSuspect = false
    this.#hasStored = true
  }

  failed(nowMs: number): NextTry {
    if (this.#sinceMs === null) this.#sinceMs = this.#renewedAtMs = nowMs
    const { renewMs, restartMs, freshEveryMs } = this.#times
    const isFreshDue = this.#isSuspect || nowMs - this.#freshAtMs >= freshEveryMs
    if (this.#hasStored && nowMs - this.#sinceMs >= restartMs && isFreshDue) {
      this.#freshAtMs = nowMs
      return 'fresh'
    }
    if (nowMs - this.#renewedAtMs < renewMs) return 'again'
    this.#renewedAtMs = nowMs
    return 'renew'
  }

  freshFailed(): void {
    this.#isSuspect = false
  }

  /**
   * True if the process is to start anew: its own client failed again after a fresh one had stored something, and then a fresh one
   * stored something once more. So it was not Kafka that came back in between.
   */
  freshStored(): boolean {
    const isCertain = this.#isSuspect
    this.#isSuspect = true
    return isCertain
  }
}
