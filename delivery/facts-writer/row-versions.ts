/** Which of several rows of one key wins: the greatest version, made so that a replay of the log decides the same way again. */

import { LIMITS } from '../../domain/limits.ts'
import type { DeliveryStatus } from '../../domain/model.ts'

/**
 * Row versions are whole numbers below 2^53 (of decisions below 2^64): a time in the upper part, the last digits of the offset in the lower, so
 * that two rows of one key never tie and a replay of the log decides the same way again. If the first row wins, the
 * offset counts down.
 */
const OFFSET_SPAN = 512
/** More than every time in a row, in ms; 2^42. */
const TIME_SPAN_MS = 4_398_046_511_104

/** Greater for the earlier row: the first one wins. */
export function firstWins(atMs: number, offset: number): number {
  return (TIME_SPAN_MS - 1 - atMs) * OFFSET_SPAN + (OFFSET_SPAN - 1 - (offset % OFFSET_SPAN))
}

/** Greater for the later row. */
export function lastWins(atMs: number, offset: number): number {
  return atMs * OFFSET_SPAN + (offset % OFFSET_SPAN)
}

/** Greater for the row that says that the command was copied; of several that do, and of several that do not, the first one wins. */
export function copiedWins(isCopied: boolean, atMs: number, offset: number): number {
  return (isCopied ? TIME_SPAN_MS * OFFSET_SPAN : 0) + firstWins(atMs, offset)
}

/** Greater for the row that says that it was removed; of several that do, and of several that do not, the first one wins. */
export function removedWins(isRemoved: boolean, atMs: number, offset: number): number {
  return copiedWins(isRemoved, atMs, offset)
}

/** Offsets within it are told apart, which no two decisions about one event are beyond; 2^22. */
const DECISION_OFFSET_SPAN = 4_194_304n

/**
 * Greater for the decision about the record that was received first, whenever it was made, as that record counts; of several about one
 * record the first on the log wins, as in the hot state. It needs all 64 bits.
 */
export function firstRecordWins(receivedAtMs: number, offset: number): bigint {
  const time = BigInt(TIME_SPAN_MS - 1 - receivedAtMs) * DECISION_OFFSET_SPAN
  return time + (DECISION_OFFSET_SPAN - 1n - (BigInt(offset) % DECISION_OFFSET_SPAN))
}

/**
 * Greater for the later state of a delivery. A final state is never undone by one that only seems later because another
 * machine's clock is ahead, and `delivered` outranks every other final state. A failed delivery may be replayed, so a state
 * that is later by more than clocks differ replaces it; in the same way a retry outranks the state before it. States that
 * correct a skip do not rank below it, so the time decides.
 */
export function latestWins(status: DeliveryStatus, atMs: number, offset: number, corrects = false): number {
  const weight = STATUS_WEIGHTS[status]
  const rank = corrects ? Math.max(weight.rank, STATUS_WEIGHTS.skipped.rank) : weight.rank
  const weighedMs = Math.min(atMs + weight.headStartMs, TIME_SPAN_MS - 1)
  return (rank * TIME_SPAN_MS + weighedMs) * OFFSET_SPAN + (offset % OFFSET_SPAN)
}

const STATUS_WEIGHTS: {
  readonly [S in DeliveryStatus]: { readonly rank: number; readonly headStartMs: number }
} = {
  pending: { rank: 0, headStartMs: 0 },
  retrying: { rank: 0, headStartMs: LIMITS.clockDifferenceMs },
  failed: { rank: 0, headStartMs: 2 * LIMITS.clockDifferenceMs },
  skipped: { rank: 1, headStartMs: 0 },
  expired: { rank: 1, headStartMs: 0 },
  delivered: { rank: 2, headStartMs: 0 },
}
