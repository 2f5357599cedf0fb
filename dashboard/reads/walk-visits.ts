/** Reads visits from the newest back, in windows so long that one statement looks up their steps in time. */

import { HOUR_MS } from '../../domain/durations.ts'
import type { FoundRows } from '../../domain/logs/first-records.ts'
import type { LogPosition } from '../../domain/logs/walk.ts'
import type { VisitFilters } from '../../ports/facts/pages/visits.ts'
import type { ScopedQueries } from './scope.ts'
import { walkBack, type PageClock, type WalkBack, type WalkWindow } from './walk-back.ts'

/** Visits whose steps one statement looks up in a quarter of a second, and visits that it looks through for these. */
const MOST_WANTED = 20_000
const MOST_VISITS = 150_000
/** No window is shorter, however many visits it has. */
const LEAST_SPAN_MS = HOUR_MS
const FIRST_SPAN_MS = 6 * HOUR_MS
const GROWS_BY = 16

export interface VisitQuestion extends Omit<WalkBack, 'firstSpanMs'> {
  readonly filters: VisitFilters
}

/** A window with visits that are asked for, and the IDs of the keys that issued them. */
type FoundWindow = WalkWindow & VisitFilters & { readonly key_ids: readonly number[] }

interface VisitWalk<Row> {
  readonly read: (window: FoundWindow) => Promise<readonly Row[]>
  readonly positionOf: (row: Row) => LogPosition
  readonly clock: PageClock
}

/** Windows without a visit that is asked for have no rows. */
export function walkVisits<Row>(
  reads: ScopedQueries,
  { filters, ...walk }: VisitQuestion,
  { read: readFound, positionOf, clock }: VisitWalk<Row>,
): Promise<{ readonly rows: readonly Row[]; readonly next: LogPosition | null }> {
  // How much fuller the last window could have been.
  let room = 1
  const read = async (window: WalkWindow): Promise<FoundRows<Row> | null> => {
    const { since_ms, until_ms } = window
    const [within] = await reads.run('visitsWithin', { since_ms, until_ms, ...filters })
    const { visits = 0, wanted = 0, key_ids = [] } = within ?? {}
    room = Math.min(MOST_WANTED / Math.max(1, wanted), MOST_VISITS / Math.max(1, visits))
    if (room < 1 && until_ms - since_ms > LEAST_SPAN_MS) return null
    return { rows: wanted === 0 ? [] : await readFound({ ...window, ...filters, key_ids }), reached: null }
  }
  return walkBack<Row>(
    { ...walk, firstSpanMs: FIRST_SPAN_MS },
    {
      read,
      positionOf,
      nextSpanMs: (spanMs) => spanMs * Math.max(1, Math.min(GROWS_BY, Math.floor(room))),
    },
    clock,
  )
}
