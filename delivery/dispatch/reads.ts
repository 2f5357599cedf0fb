/** Dispatch's queries of the facts: which events have deliveries already, and the visits of new ones. */

import { areVerdicts, areDeliveryPlans, isInstallAnswer } from '../../domain/collection/stored-install.ts'
import { parsedAs } from '../../domain/guards.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { Visit } from '../../domain/collection/visit-fields.ts'
import {
  type InstallOutcome,
  type OwnedWebsite,
  type VisitId,
  RESOLUTIONS,
  SELECTION_POLICIES,
} from '../../domain/model.ts'
import { recordKey } from '../../domain/records.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { ownersOf, type EventKeys } from '../../ports/facts/query-parts.ts'
import { visitOfRow } from '../../ports/facts/visits.ts'

/** The part of the facts that queries need. */

interface EventRef extends OwnedWebsite {
  readonly eventId: string
}

export interface VisitRef extends OwnedWebsite {
  readonly visitId: VisitId
}

/** One delivery of an event in ClickHouse. */
export interface DeliveryBefore {
  readonly destination: string
  /** When the install record that caused it was received. */
  readonly receivedAtMs: number
  readonly isSkipped: boolean
}

/** The deliveries of these events, by `recordKey`; events without deliveries are absent. One query. */
export async function readEarlierDeliveries(
  facts: FactsReader,
  events: readonly EventRef[],
): Promise<ReadonlyMap<string, readonly DeliveryBefore[]>> {
  const rows = await facts.run('dispatchedJobs', eventKeys(events))
  const byEvent = Map.groupBy(rows, (row) => recordKey(row, row.event_id))
  return new Map([...byEvent].map(([key, ofEvent]) => [key, ofEvent.map(deliveryBefore)]))
}

function deliveryBefore(row: QueryRow<'dispatchedJobs'>): DeliveryBefore {
  return {
    destination: row.destination,
    receivedAtMs: row.install_received_at_ms,
    isSkipped: row.status === 'skipped',
  }
}

/** The first record of each event in ClickHouse, by `recordKey`; one query. */
export async function readFirsts(
  facts: FactsReader,
  events: readonly EventRef[],
): Promise<ReadonlyMap<string, QueryRow<'firstInstalls'>>> {
  const rows = await facts.run('firstInstalls', eventKeys(events))
  return new Map(rows.map((row) => [recordKey(row, row.event_id), row]))
}

function eventKeys(events: readonly EventRef[]): EventKeys {
  return { ...ownersOf(events), event_ids: events.map(({ eventId }) => eventId) }
}

/**
 * The visits that exist, by `recordKey` of website and visit ID; one query. An unreadable row counts as missing, so that it
 * does not delay the others; `onUnreadable` is called for it.
 */
export async function readVisits(
  facts: FactsReader,
  visits: readonly VisitRef[],
  onUnreadable: (visit: VisitRef) => void = () => undefined,
): Promise<ReadonlyMap<string, Visit>> {
  if (visits.length === 0) return new Map()
  const rows = await facts.run('visitsByIds', {
    ...ownersOf(visits),
    visit_ids: visits.map((visit) => visit.visitId),
  })
  const found = new Map<string, Visit>()
  for (const row of rows) {
    const visit = visitOfRow(row)
    if (visit === null) onUnreadable({ organization: row.organization, website: row.website, visitId: row.visit_id })
    else found.set(recordKey(row, row.visit_id), visit)
  }
  return found
}

/** The record of an event that is to be decided. */
export interface DecidedEvent extends EventRef {
  readonly receivedAtMs: number
}

/**
 * The decisions about these very records of pending events, by `recordKey`; one query. What was decided about a later record of an event
 * says nothing about its first one. A damaged decision is left out and made again.
 */
export async function readDecisions(
  facts: FactsReader,
  events: readonly DecidedEvent[],
): Promise<ReadonlyMap<string, InstallOutcome>> {
  const rows = await facts.run('decisionsByEvents', eventKeys(events))
  const received = new Map(events.map((event) => [recordKey(event, event.eventId), event.receivedAtMs]))
  const decisions = new Map<string, InstallOutcome>()
  for (const row of rows) {
    const key = recordKey(row, row.event_id)
    const decided = row.received_at_ms === received.get(key) ? decidedPart(row) : null
    if (decided !== null) decisions.set(key, decided)
  }
  return decisions
}

function decidedPart(row: QueryRow<'decisionsByEvents'>): InstallOutcome | null {
  const verdicts = parsedAs(areVerdicts, row.verdicts)
  const deliveries = parsedAs(areDeliveryPlans, row.deliveries)
  const answer = parsedAs(isInstallAnswer, row.answer)
  const resolution = RESOLUTIONS.find((each) => each === row.resolution)
  const selectionPolicy = SELECTION_POLICIES.find((each) => each === row.selection_policy)
  if (verdicts === null || deliveries === null || answer === null) return null
  if (resolution === undefined || selectionPolicy === undefined) return null
  return {
    resolution,
    selectionPolicy,
    candidateCount: row.candidate_count,
    visitId: row.visit_id === '' ? null : row.visit_id,
    visitIssuedAtMs: row.visit_issued_at_ms,
    gpc: row.gpc,
    verdicts,
    deliveries,
    answer,
  }
}
