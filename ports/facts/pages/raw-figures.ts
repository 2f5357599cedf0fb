/** Figures of a short period, straight from the facts: the last hours for pages, and one hour for its rollup. */

import { EXAMPLE_DATA } from '../../../domain/figures/example-data.ts'
import { INSTALL_TIME_BUCKETS_S, MAX_CELLS, type Dimension } from '../../../domain/figures/cells.ts'
import { decided, once, withinPeriod } from '../query-parts.ts'
import { COUNTED_BY } from '../visits.ts'
import { issuedBetween, issuedWithin, VISIT_ISSUED, issuedOfMerged, type RawPeriod } from './ranges.ts'

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
export type FormerPeriod = Omit<RawPeriod, 'key_ids'> & { readonly organization: string }

export interface FormerUsageRow {
  /** Start of a UTC day. */
  readonly at_ms: number
  readonly visits: number
  readonly installs: number
}

/** Of one website, for the role `rollup`, which counts many small websites at once. */
export interface WebsiteCellRow extends CellRow {
  readonly website: string
}

/** All websites together, or each by itself. */
type By = 'all' | 'website'
const BY = {
  all: { column: '', key: '', maxRows: 20_000 },
  website: { column: 'website, ', key: 'website, ', maxRows: HOUR_ROWS_MAX },
} as const

const ASKED = 'website IN {websites:Array(String)}'
const issued = (period: RawPeriod): string => `${ASKED} AND ${issuedBetween(period)}`
const RECEIVED = `${ASKED} AND ${withinPeriod('received_at')}`

/**
 * Rows of these events. The engine compares an event's ID in a third of the time of a pair of website and ID. What it finds
 * beside them, an event of another website with the same ID, must be left out by the time of the row itself.
 */
const ofEvents = (eventIds: string): string => `${ASKED} AND event_id IN (${eventIds})`

/** Events that were once matched to a visit of the period, in these tables. */
const matchedIn = (tables: readonly ('installs' | 'install_decisions')[], period: RawPeriod): string =>
  ofEvents(tables.map((table) => `SELECT event_id FROM ${table} WHERE ${issued(period)}`).join(' UNION ALL '))

/** Matched installs of the visits of the period: first the events, then the record of each that counts. */
const matchedVisitsSql = (
  period: RawPeriod,
): string => `SELECT website, visit_id, max(event_type = 'install_started') AS started,
    max(event_type = 'install_completed') AS completed, max(event_type = 'first_run') AS first_run,
    groupUniqArrayIf(agent, agent != '') AS agents
  FROM ${decided(
    `SELECT website, event_id, received_at, event_type, agent, resolution, visit_id FROM ${once('installs')}
      PREWHERE ${matchedIn(['installs', 'install_decisions'], period)}`,
    `PREWHERE ${matchedIn(['install_decisions'], period)}`,
    ['resolution', 'visit_id'],
  )} WHERE resolution = 'matched' AND ${issuedWithin(period)} GROUP BY website, visit_id`

