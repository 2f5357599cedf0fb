/** Records what has happened, however long the log is away: if the work came again instead, somebody would be called again. */

import { setTimeout as pause } from 'node:timers/promises'

import type { Topic } from '../domain/records.ts'
import type { Entry, EventLog } from '../ports/event-log/event-log.ts'
import { appendWithRetries } from './worker/job-journal.ts'

/** Between two tries, after those that an append itself makes. */
const AGAIN_MS = { first: 500, most: 10_000 }

/** Rejects like the log, and only once `signal` is aborted because the process stops. */
export async function appendUntilStopped(
  { eventLog, signal }: { readonly eventLog: Pick<EventLog, 'append'>; readonly signal: AbortSignal },
  topic: Topic,
  entry: Entry,
): Promise<void> {
  for (let pauseMs = AGAIN_MS.first; ; pauseMs = Math.min(2 * pauseMs, AGAIN_MS.most)) {
    try {
      return await appendWithRetries(eventLog, topic, entry)
    } catch (error) {
      if (signal.aborted) throw error
      await pause(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
