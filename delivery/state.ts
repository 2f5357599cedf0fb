/** The role `state`: applies activations from the log to the hot state again, so that a store that lost some learns them. */

import { decodeRecord, type ActivationRecord } from '../domain/records.ts'
import type { Batch, BatchOutcome, EventLog } from '../ports/event-log/event-log.ts'
import type { HotState, ReceiptRef } from '../ports/hot-state/hot-state.ts'
import type { Logger } from '../runtime/logger.ts'

export interface StateDeps {
  readonly eventLog: Pick<EventLog, 'consume'>
  /** Must reject where the store is away, so that the batch comes again. */
  readonly hotState: Pick<HotState, 'learn'>
  readonly logger: Logger
}

const GROUP = 'state'
const BATCH_ACTIVATIONS = 500

/** States only climb, so applying one again, or late, changes nothing that is newer. */
export async function startState({ eventLog, hotState, logger }: StateDeps): Promise<{ stop(): Promise<void> }> {
  const handle = async (batch: Batch): Promise<BatchOutcome> => {
    const records = batch.entries.flatMap((entry) => readRecord(entry, logger) ?? [])
    await Promise.all(records.map((record) => apply(record, hotState)))
    return { done: batch.entries.length }
  }
  return eventLog.consume('activations', GROUP, handle, { maxEntries: BATCH_ACTIVATIONS })
}

async function apply(record: ActivationRecord, hotState: Pick<HotState, 'learn'>): Promise<void> {
  const { website, visitId, issuedAtMs, revokedVisitId, revokedIssuedAtMs } = record
  const previous: ReceiptRef | null =
    revokedVisitId === null || revokedIssuedAtMs === null
      ? null
      : { website, visitId: revokedVisitId, issuedAtMs: revokedIssuedAtMs }
  await hotState.learn({ website, visitId, issuedAtMs, previous }, 'active')
}

/** An entry that cannot be read would come again for ever; the facts-writer keeps it aside with its reason. */
function readRecord(
  entry: { readonly value: string; readonly key: string; readonly offset: number },
  logger: Logger,
): ActivationRecord | null {
  try {
    return decodeRecord<ActivationRecord>(entry.value)
  } catch {
    logger.error({ key: entry.key, offset: entry.offset }, 'activation cannot be read')
    return null
  }
}
