/** Figures of a short period, straight from the facts: the last hours for pages, and one hour for its rollup. */

import { EXAMPLE_DATA } from '../../../domain/figures/example-data.ts'
import { INSTALL_TIME_BUCKETS_S, MAX_CELLS, type Dimension } from '../../../domain/figures/cells.ts'
import { decided, once, withinPeriod } from '../query-parts.ts'
import { COUNTED_BY } from '../visits.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import {
  websitesAsked,
  issuedBetween,
  issuedOfMerged,
  issuedWithin,
  VISIT_ISSUED,
  websiteColumns,
  type RawPeriod,
} from './ranges.ts'

/** One value of one dimension. The six counts are those of `domain/figures/cells.ts`. */
export interface CellRow {
  readonly dimension: Dimension
  readonly value: string
  readonly counts: readonly number[]
}

/** Most websites, and most rows of one answer about them, when the role `rollup` counts an hour. */
const HOUR_WEBSITES_MAX = 1_000
export const HOUR_ROWS_MAX = 100_000

/** `websites` are those that the organisation has. */
export type FormerPeriod = {
  readonly organization: string
  readonly since_ms: number
  readonly until_ms: number
  readonly websites: readonly string[]
}

export interface FormerUsageRow {
  /** Start of a UTC day. */
  readonly at_ms: number
  readonly visits: number
  readonly installs: number
}

/** Of one website, for the role `rollup`, which counts many small websites at once. */
export type WebsiteCellRow = CellRow & OwnedWebsite

/** All websites together, or each by itself. */
type By = 'all' | 'website'
const BY = {
  all: { column: '', key: '', maxRows: 20_000 },
  website: { column: 'organization, website, ', key: 'organization, website, ', maxRows: HOUR_ROWS_MAX },
} as const

const issued = (period: RawPeriod): string => `${websitesAsked(period)} AND ${issuedBetween(period)}`
const received = (period: RawPeriod): string => `${websitesAsked(period)} AND ${withinPeriod('received_at')}`

/**
 * Rows of these events. The engine compares an event's ID in a third of the time of a pair of website and ID. What it finds
 * beside them, an event of another website with the same ID, must be left out by the time of the row itself.
 */
const ofEvents = (period: RawPeriod, eventIds: string): string =>
  `${websitesAsked(period)} AND event_id IN (${eventIds})`

/** Events that were once matched to a visit of the period, in these tables. */
const matchedIn = (tables: readonly ('installs' | 'install_decisions')[], period: RawPeriod): string =>
  ofEvents(period, tables.map((table) => `SELECT event_id FROM ${table} WHERE ${issued(period)}`).join(' UNION ALL '))

/** Matched installs of the visits of the period: first the events, then the record of each that counts. */
const matchedVisitsSql = (
  period: RawPeriod,
): string => `SELECT organization, website, visit_id, max(event_type = 'install_started') AS started,
    max(event_type = 'install_completed') AS completed, max(event_type = 'first_run') AS first_run,
    groupUniqArrayIf(agent, agent != '') AS agents
  FROM ${decided(
    `SELECT organization, website, event_id, received_at, event_type, agent, resolution, visit_id FROM ${once('installs')}
      PREWHERE ${matchedIn(['installs', 'install_decisions'], period)}`,
    `PREWHERE ${matchedIn(['install_decisions'], period)}`,
    ['resolution', 'visit_id'],
  )} WHERE resolution = 'matched' AND ${issuedWithin(period)} GROUP BY organization, website, visit_id`

const among = (table: 'activations' | 'handoffs', period: RawPeriod, more = ''): string =>
  `(${websiteColumns(period)}, visit_id) IN (SELECT ${websiteColumns(period)}, visit_id FROM ${table} PREWHERE ${issued(period)} ${more})`

/** The end of a statement that counts cells: of each dimension those with the greatest counts. */
const topCells = (by: By): string =>
  `GROUP BY ${BY[by].key}dimension, value ORDER BY ${BY[by].key}dimension, counts[1] DESC, value
    LIMIT ${MAX_CELLS} BY ${BY[by].key}dimension LIMIT ${BY[by].maxRows}`

/**
 * Columns of each visit for the steps that it reached, and the join that gives them. Each table costs the engine some 3 ms to plan,
 * and each range of IDs one more.
 */
