/** Reads Logs window by window, from the newest back, until a page is full or its time is up. */

import { newestOf, windowMs, type LogPosition } from '../../domain/logs/walk.ts'
import type { LogPageFilters, LogLineRow } from '../../ports/facts/pages/logs.ts'
import type { ScopedQueries } from '../reads/scope.ts'
import { walkBack, type PageClock, type WalkWindow } from '../reads/walk-back.ts'
import type { DirectedFilters } from './filters.ts'

type LogReads = ScopedQueries

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

export function readLogPage(reads: LogReads, question: LogQuestion, clock: PageClock): Promise<LogRows> {
  const { filters, hasBodies, ...walk } = question
  const isText = filters.requests?.text !== undefined || filters.attempts?.text !== undefined
  let windows = 0
  return walkBack<LogLineRow>(
    { ...walk, firstSpanMs: windowMs(isText, windows) },
    {
      read: async (window) => ({ rows: await readWindow(reads, filters, { ...window, hasBodies }), reached: null }),
      positionOf: ({ at_ms: beforeMs, id: beforeId }) => ({ beforeMs, beforeId }),
      nextSpanMs: () => windowMs(isText, ++windows),
    },
    clock,
  )
}

/** One statement for each direction that can have lines. */
async function readWindow(
  reads: LogReads,
  { requests, attempts }: DirectedFilters,
  { hasBodies, ...window }: WalkWindow & { readonly hasBodies: boolean },
): Promise<readonly LogLineRow[]> {
  const of = (filters: LogPageFilters) => ({ ...window, ...filters })
  return newestOf(
    [
      requests === null
        ? []
        : await reads.run('requestLines', { ...of(requests), ...(hasBodies ? { bodies: 1 } : {}) }),
      attempts === null ? [] : await reads.run('attemptLines', of(attempts)),
    ],
    window.limit,
  )
}
