/** Look-ups in the facts while a request waits: bounded in time, and aware of whether the facts lag behind the log. */

import { FACTS_WRITER_GROUP, hasReached, type DecidingTopic } from '../../domain/collection/facts-lag.ts'
import type { LogProgress } from '../../ports/event-log/event-log.ts'
import { within } from '../../common/deadline.ts'

/** The hook waits 5 s in total, so the facts get less than that; a later answer is ignored. */
const LOOKUP_MS = 1_000

/** Rejects if it takes longer than a request can wait. */
export function inTime<T>(lookup: Promise<T>): Promise<T> {
  return within(lookup, LOOKUP_MS)
}

/**
 * Whether an entry of these topics was acknowledged before the call but is not in the facts yet. Rejects if the log is
 * unreachable.
 */
export async function areFactsBehind(topics: readonly DecidingTopic[], eventLog: LogProgress): Promise<boolean> {
  const progress = await Promise.all(topics.map((topic) => eventLog.progress(topic, FACTS_WRITER_GROUP)))
  return progress.some(({ done, ends }) => !hasReached(done, ends))
}
