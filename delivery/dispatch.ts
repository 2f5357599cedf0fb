/** Turns each recorded install into its deliveries: a record of every one, and a job for those that are to be made. */

import type { Catalog } from '../domain/catalog.ts'
import { holdMs, JITTER, leavesTierAtMs, tierFor } from '../domain/attempts.ts'
import { LIMITS } from '../domain/limits.ts'
import type { Visit } from '../domain/model.ts'
import {
  decodeRecord,
  encodeRecord,
  recordKey,
  TIER_NAMES,
  TIERS,
  type InstallRecord,
  type ParkedInstall,
  type TierName,
} from '../domain/records.ts'
import type { Batch, BatchOutcome, Consumer, EventLog, StoredEntry } from '../ports/event-log/event-log.ts'
import { deliveriesOf, visitNeededBy, type Dispatched } from './dispatch-plan.ts'
import { readDispatched, readVisits, type FactsReader, type VisitRef } from './dispatch-reads.ts'
import type { Logger } from '../runtime/logger.ts'

export interface DispatchDeps {
  readonly eventLog: EventLog
  readonly facts: FactsReader
  readonly catalog: () => Catalog
  readonly nowMs: () => number
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly logger: Logger
}

export interface Dispatch {
  stop(): Promise<void>
}

const GROUP = 'dispatch'
const BATCH_INSTALLS = 500
/** Under load one question to ClickHouse then serves many installs; on an idle system nobody notices. */
const LINGER_MS = 25
const APPEND_DEADLINE_MS = 5_000
/** A visit of the same second may be a moment away from ClickHouse; these looks cost less than the shortest tier. */
const LOOKS_MS = [20, 40, 80, 160, 250, 250]
/** After looks in vain there are none for this long: ClickHouse is behind, and the tier is the better place to wait. */
const LOOKS_PAUSE_MS = 5_000
/** Events dispatched lately whose rows may not have reached ClickHouse yet. */
const REMEMBERED = 100_000

/** An install on its way, fresh or parked before. */
interface Arrival {
  readonly record: InstallRecord
  readonly firstSeenAtMs: number
}

