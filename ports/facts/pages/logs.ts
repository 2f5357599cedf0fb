/**
 * The SQL texts behind Logs: requests that came in and attempts that went out, both as the same kind of line.
 *
 * Each statement names the websites and both bounds of time, since the tables are ordered by these. Rows with one key agree in
 * all columns, so that conditions may be checked before FINAL has merged them.
 */

import { keysOf } from '../../../domain/typed-keys.ts'
import { ATTEMPT, REQUEST_LOG, type AttemptRow, type RequestLogRow } from '../query-rows.ts'
import { at, newestFirst, once, pageLimit, pageOf, withinPeriod } from '../query-parts.ts'
import { OF_ORGANIZATION, type WebsitesOfOne } from './ranges.ts'

/** `since_ms` is inclusive, `until_ms` exclusive. */
export type LogWindow = WebsitesOfOne & {
  readonly since_ms: number
  readonly until_ms: number
}

/** A list is continued after its last line by `before_ms` and `before_id`. Status bounds are both inclusive. */
export type LogPageFilters = {
  readonly before_ms?: number
  readonly before_id?: string
  readonly status_from?: number
  readonly status_to?: number
  readonly code?: string
  readonly path?: string
  readonly kind?: string
  readonly origin?: string
  readonly text?: string
  /** For requests: `referenceHash` of what a line names; one of them is enough. */
  readonly refs?: readonly number[]
  /** For attempts: IDs of events or jobs. */
  readonly references?: readonly string[]
}

/** `bodies`: the lines of requests include their bodies. `names`: lines include what they are found by. */
type LogPageParams = LogWindow &
  LogPageFilters & { readonly limit: number; readonly bodies?: number; readonly names?: number }

/** A line of Logs without its bodies. `status` is 0 if there was no answer. */
export interface LogLineRow {
  readonly website: string
  readonly at_ms: number
  readonly id: string
  readonly kind: string
  readonly method: string
  /** For an attempt: the address that was called. */
  readonly path: string
  readonly status: number
  readonly code: string
  readonly origin: string
  readonly duration_ms: number
  readonly bytes: number
  /** Empty for requests, like the destination. */
  readonly event_id: string
  readonly destination: string
  /** For requests, if the bodies were requested. */
  readonly user_agent?: string
  readonly body?: string
  readonly body_form?: string
  /** If they were requested: for requests, as the filter of this name. */
  readonly refs?: readonly number[]
  /** For attempts, like `refs`. */
  readonly job_id?: string
}

type Conditions = Readonly<Partial<Record<keyof LogPageFilters, string>>>

const REQUEST_CONDITIONS: Conditions = {
  before_id: `(received_at, id) < (${at('before_ms')}, {before_id:String})`,
  status_from: 'status >= {status_from:UInt16}',
  status_to: 'status <= {status_to:UInt16}',
  code: 'code = {code:String}',
  path: 'path = {path:String}',
  kind: 'kind = {kind:String}',
  origin: 'origin = {origin:String}',
  refs: 'hasAny(refs, {refs:Array(UInt64)})',
  text: 'position(body, {text:String}) > 0',
}

const ATTEMPT_CONDITIONS: Conditions = {
  before_id: `(started_at, attempt_id) < (${at('before_ms')}, {before_id:String})`,
  status_from: 'response_status >= {status_from:UInt16}',
  status_to: 'response_status <= {status_to:UInt16}',
  code: 'code = {code:String}',
  path: 'request_url = {path:String}',
  references: '(event_id IN {references:Array(String)} OR job_id IN {references:Array(String)})',
  text: '(position(request_body, {text:String}) > 0 OR position(response_body, {text:String}) > 0)',
}

/** Conditions for the filters that are set, each preceded by `AND`; a page of a list begins after `before_id`. */
export function filteredRequests(filters: LogPageFilters): string {
  return joinedConditions(filters, REQUEST_CONDITIONS)
}

export function filteredAttempts(filters: LogPageFilters): string {
  return joinedConditions(filters, ATTEMPT_CONDITIONS)
}

/** The cheap conditions first: each later one is evaluated only for rows that satisfy all before it. */
function logConditions(time: string, filters: LogPageFilters, texts: Conditions): string {
  const scope = [OF_ORGANIZATION, withinPeriod(time)]
  return `${scope.join(' AND ')}${joinedConditions(filters, texts)}`
}

