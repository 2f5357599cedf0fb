/** Turns each recorded install into its deliveries: a record for each delivery, and a job for each that is to be made. */

import { holdMs, JITTER, tierFor } from '../../domain/delivery/attempts.ts'
import { SECOND_MS } from '../../domain/durations.ts'
import type { CatalogInHand } from '../../domain/published/catalog-number.ts'
import type { Visit } from '../../domain/collection/visit-fields.ts'
import type { Install } from '../../domain/model.ts'
import type { ProviderId } from '../../domain/providers/index.ts'
import {
  encodeRecord,
  recordKey,
  TIER_NAMES,
  TIERS,
  type DeliveryRecord,
  type InstallRecord,
  type Job,
  type ParkedInstall,
  type TierName,
  type Topic,
} from '../../domain/records.ts'
import type { Batch, BatchOutcome, Consumer, Entry, EventLog } from '../../ports/event-log/event-log.ts'
import { Passages, whoIsDue } from './awaited-facts.ts'
import { decidePending, eventKey, isGivenUp, isPending, OwnDecisions, type Arrival } from './decide-pending.ts'
import { awaitsCatalog, deliveriesOf, visitNeededBy, type Dispatched, type DispatchInput } from './plan.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import { readVisits, type VisitRef } from './reads.ts'
import { FirstRecords, type OwnArrival, type RecordEnd } from './first-records.ts'
import { hasInstallsAlone, InstallClaims, type DeliveryClaims } from './install-claims.ts'
import { JobTopics } from './job-topics.ts'
import { readStandings, type InstallationStanding } from './standings.ts'
import type { Telemetry } from '../../runtime/metrics.ts'
import { noteSpan } from '../../runtime/tracing.ts'
import { createCatalogWaits, type CatalogWaits } from '../catalog-waits.ts'
import { takeDue } from '../tiers.ts'
import { createRecordReader, unreadableRowCounter, type ReadEntry } from '../record-reader.ts'
import { consumeReadable } from '../version-guard.ts'

interface DispatchDeps {
  readonly eventLog: EventLog
  readonly facts: FactsReader
  readonly catalog: CatalogInHand
  readonly claims: DeliveryClaims
  readonly nowMs: () => number
  /** In [0, 1). */
  readonly random: () => number
  readonly telemetry: Telemetry
}

export interface Dispatch {
  close(): Promise<void>
}

const GROUP = 'dispatch'
const BATCH_INSTALLS = 500
/** Long enough that under load one query of ClickHouse serves many installs; too short to notice on an idle system. */
const LINGER_MS = 25
const APPEND_DEADLINE_MS = 5_000
/** A visit of the same second may reach ClickHouse in a moment; these retries cost less than the shortest tier. */
const LOOKS_MS = [20, 40, 80, 160, 250, 250]
/**
 * After retries in vain there are no more for this long: ClickHouse lags, and waiting in the tier is cheaper.
 */
const LOOKS_PAUSE_MS = 5_000
/**
 * A pending install is decided within seconds of its facts being there, however long they were away, so it never enters a longer tier. Such
 * installs are few: of most the hot state knows what decides them.
 */
const PENDING_HOLD_MS = TIERS['5s'] * SECOND_MS

/** Consumes `installs` and the tiers of installs whose visit is missing; each at its own pace. */
export async function startDispatch(deps: DispatchDeps): Promise<Dispatch> {
  const dispatcher = new Dispatcher(deps)
  const consume = consumeReadable(deps)
  const consumers: Consumer[] = []
  const close = async (): Promise<void> => {
    await Promise.all(consumers.map((consumer) => consumer.close()))
  }
  const options = { maxEntries: BATCH_INSTALLS, lingerMs: LINGER_MS }
  try {
    consumers.push(await consume('installs', GROUP, (batch) => dispatcher.takeInstalls(batch), options))
    for (const tier of PARKING_TIERS) {
      const handler = (batch: Batch): Promise<BatchOutcome> => dispatcher.takeParked(batch, tier)
      consumers.push(await consume(`dispatch.${tier}`, GROUP, handler, options))
    }
  } catch (error) {
    await close()
    throw error
  }
  return { close }
}

/** Holds never exceed half an hour. */
const PARKING_TIERS: readonly TierName[] = TIER_NAMES.filter((tier) => TIERS[tier] <= TIERS['30m'])

/** `superseded` is absent until the install is known to be the first record of its event. */
type Candidate = Arrival & Partial<OwnArrival>

/** An install that has all that its deliveries depend on. */
interface Planned {
  readonly arrival: OwnArrival
  readonly planning: DispatchInput
  readonly standing: InstallationStanding
}

