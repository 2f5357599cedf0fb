/**
 * How a list of Logs is read: in windows of time, from the newest back, beginning with short ones. One statement over the
 * whole retention would read far more than a page shows.
 */

import { DAY_MS, HOUR_MS } from '../durations.ts'

/**
 * The last length is used for all windows that follow. For the largest customer, with 25 million lines a month, each window
 * takes at most a quarter of a second; searching bodies costs ten times as much.
 */
const SPANS_MS = {
  lines: [HOUR_MS, 6 * HOUR_MS, DAY_MS, 2 * DAY_MS],
  text: [HOUR_MS, 6 * HOUR_MS],
} as const

/** Length of the window that follows this many others of one page, in ms. */
export function windowMs(isText: boolean, windows: number): number {
  const spans: readonly number[] = isText ? SPANS_MS.text : SPANS_MS.lines
  return spans[Math.min(windows, spans.length - 1)] ?? HOUR_MS
}

/** A list of installs, of which there are fewer: the first window, and how the next one follows from the time that one took. */
export const FIRST_SPAN_MS = DAY_MS
const GROWS_BY = 4
const QUICK_MS = 60
const SLOW_MS = 200

/** Quick windows are followed by longer ones, so that a website with few installs is read in a few steps; slow ones by shorter ones. */
export function nextSpanMs(spanMs: number, tookMs: number): number {
  if (tookMs < QUICK_MS) return spanMs * GROWS_BY
  return tookMs > SLOW_MS ? Math.max(HOUR_MS, spanMs / 2) : spanMs
}

/** Where a list goes on: before this moment, or at this moment after this line. An empty ID: nothing is left at this moment. */
export interface LogPosition {
  readonly beforeMs: number
  readonly beforeId: string
}

/** Bounds of a statement that continues there, by the names of its parameters. */
export function boundsBefore({ beforeMs, beforeId }: LogPosition) {
  // Lines of the very same moment may be left.
  return beforeId === '' ? { until_ms: beforeMs } : { until_ms: beforeMs + 1, before_ms: beforeMs, before_id: beforeId }
}

interface Positioned {
  readonly at_ms: number
  readonly id: string
}

/** Merges several lists, each newest first, into one. */
export function newestOf<R extends Positioned>(lists: readonly (readonly R[])[], most: number): readonly R[] {
  return lists
    .flat()
    .toSorted((a, b) => b.at_ms - a.at_ms || (a.id < b.id ? 1 : -1))
    .slice(0, most)
}
