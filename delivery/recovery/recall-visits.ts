/**
 * Restores the newest receipts to the hot state, which buffers them in memory for a moment before it stores them. After a
 * kill in that moment, visits that were answered could not be activated until they are in ClickHouse.
 */

import { issuedAtOfVisit } from '../../domain/receipt.ts'
import type { ReadEntry } from '../record-reader.ts'
import type { VisitRecord } from '../../domain/records.ts'
import type { LogTail } from '../../ports/event-log/event-log.ts'
import type { IssuedReceipt, ReceiptVerbs } from '../../ports/hot-state/hot-state.ts'

/** Four times the hot state's buffering time, for slow disks. */
const WINDOW_MS = 2_000

/** Resolves when the hot state has them. Receipts known to be active or revoked stay so. */
export async function recallVisits(parts: {
  readonly eventLog: LogTail
  readonly hotState: ReceiptVerbs
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
  const { organization, website, visitId, issuedAtMs, previousVisitId } = visit
  const previous =
    previousVisitId === null
      ? null
      : { organization, website, visitId: previousVisitId, issuedAtMs: issuedAtOfVisit(previousVisitId) }
  return { organization, website, visitId, issuedAtMs, previous }
}
