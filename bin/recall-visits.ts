/**
 * Tells the hot state again which receipts were issued last: it keeps them in memory for a moment before it stores them, and a
 * kill in that moment would leave visits that were answered, and that nobody could activate until they are in ClickHouse.
 */

import { issuedAtOfVisit } from '../domain/receipt.ts'
import { decodeRecord, type VisitRecord } from '../domain/records.ts'
import type { EventLog, StoredEntry } from '../ports/event-log/event-log.ts'
import type { HotState, IssuedReceipt } from '../ports/hot-state/hot-state.ts'
import { newestEntries } from './newest-entries.ts'

/** Four times what the hot state holds back, for disks that are slow. */
const WINDOW_MS = 2_000

/** Resolves when the hot state knows them. Where one is known to be active or revoked already, that stays. */
export async function recallVisits(parts: {
  readonly eventLog: Pick<EventLog, 'read'>
  readonly hotState: Pick<HotState, 'putVisit'>
}): Promise<void> {
  for (const entry of await newestEntries(parts.eventLog, 'visits', WINDOW_MS)) {
    const receipt = receiptOf(entry)
    if (receipt !== null) await parts.hotState.putVisit(receipt)
  }
}

/** Null for an entry that cannot be read: the facts-writer sets it aside, and a start must not fail over it. */
function receiptOf(entry: StoredEntry): IssuedReceipt | null {
  try {
    const { website, visitId, issuedAtMs, previousVisitId } = decodeRecord<VisitRecord>(entry.value).visit
    const previous =
      previousVisitId === null
        ? null
        : { website, visitId: previousVisitId, issuedAtMs: issuedAtOfVisit(previousVisitId) }
    return { website, visitId, issuedAtMs, previous }
  } catch {
    return null
  }
}
