/**
 * Decides installs that were pending: once the facts hold everything that was on the log when dispatch first saw the
 * install (`awaited-facts.ts`), or when the longest wait is over.
 *
 * A decision depends on the state when the event was received, and a decision that was made before is taken over.
 */

import type { FactsReader } from '../../ports/facts/facts.ts'
import { findOwned, type Catalog, type Destination } from '../../domain/catalog.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import type { CatalogWaits } from '../catalog-waits.ts'
import { planDecided } from '../../domain/delivery/deliveries.ts'
import type { LogEnds } from '../../domain/collection/facts-lag.ts'
import { decideInstall } from '../../domain/collection/install.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Install, InstallOutcome } from '../../domain/model.ts'
import { recordKey, type DecisionRecord, type InstallRecord } from '../../domain/records.ts'
import { resolveLater, type KnownInstallation, type LaterKnowledge } from '../../domain/collection/resolve.ts'
import { BoundedMap } from '../../common/bounded-map.ts'
import { readDecisions, type DecidedEvent } from './reads.ts'
import { readKnowledge } from './decision-facts.ts'

/** An install in dispatch, fresh or parked before. */
export interface Arrival {
  readonly record: InstallRecord
  readonly firstSeenAtMs: number
  /** What it waits for; absent for a pending install that is new, and for one that waits for nothing. */
  readonly ends?: LogEnds
}

interface Decided<A extends Arrival> {
  /** Installs that can be dispatched: those that were not pending, and those whose decision has been applied. */
  readonly ready: readonly A[]
  readonly waiting: readonly A[]
  /** Must be on the log before anything is done because of them. */
  readonly decisions: readonly DecisionRecord[]
}

export interface DecideDeps {
  readonly facts: FactsReader
  readonly catalog: () => Catalog
  /** Whether that is older than the one that planned an install; absent: it never is. */
  readonly waits?: CatalogWaits
  readonly nowMs: () => number
}

/** Takes installs that wait for nothing any more; `own` are decisions of this process whose rows may not be there yet. */
export async function decidePending<A extends Arrival>(
  arrivals: readonly A[],
  deps: DecideDeps,
  own = new OwnDecisions(),
): Promise<Decided<A>> {
  const settled = arrivals.filter((arrival) => !isPending(arrival))
  const open = arrivals.filter(isPending)
  if (open.length === 0) return { ready: settled, waiting: [], decisions: [] }
  const known = await readDecisions(deps.facts, open.map(eventOf))
  const ready = [...settled]
  const undecided: A[] = []
  const repeated: DecisionRecord[] = []
  for (const arrival of open) {
    const made = own.about(arrival)
    const decision = made ?? known.get(eventKey(arrival))
    if (made !== undefined) repeated.push(made)
    if (decision === undefined) undecided.push(arrival)
    else
      ready.push(withInstall(arrival, { ...withoutCandidates(arrival.record.install), ...outcomeOfDecision(decision) }))
  }
  const decided = await decideAll(undecided, deps)
  return {
    ready: [...ready, ...decided.ready],
    waiting: decided.waiting,
    decisions: [...repeated, ...decided.decisions],
  }
}

export function isPending({ record }: Arrival): boolean {
  return record.install.resolution === 'pending'
}

/** At most. Those whose deliveries have been written are forgotten, so that usually none is left. */
const OWN_DECISIONS = 10_000

/**
 * Decisions of this process until what follows from them is on the log: a batch that comes again, since something could not be appended, must
 * not be decided by what the facts say by then.
 */
export class OwnDecisions {
  readonly #made = new BoundedMap<string, DecisionRecord>(OWN_DECISIONS)

  remember(decisions: readonly DecisionRecord[]): void {
    for (const decision of decisions) this.#made.set(recordKey(decision, decision.eventId), decision)
  }

  /** The decision about this very record. */
  about(arrival: Arrival): DecisionRecord | undefined {
    const made = this.#made.get(eventKey(arrival))
    return made?.receivedAtMs === arrival.record.install.receivedAtMs ? made : undefined
  }

  forget(arrival: Arrival): void {
    this.#made.delete(eventKey(arrival))
  }
}

async function decideAll<A extends Arrival>(arrivals: readonly A[], deps: DecideDeps): Promise<Decided<A>> {
  const knowledge = await readKnowledge(
    deps.facts,
    arrivals.map(({ record }) => record.install),
  )
  const nowMs = deps.nowMs()
  const ready: A[] = []
  const waiting: A[] = []
  const decisions: DecisionRecord[] = []
  for (const [place, arrival] of arrivals.entries()) {
    const decided = decideOne(arrival, knowledge[place], { deps, nowMs })
    if (decided === null) {
      waiting.push(arrival)
      continue
    }
    ready.push(withInstall(arrival, decided))
    decisions.push(
      decisionRecord(decided, arrival.record.retentionDays, { nowMs, catalogNumber: deps.catalog().number }),
    )
  }
  return { ready, waiting, decisions }
}

