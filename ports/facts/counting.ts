/** The queries by which install events are judged and counted (`delivery/counting/count-installs.ts`). */

import type { OwnedWebsite } from '../../domain/model.ts'
import { keysOf } from '../../domain/typed-keys.ts'
import { selectFrom, type RowsOf } from './columns.ts'
import { COUNTED_INSTALL_COLUMNS, ORIGIN_COLUMNS } from './counted-install-columns.ts'
import {
  EVENTS_ASKED,
  installs,
  MAX_KEYS,
  ms,
  once,
  report,
  sequential,
  VISITS_ASKED,
  WEBSITES_ASKED,
  withinPeriod,
  type EventKeys,
  type OwnerKeys,
  type VisitKeys,
} from './query-parts.ts'
import { COUNTED_BY } from './visits.ts'

type EventKeyRow = OwnedWebsite & { readonly event_id: string }

const COUNTED_INSTALL = selectFrom('counted_installs', keysOf(COUNTED_INSTALL_COLUMNS))
export type StoredCountRow = RowsOf<typeof COUNTED_INSTALL>

const COUNTABLE = selectFrom('installs', [
  'organization',
  'website',
  'event_id',
  'installation_id',
  'received_at',
  'event_type',
  'product_version',
  'install_path',
  'platform',
  'agent',
  'country',
  'place',
  'is_ci',
  'is_container',
  'is_test',
  'resolution',
  'selection_policy',
  'reason',
  'visit_id',
  'visit_issued_at',
])
export type CountableRow = RowsOf<typeof COUNTABLE> & { readonly retention_days: number }

/** Where a visit came from, by the dimensions of figures. */
export type OriginRow = OwnedWebsite & { readonly visit_id: string } & {
  readonly [D in keyof typeof ORIGIN_COLUMNS]: string
}

const ORIGINS = keysOf(ORIGIN_COLUMNS)

/** Far more events than an installation reports while they are kept; of one that reports more, the newest are enough. */
export const EVENTS_OF_INSTALLATION = 1_000
/** Of one answer about many installations. */
const MAX_ROWS = 1_000_000
/** Hours with more events than that are counted in several pieces. */
export const EVENTS_AT_ONCE = 5_000

export const COUNTING_QUERIES = {
  /** Events with the decision about each. */
  countableEvents: sequential<EventKeys, CountableRow>(
    `SELECT ${COUNTABLE.sql}, retention_days FROM ${installs(EVENTS_ASKED)} LIMIT ${MAX_KEYS}`,
  ),

  /** Events of these installations that were counted before, by any website that is asked for: of each the newest. */
  countedEvents: sequential<OwnerKeys & { readonly installation_ids: readonly string[] }, StoredCountRow>(
    `SELECT ${COUNTED_INSTALL.sql} FROM ${once('counted_installs')}
    PREWHERE ${WEBSITES_ASKED} AND installation_id IN {installation_ids:Array(String)}
    ORDER BY organization, website, installation_id, received_at DESC, event_id DESC
    LIMIT ${EVENTS_OF_INSTALLATION} BY organization, website, installation_id LIMIT ${MAX_ROWS}`,
  ),

  /** Those of these events that are counted. */
  settledEvents: sequential<EventKeys & { readonly since_ms: number; readonly until_ms: number }, EventKeyRow>(
    `SELECT organization, website, event_id FROM ${once('counted_installs')}
    PREWHERE ${EVENTS_ASKED} AND ${withinPeriod('received_at')} LIMIT ${MAX_KEYS}`,
  ),

  originsOfVisits: report<VisitKeys, OriginRow>(
    // Two steps: some of the names are those of other columns.
    `SELECT organization, website, visit_id, ${ORIGINS.map((name) => `by_${name} AS ${name}`).join(', ')}
    FROM (SELECT organization, website, visit_id, ${ORIGINS.map((name) => `${COUNTED_BY[name]} AS by_${name}`).join(', ')}
      FROM ${once('visits')} PREWHERE ${VISITS_ASKED} LIMIT ${MAX_KEYS})`,
  ),

  /** Events that were received in this period, with when each was: the keys of a page, in order. */
  eventsReceived: sequential<
    OwnerKeys & { readonly since_ms: number; readonly until_ms: number; readonly limit: number },
    EventKeyRow & { readonly received_at_ms: number }
  >(`SELECT organization, website, event_id, ${ms('received_at')} FROM installs
    WHERE ${WEBSITES_ASKED} AND ${withinPeriod('received_at')}
    ORDER BY received_at, event_id LIMIT 1 BY organization, website, event_id LIMIT {limit:UInt32}`),

  /** Counted events whose visit was not there when they were counted, and is now. */
  eventsWithLateVisits: report<Record<never, never>, EventKeyRow>(`
    SELECT organization, website, event_id FROM ${once('counted_installs')}
    WHERE visit_id != '' AND NOT is_visit_known AND kind != 'superseded' AND (organization, website, visit_id) IN (
      SELECT organization, website, visit_id FROM visits WHERE (organization, website, visit_id) IN (
        SELECT organization, website, visit_id FROM counted_installs WHERE visit_id != '' AND NOT is_visit_known))
    LIMIT ${EVENTS_AT_ONCE}`),
} as const
