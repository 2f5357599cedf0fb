/** Remembers at the start which attempts were recorded just before, so that what comes again after a crash is not sent again. */

import { readRecord } from '../../domain/read-record.ts'
import type { LogTail } from '../../ports/event-log/event-log.ts'
import { webhookAttemptKey } from './calls.ts'

/** More than one partition can have open beyond its position. */
const RECALLED = 10_000

/** By `webhookAttemptKey`. What cannot be read is left to the facts-writer, which keeps it. */
export async function recallAttempts(eventLog: LogTail): Promise<ReadonlySet<string>> {
  const recalled = new Set<string>()
  for await (const entries of eventLog.readLast('webhook_attempts', { entries: RECALLED })) {
    for (const { value } of entries) {
      const reading = readRecord('fact', value)
      if (reading.kind !== 'record' || reading.record.kind !== 'webhook_attempt') continue
      const { messageId, number, state } = reading.record
      if (state !== 'waiting') recalled.add(webhookAttemptKey({ messageId, attempts: number - 1 }))
    }
  }
  return recalled
}
