/** What dispatch reads of the facts: which events have deliveries already, and the visits behind new ones. */

import { readJsonColumn } from '../../common/json-column.ts'
import type {
  CandidateVerdict,
  DeliveryPlan,
  Install,
  InstallAnswer,
  Resolution,
  SelectionPolicy,
  Visit,
  VisitId,
  WebsiteId,
} from '../../domain/model.ts'
import { recordKey } from '../../domain/records.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { visitOfRow } from '../../ports/facts/visits.ts'

/** All that reading needs of the facts. */
export type FactsReader = Pick<Facts, 'run'>

export interface EventRef {
  readonly website: WebsiteId
  readonly eventId: string
}

export interface VisitRef {
  readonly website: WebsiteId
  readonly visitId: VisitId
}

/** What ClickHouse knows of an event's deliveries. */
export interface DispatchedBefore {
  /** When the earliest record of the install was received that any of them comes from; 0 where no row says it. */
  readonly receivedAtMs: number
  /** Destinations for which nothing was to be done. */
  readonly skipped: readonly string[]
}

/** Those of the events that have deliveries, by `recordKey`; one query. */
export async function readDispatched(
  facts: FactsReader,
  events: readonly EventRef[],
): Promise<ReadonlyMap<string, DispatchedBefore>> {
  const dispatched = new Map<string, DispatchedBefore>()
  for (const row of await facts.run('dispatchedJobs', keysOf(events))) {
    const key = recordKey(row.website, row.event_id)
    const before = dispatched.get(key) ?? { receivedAtMs: row.install_received_at_ms, skipped: [] }
    dispatched.set(key, {
      receivedAtMs: Math.min(before.receivedAtMs, row.install_received_at_ms),
      skipped: row.status === 'skipped' ? [...before.skipped, row.destination] : before.skipped,
    })
  }
  return dispatched
}

/** Which record of an event came first, as far as ClickHouse knows them, by `recordKey`; one query. */
export async function readFirsts(
  facts: FactsReader,
  events: readonly EventRef[],
): Promise<ReadonlyMap<string, QueryRow<'firstInstalls'>>> {
  const rows = await facts.run('firstInstalls', keysOf(events))
  return new Map(rows.map((row) => [recordKey(row.website, row.event_id), row]))
}

export function keysOf(events: readonly EventRef[]): { websites: string[]; event_ids: string[] } {
  return { websites: events.map(({ website }) => website), event_ids: events.map(({ eventId }) => eventId) }
}

/**
 * The visits that are there, by `recordKey` of website and visit ID; one query. A row that cannot be read counts as not there
 * (yet), so that it holds up nobody else's; `onUnreadable` hears of it.
 */
export async function readVisits(
  facts: FactsReader,
  visits: readonly VisitRef[],
  onUnreadable: (visit: VisitRef) => void = () => undefined,
): Promise<ReadonlyMap<string, Visit>> {
  if (visits.length === 0) return new Map()
  const rows = await facts.run('visitsByIds', {
    websites: visits.map((visit) => visit.website),
    visit_ids: visits.map((visit) => visit.visitId),
  })
  const found = new Map<string, Visit>()
  for (const row of rows) {
    const visit = visitOfRow(row)
    if (visit === null) onUnreadable({ website: row.website, visitId: row.visit_id })
    else found.set(recordKey(row.website, row.visit_id), visit)
  }
  return found
}

/** What decisions say of events that were pending, by `recordKey`; one query. One that is damaged can be made again. */
export async function readDecisions(
  facts: FactsReader,
  events: readonly EventRef[],
): Promise<ReadonlyMap<string, DecidedPart>> {
  const rows = await facts.run('decisionsByEvents', keysOf(events))
  const decisions = new Map<string, DecidedPart>()
  for (const row of rows) {
    const decided = decidedPart(row)
    if (decided !== null) decisions.set(recordKey(row.website, row.event_id), decided)
  }
  return decisions
}

export type DecidedPart = Pick<
  Install,
  | 'resolution'
  | 'selectionPolicy'
  | 'candidateCount'
  | 'visitId'
  | 'visitIssuedAtMs'
  | 'gpc'
  | 'verdicts'
  | 'deliveries'
  | 'answer'
>

function decidedPart(row: QueryRow<'decisionsByEvents'>): DecidedPart | null {
  const verdicts = readJsonColumn<CandidateVerdict[]>(row.verdicts)
  const deliveries = readJsonColumn<DeliveryPlan[]>(row.deliveries)
  const answer = readJsonColumn<InstallAnswer>(row.answer)
  if (verdicts === null || deliveries === null || answer === null) return null
  return {
    resolution: row.resolution as Resolution,
    selectionPolicy: row.selection_policy as SelectionPolicy,
    candidateCount: row.candidate_count,
    visitId: row.visit_id === '' ? null : row.visit_id,
    visitIssuedAtMs: row.visit_issued_at_ms,
    gpc: row.gpc,
    ...{ verdicts, deliveries, answer },
  }
}
