/**
 * Closes the gap that a kill can leave between an install's record and its remembered answer.
 *
 * An install event is answered once its record is on the log and its answer is in the hot state, in this order. If a process
 * ends in between, only the record exists: the next try of that event would be decided again, perhaps differently from what
 * is stored and delivered. Before a process accepts requests, it therefore reads the newest records of the log.
 */

import { LIMITS } from '../../domain/limits.ts'
import type { ReadEntry } from '../record-reader.ts'
import type { InstallRecord } from '../../domain/records.ts'
import type { LogTail } from '../../ports/event-log/event-log.ts'
import type { InstallVerbs } from '../../ports/hot-state/hot-state.ts'
import { answerInRecord } from '../../ports/hot-state/settled-record.ts'
import { settleAnswer } from './settle-answer.ts'

/** No claim is held longer: events of earlier entries were settled, by their own request or by the next try. */
const WINDOW_MS = LIMITS.claimLeaseMs

/** Resolves with the number of lost answers. No other process may use this log and hot state yet. */
export async function recallAnswers(parts: {
  readonly eventLog: LogTail
  readonly hotState: InstallVerbs
  readonly read: ReadEntry
}): Promise<number> {
  const { eventLog, hotState, read } = parts
  const records: InstallRecord[] = []
  for await (const entries of eventLog.readLast('installs', { windowMs: WINDOW_MS })) {
    records.push(...entries.flatMap((entry) => read('install', entry, 'installs') ?? []))
  }
  // Started in the log's order: of two records of one event, the first gets the claim and the second finds it taken.
  const outcomes = await Promise.all(
    records.map((record, index) => settleAnswer(answerInRecord(record), `recall-${index}`, hotState)),
  )
  return outcomes.filter((isRecalled) => isRecalled).length
}
