/** Visits one by one, each with the steps that it has reached: the list behind every number of the funnel and of sources. */

import { DAY_MS } from '../../domain/durations.ts'
import type { LaterStep } from '../../domain/figures/cells.ts'
import { areFilters, readFilters, type FigureFilter } from '../../domain/figures/filters.ts'
import { isOriginDimension } from '../../domain/figures/installs.ts'
import { refuseField, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { LogPosition } from '../../domain/logs/walk.ts'
import { filterParameters } from '../../ports/facts/pages/figure-filters.ts'
import type { VisitFilters, VisitLineRow } from '../../ports/facts/pages/visits.ts'
import { LATER_STEPS } from '../api/visits.ts'
import { answer, type CallTo, type QueryValues } from '../http/call.ts'
import { installPeriod } from '../installs/list.ts'
import { refuseCursor, type Cursors } from '../logs/cursor.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { columnFilters } from '../reads/column-filters.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'
import { walkVisits, type VisitQuestion } from '../reads/walk-visits.ts'

interface FoundVisits {
  readonly rows: readonly VisitLineRow[]
  readonly next: LogPosition | null
}

export function readVisitPage(
  reads: OrganizationFacts,
  question: VisitQuestion,
  clock: PageClock,
): Promise<FoundVisits> {
  return walkVisits<VisitLineRow>(reads, question, {
    read: (window) => reads.run('visitLines', window),
    positionOf: ({ issued_at_ms: beforeMs, visit_id: beforeId }) => ({ beforeMs, beforeId }),
    clock,
  })
}

const FILTER_COLUMNS = { step: 'step', agent: 'agent' } as const satisfies Readonly<Record<string, keyof VisitFilters>>

/** Refuses filters on machines, which fit no visit. */
export function readVisitFilters(texts: readonly string[] | undefined): readonly FigureFilter[] | Refusal {
  const filters = readFilters(texts)
  if (!areFilters(filters)) return filters
  const ofMachine = filters.find(({ dimension }) => !isOriginDimension(dimension))
  return ofMachine === undefined ? filters : refuseField('/filter', `${ofMachine.dimension} is none of visits`)
}

export function visitFilters(values: QueryValues, filters: readonly FigureFilter[]): VisitFilters {
  return { ...columnFilters<VisitFilters>(values, FILTER_COLUMNS), ...filterParameters(filters) }
}

export function listVisits(scope: ReadScope, cursors: Cursors, clock: PageClock) {
  return scope(async (reads, call: CallTo<'visits'>) => {
    const list = `visits\0${reads.organization.id}`
    const { sinceMs, from: newest } = installPeriod(call)
    const { cursor } = call.query
    const from = cursor === undefined ? newest : cursors.read(list, cursor)
    if (from === null) return refuseCursor()
    const asked = readVisitFilters(call.query.filter)
    if (!areFilters(asked)) return asked
    const filters = visitFilters(call.query, asked)
    const page = await readVisitPage(reads, { filters, sinceMs, from, limit: LIMITS.logsPerPage }, clock)
    return answer({
      visits: page.rows.map(shownVisit),
      // Complete from here on; older visits were not searched yet.
      searchedBackTo: page.next === null ? sinceMs : page.next.beforeMs,
      // Older lines are gone, so nobody is sent there.
      logsSince: call.nowMs - reads.organization.logRetentionDays * DAY_MS,
      next: page.next === null ? null : cursors.write(list, page.next),
    })
  })
}

function shownVisit({ activated, copied, started, installed, first_run, converted, ...visit }: VisitLineRow) {
  const reached: Readonly<Record<LaterStep, number>> = { activated, copied, started, installed, first_run, converted }
  return { visit, reached: LATER_STEPS.filter((step) => reached[step] > 0) }
}
