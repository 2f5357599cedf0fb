/** Finds the visits of rows that name one each. */

import { recordKey } from '../../domain/records.ts'
import type { VisitSourceRow } from '../../ports/facts/pages/installs.ts'
import type { VisitKeys } from '../../ports/facts/query-parts.ts'
import type { OrganizationFacts } from './scope.ts'

/** What names a visit, in rows of facts. */
interface VisitReference {
  readonly website: string
  /** Empty: the row names none. */
  readonly visit_id: string
}

/** Calls `read` once, unless no row names a visit. The result gives a row's visit; null if it names none or that is gone. */
export async function visitsBeside<Visit extends VisitReference>(
  rows: readonly VisitReference[],
  read: (keys: VisitKeys) => Promise<readonly Visit[]>,
): Promise<(row: VisitReference) => Visit | null> {
  const named = rows.filter(({ visit_id: visitId }) => visitId !== '')
  if (named.length === 0) return () => null
  const keys = { websites: named.map(({ website }) => website), visit_ids: named.map((row) => row.visit_id) }
  const byKey = new Map((await read(keys)).map((visit) => [recordKey(visit.website, visit.visit_id), visit]))
  return (row) => byKey.get(recordKey(row.website, row.visit_id)) ?? null
}

/** What their visits say of where people came from. */
export function readVisitSources(
  reads: OrganizationFacts,
  rows: readonly VisitReference[],
): Promise<(row: VisitReference) => VisitSourceRow | null> {
  return visitsBeside(rows, ({ websites, visit_ids }) =>
    reads.run('visitSources', { of_websites: websites, visit_ids }),
  )
}
