/**
 * What events are among those of their installations, by what the facts hold; and which of an installation's events is told to a destination
 * that gets installs alone.
 */

import { getsInstallsAlone, findDestination, type Catalog } from '../../domain/catalog.ts'
import { DAY_MS } from '../../domain/durations.ts'
import {
  judgeStanding,
  type EventOfInstallation,
  type EventStanding,
} from '../../domain/figures/installation-standing.ts'
import { EVENT_TYPES, type Install } from '../../domain/model.ts'
import { recordKey } from '../../domain/records.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { JobVerbs } from '../../ports/hot-state/hot-state.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { ownersOf } from '../../ports/facts/query-parts.ts'
import { readEarlierDeliveries } from './reads.ts'

export type DeliveryClaims = Pick<JobVerbs, 'claimJob'>

/** Far longer than the facts lag: afterwards they say themselves what was delivered. */
const CLAIM_MS = 2 * DAY_MS

type StoredEventRow = QueryRow<'countedEvents'>

/** A standing, and the other events of the installation. */
interface InstallationStanding extends EventStanding {
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
  const before =
    first === undefined
      ? undefined
      : {
          installedAtMs: first.installed_before_ms,
          isBegunByRun: first.is_begun_by_run,
          version: first.version_before,
        }
  const others = rows.map(eventOfRow).filter((other) => other.eventId !== eventId)
  return { ...judgeStanding(event, others, before), otherEventIds: others.map((other) => other.eventId) }
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

/** The pending deliveries of an install to destinations that get installs alone. */
export function installsAlone(install: Install, catalog: Catalog): readonly string[] {
  return install.deliveries.flatMap((plan) => {
    const destination = plan.status === 'pending' ? findDestination(catalog, { ...install, ...plan }) : null
    return destination !== null && getsInstallsAlone(destination) ? [plan.destination] : []
  })
}

/**
 * Destinations that get nothing of this event, since it is not the installation's install, or because another of its events was told as that before: what
 * was delivered stays so when a late event changes a kind. Of several processes one gets the installation.
 */
export async function withoutInstall(
  install: Install,
  { standing, catalog }: { readonly standing: InstallationStanding; readonly catalog: Catalog },
  { facts, claims }: { readonly facts: FactsReader; readonly claims: DeliveryClaims },
): Promise<ReadonlySet<string>> {
  const asked = installsAlone(install, catalog)
  if (asked.length === 0 || !standing.isToldAsInstall) return new Set(asked)
  const told = await toldBefore(install, standing, facts)
  const refused = await Promise.all(
    asked.map(async (destination) => {
      const { organization, website, installationId, eventId } = install
      const key = `install/${recordKey({ organization, website }, installationId)}/${destination}`
      return told.has(destination) || !(await claims.claimJob(key, eventId, CLAIM_MS)) ? [destination] : []
    }),
  )
  return new Set(refused.flat())
}

async function toldBefore(
  { organization, website }: Install,
  { otherEventIds }: InstallationStanding,
  facts: FactsReader,
): Promise<ReadonlySet<string>> {
  if (otherEventIds.length === 0) return new Set()
  const events = otherEventIds.map((eventId) => ({ organization, website, eventId }))
  const deliveries = [...(await readEarlierDeliveries(facts, events)).values()].flat()
  return new Set(deliveries.flatMap(({ destination, isSkipped }) => (isSkipped ? [] : [destination])))
}
