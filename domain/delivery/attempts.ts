/** Decides what follows an attempt: done, a retry at a later time, or the end; and when a waiting job moves on. */

import type { AttemptOutcome, DeliveryReason } from '../reasons.ts'
import { TIER_NAMES, TIERS, type Job, type TierName } from '../records.ts'
import { askedWaitMs, DAY_MS, MINUTE_MS, SECOND_MS } from '../durations.ts'

/** Waits after the first, second, ... failed attempt; the last one repeats. The first attempt does not wait. */
const BACKOFF_MS: readonly number[] = TIER_NAMES.map((tier) => TIERS[tier] * SECOND_MS)

/** Every wait is lengthened by up to this fraction, so that jobs that failed together do not return together. */
export const JITTER = 0.2

/**
 * The most attempts of one delivery; with a day between the last ones, 40 cover every provider's window.
 * @internal
 */
export const MAX_ATTEMPTS = 40

/** If the next wait would pass the deadline, a last attempt is made this long before it. */
const LAST_CALL_MS = MINUTE_MS

/**
 * When the provider is polled for a verdict, after it accepted the delivery; after the last poll the delivery counts as
 * delivered.
 */
const VERDICT_MS: readonly number[] = [
  30 * MINUTE_MS,
  ...[1, 2, 4, 8, 16, 24, 48, 72].map((hours) => hours * 3_600_000),
]

const LAST_POLL_MS = Math.max(...VERDICT_MS)

/** A delivery that came too early is sent once more after this long. */
const RESEND_MS = 6 * 3_600_000

/** How an exchange with a provider ended, in the terms of `delivery/providers/provider.ts`. */
export interface AttemptResult {
  readonly kind: AttemptOutcome
  /** The raw `Retry-After` header, if there was one. */
  readonly retryAfter: string | null
  /** Whether the provider may have accepted the delivery although no clear answer came. */
  readonly isUnclear: boolean
  /** For an accepted delivery: the reference to poll the provider with. */
  readonly reference?: string
}

export type NextStep =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly reason: DeliveryReason; readonly dueAtMs: number }
  | { readonly kind: 'expired'; readonly reason: DeliveryReason }
  | { readonly kind: 'failed'; readonly reason: DeliveryReason }

interface AttemptContext {
  readonly nowMs: number
  /** In [0, 1). */
  readonly random: number
  /** How long the provider recognises a repeated ID; null if that sets no bound. */
  readonly dedupeMs: number | null
}

/** The job after an attempt: counted, and with the times of its first unclear end and its acceptance. */
export function jobAfter(job: Job, result: AttemptResult, nowMs: number): Job {
  const counted = { ...job, attempts: job.attempts + 1 }
  // An unclear answer to a poll does not make the delivery itself unclear.
  if (job.accepted === undefined) counted.unclearSinceMs ??= result.isUnclear ? nowMs : null
  if (result.kind === 'accepted') return { ...counted, accepted: { reference: result.reference ?? '', atMs: nowMs } }
  const isOver = result.kind === 'refused' || result.kind === 'resend'
  return isOver ? withoutAcceptance(counted) : counted
}

/** What the next step depends on. */
type TriedJob = Pick<Job, 'attempts' | 'deadlineAtMs' | 'unclearSinceMs' | 'accepted'>

/** The next step; `job` comes from `jobAfter`, so `attempts` includes the attempt that just ended. */
export function nextStep(job: TriedJob, result: AttemptResult, context: AttemptContext): NextStep {
  if (result.kind === 'delivered') return { kind: 'done' }
  if (result.kind === 'refused') return { kind: 'failed', reason: 'refused' }
  if (job.accepted !== undefined) return verdictStep(job.accepted.atMs, result, context)
  if (job.attempts >= MAX_ATTEMPTS) return { kind: 'failed', reason: 'retries_ran_out' }

  const baseMs = Math.max(backoffMs(job.attempts), result.kind === 'resend' ? RESEND_MS : 0)
  const askedMs = retryAfterMs(result.retryAfter, { baseMs, nowMs: context.nowMs })
  const waitMs = Math.round((askedMs ?? baseMs) * (1 + JITTER * context.random))
  const dueAtMs = dueBefore(job.deadlineAtMs, context.nowMs, { waitMs, leastMs: askedMs ?? LAST_CALL_MS })
  if (dueAtMs === null) return { kind: 'expired', reason: 'deadline_passed' }
  if (isBeyondDedupe(job, dueAtMs, context.dedupeMs)) return { kind: 'failed', reason: 'unclear_too_long' }
  return { kind: 'retry', reason: RETRY_REASONS[result.kind], dueAtMs }
}

