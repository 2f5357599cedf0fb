/** Figures of a short period, straight from the facts: the last hours for pages, and one hour for its rollup. */

import { keysOf } from '../../../domain/typed-keys.ts'
import { EXAMPLE_DATA } from '../../../domain/figures/example-data.ts'
import { MAX_CELLS, type Dimension } from '../../../domain/figures/cells.ts'
import type { OriginDimension } from '../../../domain/figures/installs.ts'
import { once, WEBSITES_ASKED, withinPeriod, type OwnerKeys } from '../query-parts.ts'
import { COUNTED_BY, SOURCE_CAMPAIGN } from '../visits.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import { hourStart, websitesAsked, issuedOfMerged, VISIT_ISSUED, websiteColumns, type RawPeriod } from './ranges.ts'
import { visitsByHourSql, visitsSql } from './sittings.ts'

/** One value of one dimension. The counts are those of `domain/figures/cells.ts`. */
export interface CellRow {
  readonly dimension: Dimension
  readonly value: string
  readonly counts: readonly number[]
}

/** Most rows of one answer, when the role `rollup` counts hours. */
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

/** Of one hour of a website, for the role `rollup`, which counts many small ones at once. */
export type HourCellRow = CellRow & OwnedWebsite & { readonly hour_ms: number }

/** All websites together, or each hour of each by itself. */
type By = 'all' | 'hour'
const BY = {
  all: { key: '', maxRows: 20_000 },
  hour: { key: 'organization, website, hour_ms, ', maxRows: HOUR_ROWS_MAX },
} as const

const received = (period: RawPeriod): string => `${websitesAsked(period)} AND ${withinPeriod('received_at')}`

/** Rows of these events. The engine compares an event's ID in a third of the time of a pair of website and ID. */
const ofEvents = (period: RawPeriod, eventIds: string): string =>
  `${websitesAsked(period)} AND event_id IN (${eventIds})`

/** The end of a statement that counts cells: of each dimension those of visits that led to an install, and those with the greatest counts. */
const topCells = (by: By): string =>
  `GROUP BY ${BY[by].key}dimension, value ORDER BY ${BY[by].key}dimension, counts[5] > 0 DESC, counts[1] DESC, value
    LIMIT ${MAX_CELLS} BY ${BY[by].key}dimension LIMIT ${BY[by].maxRows}`

const STEP_COUNTS =
  '[count(), countIf(is_activated), countIf(is_copied), countIf(started), countIf(installed), countIf(first_run), countIf(converted)] AS counts'
/** More than the days of a month. */
const MAX_DAYS = 1_000
/** Of more than a year. */
const MAX_QUARTERS = 40_000

/** Visits that began in each quarter of an hour, and how many of them reached each step. */
export const stepsOfVisits = (visits: string): string => `
  SELECT toUnixTimestamp(toStartOfFifteenMinutes(issued_at)) * 1000 AS at_ms, ${STEP_COUNTS}
  FROM (${visits}) GROUP BY at_ms ORDER BY at_ms LIMIT ${MAX_QUARTERS}`

/** The funnel of each quarter of an hour. */
export const visitSteps = (period: RawPeriod): string => stepsOfVisits(visitsSql(period))

/** Visits of these values; by page, those that saw one of them. */
export type ValuePeriod = RawPeriod & { readonly column: OriginDimension; readonly values: readonly string[] }

/** The funnel of each quarter of an hour, of visits of some values. */
export function valueSteps(period: ValuePeriod): string {
  const { column } = period
  const values = '{values:Array(String)}'
  return stepsOfVisits(
    column === 'page'
      ? `SELECT * FROM (${visitsSql(period)}) WHERE hasAny(pages, ${values})`
      : `SELECT * FROM (${visitsSql(period, { columns: { own_value: OF_FIRST_PAGE[column] } })}) WHERE has(${values}, own_value)`,
  )
}

const { page: _, ...OF_FIRST_PAGE } = COUNTED_BY
const FIRST_PAGE_VALUES = { ...OF_FIRST_PAGE, source_campaign: SOURCE_CAMPAIGN }
/** A visit counts by the values of its first page view, and for each page that it saw. */
export const BEGINNINGS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(FIRST_PAGE_VALUES).map(([dimension, value]) => [`by_${dimension}`, value]),
)
const VISIT_PAIRS = Object.keys(FIRST_PAGE_VALUES).map((dimension) => `('${dimension}', by_${dimension})`)

