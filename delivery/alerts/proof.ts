/** Up to which moment the facts are known to hold what came in: what the log had then has reached them since. */

import { FACTS_WRITER_GROUP, hasReached, type Offsets } from '../../domain/collection/facts-lag.ts'
import type { LogProgress } from '../../ports/event-log/event-log.ts'

/** What alerts are judged by, and the alerts themselves. */
const TOPICS = ['visits', 'activations', 'handoffs', 'installs', 'install_decisions', 'deliveries', 'alerts'] as const

interface Awaited {
  readonly atMs: number
  readonly ends: readonly Offsets[]
}

/** Resolves with that moment, Unix ms; null until the facts have caught up for the first time, and while they lag. Rejects while the log is unreachable. */
export type ProveFacts = () => Promise<number | null>

export function createFactsProof(eventLog: LogProgress, nowMs: () => number): ProveFacts {
  let awaited: Awaited | null = null
  return async () => {
    const atMs = nowMs()
    const progress = await Promise.all(TOPICS.map((topic) => eventLog.progress(topic, FACTS_WRITER_GROUP)))
    const has = (ends: readonly Offsets[]): boolean =>
      progress.every(({ done }, place) => hasReached(done, ends[place] ?? []))
    const ends = progress.map((each) => each.ends)
    // On a busy log the newest entries are never all done: those that an earlier look saw are.
    const proven = has(ends) ? atMs : awaited !== null && has(awaited.ends) ? awaited.atMs : null
    if (proven !== null) awaited = null
    awaited ??= { atMs, ends }
    return proven
  }
}
