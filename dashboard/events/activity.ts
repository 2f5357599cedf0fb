/** Notes in an organisation's activity what a person did in the dashboard. */

import { encodeRecord, recordKey, type ActivityRecord } from '../../domain/records.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import { timeOrderedId, type Randomness } from '../../runtime/random.ts'

/** Resolves with its ID once it is durable. Rejects with `LogUnavailable`. */
export type NoteActivity = (entry: Omit<ActivityRecord, 'v' | 'kind' | 'id' | 'atMs'>) => Promise<string>

interface NotingParts {
  readonly eventLog: LogWriter
  readonly randomness: Randomness
  readonly nowMs: () => number
}

export function createActivity({ eventLog, randomness, nowMs }: NotingParts): NoteActivity {
  return async (entry) => {
    const atMs = nowMs()
    const id = timeOrderedId(randomness, atMs)
    const record: ActivityRecord = { v: 1, kind: 'activity', id, atMs, ...entry }
    await eventLog.append('activity', [{ key: recordKey(entry, id), value: encodeRecord(record) }])
    return id
  }
}
