/** Looks up in the facts which receipt another one replaced: visits record that. */

import { issuedAtOfVisit } from '../../domain/receipt.ts'
import { recordKey } from '../../domain/records.ts'
import type { ReceiptRef } from '../../ports/hot-state/hot-state.ts'
import type { FactsReader } from '../dispatch/reads.ts'

/**
 * By `recordKey` of website and visit ID: the receipt that was replaced, or null for none. Absent if the visit is
 * missing.
 */
export type Predecessors = ReadonlyMap<string, ReceiptRef | null>

/** One query; at most `MAX_KEYS` receipts. */
export async function readPredecessors(
  facts: FactsReader,
  receipts: readonly Pick<ReceiptRef, 'website' | 'visitId'>[],
): Promise<Predecessors> {
  if (receipts.length === 0) return new Map()
  const rows = await facts.run('previousVisits', {
    websites: receipts.map(({ website }) => website),
    visit_ids: receipts.map(({ visitId }) => visitId),
  })
  return new Map(
    rows.map(({ website, visit_id: visitId, previous_visit_id: previousId }) => [
      recordKey(website, visitId),
      previousId === '' ? null : { website, visitId: previousId, issuedAtMs: issuedAtOfVisit(previousId) },
    ]),
  )
}
