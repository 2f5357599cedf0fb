/** Cancels a replay of decisions for the operator of the service. */

import { randomBytes } from 'node:crypto'

import { cancelEntry } from '../../domain/collection/replay-decision.ts'
import { LIMITS } from '../../domain/limits.ts'
import { encodeRecord, recordKey, type ActivityRecord } from '../../domain/records.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'

interface CancelDeps {
  readonly facts: FactsReader
  readonly eventLog: LogWriter
  readonly nowMs: () => number
}

const ID_BYTES = 16
const MOST_OPEN = 10_000

/** False if no replay of this ID waits or runs. Rejects like `Facts` and the log. */
export async function cancelOpenReplay({ facts, eventLog, nowMs }: CancelDeps, id: string): Promise<boolean> {
  const open = await facts.run('openReplays', { limit: MOST_OPEN })
  const replay = open.find((each) => each.id === id)
  if (replay === undefined) return false
  const record: ActivityRecord = {
    v: 1,
    kind: 'activity',
    id: randomBytes(ID_BYTES).toString('hex'),
    atMs: nowMs(),
    organization: replay.organization,
    ...cancelEntry(replay),
    logRetentionDays: LIMITS.logRetentionDays.fallback,
  }
  await eventLog.append('activity', [{ key: recordKey(replay, record.id), value: encodeRecord(record) }])
  return true
}