/** Null while an earlier event of its installation is itself pending, and while this process may lack one of its destinations. */
function decideOne(
  arrival: Arrival,
  known: LaterKnowledge | undefined,
  { deps, nowMs }: { readonly deps: DecideDeps; readonly nowMs: number },
): Install | null {
  const { install } = arrival.record
  if (known === undefined) return null
  const result = resolveLater(install, isGivenUp(arrival, nowMs) ? asFarAsKnown(known) : known)
  if (result.resolution === 'pending') return null
  const destinations = findOwned(deps.catalog(), install)?.destinations ?? []
  if (result.resolution === 'matched' && mayLackDestination(install, destinations, { deps, nowMs })) return null
  const plans = planDecided(install.deliveries, {
    destinations,
    eventType: install.eventType,
    resolution: result.resolution,
    visitIssuedAtMs: result.visit?.issuedAtMs ?? null,
    receivedAtMs: install.receivedAtMs,
    isCi: install.isCi,
    isContainer: install.isContainer,
    nowMs,
    isTest: install.isTest,
  })
  return decideInstall(install, result, plans)
}

/** No delivery waits beyond its own deadline. */
function mayLackDestination(
  { catalogNumber, deliveries, receivedAtMs }: Install,
  destinations: readonly Destination[],
  { deps: { waits }, nowMs }: { readonly deps: DecideDeps; readonly nowMs: number },
): boolean {
  if (waits?.isBehind(catalogNumber) !== true) return false
  const isMissing = deliveries.some(
    ({ destination, provider, status }) =>
      status === 'pending' &&
      nowMs < receivedAtMs + PROVIDER_DESCRIPTORS[provider].maxAgeMs &&
      !destinations.some(({ id }) => id === destination),
  )
  if (isMissing) waits.waitFor(catalogNumber)
  return isMissing
}

export function isGivenUp({ firstSeenAtMs }: Arrival, nowMs: number): boolean {
  return nowMs - firstSeenAtMs >= LIMITS.visitMissingMs
}

function asFarAsKnown(known: LaterKnowledge): LaterKnowledge {
  const installation: KnownInstallation =
    known.installation.kind === 'undecided' ? { kind: 'none' } : known.installation
  return { ...known, installation }
}

function decisionRecord(
  install: Install,
  retentionDays: number,
  { nowMs: decidedAtMs, catalogNumber }: { readonly nowMs: number; readonly catalogNumber: number },
): DecisionRecord {
  const { website, organization, eventId, eventType, installationId, installPath, receivedAtMs } = install
  const { productVersion, place, resolution, selectionPolicy } = install
  const { candidateCount, visitId, visitIssuedAtMs, gpc, verdicts, deliveries, answer } = install
  const { isTest, isCi, isContainer } = install
  return {
    v: 1,
    kind: 'install_decision',
    website,
    organization,
    eventId,
    eventType,
    installationId,
    installPath,
    productVersion,
    place,
    receivedAtMs,
    isTest,
    isCi,
    isContainer,
    resolution,
    selectionPolicy,
    candidateCount,
    visitId,
    visitIssuedAtMs,
    gpc,
    verdicts,
    deliveries,
    answer,
    decidedAtMs,
    catalogNumber,
    retentionDays,
  }
}

function outcomeOfDecision(decision: InstallOutcome): InstallOutcome {
  const { resolution, selectionPolicy, candidateCount, visitId, visitIssuedAtMs } = decision
  const { gpc, verdicts, deliveries, answer } = decision
  return { resolution, selectionPolicy, candidateCount, visitId, visitIssuedAtMs, gpc, verdicts, deliveries, answer }
}

/** Once it is decided it waits for nothing. */
function withInstall<A extends Arrival>(arrival: A, install: Install): A {
  return { ...withoutEnds(arrival), record: { ...arrival.record, install } }
}

export function withoutEnds<A extends Arrival>(arrival: A): A {
  const { ends: _reached, ...left } = arrival
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- only an optional member is left out
  return left as A
}

function withoutCandidates({ openCandidates: _open, visitPolicy: _policy, ...install }: Install): Install {
  return install
}

function eventOf({ record: { install } }: Arrival): DecidedEvent {
  const { organization, website, eventId, receivedAtMs } = install
  return { organization, website, eventId, receivedAtMs }
}

export function eventKey({ record: { install } }: Arrival): string {
  return recordKey(install, install.eventId)
}
