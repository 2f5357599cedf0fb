/** Copies the decisions about pending installs into the hot state, so that repeats get them. */

import type { Batch, BatchOutcome } from '../../ports/event-log/event-log.ts'
import type { InstallVerbs, StoreVerbs } from '../../ports/hot-state/hot-state.ts'
import { matchedVisit } from '../../domain/collection/install.ts'
import { STATE_GROUP } from './late-revocations.ts'
import { createRecordReader } from '../record-reader.ts'
import { consumeReadable, type VersionGuardDeps } from '../version-guard.ts'

export interface DecidedAnswersDeps extends VersionGuardDeps {
  /** Must reject if the store is unreachable, so that the batch is redelivered. */
  readonly hotState: InstallVerbs & StoreVerbs
}

const BATCH_DECISIONS = 500

/** Of several decisions about one event the first on the log counts; the hot state keeps it. */
export async function startDecidedAnswers(deps: DecidedAnswersDeps): Promise<{ close(): Promise<void> }> {
  const { hotState } = deps
  const read = createRecordReader(deps.telemetry, STATE_GROUP)
  const handle = async (batch: Batch): Promise<BatchOutcome> => {
    for (const record of batch.entries.flatMap((entry) => read('decision', entry, batch.topic) ?? [])) {
      await hotState.decideInstall({
        organization: record.organization,
        website: record.website,
        eventId: record.eventId,
        installationId: record.installationId,
        receivedAtMs: record.receivedAtMs,
        answer: JSON.stringify(record.answer),
        matched: matchedVisit(record),
      })
    }
    await hotState.flush()
    return { done: batch.entries.length }
  }
  return consumeReadable(deps)('install_decisions', STATE_GROUP, handle, { maxEntries: BATCH_DECISIONS })
}