/** Visits that have the columns `BEGINNINGS` by value, and how many of them reached each step. */
export const cellsOfVisits = (visits: string, by: By = 'all'): string => `
  SELECT ${BY[by].key}pair.1 AS dimension, pair.2 AS value,
    ${STEP_COUNTS}
  FROM (
    SELECT *, arrayConcat([('visits', ''), ${VISIT_PAIRS.join(', ')}], arrayMap(page -> ('page', page), pages),
      arrayMap(page -> ('pages_seen', ''), pages)) AS pairs
    FROM (${visits})
  ) ARRAY JOIN pairs AS pair ${topCells(by)}`

/** The funnel: visits of the period by value. */
export const funnelCells = (period: RawPeriod): string => cellsOfVisits(visitsSql(period, { columns: BEGINNINGS }))
/** The same for each of these hours. */
export const hourFunnel = (hours: RawPeriod): string => cellsOfVisits(visitsByHourSql(hours, BEGINNINGS), 'hour')

const eventsReceived = (period: RawPeriod): string =>
  ofEvents(period, `SELECT event_id FROM installs WHERE ${received(period)}`)
/** Whole seconds that passed from the visit of a matched install to the install; `dateDiff` would count the borders of seconds in between. */
export const visitAgeS = (issuedAt: string): string =>
  `intDiv(toUnixTimestamp64Milli(received_at) - toUnixTimestamp64Milli(${issuedAt}), 1000)`

/** What a quota counts: page views, and install events of every kind. */
const TRACKED = {
  page_views: (period: RawPeriod) =>
    `SELECT organization, website, issued_at AS at FROM ${once('visits')} PREWHERE ${websitesAsked(period)} AND ${issuedOfMerged(period)} WHERE visitor_kind != 'bot'`,
  events: (period: RawPeriod) =>
    `SELECT organization, website, received_at AS at FROM (SELECT organization, website, received_at FROM ${once('installs')}
      PREWHERE ${eventsReceived(period)}) WHERE ${received(period)}`,
} as const
const COUNT = '[count(), 0, 0, 0, 0, 0, 0] AS counts'

/** Tracked events of each quarter of an hour, of one kind. */
export const trackedSteps = (period: RawPeriod & { readonly column: keyof typeof TRACKED }): string => `
  SELECT toUnixTimestamp(toStartOfFifteenMinutes(at)) * 1000 AS at_ms, ${COUNT} FROM (${TRACKED[period.column](period)})
  GROUP BY at_ms ORDER BY at_ms LIMIT ${MAX_QUARTERS}`

/** Tracked events of the period, as a cell of each kind, and page views by who looked. */
export function trackedCells(period: RawPeriod, by: By = 'all'): string {
  const kinds = keysOf(TRACKED).map(
    (kind) =>
      `SELECT '${kind}' AS dimension, organization, website, ${hourStart('at')} AS hour_ms, '' AS value FROM (${TRACKED[kind](period)})`,
  )
  const visitors = `SELECT 'visitor_kind' AS dimension, organization, website, ${hourStart('issued_at')} AS hour_ms, visitor_kind AS value FROM ${once('visits')}
    PREWHERE ${websitesAsked(period)} AND ${issuedOfMerged(period)} WHERE NOT is_test`
  return `SELECT ${BY[by].key}dimension, value, ${COUNT} FROM (${[...kinds, visitors].join(' UNION ALL ')}) ${topCells(by)}`
}

/** The table is ordered by the IDs of events, so only these are read. */
const madeUpEvents = (period: RawPeriod): string =>
  `${websitesAsked(period)} AND startsWith(event_id, '${EXAMPLE_DATA.idPrefix}')`

/** Install events that `npm run -s example-data` made up, installs with a visit, and deliveries that were accepted. */
export const madeUpInstalls = (period: RawPeriod): string => `
  SELECT (SELECT count() FROM (SELECT received_at FROM ${once('installs')} PREWHERE ${madeUpEvents(period)} WHERE ${received(period)})) AS events,
    (SELECT countIf(kind = 'install' AND resolution = 'matched') FROM ${once('counted_installs')}
      PREWHERE ${received(period)} WHERE startsWith(event_id, '${EXAMPLE_DATA.idPrefix}')) AS matched,
    (SELECT count() FROM ${once('deliveries')} PREWHERE ${madeUpEvents(period)}
      WHERE status = 'delivered' AND ${withinPeriod('install_received_at')}) AS delivered LIMIT 1`

