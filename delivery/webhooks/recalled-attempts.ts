/** Remembers at the start which attempts were recorded just before, so that what comes again after a crash is not sent again. */

import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { ReadEntry } from '../record-reader.ts'
import { attemptKey } from './calls.ts'

/** More than one partition can have open beyond its position. */
const RECALLED = 10_000

/** By `attemptKey`. */
export async function recallAttempts(
  eventLog: Pick<EventLog, 'readLast'>,
  read: ReadEntry,
): Promise<ReadonlySet<string>> {
  const recalled = new Set<string>()
  for await (const entries of eventLog.readLast('webhook_attempts', { entries: RECALLED })) {
    for (const entry of entries) {
      const record = read('fact', entry, 'webhook_attempts')
      if (record?.kind !== 'webhook_attempt' || record.state === 'waiting') continue
      recalled.add(attemptKey({ messageId: record.messageId, attempts: record.number - 1 }))
    }
  }
  return recalled
}
