/** Reads back which destinations were paused before this process, so that a restart neither floods nor forgets them. */

import { destinationKey, type Catalog } from '../../domain/catalog.ts'
import type { ProviderId } from '../../domain/providers/index.ts'
import type { ActivityRecord } from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { ReadEntry } from '../record-reader.ts'

/** Activity is rare; an older pause is rediscovered by one refused request. */
const RECALLED = 10_000

interface PauseSource {
  readonly eventLog: Pick<EventLog, 'readLast'>
  readonly catalog: () => Catalog
  readonly provider: ProviderId
  readonly read: ReadEntry
}

/** Since when each is paused, in Unix ms, by `destinationKey`; only destinations that this worker delivers to. */
export async function recallPauses(source: PauseSource): Promise<ReadonlyMap<string, number>> {
  const pausedAtMs = new Map<string, number>()
  for await (const entries of source.eventLog.readLast('activity', { entries: RECALLED })) {
    for (const stored of entries) {
      const entry = stored.value.includes('"destination_') ? source.read('activity', stored, 'activity') : null
      if (entry === null || !isOurs(source, entry)) continue
      const key = destinationKey(entry.website, entry.subject)
      if (entry.type === 'destination_paused') pausedAtMs.set(key, entry.atMs)
      if (entry.type === 'destination_resumed') pausedAtMs.delete(key)
    }
  }
  return pausedAtMs
}

function isOurs({ catalog, provider }: PauseSource, { website, subject }: ActivityRecord): boolean {
  const destinations = catalog().websites.get(website)?.destinations ?? []
  return destinations.some((each) => each.id === subject && each.provider === provider)
}
