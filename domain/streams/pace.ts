/** Decides when a log stream retries, and which state it reports. A stream is never switched off. */

import { askedWaitMs, HOUR_MS, MINUTE_MS, SECOND_MS } from '../durations.ts'

/** The result of one call. */
export interface SendOutcome {
  readonly isTaken: boolean
  /** The receiver is unlikely to accept it until someone changes something. */
  readonly isLasting: boolean
  /** It is refused for its size: the receiver may accept fewer records at once. */
  readonly isTooLarge: boolean
  /** A short code from a closed list, for people and metrics: `http_503`, `timeout`; empty if the batch was accepted. */
  readonly error: string
  readonly retryAfterMs: number | null
}

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty if there was an answer. */
  readonly failure: string
}

/** The status by which a receiver, or a proxy before it, refuses a body for its size. */
const TOO_LARGE = 413
/** The codes by which S3 does that, with the status 400. */
const TOO_LARGE_REFUSALS: ReadonlySet<string> = new Set(['EntityTooLarge', 'MaxMessageLengthExceeded'])
const LASTING_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 410])
const LASTING_FAILURES: ReadonlySet<string> = new Set(['address_refused', 'unsendable'])

const TAKEN: SendOutcome = { isTaken: true, isLasting: false, isTooLarge: false, error: '', retryAfterMs: null }

/**
 * Only a 2xx status accepts a batch; a redirect is a refusal. A response body that breaks off after a 2xx does not matter. `refusal`: the
 * code in a store's answer; empty if it has none.
 */
export function outcomeOf({ status, headers, failure }: Reply, nowMs: number, refusal = ''): SendOutcome {
  if (status >= 200 && status < 300) return TAKEN
  const code = status === 0 ? failure : `http_${status}`
  return {
    isTaken: false,
    isLasting: LASTING_STATUSES.has(status) || LASTING_FAILURES.has(failure),
    isTooLarge: status === TOO_LARGE || TOO_LARGE_REFUSALS.has(refusal),
    error: refusal === '' ? code : `${code} ${refusal}`,
    retryAfterMs: askedWaitMs(headers['retry-after'] ?? null, nowMs),
  }
}

const PAUSES_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS] as const
/** Jitter: the share of a pause that is random. */
const JITTER = 0.2

/** How long to wait after this many failures in a row; `random` in [0, 1). */
export function pauseAfter(failures: number, outcome: SendOutcome, random: number): number {
  const own = outcome.isLasting ? HOUR_MS : (PAUSES_MS[failures - 1] ?? HOUR_MS)
  const asked = Math.min(outcome.retryAfterMs ?? 0, HOUR_MS)
  return Math.max(asked, Math.round(own * (1 - JITTER + 2 * JITTER * random)))
}

export const STREAM_STATES = ['Delivering', 'Behind', 'Failing', 'Paused', 'NotVerified'] as const
export type StreamState = (typeof STREAM_STATES)[number]

/** A stream whose oldest open record is older than this is behind. */
const BEHIND_MS = 15 * MINUTE_MS

interface KnownStanding {
  readonly isPaused: boolean
  readonly isProven: boolean
  /** When the oldest open record was appended; null if none is open. */
  readonly oldestMs: number | null
  readonly nowMs: number
}

export function streamStateOf({ failures }: { readonly failures: number }, standing: KnownStanding): StreamState {
  const { isPaused, isProven, oldestMs, nowMs } = standing
  if (isPaused) return 'Paused'
  if (!isProven) return 'NotVerified'
  if (failures > 0) return 'Failing'
  return oldestMs !== null && nowMs - oldestMs > BEHIND_MS ? 'Behind' : 'Delivering'
}
