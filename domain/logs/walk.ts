/**
 * How a list of Logs is read: in windows of time, from the newest back, first short ones. One statement over the whole
 * retention would read what no page shows.
 */

import { DAY_MS, HOUR_MS } from '../durations.ts'

/**
 * The last one is used for all that follow. At the size of the largest customer, 25 million lines a month, each takes at
 * most a quarter of a second; to search bodies costs ten times as much.
 */
const SPANS_MS = {
  lines: [HOUR_MS, 6 * HOUR_MS, DAY_MS, 2 * DAY_MS],
  text: [HOUR_MS, 6 * HOUR_MS],
} as const

/** Length of the window after this many others of one page, in ms. */
export function windowMs(isText: boolean, windows: number): number {
  const spans: readonly number[] = isText ? SPANS_MS.text : SPANS_MS.lines
  return spans[Math.min(windows, spans.length - 1)] ?? HOUR_MS
}

/** Where a list goes on: before this moment, and at it after this line. An empty ID: nothing of this moment is left. */
export interface LogPosition {
  readonly beforeMs: number
  readonly beforeId: string
}

/** Bounds of a statement that goes on there, under the names of its parameters. */
export function boundsBefore({ beforeMs, beforeId }: LogPosition) {
  // At the moment itself lines may be left.
  return beforeId === '' ? { until_ms: beforeMs } : { until_ms: beforeMs + 1, before_ms: beforeMs, before_id: beforeId }
}

interface Positioned {
  readonly at_ms: number
  readonly id: string
}

/** Several lists, each newest first, as one. */
export function newestOf<R extends Positioned>(lists: readonly (readonly R[])[], most: number): readonly R[] {
  return lists
    .flat()
    .toSorted((a, b) => b.at_ms - a.at_ms || (a.id < b.id ? 1 : -1))
    .slice(0, most)
}
