/**
 * Every SQL text that reads facts, by name, with its parameters and rows.
 *
 * Each one is bounded by keys, by a LIMIT or by a time range. Values are bound as `{name:Type}`. Absent filters are left out
 * of the text, so that the remaining ones can use the order of the table.
 */

import type { OwnedWebsite } from '../../domain/model.ts'
import type { FoundKey } from '../../domain/logs/first-records.ts'
import { DERIVED_TABLES, FACT_TABLES } from './columns.ts'
import { ALERT_JUDGING_QUERIES } from './pages/alerts.ts'
import { COUNTING_QUERIES } from './counting.ts'
import { DECIDING_QUERIES } from './deciding.ts'
import { ERASURE_QUERIES } from './erasure/queries.ts'
import { ROLLUP_QUERIES } from './pages/figures.ts'
import { installKeys, installList, type InstallFilters, type OfEvents } from './pages/installs.ts'
import { eventsOfReferences, filteredAttempts, filteredRequests, type LogPageFilters } from './pages/logs.ts'
import { PAGE_QUERIES } from './pages/pages.ts'
import { REPLAY_QUERIES } from './pages/replay.ts'
import { STREAM_QUERIES } from './streams.ts'
import {
  at,
  decided,
  EVENTS_ASKED,
  installs,
  lookUp,
  MAX_KEYS,
  MAX_PAGE,
  ms,
  newestFirst,
  OF_WEBSITE,
  once,
  pageLimit,
  report,
  sequential,
  VISITS_ASKED,
  withinPeriod,
  type EventKeys,
  type Query,
  type VisitKeys,
} from './query-parts.ts'
import {
  ACTIVITY,
  ATTEMPT,
  DECIDED_COLUMNS,
  DELIVERY,
  DISPATCHED_JOB,
  HANDOFF,
  INSTALL,
  POISON,
  REQUEST_LOG,
  SETTLED_INSTALL,
  VISIT,
} from './query-rows.ts'
import type {
  ActivationRow,
  ActivityRow,
  AttemptRow,
  CountsRow,
  DeliveryRow,
  DestinationStateRow,
  DispatchedJobRow,
  HandoffRow,
  InstallationCountRow,
  InstallRow,
  OrganizationUsageRow,
  PoisonRow,
  PreviousVisitRow,
  RequestLogRow,
  SettledInstallRow,
  TrafficRow,
  UsageRow,
  VisitRow,
} from './query-rows.ts'
import { IS_PERSONS_VIEW } from './visits.ts'

const MAX_ATTEMPTS = 1_000
const MAX_REPEATS = 3
/** More websites than one installation of the service is designed for, but still a small answer. */
const MAX_WEBSITES = 200_000

type InstallKey = OwnedWebsite & { readonly event_id: string }

/** `since_ms` (inclusive) and `until_ms` (exclusive) bound the time. */
type WholePeriod = { readonly since_ms: number; readonly until_ms: number }
type Period = WholePeriod & { readonly limit: number }
/** Keyset page: rows after `after_*`, not older than `since_ms`. */
type After = {
  readonly since_ms: number
  readonly limit: number
  readonly after_organization: string
  readonly after_website: string
}
type Filters<F extends string, V = string> = { readonly [K in F]?: V }

type LogListFilters = Period & LogPageFilters & Filters<'organization' | 'website'> & Filters<'status', number>
type InstallListFilters = Period & InstallsOfList
type InstallsOfList = WholePeriod &
  InstallFilters &
  Filters<'organization' | 'website' | 'before_id'> &
  Filters<'before_ms', number>
type DeliveryFilters = Period & Filters<'organization' | 'website' | 'destination' | 'status'>

const CONDITIONS: Readonly<Record<string, string>> = {
  organization: 'organization = {organization:String}',
  website: 'website = {website:String}',
  destination: 'destination = {destination:String}',
  status: 'status = {status:UInt16}',
}

/** Conditions for the filters that are set, each preceded by `AND`. */
function filtered(params: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  return names.flatMap((name) => (params[name] === undefined ? [] : [`AND ${CONDITIONS[name]}`])).join(' ')
}

/** Columns that visits, installs and decisions have in common. */
const OWNERS = ['organization', 'website'] as const
const installScope = (params: Filters<(typeof OWNERS)[number]>): string => `true ${filtered(params, OWNERS)}`

