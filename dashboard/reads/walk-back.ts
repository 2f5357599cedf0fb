/** Reads a list of facts from the newest back, in windows of time: a filter that few rows fit would otherwise read all that are kept in one statement. */

import type { FoundRows } from '../../domain/logs/first-records.ts'
import { boundsBefore, nextSpanMs as spanAfter, type LogPosition } from '../../domain/logs/walk.ts'

/** What is asked for: rows from `sinceMs` (inclusive) back from a position. */
export interface WalkBack {
  readonly sinceMs: number
  readonly from: LogPosition
  readonly limit: number
  /** Length of the first window; those that follow depend on how long it took. */
  readonly firstSpanMs: number
}

export type WalkWindow = ReturnType<typeof boundsBefore> & { readonly since_ms: number; readonly limit: number }

export interface PageClock {
  readonly elapsedMs: () => number
  /** After this time a page is returned as it is, with the position that it has reached; a second if absent. */
  readonly patienceMs?: number
}

interface WalkedRows<Row> {
  /** Newest first. */
  readonly rows: readonly Row[]
  /** The position of the next page; null if there is nothing older. */
  readonly next: LogPosition | null
}

interface Walked<Row> {
  /** Null: the window is too long for one statement. */
  readonly read: (window: WalkWindow) => Promise<FoundRows<Row> | null>
  readonly positionOf: (row: Row) => LogPosition
  /** Length of the window after one of this length that took so long. */
  readonly nextSpanMs?: (spanMs: number, tookMs: number) => number
}

/** As long as a person waits for a page. */
const PATIENCE_MS = 1_000

/** The next page has the rest. It begins after a position, so rows that share one must not be divided between two pages. */
function cutAt<Row>(limit: number, rows: readonly Row[], positionOf: Walked<Row>['positionOf']): WalkedRows<Row> {
  const positionAt = (index: number): LogPosition | null => {
    const row = rows[index]
    return row === undefined ? null : positionOf(row)
  }
  const following = positionAt(limit)
  const isShared = (position: LogPosition | null): boolean =>
    position?.beforeMs === following?.beforeMs && position?.beforeId === following?.beforeId
  let end = limit
  while (end > 1 && isShared(positionAt(end - 1))) end -= 1
  return { rows: rows.slice(0, end), next: positionAt(end - 1) }
}

export async function walkBack<Row>(
  { sinceMs, from, limit, firstSpanMs }: WalkBack,
  { read, positionOf, nextSpanMs = spanAfter }: Walked<Row>,
  { elapsedMs, patienceMs = PATIENCE_MS }: PageClock,
): Promise<WalkedRows<Row>> {
  const startedMs = elapsedMs()
  const rows: Row[] = []
  let position = from
  let spanMs = firstSpanMs
  for (;;) {
    const floorMs = Math.max(sinceMs, position.beforeMs - spanMs)
    const beganMs = elapsedMs()
    const found = await read({ since_ms: floorMs, limit: limit - rows.length, ...boundsBefore(position) })
    if (found === null) {
      // Statements take whole milliseconds.
      spanMs = Math.ceil(spanMs / 2)
      continue
    }
    rows.push(...found.rows)
    if (rows.length >= limit) return cutAt(limit, rows, positionOf)
    if (floorMs <= sinceMs && found.reached === null) return { rows, next: null }
    position = found.reached ?? { beforeMs: floorMs, beforeId: '' }
    if (elapsedMs() - startedMs > patienceMs) return { rows, next: position }
    if (found.reached === null) spanMs = nextSpanMs(spanMs, elapsedMs() - beganMs)
  }
}
