/** Reads back which destinations were paused before this process, so that a restart neither hammers nor forgets them. */

import { destinationKey, type Catalog } from '../../domain/catalog.ts'
import type { ProviderId } from '../../domain/model.ts'
import type { ActivityRecord } from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { DestinationGate } from '../worker/destination-gate.ts'
import { lastEntries } from './log-end.ts'
import type { ReadEntry } from '../record-reader.ts'

/** Activity is rare; a pause further back is found out again by one refused request. */
const RECALLED = 10_000

export interface PauseSource {
  readonly eventLog: Pick<EventLog, 'read'>
  readonly catalog: () => Catalog
  readonly provider: ProviderId
  readonly nowMs: () => number
  readonly read: ReadEntry
}

/** Only of destinations that this worker delivers to. */
export async function recallPauses(source: PauseSource, gate: DestinationGate): Promise<void> {
  const pausedAtMs = new Map<string, number>()
  for await (const entries of lastEntries(source.eventLog, 'activity', RECALLED)) {
    for (const stored of entries) {
      const entry = stored.value.includes('"destination_') ? source.read('activity', stored, 'activity') : null
      if (entry === null || !isOurs(source, entry)) continue
      const key = destinationKey(entry.website, entry.subject)
      if (entry.type === 'destination_paused') pausedAtMs.set(key, entry.atMs)
      if (entry.type === 'destination_resumed') pausedAtMs.delete(key)
    }
  }
  for (const [key, sinceMs] of pausedAtMs) gate.recallPause(key, { sinceMs, nowMs: source.nowMs() })
}

function isOurs({ catalog, provider }: PauseSource, { website, subject }: ActivityRecord): boolean {
  const destinations = catalog().websites.get(website)?.destinations ?? []
  return destinations.some((each) => each.id === subject && each.provider === provider)
}
