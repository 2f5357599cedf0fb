/** Decides per destination whether a job may be sent now: a circuit breaker for failures, a pause for refused credentials. */

import type { Destination } from '../../domain/catalog.ts'
import type { DeliveryReason } from '../../domain/reasons.ts'
import { MINUTE_MS } from '../../domain/durations.ts'

const WINDOW_MINUTES = 5
/** The breaker opens at this share of failures in the window, once there were enough requests to judge ... */
const FAILING_SHARE = 0.7
const FAILING_REQUESTS = 10
/** ... or after this many failures in a row. */
const FAILURES_IN_A_ROW = 10
const PROBE_MS = 30_000
/** How often a destination with refused credentials is tried again although they have not changed. */
const PAUSE_PROBE_MS = 15 * MINUTE_MS
/** At this many destinations, idle ones are forgotten. */
const SWEEP_SIZE = 2_000
/** After a recovery one exchange at a time, then twice as many after each of these intervals, up to the limit. */
const RAMP_MS = 10_000
const RAMP_STEPS = 10

type Admission =
  /** `isTrusted`: nothing failed there recently, so the batch may wait for the answer. */
  { readonly kind: 'admit'; readonly isTrusted: boolean } | { readonly kind: 'hold'; readonly reason: DeliveryReason }

export interface DestinationHealth {
  readonly destination: string
  readonly breaker: 'closed' | 'open'
  /** Why it is paused; empty if it is not. */
  readonly pausedFor: string
  readonly sinceMs: number | null
}

interface Pause {
  readonly reason: DeliveryReason
  /** Credentials and settings at that time; a change of them resumes it. Empty if they are no longer known. */
  readonly setup: string
  readonly sinceMs: number
  probeAtMs: number
}

interface Breaker {
  minutes: { readonly minute: number; total: number; failed: number }[]
  failuresInARow: number
  openedAtMs: number | null
  probeAtMs: number
}

interface GatedDestination {
  readonly breaker: Breaker
  pause: Pause | null
  slow: number
  recoveredAtMs: number | null
  lastAtMs: number
}

/** State of one worker process. After a restart every destination is trusted unless it was paused. */
export class DestinationGate {
  readonly #states = new Map<string, GatedDestination>()

  /** `setup`: the credentials and settings in force, as `setupOf` joins them; compared, never shown. */
  admit(destination: string, setup: string, nowMs: number): Admission {
    const state = this.#states.get(destination)
    if (state === undefined) return { kind: 'admit', isTrusted: true }
    if (state.pause !== null && state.pause.setup !== '' && state.pause.setup !== setup)
      return { kind: 'admit', isTrusted: false }
    if (state.pause !== null) {
      if (nowMs < state.pause.probeAtMs) return { kind: 'hold', reason: state.pause.reason }
      state.pause.probeAtMs = nowMs + PAUSE_PROBE_MS
      return { kind: 'admit', isTrusted: false }
    }
    if (state.breaker.openedAtMs !== null) {
      if (nowMs < state.breaker.probeAtMs) return { kind: 'hold', reason: 'breaker_open' }
      state.breaker.probeAtMs = nowMs + PROBE_MS
      return { kind: 'admit', isTrusted: false }
    }
    return { kind: 'admit', isTrusted: state.breaker.failuresInARow === 0 && state.slow === 0 }
  }

  /** How many concurrent exchanges the destination gets now, of at most `most`. */
  mostInFlight(destination: string, most: number, nowMs: number): number {
    const state = this.#states.get(destination)
    if (state === undefined || state.recoveredAtMs === null) return most
    const steps = Math.floor(Math.max(0, nowMs - state.recoveredAtMs) / RAMP_MS)
    const inFlight = 2 ** Math.min(steps, RAMP_STEPS)
    if (inFlight >= most) state.recoveredAtMs = null
    return Math.min(inFlight, most)
  }

  /** The destination answered, even if it refused the delivery. True if that ended a pause. */
  succeeded(destination: string, nowMs: number): boolean {
    const state = this.#touch(destination, nowMs)
    const wasPaused = state.pause !== null
    if (state.breaker.openedAtMs !== null) state.breaker.minutes = []
    if (state.breaker.openedAtMs !== null || wasPaused) state.recoveredAtMs = nowMs
    state.breaker.openedAtMs = null
    state.pause = null
    state.breaker.failuresInARow = 0
    countOutcome(state.breaker, nowMs, { isFailure: false })
    return wasPaused
  }

