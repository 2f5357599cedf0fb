/**
 * Tells the hot state again which receipts were issued last: it keeps them in memory for a moment before it stores them, and a
 * kill in that moment would leave visits that were answered, and that nobody could activate until they are in ClickHouse.
 */

import { issuedAtOfVisit } from '../../domain/receipt.ts'
import type { ReadEntry } from '../record-reader.ts'
import type { VisitRecord } from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { HotState, IssuedReceipt } from '../../ports/hot-state/hot-state.ts'

/** Four times what the hot state holds back, for disks that are slow. */
const WINDOW_MS = 2_000

/** Resolves when the hot state knows them. Where one is known to be active or revoked already, that stays. */
export async function recallVisits(parts: {
  readonly eventLog: Pick<EventLog, 'readLast'>
  readonly hotState: Pick<HotState, 'putVisit'>
  readonly read: ReadEntry
}): Promise<void> {
  for await (const entries of parts.eventLog.readLast('visits', { windowMs: WINDOW_MS })) {
    for (const entry of entries) {
      const record = parts.read('visit', entry, 'visits')
      if (record !== null) await parts.hotState.putVisit(receiptOf(record))
    }
  }
}

function receiptOf({ visit }: VisitRecord): IssuedReceipt {
  const { website, visitId, issuedAtMs, previousVisitId } = visit
  const previous =
    previousVisitId === null
      ? null
      : { website, visitId: previousVisitId, issuedAtMs: issuedAtOfVisit(previousVisitId) }
  return { website, visitId, issuedAtMs, previous }
}