/** An install whose deliveries can be written. */
interface Ready {
  readonly arrival: OwnArrival
  readonly planning: DispatchInput
  readonly dispatched: Dispatched
}

/** Holds this process's memory: recent events, and whether retrying a look-up is worthwhile. */
class Dispatcher {
  readonly #deps: DispatchDeps
  readonly #firsts: FirstRecords
  readonly #passages: Passages
  readonly #decisions = new OwnDecisions()
  readonly #installs: InstallClaims
  readonly #jobTopics: JobTopics
  readonly #waits: CatalogWaits
  readonly #read: ReadEntry
  readonly #onUnreadableVisit: (visit: VisitRef) => void
  #looksAgainAtMs = 0

  constructor(deps: DispatchDeps) {
    this.#deps = deps
    this.#firsts = new FirstRecords(deps.facts)
    this.#passages = new Passages(deps.eventLog)
    this.#installs = new InstallClaims(deps.facts, deps.claims)
    this.#jobTopics = new JobTopics((topic, entries) => this.#append(topic, entries), deps.telemetry.logger)
    this.#waits = createCatalogWaits(deps, GROUP)
    this.#read = createRecordReader(deps.telemetry, GROUP)
    const count = unreadableRowCounter(deps.telemetry.registry)
    this.#onUnreadableVisit = ({ website, visitId }) => {
      count?.inc({ table: 'visits' })
      deps.telemetry.logger.error({ website, visitId }, 'visit cannot be read')
    }
  }

  async takeInstalls(batch: Batch): Promise<BatchOutcome> {
    const nowMs = this.#deps.nowMs()
    const ends = await this.#passages.endsFor(batch)
    const arrivals = batch.entries.flatMap((entry): Candidate[] => {
      if (isInstallWithoutWork(entry.value)) return []
      const record = this.#read('install', entry, batch.topic)
      if (record === null || !hasWork(record)) return []
      const arrival = { record, firstSeenAtMs: nowMs }
      // A pending one waits for more than that, as does one that depends on its installation.
      return [
        ends === undefined || isPending(arrival) || this.#needsInstallation(arrival) ? arrival : { ...arrival, ends },
      ]
    })
    await this.#dispatch(arrivals)
    return { done: batch.entries.length }
  }

  async takeParked(batch: Batch, tier: TierName): Promise<BatchOutcome> {
    const { due, outcome } = takeDue(batch, {
      tier,
      nowMs: this.#deps.nowMs,
      read: (entry) => this.#read('parkedInstall', entry, batch.topic),
    })
    await this.#dispatch(due)
    return outcome
  }

  /** Installs whose facts have arrived go first, so that none waits for another install's facts. */
  async #dispatch(all: readonly Candidate[]): Promise<void> {
    let waiting = await this.#advance(this.#firsts.knownAmong(all))
    for (const lookMs of this.#looks()) {
      if (waiting.length === 0) break
      await new Promise((resolve) => setTimeout(resolve, lookMs))
      waiting = await this.#advance(waiting)
    }
    if (waiting.length === 0) return
    this.#looksAgainAtMs = this.#deps.nowMs() + LOOKS_PAUSE_MS
    await Promise.all(waiting.map((arrival) => this.#park(arrival)))
  }

  /** Advances each install as far as the facts allow; returns those that must wait for them. */
  async #advance(arrivals: readonly Candidate[]): Promise<readonly Candidate[]> {
    if (arrivals.length === 0) return []
    const { eventLog, facts, catalog, nowMs } = this.#deps
    const needsInstallation = (arrival: Candidate) => this.#needsInstallation(arrival)
    const { due, waiting } = await whoIsDue(arrivals, { eventLog, nowMs, needsInstallation })
    const deciding = { facts, catalog: catalog.current, waits: this.#waits, nowMs }
    const decided = await decidePending(await this.#firstsAmong(due), deciding, this.#decisions)
    this.#decisions.remember(decided.decisions)
    await this.#append(
      'install_decisions',
      decided.decisions.map((decision) => ({
        key: recordKey(decision, decision.eventId),
        value: encodeRecord(decision),
      })),
    )
    const { ready } = decided
    return [...waiting, ...decided.waiting, ...(await this.#finish(ready, await this.#visitsOf(ready)))]
  }

  /** Only now do the facts hold every earlier record; who waits for something else is not asked about again. */
  async #firstsAmong(due: readonly Candidate[]): Promise<readonly OwnArrival[]> {
    const checked = due.filter(isChecked)
    const unchecked = due.filter((arrival) => !isChecked(arrival))
    return [...checked, ...(await this.#firsts.among(unchecked))]
  }

  async #visitsOf(arrivals: readonly OwnArrival[]): Promise<ReadonlyMap<string, Visit>> {
    const needed = new Map<string, VisitRef>()
    for (const { record } of arrivals) {
      const visit = visitNeededBy(record.install)
      if (visit !== null) needed.set(recordKey(visit, visit.visitId), visit)
    }
    return readVisits(this.#deps.facts, [...needed.values()], this.#onUnreadableVisit)
  }

  /** Writes the deliveries of all installs that can be decided now; returns the others. */
  async #finish(arrivals: readonly OwnArrival[], visits: ReadonlyMap<string, Visit>): Promise<OwnArrival[]> {
    const waiting: OwnArrival[] = []
    const plans: Planned[] = []
    const nowMs = this.#deps.nowMs()
    const catalog = this.#deps.catalog.current()
    const standings = await readStandings(
      this.#deps.facts,
      arrivals.map(({ record }) => record.install).filter(hasPendingDelivery),
    )
    for (const arrival of arrivals) {
      const needed = visitNeededBy(arrival.record.install)
      const visit = needed === null ? null : (visits.get(recordKey(needed, needed.visitId)) ?? null)
      if (needed !== null && visit === null && !isGivenUp(arrival, nowMs)) {
        waiting.push(arrival)
        continue
      }
      const { record, superseded } = arrival
      const isBehind = this.#waits.isBehind(record.install.catalogNumber)
      const standing = standings.get(eventKey(arrival)) ?? NO_STANDING
      const planning: DispatchInput = {
        record,
        visit,
        catalog,
        isBehind,
        nowMs,
        superseded,
        kind: standing.kind,
        withoutInstall: NOWHERE,
        withoutTopic: NOWHERE,
      }
      if (awaitsCatalog(planning)) {
        this.#waits.waitFor(record.install.catalogNumber)
        waiting.push(arrival)
        continue
      }
      plans.push({ arrival, planning, standing })
    }
    const planned = await Promise.all(plans.map((each) => this.#planInstall(each)))
    await this.#write(planned.filter((each) => each !== null))
    return [...waiting, ...plans.flatMap(({ arrival }, place) => (planned[place] === null ? [arrival] : []))]
  }

  /**
   * Claims the installation last, for what is really going to be told. Null if another event has it that the facts do not show yet: it may
   * still give it back.
   */
  async #planInstall({ arrival, planning, standing }: Planned): Promise<Ready | null> {
    const { catalog, nowMs } = planning
    const before = await this.#installs.refusedBefore(arrival, { standing, catalog })
    const wanted = deliveriesOf({ ...planning, withoutInstall: before })
    const refused = await this.#installs.claim(arrival, wanted.jobs, catalog)
    if (refused.size === 0) return { arrival, planning: { ...planning, withoutInstall: before }, dispatched: wanted }
    const decided = { ...planning, withoutInstall: new Set([...before, ...refused]) }
    const dispatched = deliveriesOf(decided)
    const isLost = dispatched.jobs.length < wanted.jobs.length
    return isLost && !isGivenUp(arrival, nowMs) ? null : { arrival, planning: decided, dispatched }
  }

  /**
   * Jobs before records: an event whose records have reached ClickHouse counts as dispatched, so its jobs must be on
   * the log by then. A crash in between repeats jobs with the same IDs. Deliveries whose topic cannot be made wait alone.
   */
  async #write(ready: readonly Ready[]): Promise<void> {
    const nowMs = this.#deps.nowMs()
    const traced = ready.map((each) => ({ ...each, dispatched: traceDispatch(each.arrival, each.dispatched, nowMs) }))
    const withoutTopic = await this.#jobTopics.append(traced.flatMap(({ dispatched }) => dispatched.jobs))
    const ends = traced.map((each) => writtenEnd(each, withoutTopic))
    const records = ends.flatMap((each) => each.records)
    await this.#append(
      'deliveries',
      records.map((record) => ({ key: recordKey(record, record.jobId), value: encodeRecord(record) })),
    )
    await Promise.all(ends.map((each) => this.#end(each)))
  }

  async #end({ arrival, records, late }: Written): Promise<void> {
    const skipped = skippedIn(records)
    if (late.size > 0) {
      await this.#installs.release(arrival, [...late])
      await this.#park(onlyTo(arrival, late), skipped)
    } else this.#remember(arrival, { isParked: false, skipped })
    this.#installs.forget(arrival)
  }

  async #append(topic: Topic, entries: readonly Entry[]): Promise<void> {
    if (entries.length > 0) await this.#deps.eventLog.append(topic, entries, { deadlineMs: APPEND_DEADLINE_MS })
  }

  /** `alsoSkipped` are destinations that it was skipped for and does not wait for. */
  async #park(arrival: Candidate, alsoSkipped: ReadonlySet<string> = NOWHERE): Promise<void> {
    const nowMs = this.#deps.nowMs()
    const heldMs = isPending(arrival) ? PENDING_HOLD_MS : holdMs(nowMs - arrival.firstSeenAtMs)
    const waitMs = Math.round(heldMs * (1 + JITTER * this.#deps.random()))
    const { superseded, ...kept } = arrival
    const parked: ParkedInstall = { v: kept.record.v, ...kept, dueAtMs: nowMs + waitMs }
    await this.#append(`dispatch.${tierFor(waitMs)}`, [{ key: eventKey(arrival), value: encodeRecord(parked) }])
    const skipped = superseded === undefined ? this.#firsts.skippedBefore(arrival) : superseded?.skipped
    this.#remember(arrival, { isParked: true, skipped: new Set([...(skipped ?? []), ...alsoSkipped]) })
  }

  /** What was decided about it is on the log by now, with its deliveries or in a tier. */
  #remember(arrival: Candidate, then: RecordEnd): void {
    this.#firsts.remember(arrival, then)
    this.#decisions.forget(arrival)
  }

  #needsInstallation({ record: { install } }: Arrival): boolean {
    return install.resolution === 'matched' && hasInstallsAlone(install, this.#deps.catalog.current())
  }

  #looks(): readonly number[] {
    return this.#deps.nowMs() >= this.#looksAgainAtMs ? LOOKS_MS : []
  }
}

