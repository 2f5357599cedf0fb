/**
 * Decides installs that were pending: once the facts hold everything that was on the log when dispatch first saw the
 * install, or when the longest wait is over.
 *
 * A decision depends on the state when the event was received, so it comes out the same whichever process makes it, and
 * whenever.
 */

import type { Catalog } from '../../domain/catalog.ts'
import { planDecided } from '../../domain/delivery/deliveries.ts'
import {
  DECIDING_TOPICS,
  FACTS_WRITER_GROUP,
  hasReached,
  type LogEnds,
  type Offsets,
} from '../../domain/collection/facts-lag.ts'
import { decideInstall } from '../../domain/collection/install.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Install } from '../../domain/model.ts'
import { recordKey, type DecisionRecord, type InstallRecord } from '../../domain/records.ts'
import { resolveLater, type KnownInstallation, type LaterKnowledge } from '../../domain/collection/resolve.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { readDecisions, type FactsReader } from './reads.ts'
import { readKnowledge } from './decision-facts.ts'

/** An install in dispatch, fresh or parked before. */
export interface Arrival {
  readonly record: InstallRecord
  readonly firstSeenAtMs: number
  /** For a pending install that was read before. */
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
  readonly eventLog: Pick<EventLog, 'progress'>
  readonly facts: FactsReader
  readonly catalog: () => Catalog
  readonly nowMs: () => number
}

export async function decidePending<A extends Arrival>(arrivals: readonly A[], deps: DecideDeps): Promise<Decided<A>> {
  const settled = arrivals.filter((arrival) => !isPending(arrival))
  const open = arrivals.filter(isPending)
  if (open.length === 0) return { ready: settled, waiting: [], decisions: [] }
  const known = await readDecisions(deps.facts, open.map(eventOf))
  const ready = [...settled]
  const undecided: A[] = []
  for (const arrival of open) {
    const decision = known.get(eventKey(arrival))
    if (decision === undefined) undecided.push(arrival)
    else ready.push(withInstall(arrival, { ...withoutCandidates(arrival.record.install), ...decision }))
  }
  const { due, waiting } = await whoIsDue(undecided, deps)
  const decided = await decideAll(due, deps)
  return {
    ready: [...ready, ...decided.ready],
    waiting: [...waiting, ...decided.waiting],
    decisions: decided.decisions,
  }
}

function isPending({ record }: Arrival): boolean {
  return record.install.resolution === 'pending'
}

/** Each waits for what was on the log when it was first seen; later entries do not matter for it. */
async function whoIsDue<A extends Arrival>(
  arrivals: readonly A[],
  { eventLog, nowMs }: DecideDeps,
): Promise<{ readonly due: readonly A[]; readonly waiting: readonly A[] }> {
  if (arrivals.length === 0) return { due: [], waiting: [] }
  const progress = await Promise.all(DECIDING_TOPICS.map((topic) => eventLog.progress(topic, FACTS_WRITER_GROUP)))
  const byTopic = (of: 'done' | 'ends'): LogEnds =>
    Object.fromEntries(DECIDING_TOPICS.map((topic, place) => [topic, progress[place]?.[of] ?? []])) as Record<
      (typeof DECIDING_TOPICS)[number],
      Offsets
    >
  const [done, endsNow] = [byTopic('done'), byTopic('ends')]
  const due: A[] = []
  const waiting: A[] = []
  for (const arrival of arrivals) {
    const ends = arrival.ends ?? endsNow
    const isDue = isGivenUp(arrival, nowMs()) || DECIDING_TOPICS.every((topic) => hasReached(done[topic], ends[topic]))
    if (isDue) due.push({ ...arrival, ends })
    else waiting.push({ ...arrival, ends })
  }
  return { due, waiting }
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
    decisions.push(decisionRecord(decided, arrival.record.retentionDays, nowMs))
  }
  return { ready, waiting, decisions }
}

/** Null while an earlier event of its installation is itself pending. */
function decideOne(
  arrival: Arrival,
  known: LaterKnowledge | undefined,
  { deps, nowMs }: { readonly deps: DecideDeps; readonly nowMs: number },
): Install | null {
  const { install } = arrival.record
  if (known === undefined) return null
  const result = resolveLater(install, isGivenUp(arrival, nowMs) ? asFarAsKnown(known) : known)
  if (result.resolution === 'pending') return null
  const plans = planDecided(install.deliveries, {
    destinations: deps.catalog().websites.get(install.website)?.destinations ?? [],
    eventType: install.eventType,
    resolution: result.resolution,
    visitIssuedAtMs: result.visit?.issuedAtMs ?? null,
    receivedAtMs: install.receivedAtMs,
    nowMs,
  })
  return decideInstall(install, result, plans)
}

function isGivenUp({ firstSeenAtMs }: Arrival, nowMs: number): boolean {
  return nowMs - firstSeenAtMs >= LIMITS.visitMissingMs
}

function asFarAsKnown(known: LaterKnowledge): LaterKnowledge {
  const installation: KnownInstallation =
    known.installation.kind === 'undecided' ? { kind: 'none' } : known.installation
  return { ...known, installation }
}

function decisionRecord(install: Install, retentionDays: number, decidedAtMs: number): DecisionRecord {
  const { website, organization, eventId, installationId, receivedAtMs, resolution, selectionPolicy } = install
  const { candidateCount, visitId, visitIssuedAtMs, gpc, verdicts, deliveries, answer } = install
  return {
    v: 1,
    kind: 'install_decision',
    ...{ website, organization, eventId, installationId, receivedAtMs, resolution, selectionPolicy },
    ...{ candidateCount, visitId, visitIssuedAtMs, gpc, verdicts, deliveries, answer },
    decidedAtMs,
    retentionDays,
  }
}

function withInstall<A extends Arrival>(arrival: A, install: Install): A {
  return { ...arrival, record: { ...arrival.record, install } }
}

function withoutCandidates({ openCandidates: _open, visitPolicy: _policy, ...install }: Install): Install {
  return install
}

function eventOf({ record: { install } }: Arrival): { website: string; eventId: string } {
  return { website: install.website, eventId: install.eventId }
}

export function eventKey({ record: { install } }: Arrival): string {
  return recordKey(install.website, install.eventId)
}
