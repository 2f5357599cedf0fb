/**
 * Counts visits and the steps that they reached, by any filters at once. Figures count hours in advance, by one value each; two
 * together are counted from the facts, in slices of time from the newest back, a second's worth for each request.
 */

import { recordOf } from '../../domain/typed-keys.ts'
import { VISIT_STEPS } from '../../domain/figures/cells.ts'
import { areFilters } from '../../domain/figures/filters.ts'
import type { VisitCountsRow } from '../../ports/facts/pages/visits.ts'
import { answer, type CallTo } from '../http/call.ts'
import { installPeriod } from '../installs/list.ts'
import { refuseCursor, type Cursors } from '../logs/cursor.ts'
import type { ReadScope } from '../reads/scope.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { walkVisits } from '../reads/walk-visits.ts'
import { readVisitFilters, visitFilters } from './list.ts'

/** A request ends by its time, not by a number of slices. */
const MOST_SLICES = 1_000_000

export function countVisits(scope: ReadScope, cursors: Cursors, clock: PageClock) {
  return scope(async (reads, call: CallTo<'visitCounts'>) => {
    const list = `visit counts\0${reads.organization.id}`
    const { sinceMs, from: newest } = installPeriod(call)
    const { cursor } = call.query
    const from = cursor === undefined ? newest : cursors.read(list, cursor)
    if (from === null) return refuseCursor()
    const asked = readVisitFilters(call.query.filter)
    if (!areFilters(asked)) return asked
    const filters = visitFilters(call.query, asked)
    const { rows, next } = await walkVisits<VisitCountsRow>(
      reads,
      { filters, sinceMs, from, limit: MOST_SLICES },
      {
        read: ({ limit: _, ...window }) => reads.run('visitCounts', window),
        // Every slice is counted as a whole.
        positionOf: () => from,
        clock,
      },
    )
    return answer({
      // Of this request; those of the requests before it are to be added.
      counts: sumOfSlices(rows),
      // Older visits were not counted yet.
      countedBackTo: next === null ? sinceMs : next.beforeMs,
      next: next === null ? null : cursors.write(list, next),
    })
  })
}

function sumOfSlices(rows: readonly VisitCountsRow[]): VisitCountsRow {
  return recordOf(VISIT_STEPS, (step) => rows.reduce((sum, row) => sum + row[step], 0))
}
