/** Installs: a page of them with their sources, and a single one with everything that explains it. */

import { areVerdicts } from '../../domain/collection/stored-install.ts'
import { parsedAs } from '../../domain/guards.ts'
import { ownersOf } from '../../ports/facts/query-parts.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { refuse } from '../../domain/errors.ts'
import { areFilters, readFilters, type FigureFilter } from '../../domain/figures/filters.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { FoundRows } from '../../domain/logs/first-records.ts'
import { FIRST_SPAN_MS, type LogPosition } from '../../domain/logs/walk.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import { filterParameters } from '../../ports/facts/pages/figure-filters.ts'
import type { InstallFilters, InstallLineRow, VisitSourceRow } from '../../ports/facts/pages/installs.ts'
import type { InstallRow } from '../../ports/facts/query-rows.ts'
import { answer, type CallTo, type QueryValues } from '../http/call.ts'
import { refuseCursor, type Cursors } from '../logs/cursor.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { columnFilters } from '../reads/column-filters.ts'
import { readFirstRecords } from '../reads/first-records.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'
import { readVisitSources } from '../reads/visits-beside.ts'
import { walkBack, type WalkBack, type WalkWindow } from '../reads/walk-back.ts'

/** An install and the visit that it was matched to, if the visit still exists. */
export interface SourcedInstall {
  readonly install: InstallLineRow
  readonly visit: VisitSourceRow | null
}

interface InstallQuestion extends Omit<WalkBack, 'firstSpanMs'> {
  readonly filters: InstallFilters
}

interface InstallPage {
  readonly rows: readonly SourcedInstall[]
  readonly next: LogPosition | null
}

/** Newest first, with the visit of each. */
export async function readInstallPage(
  reads: OrganizationFacts,
  { filters, ...walk }: InstallQuestion,
  clock: PageClock,
): Promise<InstallPage> {
  const { rows, next } = await walkBack<InstallLineRow>(
    { ...walk, firstSpanMs: FIRST_SPAN_MS },
    {
      read: (window) => readInstallRows(reads, { ...window, ...filters }),
      positionOf: ({ received_at_ms: beforeMs, event_id: beforeId }) => ({ beforeMs, beforeId }),
    },
    clock,
  )
  const visitOf = await readVisitSources(reads, rows)
  return { rows: rows.map((install) => ({ install, visit: visitOf(install) })), next }
}

function readInstallRows(
  reads: OrganizationFacts,
  { limit: wanted, ...window }: WalkWindow & InstallFilters,
): Promise<FoundRows<InstallLineRow>> {
  return readFirstRecords(wanted, {
    keys: (limit) => reads.run('installKeys', { ...window, limit }),
    rows: (eventIds) => reads.run('installLines', { ...window, event_ids: eventIds }),
  })
}

const FILTER_COLUMNS = {
  resolution: 'resolution',
  reason: 'reason',
  policy: 'selection_policy',
  visit: 'visit_id',
  eventType: 'event_type',
  ranBy: 'ran_by',
  kind: 'kind',
  visitSince: 'visit_since_ms',
  visitUntil: 'visit_until_ms',
  leastVisitAge: 'least_visit_age_s',
  visitAgeBelow: 'visit_age_below_s',
  leftOut: 'left_out',
} as const satisfies Readonly<Record<string, keyof InstallFilters>>

export function installFilters(values: QueryValues, filters: readonly FigureFilter[]): InstallFilters {
  return { ...columnFilters<InstallFilters>(values, FILTER_COLUMNS), ...filterParameters(filters) }
}

/** What a request asks for, and when. */
export interface AskedOfList {
  readonly query: QueryValues & { readonly since?: number; readonly until?: number }
  readonly nowMs: number
}

/** The period that a query names; without one, as long as any website of the organisation keeps its facts. */
export function installPeriod({ query, nowMs }: AskedOfList): {
  readonly sinceMs: number
  readonly from: LogPosition
} {
  const { since, until } = query
  const oldestMs = nowMs - LIMITS.retentionDays.max * DAY_MS
  const newestMs = nowMs + LIMITS.clockSkewMs
  return {
    sinceMs: Math.max(since ?? oldestMs, oldestMs),
    from: { beforeMs: Math.min(until ?? newestMs, newestMs), beforeId: '' },
  }
}

export function listInstalls(scope: ReadScope, cursors: Cursors, clock: PageClock) {
  return scope(async (reads, call: CallTo<'installs'>) => {
    const list = `installs\0${reads.organization.id}`
    const { sinceMs, from: newest } = installPeriod(call)
    const { cursor } = call.query
    const from = cursor === undefined ? newest : cursors.read(list, cursor)
    if (from === null) return refuseCursor()
    const asked = readFilters(call.query.filter)
    if (!areFilters(asked)) return asked
    const filters = installFilters(call.query, asked)
    const page = await readInstallPage(reads, { filters, sinceMs, from, limit: LIMITS.logsPerPage }, clock)
    return answer({
      installs: page.rows,
      // Complete from here on; older installs were not searched yet.
      searchedBackTo: page.next === null ? sinceMs : page.next.beforeMs,
      next: page.next === null ? null : cursors.write(list, page.next),
    })
  })
}

/** One event with its verdicts, visits, deliveries and attempts. Another organisation's does not exist here. */
export function readInstall(scope: ReadScope, facts: FactsReader) {
  return scope(async (reads, call: CallTo<'install'>) => {
    const { website, event: eventId } = call.params
    if (!reads.websites.some(({ id }) => id === website)) return refuse('not_found')
    const owned = { organization: reads.organization.id, website }
    const key = { ...owned, event_id: eventId }
    const { asked } = reads
    const [[install], deliveries, attempts] = await Promise.all([
      facts.run('installByEvent', key, asked),
      facts.run('deliveriesOfInstall', key, asked),
      facts.run('attemptsOfInstall', key, asked),
    ])
    if (install === undefined) return refuse('not_found')
    const ids = visitIdsOf(install)
    const keys = { ...ownersOf(ids.map(() => owned)), visit_ids: ids }
    // Without visits these would find nothing, and would still cost three statements.
    const [visits, receipts, handoffs] = await Promise.all([
      ids.length === 0 ? Promise.resolve([]) : facts.run('visitsByIds', keys, asked),
      ids.length === 0 ? Promise.resolve([]) : facts.run('receiptHistory', keys, asked),
      ids.length === 0 ? Promise.resolve([]) : facts.run('handoffsOfVisits', keys, asked),
    ])
    return answer({ install, visits, receipts, handoffs, deliveries, attempts })
  })
}

/** Every visit that was considered, including the chosen one. */
function visitIdsOf({ verdicts, visit_id: chosen }: InstallRow): readonly string[] {
  const told = parsedAs(areVerdicts, verdicts) ?? []
  const ids = told.flatMap(({ visitId }) => (visitId === null ? [] : [visitId]))
  return [...new Set(chosen === '' ? ids : [...ids, chosen])]
}