/** The order of the tables leaves out other organisations and the websites that there are. */
const OF_FORMER = 'organization = {organization:String} AND website NOT IN {websites:Array(String)}'

/** Tracked events of each UTC day on websites that the organisation had, and has no longer. */
export const FORMER_USAGE = `
  SELECT toUnixTimestamp(toStartOfDay(at)) * 1000 AS at_ms, countIf(is_visit) AS visits, countIf(NOT is_visit) AS installs
  FROM (
    SELECT issued_at AS at, true AS is_visit FROM ${once('visits')} PREWHERE ${OF_FORMER} AND ${VISIT_ISSUED} WHERE visitor_kind != 'bot'
    UNION ALL SELECT received_at, false FROM ${once('installs')} PREWHERE ${OF_FORMER} WHERE ${withinPeriod('received_at')}
  ) GROUP BY at_ms ORDER BY at_ms LIMIT ${MAX_DAYS}`

/** Deliveries of install events of the period by destination, status and reason. */
export const deliveryCells = (period: RawPeriod, by: By = 'all'): string => `
  SELECT ${BY[by].key}'delivery' AS dimension, concat(destination, '\\t', status, '\\t', reason) AS value, ${COUNT}
  FROM (SELECT *, ${hourStart('install_received_at')} AS hour_ms FROM ${once('deliveries')} PREWHERE ${eventsReceived(period)})
  WHERE (${websiteColumns(period)}, event_id) IN (SELECT ${websiteColumns(period)}, event_id FROM ${once('installs')} PREWHERE ${eventsReceived(period)} WHERE ${received(period)})
  ${topCells(by)}`

/** Of the master secret that signed the visit's receipt. */
export const KEY_ID = 'reinterpretAsUInt8(unhex(substring(visit_id, 1, 2))) % 16'

/** Hours of websites by position. */
export type HourKeys = OwnerKeys & {
  readonly hours: readonly number[]
  readonly since_ms: number
  readonly until_ms: number
}

/** Condition on rows of a time: in one of these hours. The first part is for the index of times. */
const inTheseHours = (time: string): string =>
  `${WEBSITES_ASKED} AND ${withinPeriod(time)} AND toStartOfHour(${time}) IN arrayMap(ms -> toDateTime(intDiv(ms, 1000), 'UTC'), {hours:Array(Int64)})
    AND (organization, website, ${hourStart(time)}) IN arrayZip({organizations:Array(String)}, {websites:Array(String)}, {hours:Array(Int64)})`

/**
 * Which page views and installs exist in each of these hours, repeats included: how many, how long they are kept, and of page views the key IDs, and
 * how many are of sittings.
 */
export const HOUR_FACTS = `
  SELECT organization, website, hour_ms, count() AS facts, max(retention_days) AS days, arrayFilter(id -> id != 255, groupUniqArray(key_id)) AS key_ids,
    countIf(sitting != '') AS sittings
  FROM (
    SELECT organization, website, ${hourStart('issued_at')} AS hour_ms, retention_days, ${KEY_ID} AS key_id, sitting
    FROM visits PREWHERE ${inTheseHours('issued_at')}
    UNION ALL SELECT organization, website, ${hourStart('received_at')}, retention_days, toUInt8(255), ''
    FROM installs PREWHERE event_id IN (SELECT event_id FROM installs WHERE ${inTheseHours('received_at')}) WHERE ${inTheseHours('received_at')})
  GROUP BY organization, website, hour_ms LIMIT ${HOUR_ROWS_MAX}`

/** How many page views and install events there are, repeats included. */
export const factsWithin = (period: RawPeriod): string => `
  SELECT (SELECT count() FROM visits PREWHERE ${websitesAsked(period)} AND ${VISIT_ISSUED})
    + (SELECT count() FROM installs PREWHERE ${websitesAsked(period)} WHERE ${received(period)}) AS facts LIMIT 1`
