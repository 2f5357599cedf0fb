/** Figures of installs, straight from the table in which each event is judged. Their periods are as long as a statement may read. */

import { INSTALL_TIME_BUCKETS_S } from '../../../domain/figures/cells.ts'
import {
  INSTALL_COUNTS,
  MAX_HOUR_VALUES,
  isOriginDimension,
  ORIGIN_DIMENSIONS,
  type InstallCount,
  type InstallDimension,
  type LeftOutChoice,
} from '../../../domain/figures/installs.ts'
import { recordOf } from '../../../domain/typed-keys.ts'
import { at, once, pageLimit, pageOf, withinPeriod } from '../query-parts.ts'
import { askedFilters, filterCondition, type FilterParameters } from './figure-filters.ts'
import { websitesAsked, type AskedWebsites } from './ranges.ts'
import { visitAgeS } from './raw-figures.ts'

/** By these besides the dimensions that people choose: how the visit of an install was found, and why it has none. */
export type InstallColumn = InstallDimension | 'policy' | 'reason'

export type InstallPeriod = AskedWebsites &
  FilterParameters & {
    readonly since_ms: number
    readonly until_ms: number
    /** Without it installs from CI, containers and tests are left out. */
    readonly left_out?: LeftOutChoice
  }

type VersionParams = AskedWebsites & { readonly since_ms: number; readonly until_ms: number; readonly limit: number }

/** `row`: `value`, or what installs without one are: `empty`, `unmatched`, `pending` or `counted`. */
export interface InstallFigureRow {
  readonly row: string
  readonly value: string
  /** In the order of `INSTALL_COUNTS`. */
  readonly counts: readonly number[]
}

type TrendPeriod = InstallPeriod & {
  readonly column: InstallColumn
  readonly trend_since_ms: number
  readonly trend_part_ms: number
}

/** By position: a part, and its installs. */
interface InstallTrendRow {
  readonly row: string
  readonly value: string
  readonly parts: readonly number[]
  readonly installs: readonly number[]
}

interface AgentPageRow {
  readonly agent: string
  readonly page: string
  readonly installs: number
}

const MAX_VALUES = 20_000
const MAX_HOURS = 10_000
/** Of more than a year. */
const MAX_QUARTERS = 4 * MAX_HOURS

const COLUMN_OF: Readonly<Record<InstallColumn, string>> = {
  ...recordOf(ORIGIN_DIMENSIONS, (dimension) => dimension),
  path: 'install_path',
  platform: 'platform',
  agent: 'agent',
  version: 'product_version',
  country: 'country',
  place: 'place',
  policy: 'selection_policy',
  reason: 'reason',
}

/** What row an event is of. The visit of a matched one may have been erased, or not be there yet: it has no value then. */
function rowSql(column: InstallColumn): string {
  const own = `if(${COLUMN_OF[column]} = '', 'empty', 'value')`
  return isOriginDimension(column)
    ? `multiIf(resolution != 'matched', resolution, NOT is_visit_known, 'unknown', ${own})`
    : own
}

const COUNT_SQL: Readonly<Record<InstallCount, string>> = {
  installs: "kind = 'install'",
  matched: "kind = 'install' AND resolution = 'matched'",
  unmatched: "kind = 'install' AND resolution = 'unmatched'",
  pending: "kind = 'install' AND resolution = 'pending'",
  counted: "kind = 'install' AND resolution = 'counted'",
  known_source: "kind = 'install' AND resolution = 'matched' AND source != ''",
  completed: "kind = 'install' AND is_completed",
  ran: "kind = 'install' AND has_run",
  upgrades: "kind = 'upgrade'",
  reinstalls: "kind = 'reinstall'",
}
const COUNTS = `[${INSTALL_COUNTS.map((count) => `countIf(${COUNT_SQL[count]})`).join(', ')}] AS counts`
const SUMS = `[${INSTALL_COUNTS.map((_, place) => `sum(counts[${place + 1}])`).join(', ')}]`

const COUNTED_WITH: Readonly<Record<LeftOutChoice, string>> = { include: 'true', only: 'is_left_out' }

/** On counted installs. */
export function leftOutCondition(choice: LeftOutChoice | undefined): string {
  return choice === undefined ? 'NOT is_left_out' : COUNTED_WITH[choice]
}

/** Conditions on counted installs. One without a visit has no value of a dimension of the visit. */
export function countedFilters(params: FilterParameters): readonly string[] {
  return askedFilters(params).map((filter) =>
    filterCondition(
      filter,
      COLUMN_OF[filter.dimension],
      isOriginDimension(filter.dimension) ? "resolution = 'matched' AND is_visit_known" : 'true',
    ),
  )
}

/** Events of figures, each once. The filters stand in `WHERE`: before that, two versions of a row may be read. */
export function eventsSql(period: InstallPeriod, columns: readonly string[]): string {
  const conditions = [
    "kind IN ('install', 'upgrade', 'reinstall')",
    leftOutCondition(period.left_out),
    ...countedFilters(period),
  ]
  return `(SELECT ${columns.join(', ')} FROM ${once('counted_installs')}
    PREWHERE ${websitesAsked(period)} AND ${withinPeriod('received_at')} WHERE ${conditions.join(' AND ')})`
}

const RESULT = ['received_at', 'kind', 'resolution', 'source', 'is_completed', 'has_run'] as const

