/** What events are among those of their installations, by what the facts hold. */

import { judgeStanding, type EventStanding } from '../../domain/figures/installation-standing.ts'
import type { Install } from '../../domain/model.ts'
import { recordKey } from '../../domain/records.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { ownersOf } from '../../ports/facts/query-parts.ts'
import {
  firstStored,
  judgedEventOf,
  rowOfCount,
  type CountedInstallRow,
  type RowEvent,
} from '../counting/stored-events.ts'

type StoredEventRow = QueryRow<'countedEvents'>

/** A standing, and the other events of the installation. */
export interface InstallationStanding extends EventStanding {
  readonly otherEventIds: readonly string[]
}

/** By `recordKey` of the event; one query for all. */
export async function readStandings(
  facts: FactsReader,
  installs: readonly Install[],
): Promise<ReadonlyMap<string, InstallationStanding>> {
  if (installs.length === 0) return new Map()
  const asked = { ...ownersOf(installs), installation_ids: installs.map(({ installationId }) => installationId) }
  const rows = (await facts.run('countedEvents', asked)).filter(({ kind }) => kind !== 'superseded')
  const byInstallation = Map.groupBy(rows, (row) => recordKey(row, row.installation_id))
  return new Map(
    installs.map((install) => [
      recordKey(install, install.eventId),
      standingAmong(install, byInstallation.get(recordKey(install, install.installationId)) ?? []),
    ]),
  )
}

function standingAmong(install: Install, rows: readonly StoredEventRow[]): InstallationStanding {
  const { eventId, eventType, receivedAtMs, productVersion } = install
  const event = { eventId, eventType, receivedAtMs, productVersion, visitId: install.visitId ?? '' }
  // A test of the set-up says nothing of what came of the installation.
  const events = rows
    .filter((row) => !row.is_test)
    .map(rowOfCount)
    .map(eventWithOwnVisit)
  const others = events.filter((other) => other.eventId !== eventId)
  return {
    ...judgeStanding(event, others, firstStored(events)),
    otherEventIds: others.map((other) => other.eventId),
  }
}

function eventWithOwnVisit(row: CountedInstallRow): RowEvent {
  const event = judgedEventOf(row)
  return row.is_visit_of_later ? { ...event, visitId: '' } : event
}
