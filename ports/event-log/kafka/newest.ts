/** Reads the newest entries of a topic in Kafka, which knows where each partition ends and what was appended when. */

import type { Newest, StoredEntry } from '../event-log.ts'
import type { PartitionRange } from './positions.ts'
import { byOffset, type PartitionEntries, type ReadRange } from './reader.ts'

/** What is asked of one topic. */
interface NewestSource {
  readonly ranges: () => Promise<readonly PartitionRange[]>
  readonly offsetsSince: (sinceMs: number) => Promise<ReadonlyMap<number, number>>
  readonly read: (ranges: readonly ReadRange[], maxEntries: number) => Promise<readonly PartitionEntries[]>
}

/** Of each partition. */
const PAGE_ENTRIES = 1_000

/** Pages of all partitions together; the ends are those of the beginning. */
export async function* newestEntries(newest: Newest, source: NewestSource): AsyncGenerator<readonly StoredEntry[]> {
  let left = await rangesOf(newest, source)
  while (left.length > 0) {
    const parts = await source.read(left, PAGE_ENTRIES)
    const entries = byOffset(parts)
    if (entries.length > 0) yield entries
    left = parts.flatMap(restOf)
  }
}

async function rangesOf(newest: Newest, source: NewestSource): Promise<readonly ReadRange[]> {
  const all = (await source.ranges()).filter(({ low, end }) => low < end)
  if ('entries' in newest) {
    return all.map(({ partition, low, end }) => ({ partition, from: Math.max(low, end - newest.entries), end }))
  }
  if (all.length === 0) return []
  const last = await source.read(
    all.map(({ partition, end }) => ({ partition, from: end - 1, end })),
    1,
  )
  const newestMs = Math.max(...byOffset(last).map(({ appendedAtMs }) => appendedAtMs))
  const starts = await source.offsetsSince(newestMs - newest.windowMs)
  return all.map(({ partition, end }) => ({ partition, from: starts.get(partition) ?? end, end }))
}

/** Nothing came although something was asked for: what was there has been deleted, or is none of the entries. */
function restOf({ partition, entries, end }: PartitionEntries): readonly ReadRange[] {
  const from = (entries.at(-1)?.offset ?? end) + 1
  return from < end ? [{ partition, from, end }] : []
}