export const reachedSteps = (period: RawPeriod): { readonly columns: string; readonly join: string } => ({
  columns: `${among('activations', period, "AND effect = 'activated'")} AS is_activated, ${among('handoffs', period)} AS is_copied,
      install.started AS started, install.completed AS completed, install.first_run AS first_run`,
  join: `LEFT ANY JOIN (${matchedVisitsSql(period)}) AS install
      ON visit.organization = install.organization AND visit.website = install.website AND visit.visit_id = install.visit_id`,
})
const STEP_COUNTS =
  '[count(), countIf(is_activated), countIf(is_copied), countIf(started), countIf(completed), countIf(first_run)] AS counts'
const MAX_HOURS = 1_000

/** The funnel: distinct visits of each hour, and how many of them reached each step. */
export function visitSteps(period: RawPeriod): string {
  const { columns, join } = reachedSteps(period)
  return `
  SELECT toUnixTimestamp(toStartOfHour(issued_at)) * 1000 AS at_ms, ${STEP_COUNTS}
  FROM (
    SELECT visit.issued_at AS issued_at, ${columns}
    FROM (SELECT organization, website, visit_id, issued_at FROM ${once('visits')} PREWHERE ${websitesAsked(period)} AND ${issuedOfMerged(period)}) AS visit ${join}
  ) GROUP BY at_ms ORDER BY at_ms LIMIT ${MAX_HOURS}`
}

const VISIT_VALUES = Object.entries(COUNTED_BY)
const VISIT_PAIRS = VISIT_VALUES.map(([dimension]) => `('${dimension}', by_${dimension})`).join(', ')

/** The funnel: distinct visits of the period by value, and how many of them reached each step. */
export function funnelCells(period: RawPeriod, by: By = 'all'): string {
  const { columns, join } = reachedSteps(period)
  return `
  SELECT ${BY[by].column}pair.1 AS dimension, pair.2 AS value,
    ${STEP_COUNTS}
  FROM (
    SELECT visit.* EXCEPT (organization, website), visit.organization AS organization, visit.website AS website, ${columns},
      arrayConcat([('visits', ''), ${VISIT_PAIRS}],
        arrayMap(agent -> ('agent_page', concat(agent, '\\t', by_page)), install.agents)) AS pairs
    FROM (SELECT organization, website, visit_id, ${VISIT_VALUES.map(([dimension, value]) => `${value} AS by_${dimension}`).join(', ')}
      FROM ${once('visits')} PREWHERE ${websitesAsked(period)} AND ${issuedOfMerged(period)}) AS visit
    ${join}
  ) ARRAY JOIN pairs AS pair ${topCells(by)}`
}

const eventsReceived = (period: RawPeriod): string =>
  ofEvents(period, `SELECT event_id FROM installs WHERE ${received(period)}`)
/** Whole seconds that passed from the visit of a matched install to the install; `dateDiff` would count the borders of seconds in between. */
export const visitAgeS = (issuedAt: string): string =>
  `intDiv(toUnixTimestamp64Milli(received_at) - toUnixTimestamp64Milli(${issuedAt}), 1000)`
const VISIT_AGE_S = visitAgeS('assumeNotNull(visit_issued_at)')
const BUCKETS = `[${INSTALL_TIME_BUCKETS_S.join(', ')}]`

const EVENT_COUNTS = `[countIf(event_type = 'install_started'), countIf(event_type = 'install_completed'), countIf(event_type = 'first_run'),
      countIf(resolution = 'matched'), countIf(resolution = 'unmatched'), countIf(resolution = 'counted')] AS counts`

/** Install events of each hour. */
export const installSteps = (period: RawPeriod): string => `
  SELECT toUnixTimestamp(toStartOfHour(received_at)) * 1000 AS at_ms, ${EVENT_COUNTS}
  FROM ${decided(
    `SELECT organization, website, event_id, received_at, event_type, resolution FROM ${once('installs')} PREWHERE ${eventsReceived(period)}`,
    `PREWHERE ${eventsReceived(period)}`,
    ['resolution'],
  )} WHERE ${received(period)} GROUP BY at_ms ORDER BY at_ms LIMIT ${MAX_HOURS}`

