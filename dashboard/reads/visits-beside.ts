/** Finds what the visits of an organisation's rows say of where people came from. */

import type { VisitSourceRow } from '../../ports/facts/pages/installs.ts'
import type { OrganizationFacts } from './scope.ts'

/** What names a visit, in rows of facts. */
interface VisitReference {
  readonly website: string
  /** Empty: the row names none. */
  readonly visit_id: string
}

/** One query, unless no row names a visit. The result gives a row's visit; null if it names none or that is gone. */
export async function readVisitSources(
  reads: OrganizationFacts,
  rows: readonly VisitReference[],
): Promise<(row: VisitReference) => VisitSourceRow | null> {
  const named = rows.filter(({ visit_id: visitId }) => visitId !== '')
  if (named.length === 0) return () => null
  const keys = { of_websites: named.map(({ website }) => website), visit_ids: named.map((row) => row.visit_id) }
  const byKey = new Map((await reads.run('visitSources', keys)).map((visit) => [visitName(visit), visit]))
  return (row) => byKey.get(visitName(row)) ?? null
}

/** Tells the visits of one organisation apart. */
export function visitName({ website, visit_id: visitId }: VisitReference): string {
  return `${website}/${visitId}`
}
