/** Takes the due entries from a batch of a tier, a topic in which entries wait for a time. */

import { leavesTierAtMs } from '../domain/delivery/attempts.ts'
import type { TierName } from '../domain/records.ts'
import type { Batch, BatchOutcome, StoredEntry } from '../ports/event-log/event-log.ts'

interface DueEntries<T> {
  readonly due: readonly T[]
  /** For the batch, once the due ones are handled. */
  readonly outcome: BatchOutcome
}

interface TierReading<T> {
  /** Null for a topic in which nothing waits: all entries are due. */
  readonly tier: TierName | null
  readonly nowMs: () => number
  /** Null for an unreadable entry; it counts as done. */
  readonly read: (entry: StoredEntry) => T | null
}

/**
 * Entries from the front that are due. The first that is not due ends them, and the batch is redelivered from there
 * when it is.
 */
export function takeDue<T extends { readonly dueAtMs: number }>(
  { entries }: Batch,
  { tier, nowMs, read }: TierReading<T>,
): DueEntries<T> {
  const due: T[] = []
  for (const [done, entry] of entries.entries()) {
    const waiting = read(entry)
    if (waiting === null) continue
    if (tier !== null) {
      const leavesAtMs = leavesTierAtMs({ dueAtMs: waiting.dueAtMs, enteredAtMs: entry.appendedAtMs, tier })
      if (leavesAtMs > nowMs()) return { due, outcome: { done, resumeAtMs: leavesAtMs } }
    }
    due.push(waiting)
  }
  return { due, outcome: { done: entries.length } }
}
