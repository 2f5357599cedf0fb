/** Visits one by one, each with the steps that it has reached: the list behind every number of the funnel and of sources. */

import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import type { LaterStep } from '../../domain/figures/cells.ts'
import { areFilters, readFilters, type FigureFilter } from '../../domain/figures/filters.ts'
import { isOriginDimension } from '../../domain/figures/installs.ts'
import { refuseField, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { FoundRows } from '../../domain/logs/first-records.ts'
import type { LogPosition } from '../../domain/logs/walk.ts'
import { filterParameters } from '../../ports/facts/pages/figure-filters.ts'
import type { VisitFilters, VisitLineRow } from '../../ports/facts/pages/visits.ts'
import { LATER_STEPS } from '../api/visits.ts'
import { answer, type CallTo, type QueryValues } from '../http/call.ts'
import { installPeriod } from '../installs/list.ts'
import { refuseCursor, type Cursors } from '../logs/cursor.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { columnFilters } from '../reads/column-filters.ts'
import type { OrganizationFacts, ReadScope, ScopedQueries } from '../reads/scope.ts'
import { walkBack, type WalkBack, type WalkWindow } from '../reads/walk-back.ts'

/** Visits whose steps one statement looks up in a quarter of a second, and visits that it looks through for these. */
const MOST_WANTED = 20_000
const MOST_VISITS = 150_000
/** No window is shorter, however many visits it has. */
const LEAST_SPAN_MS = HOUR_MS
const FIRST_SPAN_MS = 6 * HOUR_MS
const GROWS_BY = 16

interface VisitQuestion extends Omit<WalkBack, 'firstSpanMs'> {
  readonly filters: VisitFilters
}

/** A window with visits that are asked for, and the IDs of the keys that issued them. */
type FoundWindow = WalkWindow & VisitFilters & { readonly key_ids: readonly number[] }

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

interface VisitWalk<Row> {
  readonly read: (window: FoundWindow) => Promise<readonly Row[]>
  readonly positionOf: (row: Row) => LogPosition
  readonly clock: PageClock
}

/** In windows so long that one statement looks up their steps in time. Those without a visit that is asked for have no rows. */
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
