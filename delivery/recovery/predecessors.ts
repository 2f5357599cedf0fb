/** Looks up in the facts which receipt another one replaced: visits record that. */

import { issuedAtOfVisit } from '../../domain/receipt.ts'
import { recordKey } from '../../domain/records.ts'
import type { ReceiptRef } from '../../ports/hot-state/hot-state.ts'
import { ownersOf } from '../../ports/facts/query-parts.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { VisitRef } from '../dispatch/reads.ts'

/**
 * By `recordKey` of the visit: the receipt that was replaced, or null for none. Absent if the visit is
 * missing.
 */
export type Predecessors = ReadonlyMap<string, ReceiptRef | null>

/** One query; at most `MAX_KEYS` receipts. */
export async function readPredecessors(facts: FactsReader, receipts: readonly VisitRef[]): Promise<Predecessors> {
  if (receipts.length === 0) return new Map()
  const rows = await facts.run('previousVisits', {
    ...ownersOf(receipts),
    visit_ids: receipts.map(({ visitId }) => visitId),
  })
  return new Map(
    rows.map((row) => {
      const { organization, website, visit_id: visitId, previous_visit_id: previousId } = row
      const replaced = { organization, website, visitId: previousId }
      return [
        recordKey(row, visitId),
        previousId === '' ? null : { ...replaced, issuedAtMs: issuedAtOfVisit(previousId) },
      ]
    }),
  )
}
