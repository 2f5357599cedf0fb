/** Finds where a topic ends, and reads the last of its entries, as the log itself tells no end. */

import type { Topic } from '../../domain/records.ts'
import type { EventLog, StoredEntry } from '../../ports/event-log/event-log.ts'

const READ_ENTRIES = 1_000

/** The last entries of a topic, oldest first, handed over a page at a time. */
export async function* lastEntries(
  eventLog: Pick<EventLog, 'read'>,
  topic: Topic,
  most: number,
): AsyncGenerator<readonly StoredEntry[]> {
  const endOffset = await endOf(eventLog, topic)
  let offset = Math.max(0, endOffset - most)
  while (offset < endOffset) {
    const entries = await eventLog.read(topic, offset, READ_ENTRIES)
    // A log of several partitions has several entries at one offset: a page may end before as many offsets as entries.
    offset = (entries.at(-1)?.offset ?? endOffset) + 1
    yield entries
  }
}

/** Found by halving: at most some fifty reads of one entry. */
async function endOf(eventLog: Pick<EventLog, 'read'>, topic: Topic): Promise<number> {
  const isBefore = async (offset: number): Promise<boolean> => (await eventLog.read(topic, offset, 1)).length > 0
  let above = 1
  while (above < Number.MAX_SAFE_INTEGER / 2 && (await isBefore(above))) above *= 2
  let low = 0
  while (low < above) {
    const middle = Math.floor((low + above) / 2)
    if (await isBefore(middle)) low = middle + 1
    else above = middle
  }
  return low
}
