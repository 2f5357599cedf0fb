/** Records what has happened, however long the log is away: if the work came again instead, somebody would be called again. */

import { setTimeout as pause } from 'node:timers/promises'

import type { Topic } from '../domain/records.ts'
import type { Entry, LogWriter } from '../ports/event-log/event-log.ts'

/** Nobody but a role waits for these appends, so they may take longer than those of a request. */
const APPEND_DEADLINE_MS = 5_000
const APPEND_TRIES = 4
const APPEND_PAUSE_MS = 250
/** Between two tries, after those that an append itself makes. */
const AGAIN_MS = { first: 500, most: 10_000 }

/** Rejects like the log, and only once `signal` is aborted because the process stops. */
export async function appendUntilStopped(
  { eventLog, signal }: { readonly eventLog: LogWriter; readonly signal: AbortSignal },
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

/** Appends one entry and retries for a few seconds: what it records has already happened and must not be lost. */
export async function appendWithRetries(
  eventLog: LogWriter,
  topic: Topic,
  entry: { readonly key: string; readonly value: string },
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await eventLog.append(topic, [entry], { deadlineMs: APPEND_DEADLINE_MS })
      return
    } catch (error) {
      if (tries >= APPEND_TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, APPEND_PAUSE_MS * tries))
    }
  }
}