const NOWHERE: ReadonlySet<never> = new Set<never>()
const NO_STANDING = { kind: 'none', isToldAsInstall: false, otherEventIds: [] } as const

function hasPendingDelivery({ deliveries }: Install): boolean {
  return deliveries.some(({ status }) => status === 'pending')
}

function isChecked(arrival: Candidate): arrival is OwnArrival {
  return arrival.superseded !== undefined
}

const NO_DELIVERY = '"deliveries":[],"answer":{'
const PENDING = '"resolution":"pending"'

/**
 * Seen in its text, as many installs have no delivery and reading one takes 5 us. Quotes in a text of the record are escaped, so
 * only its own members look like this; what follows its line is the body, as a client sent it. If another release orders the
 * members otherwise, the record is read.
 */
function isInstallWithoutWork(value: string): boolean {
  const at = value.indexOf(NO_DELIVERY)
  if (at === -1 || value.includes(PENDING)) return false
  const end = value.indexOf('\n')
  return end === -1 || at < end
}

/** A pending install is decided even without deliveries. */
function hasWork({ install }: InstallRecord): boolean {
  return install.deliveries.length > 0 || install.resolution === 'pending'
}

/** Its jobs go on in the install's trace. */
function traceDispatch({ record, firstSeenAtMs }: Arrival, dispatched: Dispatched, nowMs: number): Dispatched {
  const { traceparent: parent } = record
  if (parent === undefined) return dispatched
  const attributes = { 'whence.jobs': dispatched.jobs.length }
  const traceparent = noteSpan({ name: 'dispatch', parent, startMs: firstSeenAtMs, endMs: nowMs, attributes })
  return { ...dispatched, jobs: dispatched.jobs.map((job) => ({ ...job, traceparent })) }
}

function skippedIn(records: readonly DeliveryRecord[]): ReadonlySet<string> {
  return new Set(records.flatMap(({ status, destination }) => (status === 'skipped' ? [destination] : [])))
}

interface Written {
  readonly arrival: OwnArrival
  readonly records: readonly DeliveryRecord[]
  /** Destinations that wait for their topic. */
  readonly late: ReadonlySet<string>
}

function writtenEnd({ arrival, planning, dispatched }: Ready, withoutTopic: ReadonlySet<ProviderId>): Written {
  const isLate = ({ provider }: Job): boolean => withoutTopic.has(provider)
  if (!dispatched.jobs.some(isLate)) return { arrival, records: dispatched.records, late: NOWHERE }
  const { records, jobs } = deliveriesOf({ ...planning, withoutTopic })
  const late = new Set(jobs.filter(isLate).map(({ destination }) => destination))
  return { arrival, records: records.filter(({ destination }) => !late.has(destination)), late }
}

function onlyTo(arrival: OwnArrival, destinations: ReadonlySet<string>): OwnArrival {
  const { record } = arrival
  const deliveries = record.install.deliveries.filter(({ destination }) => destinations.has(destination))
  return { ...arrival, record: { ...record, install: { ...record.install, deliveries } } }
}
