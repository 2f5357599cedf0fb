/**
 * How long an append waits. A log that takes nothing any more is known by its oldest batch under way; a log that merely has
 * much to do gets on, and what waits there is stored soon: to refuse it would lose what its sender still waits for.
 */

import type { AppendOptions } from './event-log.ts'

export interface AppendPatience {
  /** How long an append waits for a log that is stuck, in ms. */
  readonly deadlineMs: number
  /** How long it waits at most, in ms. */
  readonly patienceMs: number
}

/** What a caller asked for, over what the log was opened with. */
export function patienceOf(
  asked: AppendOptions | undefined,
  own: { readonly appendDeadlineMs: number; readonly appendPatienceMs: number },
): AppendPatience {
  const deadlineMs = asked?.deadlineMs ?? own.appendDeadlineMs
  return { deadlineMs, patienceMs: asked?.patienceMs ?? Math.max(deadlineMs, own.appendPatienceMs) }
}

export interface WaitingTimes {
  readonly sinceMs: number
  readonly patience: AppendPatience
}

/** When to look at an append again, all in ms of one clock; null where it has waited long enough. */
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
