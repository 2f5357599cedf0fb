/** Reads which destinations were paused before this process started, so that a restart neither floods nor forgets them. */

import { destinationKey, findDestination } from '../../domain/catalog.ts'
import { isCopyBehind, type CatalogInHand } from '../../domain/published/catalog-number.ts'
import type { ProviderId } from '../../domain/providers/index.ts'
import type { ActivityType } from '../../domain/reasons.ts'
import type { LogTail } from '../../ports/event-log/event-log.ts'
import type { ReadEntry } from '../record-reader.ts'

/** Activity is rare; an older pause is rediscovered by one refused request. */
const RECALLED = 10_000

const PAUSED: ActivityType = 'destination_paused'
const RESUMED: ActivityType = 'destination_resumed'

interface PauseSource {
  readonly eventLog: LogTail
  readonly catalog: CatalogInHand
  readonly provider: ProviderId
  readonly read: ReadEntry
}

/** When each was paused, in Unix ms, by `destinationKey`; only destinations that this worker delivers to. */
export async function recallPauses(source: PauseSource): Promise<ReadonlyMap<string, number>> {
  const pausedAtMs = new Map<string, number>()
  for await (const entries of source.eventLog.readLast('activity', { entries: RECALLED })) {
    for (const stored of entries) {
      const entry = stored.value.includes('"destination_') ? source.read('activity', stored, 'activity') : null
      if (entry === null) continue
      const { organization, website, subject: destination } = entry
      const paused = { organization, website, destination, provider: source.provider }
      // One that this copy does not have yet stays paused.
      const isGone =
        findDestination(source.catalog.current(), paused) === null && !isCopyBehind(source.catalog, entry.catalogNumber)
      if (isGone) continue
      const key = destinationKey(entry, destination)
      if (entry.type === PAUSED) pausedAtMs.set(key, entry.atMs)
      if (entry.type === RESUMED) pausedAtMs.delete(key)
    }
  }
  return pausedAtMs
}