  /** True if this failure opened the breaker. */
  failed(destination: string, nowMs: number): boolean {
    const state = this.#touch(destination, nowMs)
    state.breaker.failuresInARow += 1
    countOutcome(state.breaker, nowMs, { isFailure: true })
    if (state.breaker.openedAtMs !== null || !isFailing(state.breaker)) return false
    state.breaker.openedAtMs = nowMs
    state.breaker.probeAtMs = nowMs + PROBE_MS
    return true
  }

  /** True if it was not paused for this reason before. */
  pause(destination: string, pause: { reason: DeliveryReason; setup: string }, nowMs: number): boolean {
    const state = this.#touch(destination, nowMs)
    const isKnown = state.pause !== null && [pause.setup, ''].includes(state.pause.setup)
    const isNew = !isKnown || state.pause?.reason !== pause.reason
    const sinceMs = isNew ? nowMs : (state.pause?.sinceMs ?? nowMs)
    state.pause = { ...pause, sinceMs, probeAtMs: nowMs + PAUSE_PROBE_MS }
    return isNew
  }

  /** Restores a pause from before this process, with credentials unknown here: one delivery probes it at once. */
  recallPause(destination: string, { sinceMs, nowMs }: { sinceMs: number; nowMs: number }): void {
    const pause = { reason: 'credentials_refused', setup: '', sinceMs, probeAtMs: nowMs } as const
    this.#touch(destination, nowMs).pause = { ...pause }
  }

  /** Counts attempts that batches stopped waiting for; while there is one, the destination is not trusted. */
  slow(destination: string, change: 1 | -1, nowMs: number): void {
    this.#touch(destination, nowMs).slow += change
  }

  /** Only destinations that have a problem. */
  health(): DestinationHealth[] {
    return [...this.#states]
      .filter(([, state]) => state.breaker.openedAtMs !== null || state.pause !== null)
      .map(([destination, state]) => ({
        destination,
        breaker: state.breaker.openedAtMs === null ? ('closed' as const) : ('open' as const),
        pausedFor: state.pause?.reason ?? '',
        sinceMs: state.pause?.sinceMs ?? state.breaker.openedAtMs,
      }))
  }

  #touch(destination: string, nowMs: number): GatedDestination {
    const known = this.#states.get(destination)
    if (known !== undefined) {
      known.lastAtMs = nowMs
      return known
    }
    if (this.#states.size >= SWEEP_SIZE) this.#sweep(nowMs)
    const state: GatedDestination = {
      breaker: { minutes: [], failuresInARow: 0, openedAtMs: null, probeAtMs: 0 },
      pause: null,
      slow: 0,
      recoveredAtMs: null,
      lastAtMs: nowMs,
    }
    this.#states.set(destination, state)
    return state
  }

  /** A destination that was idle for a window and has no problem is as good as unknown. */
  #sweep(nowMs: number): void {
    for (const [destination, state] of this.#states) {
      const isIdle = nowMs - state.lastAtMs > WINDOW_MINUTES * MINUTE_MS
      if (isIdle && state.breaker.openedAtMs === null && state.pause === null && state.slow === 0) {
        this.#states.delete(destination)
      }
    }
  }
}

/** Joins everything that decides whether a provider accepts us; kept in memory, compared, never shown. */
export function setupOf(destination: Destination, secrets: Readonly<Record<string, string>>): string {
  return JSON.stringify([destination.settings, secrets])
}

function countOutcome(breaker: Breaker, nowMs: number, { isFailure }: { isFailure: boolean }): void {
  const minute = Math.floor(nowMs / MINUTE_MS)
  breaker.minutes = breaker.minutes.filter((entry) => minute - entry.minute < WINDOW_MINUTES)
  let current = breaker.minutes.at(-1)
  if (current?.minute !== minute) {
    current = { minute, total: 0, failed: 0 }
    breaker.minutes.push(current)
  }
  current.total += 1
  if (isFailure) current.failed += 1
}

function isFailing(breaker: Breaker): boolean {
  if (breaker.failuresInARow >= FAILURES_IN_A_ROW) return true
  const total = breaker.minutes.reduce((sum, entry) => sum + entry.total, 0)
  const failed = breaker.minutes.reduce((sum, entry) => sum + entry.failed, 0)
  return total >= FAILING_REQUESTS && failed >= total * FAILING_SHARE
}