function joinedConditions(filters: LogPageFilters, texts: Conditions): string {
  const own = keysOf(texts).filter((name) => filters[name] !== undefined)
  return own.map((name) => ` AND ${texts[name]}`).join('')
}

type RequestKey = WebsitesOfOne & {
  readonly website: string
  /** When it was received. */
  readonly at_ms: number
  readonly id: string
}
type AttemptKey = WebsitesOfOne & {
  readonly website: string
  readonly event_id: string
  readonly attempt_id: string
}

/** Events whose attempts are read, too, when a list of Logs is asked for an installation or a visit. */
const MOST_NAMED_EVENTS = 1_000

/**
 * Events of these installations, by an index, and of these visits, by projections; repeats of an event are one row. `of` limits the websites.
 * A list of attempts then checks whose they are.
 */
export function eventsOfReferences(of: string): string {
  const named = (table: string, column: string): string =>
    `SELECT event_id FROM ${table} WHERE ${of} AND ${column} IN {references:Array(String)}`
  return `SELECT DISTINCT event_id FROM (${named('installs', 'installation_id')}
    UNION ALL ${named('installs', 'visit_id')} UNION ALL ${named('install_decisions', 'visit_id')}) LIMIT ${MOST_NAMED_EVENTS}`
}

type NamedEvent = { readonly event_id: string }

export const LOG_QUERIES = {
  /** What `references` stand for, if they are IDs of installations or visits. */
  eventsOfReferences: pageOf<
    WebsitesOfOne & {
      readonly references: readonly string[]
    },
    NamedEvent
  >(eventsOfReferences(OF_ORGANIZATION)),

  /** Requests, newest first. */
  requestLines: pageOf<LogPageParams, LogLineRow>(
    (
      params,
    ) => `SELECT website, toUnixTimestamp64Milli(received_at) AS at_ms, id, kind, method, path, status, code, origin,
      duration_ms, body_bytes AS bytes, '' AS event_id, '' AS destination${params.bodies === undefined ? '' : ', user_agent, body_form, body'}${params.names === undefined ? '' : ', refs'}
    FROM ${once('request_logs')} PREWHERE ${logConditions('received_at', params, REQUEST_CONDITIONS)}
    ${newestFirst('received_at', 'id')} ${pageLimit()}`,
  ),

  /** Attempts, newest first. No FINAL, which would read the keys of all attempts of a month. */
  attemptLines: pageOf<LogPageParams, LogLineRow>(
    (params) => `SELECT website, toUnixTimestamp64Milli(started_at) AS at_ms, attempt_id AS id, 'delivery' AS kind,
      'POST' AS method, request_url AS path, response_status AS status, code, '' AS origin, duration_ms, 0 AS bytes,
      event_id, destination${params.names === undefined ? '' : ', job_id'}
    FROM attempts PREWHERE ${logConditions('started_at', params, ATTEMPT_CONDITIONS)}
    ${newestFirst('started_at', 'attempt_id')} LIMIT 1 BY website, event_id, destination, attempt_id ${pageLimit()}`,
  ),

  /** How many requests and attempts are visible, by the second in which each began; a second may be in two rows. */
  lineSeconds: pageOf<LogWindow, { readonly second_ms: number; readonly lines: number }>(`
    SELECT toUnixTimestamp(received_at) * 1000 AS second_ms, uniqExact(website, id) AS lines FROM request_logs
    PREWHERE ${logConditions('received_at', {}, {})} GROUP BY second_ms
    UNION ALL SELECT toUnixTimestamp(started_at) * 1000 AS second_ms, uniqExact(website, event_id, destination, attempt_id) AS lines
    FROM attempts PREWHERE ${logConditions('started_at', {}, {})} GROUP BY second_ms`),

  /** One request with its body. */
  requestLog: pageOf<RequestKey, RequestLogRow>(`SELECT ${REQUEST_LOG.sql} FROM ${once('request_logs')}
    PREWHERE ${OF_ORGANIZATION} AND website = {website:String} AND received_at = ${at('at_ms')} AND id = {id:String} LIMIT 1`),

  /** One attempt with both bodies. */
  attempt: pageOf<AttemptKey, AttemptRow>(`SELECT ${ATTEMPT.sql} FROM ${once('attempts')}
    PREWHERE ${OF_ORGANIZATION} AND website = {website:String} AND event_id = {event_id:String}
      AND attempt_id = {attempt_id:String} LIMIT 1`),
} as const