const among = (table: 'activations' | 'handoffs', period: RawPeriod, more = ''): string =>
  `(website, visit_id) IN (SELECT website, visit_id FROM ${table} PREWHERE ${issued(period)} ${more})`

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
  join: `LEFT ANY JOIN (${matchedVisitsSql(period)}) AS install ON visit.website = install.website AND visit.visit_id = install.visit_id`,
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
    FROM (SELECT website, visit_id, issued_at FROM ${once('visits')} PREWHERE ${ASKED} AND ${issuedOfMerged(period)}) AS visit ${join}
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
    SELECT visit.* EXCEPT (website), visit.website AS website, ${columns},
      arrayConcat([('visits', ''), ${VISIT_PAIRS}],
        arrayMap(agent -> ('agent_page', concat(agent, '\\t', by_page)), install.agents)) AS pairs
    FROM (SELECT website, visit_id, ${VISIT_VALUES.map(([dimension, value]) => `${value} AS by_${dimension}`).join(', ')}
      FROM ${once('visits')} PREWHERE ${ASKED} AND ${issuedOfMerged(period)}) AS visit
    ${join}
  ) ARRAY JOIN pairs AS pair ${topCells(by)}`
}

const EVENTS_RECEIVED = ofEvents(`SELECT event_id FROM installs WHERE ${RECEIVED}`)
/** Whole seconds from the visit of a matched install to the install. */
export const visitAgeS = (issuedAt: string): string => `dateDiff('second', ${issuedAt}, received_at)`
const VISIT_AGE_S = visitAgeS('assumeNotNull(visit_issued_at)')
const BUCKETS = `[${INSTALL_TIME_BUCKETS_S.join(', ')}]`

const EVENT_COUNTS = `[countIf(event_type = 'install_started'), countIf(event_type = 'install_completed'), countIf(event_type = 'first_run'),
      countIf(resolution = 'matched'), countIf(resolution = 'unmatched'), countIf(resolution = 'counted')] AS counts`

/** Install events of each hour. */
export const installSteps = (): string => `
  SELECT toUnixTimestamp(toStartOfHour(received_at)) * 1000 AS at_ms, ${EVENT_COUNTS}
  FROM ${decided(
    `SELECT website, event_id, received_at, event_type, resolution FROM ${once('installs')} PREWHERE ${EVENTS_RECEIVED}`,
    `PREWHERE ${EVENTS_RECEIVED}`,
    ['resolution'],
  )} WHERE ${RECEIVED} GROUP BY at_ms ORDER BY at_ms LIMIT ${MAX_HOURS}`

/** The table is ordered by the IDs of events, so only these are read. */
const MADE_UP_EVENTS = `${ASKED} AND startsWith(event_id, '${EXAMPLE_DATA.idPrefix}')`

/** Install events that `npm run -s example-data` made up. */
export const madeUpInstalls = (): string => `
  SELECT ${EVENT_COUNTS}
  FROM (SELECT event_type, resolution FROM ${once('installs')} PREWHERE ${MADE_UP_EVENTS} WHERE ${RECEIVED}) LIMIT 1`

const DECIDED_FIGURES = ['resolution', 'selection_policy', 'visit_issued_at', 'reason'] as const

/** Install events of the period by value: of each type, and of each resolution. */
export const installCells = (by: By = 'all'): string => `
  SELECT ${BY[by].column}pair.1 AS dimension, pair.2 AS value,
    ${EVENT_COUNTS}
  FROM (
    SELECT website, event_type, resolution,
      arrayConcat([('installs', ''), ('path', install_path), ('platform', platform), ('policy', selection_policy), ('agent', agent)],
        if(resolution = 'unmatched', [('reason', reason)], []),
        if(resolution = 'matched' AND event_type = 'install_completed' AND visit_issued_at IS NOT NULL,
          [('time_to_install', toString(arrayCount(start -> start <= ${VISIT_AGE_S}, ${BUCKETS}) - 1))],
          [])) AS pairs
    FROM ${decided(
      `SELECT website, event_id, received_at, event_type, install_path, platform, agent, ${DECIDED_FIGURES.join(', ')}
        FROM ${once('installs')} PREWHERE ${EVENTS_RECEIVED}`,
      `PREWHERE ${EVENTS_RECEIVED}`,
      DECIDED_FIGURES,
    )} WHERE ${RECEIVED}
  ) ARRAY JOIN pairs AS pair ${topCells(by)}`

/** The order of the tables leaves out the websites that there are; of others only the organisation is read. */
const OF_FORMER = 'website NOT IN {websites:Array(String)} AND organization = {organization:String}'

/** Tracked events of each UTC day on websites that the organisation had, and has no longer. */
export const FORMER_USAGE = `
  SELECT toUnixTimestamp(toStartOfDay(at)) * 1000 AS at_ms, countIf(is_visit) AS visits, countIf(NOT is_visit) AS installs
  FROM (
    SELECT issued_at AS at, true AS is_visit FROM ${once('visits')} PREWHERE ${OF_FORMER} AND ${VISIT_ISSUED}
    UNION ALL SELECT received_at, false FROM ${once('installs')} PREWHERE ${OF_FORMER} WHERE ${withinPeriod('received_at')}
  ) GROUP BY at_ms ORDER BY at_ms LIMIT ${MAX_HOURS}`

/** Deliveries of install events of the period by destination, status and reason. */
export const deliveryCells = (by: By = 'all'): string => `
  SELECT ${BY[by].column}'delivery' AS dimension, concat(destination, '\\t', status, '\\t', reason) AS value,
    [count(), 0, 0, 0, 0, 0] AS counts
  FROM ${once('deliveries')} PREWHERE ${EVENTS_RECEIVED}
  WHERE (website, event_id) IN (SELECT website, event_id FROM ${once('installs')} PREWHERE ${EVENTS_RECEIVED} WHERE ${RECEIVED})
  ${topCells(by)}`

/** Of the master secret that signed the visit's receipt. */
export const KEY_ID = 'reinterpretAsUInt8(unhex(substring(visit_id, 1, 2))) % 16'

/** Which visits and installs exist in the period, repeats included: how many, how long they are kept, and the visits' key IDs. */
export const HOUR_FACTS = `
  SELECT website, count() AS facts, max(retention_days) AS days, arrayFilter(id -> id != 255, groupUniqArray(key_id)) AS key_ids FROM (
    SELECT website, retention_days, ${KEY_ID} AS key_id
    FROM visits PREWHERE ${ASKED} AND ${VISIT_ISSUED}
    UNION ALL SELECT website, retention_days, toUInt8(255) FROM installs PREWHERE ${EVENTS_RECEIVED} WHERE ${RECEIVED})
  GROUP BY website LIMIT ${HOUR_WEBSITES_MAX}`
