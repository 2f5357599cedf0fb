/**
 * Which of an installation's events is told to a destination as the install. Events that are judged at the same time do not know of each other,
 * so each claims the installation, and one gets it.
 */

import { BoundedMap } from '../../common/bounded-map.ts'
import { findDestination, getsInstallsAlone, type Catalog, type Destination } from '../../domain/catalog.ts'
import { DAY_MS } from '../../domain/durations.ts'
import type { Install } from '../../domain/model.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import { recordKey, type Job } from '../../domain/records.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { JobVerbs } from '../../ports/hot-state/hot-state.ts'
import { eventKey } from './decide-pending.ts'
import type { OwnArrival } from './first-records.ts'
import { readEarlierDeliveries } from './reads.ts'
import type { InstallationStanding } from './standings.ts'

export type DeliveryClaims = Pick<JobVerbs, 'claimJob' | 'releaseJob'>

/** Far longer than the facts lag: afterwards they say themselves what was delivered. */
const CLAIM_MS = 2 * DAY_MS
/** At most. Those of events whose deliveries have been written are forgotten, so that usually none is left. */
const HELD = 10_000

interface Judging {
  readonly standing: InstallationStanding
  readonly catalog: Catalog
}

/**
 * The claims of this process's events. A batch that comes again, since something could not be appended, is judged as before: its jobs may be on the
 * log. Only another process, which does not know that, judges such an event by what the facts say by then.
 */
export class InstallClaims {
  readonly #facts: FactsReader
  readonly #claims: DeliveryClaims
  readonly #held = new BoundedMap<string, ReadonlySet<string>>(HELD)

  constructor(facts: FactsReader, claims: DeliveryClaims) {
    this.#facts = facts
    this.#claims = claims
  }

  /**
   * Destinations that get installs alone and nothing of this event, since it is not the installation's install, or because another of its events
   * was told as that before: what was delivered stays so when a late event changes a kind. What the event claimed before a fault, and is not told
   * any more, is free for others.
   */
  async refusedBefore(arrival: OwnArrival, { standing, catalog }: Judging): Promise<ReadonlySet<string>> {
    const { install } = arrival.record
    const held = this.#held.get(eventKey(arrival)) ?? NONE
    const asked = pendingDestinations(install, catalog).filter(({ id }) => !held.has(id))
    const alone = asked.filter(getsInstallsAlone)
    const told = standing.isToldAsInstall && alone.length > 0 ? await this.#toldBefore(install, standing) : NONE
    const refused = alone.filter(({ id }) => !standing.isToldAsInstall || told.has(id))
    const others = standing.kind === 'install' ? [] : asked.filter(getsKinds)
    // A later record of the event was told with the same claim.
    const isTold = (arrival.superseded?.receivedAtMs ?? 0) > install.receivedAtMs
    if (!isTold) await this.release(arrival, idsOf([...refused, ...others]))
    return new Set(idsOf(refused))
  }

  /** Claims the installation for each of the jobs that tell its install; answers the destinations where another event has it. */
  async claim(arrival: OwnArrival, jobs: readonly Job[], catalog: Catalog): Promise<ReadonlySet<string>> {
    const { install } = arrival.record
    const asked = jobs.flatMap((job) => {
      const destination = findDestination(catalog, job)
      if (destination === null) return []
      const tellsInstall = getsKinds(destination) ? job.install.kind === 'install' : getsInstallsAlone(destination)
      return tellsInstall ? [destination.id] : []
    })
    if (asked.length === 0) return NONE
    const isClaimed = await Promise.all(
      asked.map((id) => this.#claims.claimJob(claimKey(install, id), install.eventId, CLAIM_MS)),
    )
    const key = eventKey(arrival)
    this.#held.set(key, new Set([...(this.#held.get(key) ?? NONE), ...asked.filter((_, place) => isClaimed[place])]))
    return new Set(asked.filter((_, place) => isClaimed[place] !== true))
  }

  /** Of destinations to which nothing of the event has been appended. */
  async release(arrival: OwnArrival, destinations: readonly string[]): Promise<void> {
    const { install } = arrival.record
    await Promise.all(destinations.map((id) => this.#claims.releaseJob(claimKey(install, id), install.eventId)))
  }

  /** Its deliveries are on the log, or it waits without any. */
  forget(arrival: OwnArrival): void {
    this.#held.delete(eventKey(arrival))
  }

  async #toldBefore(
    { organization, website }: Install,
    { otherEventIds }: InstallationStanding,
  ): Promise<ReadonlySet<string>> {
    if (otherEventIds.length === 0) return NONE
    const events = otherEventIds.map((eventId) => ({ organization, website, eventId }))
    const deliveries = [...(await readEarlierDeliveries(this.#facts, events)).values()].flat()
    return new Set(deliveries.flatMap(({ destination, isSkipped }) => (isSkipped ? [] : [destination])))
  }
}

const NONE: ReadonlySet<string> = new Set()

/** Whether the install waits for its installation's facts. */
export function hasInstallsAlone(install: Install, catalog: Catalog): boolean {
  return pendingDestinations(install, catalog).some(getsInstallsAlone)
}

function pendingDestinations(install: Install, catalog: Catalog): readonly Destination[] {
  return install.deliveries.flatMap((plan) => {
    const destination = plan.status === 'pending' ? findDestination(catalog, { ...install, ...plan }) : null
    return destination === null ? [] : [destination]
  })
}

/** Every event, with its kind: only one may be called the install. */
function getsKinds({ provider }: Destination): boolean {
  return !PROVIDER_DESCRIPTORS[provider].isAdvertising
}

function claimKey({ organization, website, installationId }: Install, destination: string): string {
  return `install/${recordKey({ organization, website }, installationId)}/${destination}`
}

function idsOf(destinations: readonly Destination[]): readonly string[] {
  return destinations.map(({ id }) => id)
}
