/** Installs as CSV, each with where it came from. */

import { SOURCE_COLUMN_NAMES, SOURCE_COLUMNS, type VisitSource } from '../../domain/collection/visit-source.ts'
import type { OrganizationFacts } from '../reads/scope.ts'
import { installFilters, installPeriod, readInstallPage, type SourcedInstall } from '../installs/list.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { isoTime, isoTimeOrNull, type AskedOfTable, type ListedTable } from './table.ts'

/** A statement for these takes 200 ms of processor time among 2 million install events, of 250 ms that it may take. */
const PAGE_ROWS = 2_000

type CellOf<Row> = (row: Row) => string | number | null

/** Where a visit came from, a column each. */
export function sourceColumns<Row>(visitOf: (row: Row) => VisitSource | null): Readonly<Record<string, CellOf<Row>>> {
  return Object.fromEntries(
    SOURCE_COLUMN_NAMES.map((name): [string, CellOf<Row>] => [
      SOURCE_COLUMNS[name].csv,
      (row) => visitOf(row)?.[name] ?? null,
    ]),
  )
}

const COLUMNS: ListedTable<SourcedInstall>['columns'] = {
  received_at: ({ install }) => isoTime(install.received_at_ms),
  website: ({ install }) => install.website,
  event_id: ({ install }) => install.event_id,
  event_type: ({ install }) => install.event_type,
  installation_id: ({ install }) => install.installation_id,
  install_path: ({ install }) => install.install_path,
  platform: ({ install }) => install.platform,
  arch: ({ install }) => install.arch,
  agent: ({ install }) => install.agent,
  product_version: ({ install }) => install.product_version,
  place: ({ install }) => install.place,
  country: ({ install }) => install.country,
  ci: ({ install }) => String(install.is_ci),
  container: ({ install }) => String(install.is_container),
  test: ({ install }) => String(install.is_test),
  resolution: ({ install }) => install.resolution,
  selection_policy: ({ install }) => install.selection_policy,
  candidate_count: ({ install }) => install.candidate_count,
  reason: ({ install }) => install.reason,
  visit_id: ({ install }) => install.visit_id,
  visit_at: ({ install }) => isoTimeOrNull(install.visit_issued_at_ms),
  ...sourceColumns<SourcedInstall>(({ visit }) => visit),
}

export function installTable(
  reads: OrganizationFacts,
  asked: AskedOfTable,
  clock: PageClock,
): ListedTable<SourcedInstall> {
  const filters = installFilters(asked.query, asked.filters)
  const { sinceMs, from } = installPeriod(asked)
  return {
    what: 'installs',
    columns: COLUMNS,
    pageRows: PAGE_ROWS,
    from,
    read: (position, limit) => readInstallPage(reads, { filters, sinceMs, from: position, limit }, clock),
  }
}