/**
 * A provider that accepted a delivery is polled until it gives a verdict, even if polls fail. The delivery was in time, so
 * neither the deadline nor the number of attempts ends it; only the last poll does.
 */
function verdictStep(acceptedAtMs: number, result: AttemptResult, context: AttemptContext): NextStep {
  const { nowMs } = context
  const waits = VERDICT_MS.filter((waitMs) => acceptedAtMs + waitMs > nowMs + MINUTE_MS)
  const nextMs = waits[0]
  if (nextMs === undefined) return { kind: 'done' }
  const reason = result.kind === 'credentials' ? 'credentials_refused' : 'awaiting_verdict'
  const jitterMs = Math.round(MINUTE_MS * JITTER * context.random)
  return { kind: 'retry', reason, dueAtMs: acceptedAtMs + nextMs + jitterMs }
}

/**
 * The wait after this many attempts, without jitter, in ms.
 * @internal
 */
export function backoffMs(attempts: number): number {
  const index = Math.min(Math.max(attempts, 1), BACKOFF_MS.length) - 1
  return BACKOFF_MS[index] ?? DAY_MS
}

/**
 * `Retry-After` in ms, kept between our own wait and a day; null if it asks for no wait.
 * @internal
 */
export function retryAfterMs(
  header: string | null,
  { baseMs, nowMs }: { baseMs: number; nowMs: number },
): number | null {
  const askedMs = askedWaitMs(header, nowMs)
  return askedMs === null ? null : Math.min(Math.max(askedMs, baseMs), DAY_MS)
}

/**
 * How long a job waits if it may not be tried now (destination paused, breaker open, visit missing): about as long as it
 * has waited already, from 5 s to 30 min. A million such jobs thus cost little, and a short outage delays little.
 */
export function holdMs(ageMs: number): number {
  const longestMs = TIERS['30m'] * SECOND_MS
  return Math.min(TIERS[tierFor(ageMs)] * SECOND_MS, longestMs)
}

/** The tier for a wait: the longest one within it, or the shortest of all. */
export function tierFor(waitMs: number): TierName {
  return TIER_NAMES.findLast((tier) => TIERS[tier] * SECOND_MS <= waitMs) ?? '5s'
}

/**
 * When an entry of a tier is read again: when it is due, or when the tier's own time has passed and a shorter tier takes the
 * rest. Entries thus leave a tier in about the order they entered, and the first one never delays the others for long.
 */
export function leavesTierAtMs(entry: { dueAtMs: number; enteredAtMs: number; tier: TierName }): number {
  const tierEndsAtMs = entry.enteredAtMs + Math.round(TIERS[entry.tier] * SECOND_MS * (1 + JITTER))
  return Math.min(entry.dueAtMs, tierEndsAtMs)
}

const RETRY_REASONS = {
  retry: 'attempt_failed',
  throttled: 'throttled',
  credentials: 'credentials_refused',
  resend: 'attempt_failed',
  accepted: 'awaiting_verdict',
  undecided: 'awaiting_verdict',
} as const satisfies Record<string, DeliveryReason>

/** Now plus the wait, or one last attempt before the deadline; null if even that is not after `leastMs`. */
function dueBefore(deadlineAtMs: number, nowMs: number, wait: { waitMs: number; leastMs: number }): number | null {
  if (nowMs + wait.waitMs < deadlineAtMs) return nowMs + wait.waitMs
  const lastCallAtMs = deadlineAtMs - LAST_CALL_MS
  return lastCallAtMs > nowMs + wait.leastMs ? lastCallAtMs : null
}

/**
 * If an earlier attempt may have arrived, a repeat at `atMs` (Unix ms) is safe only while the provider still recognises its ID:
 * for `dedupeMs`, or without a bound if that is null.
 */
export function isBeyondDedupe(
  { unclearSinceMs }: { readonly unclearSinceMs: number | null },
  atMs: number,
  dedupeMs: number | null,
): boolean {
  return dedupeMs !== null && unclearSinceMs !== null && atMs > unclearSinceMs + dedupeMs
}

/** Whether the provider has accepted it and the last poll for the verdict is past: then it counts as delivered. */
export function isVerdictOverdue({ accepted }: Job, nowMs: number): boolean {
  return accepted !== undefined && nowMs >= accepted.atMs + LAST_POLL_MS
}

function withoutAcceptance(job: Job): Job {
  const { accepted: _accepted, ...rest } = job
  return rest
}
