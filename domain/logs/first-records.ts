/**
 * Lists of installs are read by keys: first the newest keys of a window, from few columns, then the first record of each event, which is the
 * one that counts. An event that was recorded again later is found by the later time, though its first record may be older than all
 * that was found, or than the window.
 */

import type { LogPosition } from './walk.ts'

/** An event, and when one of its records was received, in Unix ms. */
export interface FoundKey {
  readonly event_id: string
  readonly received_at_ms: number
}

/** Rows of a window, newest first. */
export interface FoundRows<Row> {
  readonly rows: readonly Row[]
  /** How far back they are complete; null: as far as the window. */
  readonly reached: LogPosition | null
}

/**
 * Of the first records of these keys, those that are at least as new as the last key: between older ones there could be installs whose keys were
 * not read yet. What is left out is found again further back, by its own time. If there are fewer keys than were asked for, the window
 * has no more.
 */
export function completeRows<Row extends FoundKey>(
  keys: readonly FoundKey[],
  rows: readonly Row[],
  askedFor: number,
): FoundRows<Row> {
  const last = keys.at(-1)
  if (last === undefined || keys.length < askedFor) return { rows, reached: null }
  const { received_at_ms: beforeMs, event_id: beforeId } = last
  const isReached = ({ received_at_ms: atMs, event_id: id }: Row): boolean =>
    atMs > beforeMs || (atMs === beforeMs && id >= beforeId)
  return { rows: rows.filter(isReached), reached: { beforeMs, beforeId } }
}