/** Consumes `installs` and the waiting rooms of those whose visit is not there yet; each at its own pace. */
export async function startDispatch(deps: DispatchDeps): Promise<Dispatch> {
  const dispatcher = new Dispatcher(deps)
  const consumers: Consumer[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(consumers.map((consumer) => consumer.stop()))
  }
  const options = { maxEntries: BATCH_INSTALLS, lingerMs: LINGER_MS }
  try {
    consumers.push(await deps.eventLog.consume('installs', GROUP, (batch) => dispatcher.takeInstalls(batch), options))
    for (const tier of PARKING_TIERS) {
      const handler = (batch: Batch): Promise<BatchOutcome> => dispatcher.takeParked(batch, tier)
      consumers.push(await deps.eventLog.consume(`dispatch.${tier}`, GROUP, handler, options))
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

/** Holds never exceed half an hour. */
const PARKING_TIERS: readonly TierName[] = TIER_NAMES.filter((tier) => TIERS[tier] <= TIERS['30m'])

/** Owns what this process remembers: events dispatched lately, and whether looking again is worth while. */
class Dispatcher {
  readonly #deps: DispatchDeps
  /** When the dispatched record of an event was received. */
  readonly #recent = new Map<string, number>()
  #looksAgainAtMs = 0

  constructor(deps: DispatchDeps) {
    this.#deps = deps
  }

  async takeInstalls(batch: Batch): Promise<BatchOutcome> {
    const nowMs = this.#deps.nowMs()
    const arrivals = batch.entries.flatMap((entry) => {
      const record = this.#read<InstallRecord>(entry, (read) => read)
      const isPlanned = record !== null && record.install.deliveries.length > 0
      return isPlanned ? [{ record, firstSeenAtMs: nowMs }] : []
    })
    await this.#dispatch(arrivals)
    return { done: batch.entries.length }
  }

  async takeParked(batch: Batch, tier: TierName): Promise<BatchOutcome> {
    const arrivals: Arrival[] = []
    let done = 0
    for (const entry of batch.entries) {
      const parked = this.#read<ParkedInstall>(entry, (read) => read.record)
      if (parked !== null) {
        const leavesAtMs = leavesTierAtMs({ dueAtMs: parked.dueAtMs, enteredAtMs: entry.appendedAtMs, tier })
        if (leavesAtMs > this.#deps.nowMs()) {
          await this.#dispatch(arrivals)
          return { done, resumeAtMs: leavesAtMs }
        }
        arrivals.push(parked)
      }
      done += 1
    }
    await this.#dispatch(arrivals)
    return { done }
  }

  /** Those whose visit is there go first, so that no one waits for another's visit. */
  async #dispatch(all: readonly Arrival[]): Promise<void> {
    const arrivals = await this.#withoutRepeats(all)
    if (arrivals.length === 0) return
    let visits = await this.#visitsOf(arrivals)
    let waiting = await this.#finish(arrivals, visits)
    for (const lookMs of this.#looks()) {
      if (waiting.length === 0) break
      await new Promise((resolve) => setTimeout(resolve, lookMs))
      visits = await this.#visitsOf(waiting)
      waiting = await this.#finish(waiting, visits)
    }
    if (waiting.length === 0) return
    this.#looksAgainAtMs = this.#deps.nowMs() + LOOKS_PAUSE_MS
    await Promise.all(waiting.map((arrival) => this.#park(arrival)))
  }

  /**
   * The record that was received first decides, as it does among the rows of ClickHouse; a second one, from a crash or a
   * lost claim, makes no second delivery. Two may lie on the log in the other order: then the one that counts comes late,
   * and its jobs have the IDs of those that are out already.
   */
  async #withoutRepeats(all: readonly Arrival[]): Promise<Arrival[]> {
    const firsts = new Map<string, Arrival>()
    for (const arrival of all) {
      const key = eventKey(arrival)
      const first = firsts.get(key)
      const before = first === undefined ? this.#recent.get(key) : receivedAtMs(first)
      if (before === undefined || receivedAtMs(arrival) < before) firsts.set(key, arrival)
    }
    if (firsts.size === 0) return []
    const events = [...firsts.values()].map(({ record: { install } }) => ({
      website: install.website,
      eventId: install.eventId,
    }))
    const dispatched = await readDispatched(this.#deps.facts, events)
    return [...firsts].filter(([key]) => !dispatched.has(key) || this.#recent.has(key)).map(([, arrival]) => arrival)
  }

  async #visitsOf(arrivals: readonly Arrival[]): Promise<ReadonlyMap<string, Visit>> {
    const needed = new Map<string, VisitRef>()
    for (const { record } of arrivals) {
      const visit = visitNeededBy(record.install)
      if (visit !== null) needed.set(recordKey(visit.website, visit.visitId), visit)
    }
    return readVisits(this.#deps.facts, [...needed.values()])
  }

  /** Writes the deliveries of all that can be decided now; returns the others. */
  async #finish(arrivals: readonly Arrival[], visits: ReadonlyMap<string, Visit>): Promise<Arrival[]> {
    const waiting: Arrival[] = []
    const ready: { arrival: Arrival; dispatched: Dispatched }[] = []
    const nowMs = this.#deps.nowMs()
    for (const arrival of arrivals) {
      const needed = visitNeededBy(arrival.record.install)
      const visit = needed === null ? null : (visits.get(recordKey(needed.website, needed.visitId)) ?? null)
      const isGivenUp = nowMs - arrival.firstSeenAtMs >= LIMITS.visitMissingMs
      if (needed !== null && visit === null && !isGivenUp) {
        waiting.push(arrival)
        continue
      }
      const { record } = arrival
      ready.push({
        arrival,
        dispatched: deliveriesOf({ record, visit, catalog: this.#deps.catalog(), nowMs }),
      })
    }
    await this.#write(ready.map((each) => each.dispatched))
    for (const { arrival } of ready) this.#remember(arrival)
    return waiting
  }

  /**
   * Jobs before records: an event whose records have reached ClickHouse counts as dispatched, so its jobs must be on
   * the log by then. A crash in between repeats jobs, with the same IDs.
   */
  async #write(dispatched: readonly Dispatched[]): Promise<void> {
    const { eventLog } = this.#deps
    const options = { deadlineMs: APPEND_DEADLINE_MS }
    const jobs = Map.groupBy(
      dispatched.flatMap((each) => each.jobs),
      (job) => job.provider,
    )
    const appends = [...jobs].map(([provider, ofProvider]) => {
      const entries = ofProvider.map((job) => ({ key: recordKey(job.website, job.jobId), value: encodeRecord(job) }))
      return eventLog.append(`deliver.${provider}`, entries, options)
    })
    await Promise.all(appends)
    const records = dispatched.flatMap(({ records }) =>
      records.map((record) => ({ key: recordKey(record.website, record.jobId), value: encodeRecord(record) })),
    )
    if (records.length > 0) await eventLog.append('deliveries', records, options)
  }

  async #park(arrival: Arrival): Promise<void> {
    const nowMs = this.#deps.nowMs()
    const waitMs = Math.round(holdMs(nowMs - arrival.firstSeenAtMs) * (1 + JITTER * this.#deps.random()))
    const parked: ParkedInstall = { v: 1, ...arrival, dueAtMs: nowMs + waitMs }
    const entry = { key: eventKey(arrival), value: encodeRecord(parked) }
    await this.#deps.eventLog.append(`dispatch.${tierFor(waitMs)}`, [entry], { deadlineMs: APPEND_DEADLINE_MS })
  }

  #looks(): readonly number[] {
    return this.#deps.nowMs() >= this.#looksAgainAtMs ? LOOKS_MS : []
  }

  #remember(arrival: Arrival): void {
    this.#recent.set(eventKey(arrival), receivedAtMs(arrival))
    if (this.#recent.size <= REMEMBERED) return
    for (const oldest of this.#recent.keys()) {
      this.#recent.delete(oldest)
      break
    }
  }

  /** What cannot be read is kept apart by the facts-writer; here it must only not stop what follows. */
  #read<T extends { readonly v: 1 }>(entry: StoredEntry, recordOf: (value: T) => InstallRecord | undefined): T | null {
    const value = decoded<T>(entry.value)
    if (value !== null && recordOf(value)?.install !== undefined) return value
    this.#deps.logger.error({ key: entry.key, offset: entry.offset }, 'install cannot be read')
    return null
  }
}

function decoded<T extends { readonly v: 1 }>(value: string): T | null {
  try {
    return decodeRecord<T>(value)
  } catch {
    return null
  }
}

function receivedAtMs({ record }: Arrival): number {
  return record.install.receivedAtMs
}

function eventKey(arrival: Arrival): string {
  return recordKey(arrival.record.install.website, arrival.record.install.eventId)
}
