/** Finds the record of each event that counts: the first one received, whichever process saw which record. */

import type { QueryRow } from '../../ports/facts/queries.ts'
import { eventKey, type Arrival } from './decide-pending.ts'
import type { Superseded } from './plan.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import { readEarlierDeliveries, readFirsts, type DeliveryBefore } from './reads.ts'
import { BoundedMap } from '../../common/bounded-map.ts'

/** An install that is the first record of its event. */
export interface OwnArrival extends Arrival {
  /** Deliveries that a later record of the same event has caused already. */
  readonly superseded: Superseded | null
}

/** What became of a record here. */
export interface RecordEnd {
  readonly isParked: boolean
  /** Destinations without a delivery, by this record or by a later one that it supersedes. */
  readonly skipped: ReadonlySet<string>
}

/** What this process did with an event recently; its rows may not have reached ClickHouse yet. */
interface KnownRecord extends RecordEnd {
  /** For the record that it dispatched or parked. */
  readonly receivedAtMs: number
  readonly requestId: string
}

/** Recent events whose rows may not have reached ClickHouse yet. */
const REMEMBERED = 100_000

export class FirstRecords {
  readonly #facts: FactsReader
  readonly #known = new BoundedMap<string, KnownRecord>(REMEMBERED)

  constructor(facts: FactsReader) {
    this.#facts = facts
  }

  /** Those of a batch that are the first of their event as far as this process knows. Asks nobody. */
  knownAmong<A extends Arrival>(all: readonly A[]): A[] {
    const firsts = new Map<string, A>()
    for (const arrival of all) {
      const key = eventKey(arrival)
      const rival = firsts.get(key)
      if (rival !== undefined && receivedAtMs(rival) <= receivedAtMs(arrival)) continue
      if (mayFollow(arrival, this.#known.get(key))) firsts.set(key, arrival)
    }
    return [...firsts.values()]
  }

  /**
   * The record that was received first counts, as it does among the rows of ClickHouse. A second record, from a crash or a lost
   * claim, causes no second delivery. If the second one was dispatched before the first was known, the first replaces it:
   * a skip is undone, and jobs get the same IDs as the ones already sent.
   */
  async among(all: readonly Arrival[]): Promise<OwnArrival[]> {
    const firsts = new Map(this.knownAmong(all).map((arrival) => [eventKey(arrival), arrival]))
    if (firsts.size === 0) return []
    const events = [...firsts.values()].map(({ record: { install } }) => ({
      organization: install.organization,
      website: install.website,
      eventId: install.eventId,
    }))
    const facts = this.#facts
    const [deliveries, reported] = await Promise.all([readEarlierDeliveries(facts, events), readFirsts(facts, events)])
    return [...firsts].flatMap(([key, arrival]) => {
      const before = deliveries.get(key) ?? []
      if (isLaterThan(arrival, reported.get(key)) || isDispatched(arrival, before)) return []
      return [{ ...arrival, superseded: supersededBy(arrival, this.#known.get(key), before) }]
    })
  }

  /** What later records of its event did not deliver, as far as this process knows: also after it was parked unchecked. */
  skippedBefore(arrival: Arrival): ReadonlySet<string> {
    return this.#known.get(eventKey(arrival))?.skipped ?? new Set()
  }

  remember(arrival: Arrival, then: RecordEnd): void {
    const { record } = arrival
    this.#known.set(eventKey(arrival), { receivedAtMs: receivedAtMs(arrival), requestId: record.request.id, ...then })
  }
}

/** A record received before the known one replaces it; a parked record that comes back is that same record. */
function mayFollow(arrival: Arrival, known: KnownRecord | undefined): boolean {
  if (known === undefined || receivedAtMs(arrival) < known.receivedAtMs) return true
  const isSame = receivedAtMs(arrival) === known.receivedAtMs && arrival.record.request.id === known.requestId
  return known.isParked && isSame
}

/**
 * The first record is on the log as well: it will be read, waits, or was dispatched. A retry appends the install as it was
 * decided at the previous try, with its time, so it does not matter which of two such records ClickHouse shows.
 */
function isLaterThan(arrival: Arrival, first: QueryRow<'firstInstalls'> | undefined): boolean {
  if (first === undefined || receivedAtMs(arrival) < first.received_at_ms) return false
  if (receivedAtMs(arrival) > first.received_at_ms) return true
  return arrival.record.request.id !== first.request_id && !saysTheSame(arrival, first)
}

function saysTheSame({ record: { install } }: Arrival, first: QueryRow<'firstInstalls'>): boolean {
  return (
    install.installationId === first.installation_id &&
    install.eventType === first.event_type &&
    (install.visitId ?? '') === first.visit_id &&
    JSON.stringify(install.answer) === first.answer
  )
}

/**
 * An earlier record was dispatched, or this one was, to each of its destinations. A row for some of them is not enough:
 * if the append of one provider's jobs fails, another provider's worker may have delivered and recorded its job by the time
 * the batch comes again.
 */
function isDispatched(arrival: Arrival, before: readonly DeliveryBefore[]): boolean {
  const ownMs = receivedAtMs(arrival)
  if (before.some((delivery) => delivery.receivedAtMs < ownMs)) return true
  const own = new Set(before.flatMap((delivery) => (delivery.receivedAtMs === ownMs ? [delivery.destination] : [])))
  return own.size > 0 && arrival.record.install.deliveries.every(({ destination }) => own.has(destination))
}

/** What later records of the event caused; what this very record caused is just written again. */
function supersededBy(
  arrival: Arrival,
  known: KnownRecord | undefined,
  before: readonly DeliveryBefore[],
): Superseded | null {
  const later = before.filter((delivery) => delivery.receivedAtMs > receivedAtMs(arrival))
  if (known === undefined && later.length === 0) return null
  return {
    receivedAtMs: Math.max(known?.receivedAtMs ?? 0, ...later.map((delivery) => delivery.receivedAtMs)),
    skipped: new Set([
      ...(known?.skipped ?? []),
      ...later.flatMap(({ isSkipped, destination }) => (isSkipped ? [destination] : [])),
    ]),
  }
}

function receivedAtMs({ record }: Arrival): number {
  return record.install.receivedAtMs
}
