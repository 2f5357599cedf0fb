/** Figures of a short period, straight from the facts: the last hours for pages, and one hour for its rollup. */

import { INSTALL_TIME_BUCKETS_S, MAX_CELLS, type Dimension } from '../../../domain/figures/cells.ts'
import { decided, once } from '../query-parts.ts'
import { COUNTED_BY } from '../visits.ts'
import { issuedBetween, issuedWithin, type RawPeriod } from './ranges.ts'

/** One value of one dimension. The six counts are those of `domain/figures/cells.ts`. */
export interface CellRow {
  readonly dimension: Dimension
  readonly value: string
  readonly counts: readonly number[]
}

/** Most websites, and most rows of one answer about them, when the role `rollup` counts an hour. */
const HOUR_WEBSITES_MAX = 1_000
export const HOUR_ROWS_MAX = 100_000

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
const RECEIVED = `${ASKED} AND received_at >= fromUnixTimestamp64Milli({since_ms:Int64}, 'UTC')
  AND received_at < fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')`

/**
 * Rows of these events. The engine compares an event's ID in a third of the time of a pair of website and ID. What it finds
 * beside them, an event of another website with the same ID, must be left out by the time of the row itself.
 */
const ofEvents = (eventIds: string): string => `${ASKED} AND event_id IN (${eventIds})`

/** Matched installs of the visits of the period: first the events, then the record of each that counts. */
const matchedEvents = (period: RawPeriod): string =>
  ofEvents(`SELECT event_id FROM installs WHERE ${issued(period)}
  UNION ALL SELECT event_id FROM install_decisions WHERE ${issued(period)}`)
const matchedVisitsSql = (
  period: RawPeriod,
): string => `SELECT website, visit_id, max(event_type = 'install_started') AS started,
    max(event_type = 'install_completed') AS completed, max(event_type = 'first_run') AS first_run,
    groupUniqArrayIf(agent, agent != '') AS agents
  FROM ${decided(
    `SELECT * FROM ${once('installs')} PREWHERE ${matchedEvents(period)}`,
    `PREWHERE ${matchedEvents(period)}`,
  )} WHERE resolution = 'matched' AND ${issuedWithin(period)} GROUP BY website, visit_id`

const among = (table: 'activations' | 'handoffs', period: RawPeriod, more = ''): string =>
  `(website, visit_id) IN (SELECT website, visit_id FROM ${table} PREWHERE ${issued(period)} ${more})`

/** The end of a statement that counts cells: of each dimension those with the greatest counts. */
const topCells = (by: By): string =>
  `GROUP BY ${BY[by].key}dimension, value ORDER BY ${BY[by].key}dimension, counts[1] DESC, value
    LIMIT ${MAX_CELLS} BY ${BY[by].key}dimension LIMIT ${BY[by].maxRows}`

const VISIT_VALUES = Object.entries(COUNTED_BY)
const VISIT_PAIRS = VISIT_VALUES.map(([dimension]) => `('${dimension}', by_${dimension})`).join(', ')

/** The funnel: distinct visits of the period by value, and how many of them reached each step. */
export const funnelCells = (period: RawPeriod, by: By = 'all'): string => `
  SELECT ${BY[by].column}pair.1 AS dimension, pair.2 AS value,
    [count(), countIf(is_activated), countIf(is_copied), countIf(started), countIf(completed), countIf(first_run)] AS counts
  FROM (
    SELECT visit.* EXCEPT (website), visit.website AS website, ${among('activations', period, "AND effect = 'activated'")} AS is_activated, ${among('handoffs', period)} AS is_copied,
      install.started AS started, install.completed AS completed, install.first_run AS first_run,
      arrayConcat([('visits', ''), ${VISIT_PAIRS}],
        arrayMap(agent -> ('agent_page', concat(agent, '\\t', by_page)), install.agents)) AS pairs
    FROM (SELECT website, visit_id, ${VISIT_VALUES.map(([dimension, value]) => `${value} AS by_${dimension}`).join(', ')}
      FROM ${once('visits')} PREWHERE ${issued(period)}) AS visit
    LEFT ANY JOIN (${matchedVisitsSql(period)}) AS install ON visit.website = install.website AND visit.visit_id = install.visit_id
  ) ARRAY JOIN pairs AS pair ${topCells(by)}`

const EVENTS_RECEIVED = ofEvents(`SELECT event_id FROM installs WHERE ${RECEIVED}`)
const BUCKETS = `[${INSTALL_TIME_BUCKETS_S.join(', ')}]`

/** Install events of the period by value: of each type, and of each resolution. */
export const installCells = (by: By = 'all'): string => `
  SELECT ${BY[by].column}pair.1 AS dimension, pair.2 AS value,
    [countIf(event_type = 'install_started'), countIf(event_type = 'install_completed'), countIf(event_type = 'first_run'),
      countIf(resolution = 'matched'), countIf(resolution = 'unmatched'), countIf(resolution = 'counted')] AS counts
  FROM (
    SELECT website, event_type, resolution,
      arrayConcat([('installs', ''), ('path', install_path), ('platform', platform), ('policy', selection_policy), ('agent', agent)],
        if(resolution = 'unmatched', [('reason', reason)], []),
        if(resolution = 'matched' AND event_type = 'install_completed' AND visit_issued_at IS NOT NULL,
          [('time_to_install', toString(arrayCount(start -> start <= dateDiff('second', assumeNotNull(visit_issued_at), received_at), ${BUCKETS}) - 1))],
          [])) AS pairs
    FROM ${decided(
      `SELECT * FROM ${once('installs')} PREWHERE ${EVENTS_RECEIVED}`,
      `PREWHERE ${EVENTS_RECEIVED}`,
    )} WHERE ${RECEIVED}
  ) ARRAY JOIN pairs AS pair ${topCells(by)}`

/** Deliveries of install events of the period by destination, status and reason. */
export const deliveryCells = (by: By = 'all'): string => `
  SELECT ${BY[by].column}'delivery' AS dimension, concat(destination, '\\t', status, '\\t', reason) AS value,
    [count(), 0, 0, 0, 0, 0] AS counts
  FROM ${once('deliveries')} PREWHERE ${EVENTS_RECEIVED}
  WHERE (website, event_id) IN (SELECT website, event_id FROM ${once('installs')} PREWHERE ${EVENTS_RECEIVED} WHERE ${RECEIVED})
  ${topCells(by)}`

/** Which visits and installs exist in the period, repeats included: how many, how long they are kept, and the visits' key IDs. */
export const hourFacts = (period: RawPeriod): string => `
  SELECT website, count() AS facts, max(retention_days) AS days, arrayFilter(id -> id != 255, groupUniqArray(key_id)) AS key_ids FROM (
    SELECT website, retention_days, reinterpretAsUInt8(unhex(substring(visit_id, 1, 2))) % 16 AS key_id
    FROM visits PREWHERE ${issued(period)}
    UNION ALL SELECT website, retention_days, toUInt8(255) FROM installs PREWHERE ${EVENTS_RECEIVED} WHERE ${RECEIVED})
  GROUP BY website LIMIT ${HOUR_WEBSITES_MAX}`
