/** Figures of long periods, from the rows that the role `rollup` keeps for each website and hour. */

import { DIMENSIONS, type Dimension } from '../../../domain/figures/cells.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import { recordOf } from '../../../domain/typed-keys.ts'
import { at, once, WEBSITES_ASKED, withinPeriod } from '../query-parts.ts'
import { websiteColumns, websitesAsked, type AskedWebsites } from './ranges.ts'

/** Whole hours. `column` is the requested dimension. */
export type RolledPeriod = AskedWebsites & {
  readonly since_ms: number
  readonly until_ms: number
  readonly column: Dimension
}

/** Of some values together; of the total, which has an empty one, if they are absent. */
export type RolledSteps = RolledPeriod & { readonly values?: readonly string[] }

export interface RolledCellRow {
  readonly value: string
  readonly counts: readonly number[]
}

export interface StepRow {
  /** Start of an hour. */
  readonly at_ms: number
  readonly counts: readonly number[]
}

/** An hour whose facts have changed since its figures were made, or that has no figures yet. */
export interface DirtyHourRow extends OwnedWebsite {
  readonly hour_ms: number
  /** All marks of the hour. */
  readonly marks: readonly string[]
  /** The existing version; 0 if there is none. */
  readonly row_version: number
  readonly retention_days: number
}

const MAX_VALUES = 10_000
const MAX_DIRTY = 1_000
/** Of some years. */
const MAX_HOURS = 100_000

const hoursOf = (period: RolledPeriod): string => `${once('website_hours')} PREWHERE ${websitesAsked(period)}
  AND ${withinPeriod('hour')}`
const SUMS = `[${[2, 3, 4, 5, 6, 7, 8].map((place) => `sum(cell.${place})`).join(', ')}]`

/** The column of each. Only these words may become part of a text. */
const COLUMNS = recordOf(DIMENSIONS, (dimension) => dimension)

/** Those that brought an install come first: a page puts its installs beside its visits, however many values there are. */
export const rolledCells = (period: RolledPeriod): string => `
  SELECT cell.1 AS value, ${SUMS} AS counts FROM (SELECT ${COLUMNS[period.column]} AS cells FROM ${hoursOf(period)})
  ARRAY JOIN cells AS cell GROUP BY value
  ORDER BY counts[5] > 0 DESC, counts[1] DESC, value LIMIT ${MAX_VALUES}`

export const rolledSteps = (period: RolledSteps): string => `
  SELECT toUnixTimestamp64Milli(hour) AS at_ms, ${SUMS} AS counts FROM (SELECT hour, ${COLUMNS[period.column]} AS cells FROM ${hoursOf(period)})
  ARRAY JOIN cells AS cell WHERE ${period.values === undefined ? "cell.1 = ''" : 'has({values:Array(String)}, cell.1)'} GROUP BY at_ms ORDER BY at_ms LIMIT ${MAX_VALUES}`

/** Marks by hour, before what they are grouped by. */
export const HOUR_MARKS = `SELECT organization, website, hour, groupArray(concat(writer, '/', toString(row_version))) AS marks
  FROM ${once('hour_marks')} WHERE hour < ${at('until_ms')}`
const MARKS = `${HOUR_MARKS} GROUP BY organization, website, hour`

/** The newest first, so that the figures people look at do not wait for a rebuild of years. */
export const DIRTY_HOURS = `
  SELECT mark.organization AS organization, mark.website AS website, toUnixTimestamp64Milli(mark.hour) AS hour_ms, mark.marks AS marks,
    version.row_version AS row_version, version.retention_days AS retention_days
  FROM (${MARKS}) AS mark
  LEFT ANY JOIN (SELECT organization, website, hour, marks_read, row_version, retention_days FROM ${once('website_hours')}
    PREWHERE (organization, website, hour) IN (SELECT organization, website, hour FROM hour_marks)) AS version
    ON mark.organization = version.organization AND mark.website = version.website AND mark.hour = version.hour
  WHERE NOT hasAll(version.marks_read, mark.marks) ORDER BY hour_ms DESC, organization, website LIMIT least({limit:UInt32}, ${MAX_DIRTY})`

/** How many page views and install events hours of these websites had when they were counted last, in order of time. */
export const COUNTED_FACTS = `
  SELECT toUnixTimestamp64Milli(hour) AS hour_ms, sum(arraySum(cell -> cell.2, arrayConcat(page_views, events))) AS facts
  FROM ${once('website_hours')} PREWHERE ${WEBSITES_ASKED} AND ${withinPeriod('hour')} GROUP BY hour ORDER BY hour LIMIT ${MAX_HOURS}`

/**
 * The first hour of the period that has facts and was never counted, if there is one. What is only to be counted again has figures that are all but
 * right; a busy website always has some.
 */
export const firstUncountedHour = (period: AskedWebsites): string => `
  SELECT toUnixTimestamp64Milli(min(hour)) AS hour_ms FROM hour_marks
  WHERE ${websitesAsked(period)} AND ${withinPeriod('hour')} AND (${websiteColumns(period)}, hour) NOT IN (
    SELECT ${websiteColumns(period)}, hour FROM website_hours WHERE ${websitesAsked(period)} AND ${withinPeriod('hour')})
  HAVING count() > 0 LIMIT 1`

/** Hours with facts, to be marked again. An hour that no longer has facts or figures needs no mark. */
export const HOURS_WITH_FACTS = `
  SELECT DISTINCT organization, website, toUnixTimestamp(hour) * 1000 AS hour_ms FROM (
    SELECT organization, website, toStartOfHour(issued_at) AS hour FROM visits
    WHERE ${withinPeriod('issued_at')}
    UNION ALL SELECT organization, website, toStartOfHour(received_at) FROM installs
    WHERE ${withinPeriod('received_at')}
    UNION ALL SELECT organization, website, toStartOfHour(hour) FROM website_hours
    WHERE ${withinPeriod('hour')}
  ) ORDER BY hour_ms, organization, website LIMIT {limit:UInt32}`
