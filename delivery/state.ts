/** The role `state`: applies activations from the log to the hot state again, so that a store that lost some learns them. */

import { decodeRecord, type ActivationRecord } from '../domain/records.ts'
import type { Batch, BatchOutcome, Consumer, EventLog } from '../ports/event-log/event-log.ts'
import type { HotState, ReceiptRef } from '../ports/hot-state/hot-state.ts'
import type { Logger } from '../runtime/logger.ts'

export interface StateDeps {
  readonly eventLog: Pick<EventLog, 'consume'>
  /** Must reject where the store is away, so that the batch comes again. */
  readonly hotState: Pick<HotState, 'learn'>
  readonly logger: Logger
  readonly nowMs: () => number
}

const GROUP = 'state'
const BATCH_ACTIVATIONS = 500

/** What a failover of the store can have lost, and more: it is asynchronous, and takes seconds. */
const REWIND_MS = 600_000
const REWIND_AGAIN_MS = 2_000

export interface StateRole {
  /** The store has lost something: applies the last ten minutes again, as soon as the log lets it. */
  storeLost(): void
  stop(): Promise<void>
}

/** States only climb, so applying one again, or late, changes nothing that is newer. */
export async function startState({ eventLog, hotState, logger, nowMs }: StateDeps): Promise<StateRole> {
  const handle = async (batch: Batch): Promise<BatchOutcome> => {
    const records = batch.entries.flatMap((entry) => readRecord(entry, logger) ?? [])
    await Promise.all(records.map((record) => apply(record, hotState)))
    return { done: batch.entries.length }
  }
  const consumer = await eventLog.consume('activations', GROUP, handle, { maxEntries: BATCH_ACTIVATIONS })
  return rewinding(consumer, { logger, nowMs })
}

function rewinding(consumer: Consumer, { logger, nowMs }: Pick<StateDeps, 'logger' | 'nowMs'>): StateRole {
  let lostAtMs: number | null = null
  let timer: NodeJS.Timeout | null = null
  let isStopped = false
  const rewind = async (): Promise<void> => {
    timer = null
    const sinceMs = (lostAtMs ?? nowMs()) - REWIND_MS
    lostAtMs = null
    try {
      await consumer.rewind(sinceMs)
      logger.warn({ sinceMs }, 'applying activations again')
    } catch (error) {
      if (isStopped) return
      logger.warn({ err: error }, 'activations cannot be applied again yet')
      lostAtMs ??= sinceMs + REWIND_MS
      timer ??= setTimeout(() => void rewind(), REWIND_AGAIN_MS)
    }
  }
  return {
    storeLost() {
      lostAtMs ??= nowMs()
      timer ??= setTimeout(() => void rewind(), 0)
    },
    async stop() {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
      await consumer.stop()
    },
  }
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
