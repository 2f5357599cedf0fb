/** What events are among those of their installations, by what the facts hold. */

import {
  judgeStanding,
  type EventOfInstallation,
  type EventStanding,
} from '../../domain/figures/installation-standing.ts'
import { EVENT_TYPES, type Install } from '../../domain/model.ts'
import { recordKey } from '../../domain/records.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { ownersOf } from '../../ports/facts/query-parts.ts'

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
  const [first] = rows.toSorted(
    (one, other) => one.received_at_ms - other.received_at_ms || (one.event_id < other.event_id ? -1 : 1),
  )
  const stored =
    first === undefined
      ? undefined
      : {
          receivedAtMs: first.received_at_ms,
          before: {
            installedAtMs: first.installed_before_ms,
            isBegunByRun: first.is_begun_by_run,
            version: first.version_before,
          },
        }
  const others = rows.map(eventOfRow).filter((other) => other.eventId !== eventId)
  return { ...judgeStanding(event, others, stored), otherEventIds: others.map((other) => other.eventId) }
}

function eventOfRow(row: StoredEventRow): EventOfInstallation {
  return {
    eventId: row.event_id,
    // One that a later release knows begins nothing that this one counts.
    eventType: EVENT_TYPES.find((type) => type === row.event_type) ?? 'install_started',
    receivedAtMs: row.received_at_ms,
    productVersion: row.product_version,
    visitId: row.is_visit_of_later ? '' : row.visit_id,
  }
}