/** Keys read for a page: a key that was inserted twice and is not merged yet occurs more than once. */
const candidateLimit = (): string => `LIMIT least({limit:UInt32}, ${MAX_PAGE}) * ${MAX_REPEATS}`

/** A page that goes on after a row, in the order of the tables. */
const NOT_BEFORE = '(organization, website) >= ({after_organization:String}, {after_website:String})'
const AFTER_OWNER = '{after_organization:String}, {after_website:String}'

const COUNTED = FACT_TABLES.filter((table) => !DERIVED_TABLES.some((derived) => derived === table))

export const QUERIES = {
  ...PAGE_QUERIES,
  ...ROLLUP_QUERIES,
  ...REPLAY_QUERIES,
  ...ERASURE_QUERIES,
  ...STREAM_QUERIES,
  ...DECIDING_QUERIES,
  ...COUNTING_QUERIES,
  ...ALERT_JUDGING_QUERIES,

  /** Visits by website and ID, for dispatch and for explanations. */
  visitsByIds: lookUp<VisitKeys, VisitRow>(`SELECT ${VISIT.sql} FROM ${once('visits')}
    PREWHERE ${VISITS_ASKED} LIMIT ${MAX_KEYS}`),

  /** The receipts that visits replaced. No FINAL: duplicate rows of a visit agree on it. */
  previousVisits: sequential<
    VisitKeys,
    PreviousVisitRow
  >(`SELECT organization, website, visit_id, max(previous_visit_id) AS previous_visit_id
    FROM visits PREWHERE ${VISITS_ASKED}
    GROUP BY organization, website, visit_id LIMIT ${MAX_KEYS}`),

  /** Pages of what activations did, in the table's own order; duplicate rows do no harm. */
  activationsAfter: sequential<
    After & { readonly after_visit_id: string; readonly after_effect: number },
    ActivationRow
  >(
    `SELECT organization, website, visit_id, toInt8(effect) AS effect, ${ms('issued_at')} FROM activations
    WHERE issued_at >= ${at('since_ms')} AND ${NOT_BEFORE}
      AND (organization, website, visit_id, toInt8(effect)) > (${AFTER_OWNER}, {after_visit_id:String}, {after_effect:Int8})
    ORDER BY organization, website, visit_id, effect ${pageLimit()}`,
  ),

  /** Pages of installs in the table's own order, the first record of each event. */
  installsAfter: sequential<After & { readonly after_event_id: string }, SettledInstallRow>(
    `SELECT ${SETTLED_INSTALL.sql}
    FROM ${decided(
      `SELECT organization, website, event_id, installation_id, received_at, ${DECIDED_COLUMNS.join(', ')} FROM installs
      WHERE received_at >= ${at('since_ms')} AND ${NOT_BEFORE}
        AND (organization, website, event_id) > (${AFTER_OWNER}, {after_event_id:String})
      ORDER BY organization, website, event_id, row_version DESC LIMIT 1 BY organization, website, event_id ${pageLimit()}`,
      `WHERE received_at >= ${at('since_ms')} AND ${NOT_BEFORE}`,
    )} ORDER BY organization, website, event_id`,
  ),

  /** The install of an event, with its answer. */
  installByEvent: lookUp<InstallKey, InstallRow>(`SELECT ${INSTALL.sql}
    FROM ${installs(`${OF_WEBSITE} AND event_id = {event_id:String}`)} LIMIT 1`),

  /** The part of it that the hot state remembers. */
  settledInstall: lookUp<InstallKey, SettledInstallRow>(`SELECT ${SETTLED_INSTALL.sql}
    FROM ${installs(`${OF_WEBSITE} AND event_id = {event_id:String}`)} LIMIT 1`),

  /** Event IDs are unique only per website and owner, so one ID may find several installs. */
  installsByEventId: report<{ readonly event_id: string }, InstallRow>(`SELECT ${INSTALL.sql}
    FROM ${installs('event_id = {event_id:String}')} ORDER BY organization, website LIMIT 100`),

  /** How many installations are matched to a visit, by events from `since_ms` on: the time of the visit bounds what is read. */
  installationsOfVisit: report<
    OwnedWebsite & { readonly visit_id: string; readonly since_ms: number },
    InstallationCountRow
  >(`SELECT uniqExact(installation_id) AS installations
    FROM ${decided(
      `SELECT * FROM ${once('installs')} WHERE ${OF_WEBSITE} AND received_at >= ${at('since_ms')}`,
      `WHERE ${OF_WEBSITE} AND received_at >= ${at('since_ms')}`,
    )} WHERE visit_id = {visit_id:String}`),

  /** Existing deliveries of these events. */
  dispatchedJobs: lookUp<EventKeys, DispatchedJobRow>(`SELECT ${DISPATCHED_JOB.sql}
    FROM ${once('deliveries')} PREWHERE ${EVENTS_ASKED} LIMIT ${MAX_KEYS}`),

  deliveriesOfInstall: report<InstallKey, DeliveryRow>(`SELECT ${DELIVERY.sql} FROM ${once('deliveries')}
    PREWHERE ${OF_WEBSITE} AND event_id = {event_id:String} ORDER BY destination LIMIT ${MAX_ATTEMPTS}`),

  attemptsOfInstall: report<InstallKey, AttemptRow>(`SELECT ${ATTEMPT.sql} FROM ${once('attempts')}
    PREWHERE ${OF_WEBSITE} AND event_id = {event_id:String}
    ORDER BY destination, started_at, number LIMIT ${MAX_ATTEMPTS}`),

  handoffsOfVisits: report<VisitKeys, HandoffRow>(`SELECT ${HANDOFF.sql} FROM ${once('handoffs')}
    PREWHERE ${VISITS_ASKED} LIMIT ${MAX_KEYS}`),

  /**
   * Newest first; `before_ms` and `before_id` are those of the last row of the page before. The page's keys are found
   * first, from narrow columns and without FINAL; rows of one key agree in all of these columns.
   */
  listLogs: report<LogListFilters, RequestLogRow>((params) => {
    const own = `${filtered(params, [...OWNERS, 'status'])} ${filteredRequests(params)}`
    return `SELECT ${REQUEST_LOG.sql} FROM ${once('request_logs')}
    PREWHERE ${withinPeriod('received_at')} AND (organization, website, received_at, id) IN (
      SELECT organization, website, received_at, id FROM request_logs WHERE ${withinPeriod('received_at')} ${own}
      ${newestFirst('received_at', 'id')} ${candidateLimit()})
    ${newestFirst('received_at', 'id')} ${pageLimit()}`
  }),

  /** What `references` of a list of attempts stand for, if they are IDs of installations or visits. */
  listEventsOfReferences: report<{ readonly references: readonly string[] }, { readonly event_id: string }>(
    eventsOfReferences('true'),
  ),

  /** Attempts at delivery, newest first; rows of one key agree in all columns. */
  listAttempts: report<LogListFilters, AttemptRow>(
    (params) => `SELECT ${ATTEMPT.sql} FROM attempts
    WHERE ${withinPeriod('started_at')} ${filtered(params, OWNERS)} ${filteredAttempts(params)}
    ${newestFirst('started_at', 'attempt_id')} LIMIT 1 BY organization, website, event_id, destination, attempt_id ${pageLimit()}`,
  ),

  /** `listInstalls` reads the rows of these; together they are a list (`newestInstalls`). */
  listInstallKeys: report<InstallListFilters, FoundKey>((params) => installKeys(params, installScope(params))),

  listInstalls: report<InstallsOfList & OfEvents, InstallRow>((params) =>
    installList(params, { columns: INSTALL.sql, scope: installScope(params) }),
  ),

  listDeliveries: report<DeliveryFilters, DeliveryRow>(
    (params) => `SELECT ${DELIVERY.sql} FROM ${once('deliveries')}
    PREWHERE (organization, website, event_id, destination) IN (
      SELECT organization, website, event_id, destination FROM ${once('deliveries')}
      WHERE ${withinPeriod('changed_at')} ${filtered(params, ['organization', 'website', 'destination'])}
        ${params.status === undefined ? '' : 'AND status = {status:String}'}
      ${newestFirst('changed_at', 'event_id')} ${pageLimit()})
    ${newestFirst('changed_at', 'event_id')} ${pageLimit()}`,
  ),

  listActivity: report<Period & Filters<'organization'>, ActivityRow>(
    (params) => `SELECT ${ACTIVITY.sql} FROM ${once('activity')}
    WHERE ${withinPeriod('noticed_at')} ${filtered(params, ['organization'])} ${newestFirst('noticed_at', 'id')} ${pageLimit()}`,
  ),

  listPoison: report<Period, PoisonRow>(`SELECT ${POISON.sql} FROM ${once('poison_records')}
    WHERE ${withinPeriod('found_at')} ${newestFirst('found_at', 'log_offset')} ${pageLimit()}`),

  /** Tracked events of an organisation from `since_ms` until before `until_ms`, recounted from the facts; visits of bots are none. */
  usage: report<
    { readonly organization: string; readonly since_ms: number; readonly until_ms: number },
    UsageRow
  >(`SELECT
      (SELECT count() FROM ${once('visits')} WHERE organization = {organization:String}
        AND issued_at >= ${at('since_ms')} AND issued_at < ${at('until_ms')} AND visitor_kind != 'bot') AS visits,
      (SELECT count() FROM ${once('installs')} WHERE organization = {organization:String}
        AND received_at >= ${at('since_ms')} AND received_at < ${at('until_ms')}) AS installs`),

  /** Tracked events since then of every organisation that has any, counted as in `usage`. */
  usageOfAll: report<{ readonly since_ms: number }, OrganizationUsageRow>(`
    SELECT organization, sum(recorded) AS events FROM (
      SELECT organization, count() AS recorded FROM ${once('visits')}
      WHERE issued_at >= ${at('since_ms')} AND visitor_kind != 'bot' GROUP BY organization
      UNION ALL
      SELECT organization, count() FROM ${once('installs')}
      WHERE received_at >= ${at('since_ms')} GROUP BY organization
    ) GROUP BY organization LIMIT ${MAX_WEBSITES}`),

  /**
   * Every website with visits or installs of figures in a period. Visits without FINAL, which would merge a month of them for one day's
   * figures: distinct keys are counted instead, exactly if they are few, otherwise within a percent. A sitting that began before counts, too.
   */
  traffic: report<WholePeriod, TrafficRow>(`
    SELECT organization, website, sum(visits) AS visits, sum(installs) AS installs, sum(matched) AS matched, sum(unmatched) AS unmatched FROM (
      SELECT organization, website, uniqCombined(if(sitting = '', visit_id, sitting)) AS visits, 0 AS installs, 0 AS matched, 0 AS unmatched FROM visits
      WHERE ${withinPeriod('issued_at')} AND ${IS_PERSONS_VIEW} GROUP BY organization, website
      UNION ALL
      SELECT organization, website, 0, count(), countIf(resolution = 'matched'), countIf(resolution = 'unmatched')
      FROM ${once('counted_installs')} PREWHERE ${withinPeriod('received_at')} WHERE kind = 'install' AND NOT is_left_out
      GROUP BY organization, website
    ) GROUP BY organization, website LIMIT ${MAX_WEBSITES}`),

  /** The latest pause or resumption of each destination that was ever paused. Duplicate rows change no maximum. */
  destinationStates: report<
    Record<never, never>,
    DestinationStateRow
  >(`SELECT organization, website, subject AS destination,
      argMax(type, (noticed_at, id)) AS latest_type, toUnixTimestamp64Milli(max(noticed_at)) AS since_ms FROM activity
    WHERE type IN ('destination_paused', 'destination_resumed') GROUP BY organization, website, subject LIMIT ${MAX_WEBSITES}`),

  /** Log lines of a website in a period. */
  countLogs: report<WholePeriod & OwnedWebsite, { readonly logs: number }>(`SELECT count() AS logs
    FROM ${once('request_logs')} WHERE ${OF_WEBSITE} AND ${withinPeriod('received_at')}`),

  counts: report<Record<never, never>, CountsRow>(
    `SELECT ${COUNTED.map((table) => `(SELECT count() FROM ${once(table)}) AS ${table}`).join(', ')}`,
  ),
} as const

export type QueryName = keyof typeof QUERIES
export type QueryParams<Q extends QueryName> = (typeof QUERIES)[Q] extends Query<infer P, unknown> ? P : never
export type QueryRow<Q extends QueryName> = (typeof QUERIES)[Q] extends Query<infer _P, infer R> ? R : never
