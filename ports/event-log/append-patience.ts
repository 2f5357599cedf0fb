/**
 * How long an append waits. If the oldest batch in flight does not end, the log is stuck. If batches keep being stored, the
 * log is only busy and will soon reach the waiting appends: refusing them would lose data whose senders are still waiting.
 */

import { LIMITS } from '../../domain/limits.ts'
import type { AppendOptions } from './event-log.ts'

export interface AppendPatience {
  /** How long an append waits for a stuck log, in ms. */
  readonly deadlineMs: number
  /** How long it waits at most, in ms. */
  readonly patienceMs: number
}

/** What the caller asked for, or else what every append gets. */
export function patienceOf(asked: AppendOptions | undefined): AppendPatience {
  const deadlineMs = asked?.deadlineMs ?? LIMITS.appendDeadlineMs
  return { deadlineMs, patienceMs: asked?.patienceMs ?? Math.max(deadlineMs, LIMITS.appendPatienceMs) }
}

export interface WaitingTimes {
  readonly sinceMs: number
  readonly patience: AppendPatience
}

/** When to check an append again, in ms of one clock; null if it has waited long enough. */
export function nextLookMs(
  { sinceMs, patience }: WaitingTimes,
  log: { nowMs: number; stuckMs: number },
): number | null {
  const deadlineAtMs = sinceMs + patience.deadlineMs
  const endAtMs = sinceMs + patience.patienceMs
  if (log.nowMs >= endAtMs) return null
  if (log.nowMs < deadlineAtMs) return Math.min(deadlineAtMs, endAtMs)
  const leftMs = patience.deadlineMs - log.stuckMs
  return leftMs <= 0 ? null : Math.min(log.nowMs + Math.max(1, leftMs), endAtMs)
}
