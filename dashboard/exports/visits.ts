/** Visits as CSV, each with where it came from and the steps that it has reached. */

import type { VisitLineRow } from '../../ports/facts/pages/visits.ts'
import { installPeriod } from '../installs/list.ts'
import type { PageClock } from '../reads/walk-back.ts'
import type { OrganizationFacts } from '../reads/scope.ts'
import { LATER_STEPS } from '../api/visits.ts'
import { readVisitPage, visitFilters } from '../visits/list.ts'
import { sourceColumns } from './installs.ts'
import { isoTime, type AskedOfTable, type ListedTable } from './table.ts'

const PAGE_ROWS = 2_500

const COLUMNS: ListedTable<VisitLineRow>['columns'] = {
  visit_at: (visit) => isoTime(visit.issued_at_ms),
  website: (visit) => visit.website,
  visit_id: (visit) => visit.visit_id,
  ...sourceColumns<VisitLineRow>((visit) => visit),
  ...Object.fromEntries(LATER_STEPS.map((step) => [step, (visit: VisitLineRow) => visit[step]])),
}

export function visitTable(reads: OrganizationFacts, asked: AskedOfTable, clock: PageClock): ListedTable<VisitLineRow> {
  const filters = visitFilters(asked.query, asked.filters)
  const { sinceMs, from } = installPeriod(asked)
  return {
    what: 'visits',
    columns: COLUMNS,
    pageRows: PAGE_ROWS,
    from,
    read: (position, limit) => readVisitPage(reads, { filters, sinceMs, from: position, limit }, clock),
  }
}