/** The table is ordered by the IDs of events, so only these are read. */
const madeUpEvents = (period: RawPeriod): string =>
  `${websitesAsked(period)} AND startsWith(event_id, '${EXAMPLE_DATA.idPrefix}')`

/** Install events that `npm run -s example-data` made up. */
export const madeUpInstalls = (period: RawPeriod): string => `
  SELECT ${EVENT_COUNTS}
  FROM (SELECT event_type, resolution FROM ${once('installs')} PREWHERE ${madeUpEvents(period)} WHERE ${received(period)}) LIMIT 1`

const DECIDED_FIGURES = ['resolution', 'selection_policy', 'visit_issued_at', 'reason'] as const

/** Install events of the period by value: of each type, and of each resolution. */
export const installCells = (period: RawPeriod, by: By = 'all'): string => `
  SELECT ${BY[by].column}pair.1 AS dimension, pair.2 AS value,
    ${EVENT_COUNTS}
  FROM (
    SELECT organization, website, event_type, resolution,
      arrayConcat([('installs', ''), ('path', install_path), ('platform', platform), ('policy', selection_policy), ('agent', agent)],
        if(resolution = 'unmatched', [('reason', reason)], []),
        if(resolution = 'matched' AND event_type = 'install_completed' AND visit_issued_at IS NOT NULL,
          [('time_to_install', toString(arrayCount(start -> start <= ${VISIT_AGE_S}, ${BUCKETS}) - 1))],
          [])) AS pairs
    FROM ${decided(
      `SELECT organization, website, event_id, received_at, event_type, install_path, platform, agent, ${DECIDED_FIGURES.join(', ')}
        FROM ${once('installs')} PREWHERE ${eventsReceived(period)}`,
      `PREWHERE ${eventsReceived(period)}`,
      DECIDED_FIGURES,
    )} WHERE ${received(period)}
  ) ARRAY JOIN pairs AS pair ${topCells(by)}`

/** The order of the tables leaves out other organisations and the websites that there are. */
const OF_FORMER = 'organization = {organization:String} AND website NOT IN {websites:Array(String)}'

/** Tracked events of each UTC day on websites that the organisation had, and has no longer. */
export const FORMER_USAGE = `
  SELECT toUnixTimestamp(toStartOfDay(at)) * 1000 AS at_ms, countIf(is_visit) AS visits, countIf(NOT is_visit) AS installs
  FROM (
    SELECT issued_at AS at, true AS is_visit FROM ${once('visits')} PREWHERE ${OF_FORMER} AND ${VISIT_ISSUED}
    UNION ALL SELECT received_at, false FROM ${once('installs')} PREWHERE ${OF_FORMER} WHERE ${withinPeriod('received_at')}
  ) GROUP BY at_ms ORDER BY at_ms LIMIT ${MAX_HOURS}`

/** Deliveries of install events of the period by destination, status and reason. */
export const deliveryCells = (period: RawPeriod, by: By = 'all'): string => `
  SELECT ${BY[by].column}'delivery' AS dimension, concat(destination, '\\t', status, '\\t', reason) AS value,
    [count(), 0, 0, 0, 0, 0] AS counts
  FROM ${once('deliveries')} PREWHERE ${eventsReceived(period)}
  WHERE (${websiteColumns(period)}, event_id) IN (SELECT ${websiteColumns(period)}, event_id FROM ${once('installs')} PREWHERE ${eventsReceived(period)} WHERE ${received(period)})
  ${topCells(by)}`

/** Of the master secret that signed the visit's receipt. */
export const KEY_ID = 'reinterpretAsUInt8(unhex(substring(visit_id, 1, 2))) % 16'

/** Which visits and installs exist in the period, repeats included: how many, how long they are kept, and the visits' key IDs. */
export const hourFacts = (period: RawPeriod): string => `
  SELECT organization, website, count() AS facts, max(retention_days) AS days, arrayFilter(id -> id != 255, groupUniqArray(key_id)) AS key_ids FROM (
    SELECT organization, website, retention_days, ${KEY_ID} AS key_id
    FROM visits PREWHERE ${websitesAsked(period)} AND ${VISIT_ISSUED}
    UNION ALL SELECT organization, website, retention_days, toUInt8(255) FROM installs PREWHERE ${eventsReceived(period)} WHERE ${received(period)})
  GROUP BY organization, website LIMIT ${HOUR_WEBSITES_MAX}`