export const COUNTED_INSTALL_QUERIES = {
  /** How many events there are by hour, repeats included: it decides how long the periods of the others may be. */
  countedByHour: pageOf<InstallPeriod, { readonly at_ms: number; readonly events: number }>(
    (
      period,
    ) => `SELECT toUnixTimestamp(toStartOfHour(received_at)) * 1000 AS at_ms, count() AS events FROM counted_installs
    PREWHERE ${websitesAsked(period)} AND ${withinPeriod('received_at')} GROUP BY at_ms ORDER BY at_ms LIMIT ${MAX_HOURS}`,
  ),

  /** By quarters of an hour, at whose borders the hours of every time zone begin. */
  installsByQuarter: pageOf<InstallPeriod, { readonly at_ms: number; readonly counts: readonly number[] }>(
    (period) => `SELECT toUnixTimestamp(toStartOfFifteenMinutes(received_at)) * 1000 AS at_ms, ${COUNTS}
    FROM ${eventsSql(period, RESULT)} GROUP BY at_ms ORDER BY at_ms LIMIT ${MAX_QUARTERS}`,
  ),

  /** The greatest counts first. Of one hour at most 2,000 values. */
  installsByValue: pageOf<InstallPeriod & { readonly column: InstallColumn }, InstallFigureRow>((period) => {
    const { column } = period
    return `SELECT row, value, ${SUMS} AS counts FROM (
      SELECT toStartOfHour(received_at) AS hour, row, if(row = 'value', own, '') AS value, ${COUNTS}
      FROM (SELECT ${RESULT.join(', ')}, ${rowSql(column)} AS row, ${COLUMN_OF[column]} AS own
        FROM ${eventsSql(period, [...new Set([...RESULT, 'is_visit_known', COLUMN_OF[column]])])})
      GROUP BY hour, row, value
      ORDER BY hour, row = 'value', counts[1] DESC, value LIMIT ${MAX_HOUR_VALUES} BY hour
    ) GROUP BY row, value ORDER BY counts[1] DESC, value LIMIT ${MAX_VALUES}`
  }),

  /** Installs of each value in equal parts of a time, which are numbered from 0; parts without one are left out. The greatest first. */
  installsByPart: pageOf<TrendPeriod, InstallTrendRow>((period) => {
    const { column } = period
    return `SELECT row, if(row = 'value', own, '') AS value, sumMap([part], [toUInt32(1)]) AS trend, trend.1 AS parts, trend.2 AS installs
    FROM (SELECT ${rowSql(column)} AS row, ${COLUMN_OF[column]} AS own,
        toUInt16(intDiv(toUnixTimestamp64Milli(received_at) - {trend_since_ms:Int64}, {trend_part_ms:Int64})) AS part
      FROM ${eventsSql(period, [...new Set([...RESULT, 'is_visit_known', COLUMN_OF[column]])])} WHERE kind = 'install')
    GROUP BY row, value ORDER BY count() DESC, value LIMIT ${MAX_HOUR_VALUES}`
  }),

  /** Installs that have a visit, by the bucket of the time between the two. */
  installsByAge: pageOf<InstallPeriod, { readonly bucket: number; readonly installs: number }>(
    (
      period,
    ) => `SELECT toUInt8(arrayCount(start -> start <= age, [${INSTALL_TIME_BUCKETS_S.join(', ')}]) - 1) AS bucket, count() AS installs
    FROM (SELECT ${visitAgeS('assumeNotNull(visit_issued_at)')} AS age
      FROM ${eventsSql(period, [...RESULT, 'visit_issued_at'])}
      WHERE kind = 'install' AND resolution = 'matched' AND visit_issued_at IS NOT NULL AND age >= 0)
    GROUP BY bucket ORDER BY bucket LIMIT ${INSTALL_TIME_BUCKETS_S.length}`,
  ),

  /** Installs from CI, containers and tests. */
  installsLeftOut: pageOf<InstallPeriod, { readonly installs: number }>(
    (period) =>
      `SELECT count() AS installs FROM ${eventsSql({ ...period, left_out: 'only' }, ['kind'])} WHERE kind = 'install' LIMIT 1`,
  ),

  /**
   * Versions whose first install event came within the period, those of most events first. It reads all that is kept, but of each row only three
   * columns: an event keeps its version and its time, so that replaced rows change nothing.
   */
  firstVersions: pageOf<VersionParams, { readonly version: string; readonly first_ms: number }>(
    (
      period,
    ) => `SELECT product_version AS version, toUnixTimestamp64Milli(min(received_at)) AS first_ms FROM counted_installs
    PREWHERE ${websitesAsked(period)} AND received_at < ${at('until_ms')}
    WHERE product_version != '' AND NOT is_left_out
    GROUP BY version HAVING first_ms >= {since_ms:Int64} ORDER BY count() DESC, version ${pageLimit()}`,
  ),

  /** Installs that agents ran, by the page of their visit. */
  installsByAgentPage: pageOf<InstallPeriod, AgentPageRow>(
    (
      period,
    ) => `SELECT agent, page, count() AS installs FROM ${eventsSql(period, [...RESULT, 'agent', 'page', 'is_visit_known'])}
    WHERE kind = 'install' AND agent != '' AND is_visit_known GROUP BY agent, page ORDER BY installs DESC, agent, page LIMIT ${MAX_HOUR_VALUES}`,
  ),
} as const
