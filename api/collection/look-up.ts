/** Looking something up in the facts while a request waits: within a bound, and knowing whether they are behind the log. */

import { FACTS_WRITER_GROUP, hasReached, type DecidingTopic } from '../../domain/collection/facts-lag.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'

/** The hook waits 5 s in all, so the facts get less than that; what they say later is not heard. */
const LOOKUP_MS = 1_000

/** Rejects where it takes longer than a request can wait. */
export async function inTime<T>(lookup: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${LOOKUP_MS} ms`)), LOOKUP_MS)
  })
  try {
    return await Promise.race([lookup, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether something of these topics was acknowledged before the call and is not among the facts. Rejects where the log is away. */
export async function areFactsBehind(
  topics: readonly DecidingTopic[],
  eventLog: Pick<EventLog, 'progress'>,
): Promise<boolean> {
  const progress = await Promise.all(topics.map((topic) => eventLog.progress(topic, FACTS_WRITER_GROUP)))
  return progress.some(({ done, ends }) => !hasReached(done, ends))
}
