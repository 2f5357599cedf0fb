/**
 * The role `state` keeps the hot state complete: it applies activations from the log again, in case a store has lost
 * some, refills a lost store from the facts (`refill.ts`), makes late revocations (`late-revocations.ts`), and copies
 * the decisions about pending installs (`decided-answers.ts`).
 */

import { unlessAborted } from '../../common/deadline.ts'
import { every } from '../../common/every.ts'
import type { ActivationRecord } from '../../domain/records.ts'
import type { Batch, BatchOutcome, Consumer } from '../../ports/event-log/event-log.ts'
import type { Predecessor, ReceiptVerbs } from '../../ports/hot-state/hot-state.ts'
import { startDecidedAnswers, type DecidedAnswersDeps } from './decided-answers.ts'
import { LateRevocations, STATE_GROUP, type LateRevocationDeps } from './late-revocations.ts'
import { createRecordReader } from '../record-reader.ts'
import { createRefill, type RefillDeps } from '../recovery/refill.ts'
import { consumeReadable } from '../version-guard.ts'

/** The hot state must reject if the store is unreachable, so that the batch is redelivered. */
type StateDeps = LateRevocationDeps & DecidedAnswersDeps & RefillDeps

const BATCH_ACTIVATIONS = 500

/** More than a failover of the store can have lost: replication is asynchronous, and takes seconds. */
const REWIND_MS = 600_000
const REWIND_AGAIN_MS = 2_000

export interface StateRole {
  /**
   * The store has lost something: applies the last ten minutes again, as soon as the log allows it, and then everything in the
   * facts.
   */
  storeLost(): void
  close(): Promise<void>
}

/** States only move forward, so applying one again, or late, changes nothing that is newer. */
export async function startState(deps: StateDeps): Promise<StateRole> {
  const { hotState } = deps
  const late = new LateRevocations(deps)
  const read = createRecordReader(deps.telemetry, STATE_GROUP)
  const handle = async (batch: Batch): Promise<BatchOutcome> => {
    const records = batch.entries.flatMap((entry) => read('activation', entry, batch.topic) ?? [])
    await Promise.all(records.map((record) => learnActivation(record, hotState)))
    await late.take(records)
    return { done: batch.entries.length }
  }
  const consumer = await consumeReadable(deps)('activations', STATE_GROUP, handle, {
    maxEntries: BATCH_ACTIVATIONS,
  })
  const rewindable = rewinding(consumer, deps)
  const refill = createRefill(deps)
  const parts: { close(): Promise<void> }[] = [rewindable, late, refill]
  const close = async (): Promise<void> => {
    await Promise.all(parts.map((part) => part.close()))
  }
  try {
    await late.start()
    parts.push(await startDecidedAnswers(deps))
  } catch (error) {
    await close()
    throw error
  }
  return {
    storeLost() {
      rewindable.storeLost()
      refill.request()
    },
    close,
  }
}

/** Only activations are rewound: waiting entries have their own due times. */
function rewinding(consumer: Consumer, { telemetry, nowMs }: StateDeps): StateRole {
  const { logger } = telemetry
  /** Since when activations are to be applied again. */
  let lostAtMs: number | null = null
  const rewind = async (): Promise<void> => {
    if (lostAtMs === null) return
    const fromMs = lostAtMs
    lostAtMs = null
    try {
      await consumer.rewind(fromMs - REWIND_MS)
    } catch (error) {
      // Earlier than a loss that was noticed meanwhile.
      lostAtMs = fromMs
      throw error
    }
    logger.warn({ sinceMs: fromMs - REWIND_MS }, 'applying activations again')
  }
  const rewinds = every(Infinity, (signal) => unlessAborted(signal, rewind), {
    retryMs: REWIND_AGAIN_MS,
    onFailure: (error) => logger.warn({ err: error, task: 'rewind' }, 'activations cannot be applied again yet'),
  })
  return {
    storeLost() {
      lostAtMs ??= nowMs()
      rewinds.now()
    },
    async close() {
      await Promise.all([rewinds.close(), consumer.close()])
    },
  }
}

async function learnActivation(record: ActivationRecord, hotState: ReceiptVerbs): Promise<void> {
  const { organization, website, visitId, issuedAtMs } = record
  const previous = predecessorInRecord(record)
  await hotState.learn({ organization, website, visitId, issuedAtMs, previous }, 'active')
}

function predecessorInRecord({
  organization,
  website,
  revokedVisitId,
  revokedIssuedAtMs,
  isPredecessorUnknown,
}: ActivationRecord): Predecessor {
  if (isPredecessorUnknown) return 'unknown'
  if (revokedVisitId === null || revokedIssuedAtMs === null) return null
  return { organization, website, visitId: revokedVisitId, issuedAtMs: revokedIssuedAtMs }
}
