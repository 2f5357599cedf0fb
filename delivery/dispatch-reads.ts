/** What dispatch reads of the facts: which events have deliveries already, and the visits behind new ones. */

import type { Identities, Utm, Visit, VisitId, WebsiteId } from '../domain/model.ts'
import { recordKey } from '../domain/records.ts'
import type { Facts } from '../ports/facts/facts.ts'
import type { QueryRow } from '../ports/facts/queries.ts'

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

/** Keys of those events that have deliveries in ClickHouse; one query. */
export async function readDispatched(facts: FactsReader, events: readonly EventRef[]): Promise<ReadonlySet<string>> {
  const rows = await facts.run('dispatchedJobs', {
    websites: events.map((event) => event.website),
    event_ids: events.map((event) => event.eventId),
  })
  return new Set(rows.map((row) => recordKey(row.website, row.event_id)))
}

/** The visits that are there, by `recordKey` of website and visit ID; one query. */
export async function readVisits(facts: FactsReader, visits: readonly VisitRef[]): Promise<ReadonlyMap<string, Visit>> {
  if (visits.length === 0) return new Map()
  const rows = await facts.run('visitsByIds', {
    websites: visits.map((visit) => visit.website),
    visit_ids: visits.map((visit) => visit.visitId),
  })
  return new Map(rows.map((row) => [recordKey(row.website, row.visit_id), visitOf(row)]))
}

function visitOf(row: QueryRow<'visitsByIds'>): Visit {
  return {
    website: row.website,
    visitId: row.visit_id,
    organization: row.organization,
    issuedAtMs: row.issued_at_ms,
    urlId: row.url_id,
    origin: row.origin,
    pageUrl: row.page_url,
    referrer: row.referrer,
    sourceReferrer: row.source_referrer,
    landedAtMs: row.landed_at_ms,
    utm: utmOf(row),
    identities: JSON.parse(row.identities) as Identities,
    client: JSON.parse(row.client) as Visit['client'],
    gpc: row.gpc,
    isHandoffOnly: row.is_handoff_only,
    previousVisitId: row.previous_visit_id === '' ? null : row.previous_visit_id,
  }
}

function utmOf(row: QueryRow<'visitsByIds'>): Utm {
  const values = {
    source: row.utm_source,
    medium: row.utm_medium,
    campaign: row.utm_campaign,
    term: row.utm_term,
    content: row.utm_content,
    id: row.utm_id,
  }
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}
