/** Reads Logs window by window, from the newest back, until a page is full or its time is up. */

import { boundsBefore, newestOf, windowMs, type LogPosition } from '../../domain/logs/walk.ts'
import type { LogPageFilters, LogLineRow } from '../../ports/facts/pages/logs.ts'
import type { OrganizationFacts } from '../reads/scope.ts'
import type { PageClock } from '../reads/walk-back.ts'
import type { DirectedFilters } from './filters.ts'

type LogReads = Pick<OrganizationFacts, 'run'>

/** What is asked for: lines from `sinceMs` (inclusive) back from a position. */
export interface LogQuestion {
  readonly filters: DirectedFilters
  readonly sinceMs: number
  readonly from: LogPosition
  readonly limit: number
  /** Requests with their bodies. */
  readonly hasBodies: boolean
}

interface LogRows {
  /** Newest first. */
  readonly rows: readonly LogLineRow[]
  /** The position of the next page; null if there is nothing older. */
  readonly next: LogPosition | null
}

/** After this time a page is returned as it is, with the position that it has reached. */
const PATIENCE_MS = 1_000

export async function readLogPage(reads: LogReads, question: LogQuestion, clock: PageClock): Promise<LogRows> {
  const { filters, sinceMs, limit } = question
  const isText = filters.requests?.text !== undefined || filters.attempts?.text !== undefined
  const startedMs = clock.elapsedMs()
  const rows: LogLineRow[] = []
  let position = question.from
  for (let windows = 0; ; windows++) {
    const floorMs = Math.max(sinceMs, position.beforeMs - windowMs(isText, windows))
    const wanted = limit - rows.length
    rows.push(
      ...(await readWindow(reads, filters, {
        sinceMs: floorMs,
        position,
        limit: wanted,
        hasBodies: question.hasBodies,
      })),
    )
    const last = rows.at(-1)
    if (rows.length >= limit && last !== undefined) return { rows, next: { beforeMs: last.at_ms, beforeId: last.id } }
    if (floorMs <= sinceMs) return { rows, next: null }
    position = { beforeMs: floorMs, beforeId: '' }
    if (clock.elapsedMs() - startedMs > PATIENCE_MS) return { rows, next: position }
  }
}

interface PageWindow {
  readonly sinceMs: number
  readonly position: LogPosition
  readonly limit: number
  readonly hasBodies: boolean
}

/** One statement for each direction that can have lines. */
async function readWindow(
  reads: LogReads,
  { requests, attempts }: DirectedFilters,
  { sinceMs, position, limit, hasBodies }: PageWindow,
): Promise<readonly LogLineRow[]> {
  const bounds = { since_ms: sinceMs, limit, ...boundsBefore(position) }
  const of = (filters: LogPageFilters) => ({ ...bounds, ...filters })
  return newestOf(
    [
      requests === null
        ? []
        : await reads.run('requestLines', { ...of(requests), ...(hasBodies ? { bodies: 1 } : {}) }),
      attempts === null ? [] : await reads.run('attemptLines', of(attempts)),
    ],
    limit,
  )
}
