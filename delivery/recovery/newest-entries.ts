/** Reads the newest entries of a topic, for a start that must know what the last moments before it were. */

import type { Topic } from '../../domain/records.ts'
import type { EventLog, StoredEntry } from '../../ports/event-log/event-log.ts'

type Reading = Pick<EventLog, 'read'>

const PAGE_ENTRIES = 1_000

/** The entries appended within the window before the topic's last one, oldest first. */
export async function newestEntries(
  eventLog: Reading,
  topic: Topic,
  windowMs: number,
): Promise<readonly StoredEntry[]> {
  const end = await endOffset(eventLog, topic)
  let newest: readonly StoredEntry[] = []
  for (let to = end; to > 0; to -= PAGE_ENTRIES) {
    const from = Math.max(0, to - PAGE_ENTRIES)
    const page = (await eventLog.read(topic, from, to - from)).filter(({ offset }) => offset < to)
    newest = [...page, ...newest]
    const oldestAllowedMs = (newest.at(-1)?.appendedAtMs ?? 0) - windowMs
    if ((page[0]?.appendedAtMs ?? 0) < oldestAllowedMs || page.length === 0) {
      return newest.filter(({ appendedAtMs }) => appendedAtMs >= oldestAllowedMs)
    }
  }
  return newest
}

/** The offset after the last entry, found by halving: a log tells its entries, not its length. */
async function endOffset(eventLog: Reading, topic: Topic): Promise<number> {
  const next = async (from: number): Promise<number | null> => {
    const [entry] = await eventLog.read(topic, from, 1)
    return entry === undefined ? null : entry.offset + 1
  }
  let low = (await next(0)) ?? 0
  let high = low
  for (let found = await next(high); found !== null; found = await next(high)) {
    low = found
    high = found * 2
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const found = await next(middle)
    if (found === null) high = middle
    else low = found
  }
  return low
}
