/**
 * Reads a list of the commands as the dashboard reads its pages: in windows of time, from the newest back. The service's own look-ups get their turn
 * between two statements, and a command that is stopped leaves at most one behind.
 */

import type { FoundRows } from '../../../domain/logs/first-records.ts'
import { FIRST_SPAN_MS, windowMs, type LogPosition } from '../../../domain/logs/walk.ts'
import { walkBack, type WalkWindow } from '../../../dashboard/reads/walk-back.ts'

export interface ReadBack<Row> {
  /** Rows of a window, newest first. */
  readonly read: (window: WalkWindow) => Promise<FoundRows<Row>>
  readonly positionOf: (row: Row) => LogPosition
  /** What is read: the lengths of windows of Logs are known, all others follow from the time that a window took. */
  readonly of: 'lines' | 'texts' | 'others'
}

interface AskedBack {
  /** Inclusive. */
  readonly sinceMs: number
  /** Exclusive. */
  readonly untilMs: number
  readonly limit: number
  /** The search may begin ahead of it, for rows of a machine whose clock is ahead. */
  readonly nowMs: number
  /** Called about once a second until all is read: everything from this moment on was. It is never one that is still to come. */
  readonly onSearched: (backToMs: number) => void
  /** How often, in ms; a test sets it. */
  readonly everyMs?: number
}

/** As many as `limit` says, newest first. Rejects like `read`. */
export async function readBack<Row>(
  { read, positionOf, of }: ReadBack<Row>,
  { sinceMs, untilMs, limit, nowMs, onSearched, everyMs }: AskedBack,
): Promise<readonly Row[]> {
  const isText = of === 'texts'
  let windows = 0
  const walked = { read, positionOf, ...(of === 'others' ? {} : { nextSpanMs: () => windowMs(isText, ++windows) }) }
  const clock = { elapsedMs: () => performance.now(), ...(everyMs === undefined ? {} : { patienceMs: everyMs }) }
  const found: Row[] = []
  let from: LogPosition = { beforeMs: untilMs, beforeId: '' }
  for (;;) {
    const firstSpanMs = of === 'others' ? FIRST_SPAN_MS : windowMs(isText, windows)
    const page = await walkBack({ sinceMs, from, limit: limit - found.length, firstSpanMs }, walked, clock)
    found.push(...page.rows)
    if (found.length >= limit || page.next === null) return found.slice(0, limit)
    if (page.next.beforeMs < nowMs) onSearched(page.next.beforeMs)
    from = page.next
  }
}
