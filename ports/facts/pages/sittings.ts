/**
 * Visits of figures, made from page views: those of one sitting are one visit, which begins with the first of them.
 *
 * A visit counts when it began, with all that its page views reached. What they did in a later hour is stored in `visit_hours` by the role
 * `rollup`, so that a statement about an hour reads that hour, and the one before it to know which sittings had begun.
 */

import { DAY_MS, HOUR_MS, hourAfter, hourOf } from '../../../domain/durations.ts'
import { CONVERSION_MS } from '../../../domain/figures/cells.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import { once } from '../query-parts.ts'
import { COUNTED_BY, IS_PERSONS_VIEW } from '../visits.ts'
import {
  issuedAtWithin,
  issuedBetween,
  issuedOfMerged,
  issuedWithin,
  momentAt,
  websiteColumns,
  hourStart,
  websitesAsked,
  type RawPeriod,
} from './ranges.ts'

/** Page views of one sitting are half an hour apart at most. As much again is for delays on the way. */
const LOOK_BACK_MS = HOUR_MS
/** What a sitting does later than this after its first hour is counted for no visit. */
const LONGEST_VISIT_MS = DAY_MS
/** Of one visit and a later hour. */
const MAX_PAGES = 100
const MAX_AGENTS = 20

/** Rows of one answer about an hour: whoever stores them asks again, until there are fewer. */
export const MAX_CHANGES = 5_000

/** Sorts after every visit ID. */
const NO_VIEW = '~'

/** The period up to the end of its last hour: a visit of the period may do more in that hour. */
function toEndOfHour(period: RawPeriod): RawPeriod {
  return { ...period, until_ms: hourAfter(period.until_ms - 1) }
}

/** On page views without `FINAL`: those that visits of the period may have. */
export function viewedWithin(period: RawPeriod): string {
  return issuedAtWithin(toEndOfHour(period))
}

/** Sittings with a page view shortly before the period: they began before it. */
function begunBefore(period: RawPeriod): string {
  const before = issuedAtWithin({ ...period, since_ms: period.since_ms - LOOK_BACK_MS, until_ms: period.since_ms })
  return `(${websiteColumns(period)}, sitting) IN (SELECT ${websiteColumns(period)}, sitting FROM visits
    PREWHERE ${websitesAsked(period)} AND ${before} WHERE sitting != '' AND ${IS_PERSONS_VIEW})`
}

/** The same for each hour of a period of whole hours: page views whose sitting has another one in the hour before theirs. */
function goesOn(hours: RawPeriod): string {
  const { since_ms: since, until_ms: until } = hours
  const before = issuedAtWithin({ ...hours, since_ms: since - LOOK_BACK_MS, until_ms: until - LOOK_BACK_MS })
  return `(${websiteColumns(hours)}, sitting, ${hourStart('issued_at')}) IN (
    SELECT ${websiteColumns(hours)}, sitting, ${hourStart('issued_at')} + ${HOUR_MS} FROM visits
    PREWHERE ${websitesAsked(hours)} AND ${before} WHERE sitting != '' AND ${IS_PERSONS_VIEW})`
}

/** A name and an expression over the columns of a page view. */
type ViewColumns = Readonly<Record<string, string>>

/** Page views of people in the period that meet a condition. */
function viewsSql(period: RawPeriod, columns: ViewColumns, condition: string): string {
  const own = Object.entries(columns).map(([name, value]) => `${value} AS own_${name}`)
  return `SELECT ${['organization', 'website', 'visit_id', 'issued_at', 'sitting', 'retention_days', `${COUNTED_BY.page} AS viewed_page`, ...own].join(', ')}
    FROM ${once('visits')} PREWHERE ${websitesAsked(period)} AND ${issuedOfMerged(period)} WHERE ${IS_PERSONS_VIEW} AND ${condition}`
}

/** Whether a page view is among those of another table. */
const among = (table: 'activations' | 'handoffs', period: RawPeriod, more: string): string =>
  `(${websiteColumns(period, 'view.')}, view.visit_id) IN (SELECT ${websiteColumns(period)}, visit_id FROM ${table}
    PREWHERE ${websitesAsked(period)} AND ${issuedBetween(period)} AND ${more})`

/** What page views of the period led to: first the keys of the events that count for one, by the projection by visit, then their rows. */
const reachedViewsSql = (period: RawPeriod): string => `
  SELECT organization, website, visit_id, max(event_type = 'install_started') AS is_started,
    minIf(toUnixTimestamp64Milli(received_at), kind = 'install') AS first_install_ms, max(event_type = 'first_run') AS has_first_run,
    groupUniqArrayIf(agent, agent != '') AS used_agents
  FROM ${once('counted_installs')}
  PREWHERE ${websitesAsked(period)} AND (received_at, event_id) IN (
    SELECT received_at, event_id FROM counted_installs WHERE ${websitesAsked(period)} AND ${issuedBetween(period)})
  WHERE kind != 'superseded' AND resolution = 'matched' AND NOT is_left_out AND ${issuedWithin(period)} GROUP BY organization, website, visit_id`

/**
 * Page views with what each of them led to. Each table costs the engine some 3 ms to plan, and each range of IDs one more.
 */
function steppedViewsSql(period: RawPeriod, columns: ViewColumns, condition: string): string {
  const own = Object.keys(columns).map((name) => `view.own_${name} AS own_${name}`)
  return `SELECT ${[
    'view.organization AS organization',
    'view.website AS website',
    'view.sitting AS sitting',
    'view.visit_id AS view_id',
    'substring(view.visit_id, 3) AS arrival',
    'view.issued_at AS viewed_at',
    `${hourStart('view.issued_at')} AS hour_ms`,
    'view.retention_days AS retention_days',
    ...own,
    '[view.viewed_page] AS seen_pages',
    `${among('activations', period, "effect = 'activated'")} AS was_activated`,
    `${among('handoffs', period, 'is_copied')} AS was_copied`,
    'install.is_started AS was_started',
    'install.first_install_ms AS install_ms',
    'install.has_first_run AS had_first_run',
    'install.used_agents AS used_agents',
  ].join(', ')}
    FROM (${viewsSql(period, columns, condition)}) AS view
    LEFT ANY JOIN (${reachedViewsSql(period)}) AS install
      ON view.organization = install.organization AND view.website = install.website AND view.visit_id = install.visit_id`
}

/** What visits that began in the hours of the period did in later hours, in the form of `steppedViewsSql`, as if it were viewed at `viewedAt`. */
function laterHoursSql(period: RawPeriod, columns: ViewColumns, viewedAt: string): string {
  const own = Object.keys(columns).map((name) => `'' AS own_${name}`)
  return `SELECT ${[
    'organization',
    'website',
    'sitting',
    "'' AS view_id",
    `'${NO_VIEW}' AS arrival`,
    `${viewedAt} AS viewed_at`,
    `toUnixTimestamp64Milli(began) AS hour_ms`,
    'retention_days',
    ...own,
    'pages AS seen_pages',
    'toUInt8(is_activated) AS was_activated',
    'toUInt8(is_copied) AS was_copied',
    'toUInt8(is_started) AS was_started',
    'ifNull(toUnixTimestamp64Milli(installed_at), 0) AS install_ms',
    'toUInt8(has_first_run) AS had_first_run',
    'agents AS used_agents',
  ].join(', ')}
    FROM ${once('visit_hours')} PREWHERE ${websitesAsked(period)} AND began >= ${momentAt(hourOf(period.since_ms))} AND began < ${momentAt(period.until_ms)}
    WHERE NOT is_gone`
}

/** What the page views of a visit reached together. */
const REACHED = `max(was_activated) AS is_activated, max(was_copied) AS is_copied, max(was_started) AS started,
  minIf(install_ms, install_ms > 0) AS installed_ms, max(had_first_run) AS first_run`

const VISIT_KEY = "if(sitting = '', view_id, sitting)"

interface AskedVisits {
  /** Text columns of the visit's first page view. */
  readonly columns?: ViewColumns
  /** On page views; every visit that is asked for has all of its page views among those that meet it. */
  readonly condition?: string
}

/**
 * The visits that began in the period, one row each: `organization`, `website`, `visit_id` and `issued_at` of the first page view, the columns asked
 * for, the `pages` it saw, whether it `is_activated`, `is_copied`, `started`, `installed`, `first_run` and `converted`, and the `agents` that installed.
 */
export function visitsSql(period: RawPeriod, { columns = {}, condition = 'true' }: AskedVisits = {}): string {
  const hours = toEndOfHour(period)
  const end = momentAt(period.until_ms)
  const views = steppedViewsSql(hours, columns, `(sitting = '' OR NOT ${begunBefore(period)}) AND ${condition}`)
  const later = laterHoursSql(hours, columns, end)
  return groupedVisits(`${views} UNION ALL ${later}`, { columns, of: 'organization, website', end })
}

/**
 * The same for a period of whole hours, each counted as if it were asked for alone, with `hour_ms`, its start. What page views did in later hours must
 * be stored.
 */
export function visitsByHourSql(hours: RawPeriod, columns: ViewColumns): string {
  const views = steppedViewsSql(hours, columns, `(sitting = '' OR NOT ${goesOn(hours)})`)
  const end = `fromUnixTimestamp64Milli(hour_ms + ${HOUR_MS}, 'UTC')`
  const later = laterHoursSql(hours, columns, end)
  return groupedVisits(`${views} UNION ALL ${later}`, { columns, of: 'organization, website, hour_ms', end })
}

interface GroupedViews {
  readonly columns: ViewColumns
  /** Columns beside the sitting that tell visits apart. */
  readonly of: string
  /** A visit whose first page view is not before this moment is another period's. */
  readonly end: string
}

function groupedVisits(views: string, { columns, of, end }: GroupedViews): string {
  const first = Object.keys(columns).map((name) => `argMin(own_${name}, arrival) AS ${name}`)
  return `SELECT *, installed_ms > 0 AS installed,
    installed AND installed_ms <= toUnixTimestamp64Milli(issued_at) + ${CONVERSION_MS} AS converted
  FROM (
    SELECT ${[of, 'argMin(view_id, arrival) AS visit_id', 'min(viewed_at) AS issued_at', ...first].join(', ')},
      groupUniqArrayArray(seen_pages) AS pages, groupUniqArrayArray(used_agents) AS agents, ${REACHED}
    FROM (${views})
    GROUP BY ${of}, ${VISIT_KEY} HAVING issued_at < ${end}
  )`
}

/** What a visit did in an hour after that in which it began, as it is to be stored. */
export interface VisitHourRow extends OwnedWebsite {
  readonly sitting: string
  /** Start of the visit's first hour. */
  readonly began_ms: number
  /** Start of the hour in which it did this. */
  readonly hour_ms: number
  /** 1: it did nothing in this hour after all. */
  readonly is_gone: number
  readonly pages: readonly string[]
  readonly is_activated: number
  readonly is_copied: number
  readonly is_started: number
  readonly has_first_run: number
  /** 0 if there was no install. */
  readonly installed_ms: number
  readonly agents: readonly string[]
  readonly retention_days: number
  /** Of the stored row; 0 if there is none. */
  readonly row_version: number
}

/** What is compared with the stored row, in one order for both. */
const OWN_CONTENT = `tuple(toUInt8(0), arraySlice(arraySort(groupUniqArrayArray(seen_pages)), 1, ${MAX_PAGES}),
  max(was_activated), max(was_copied), max(was_started), max(had_first_run), minIf(install_ms, install_ms > 0),
  arraySlice(arraySort(groupUniqArrayArray(used_agents)), 1, ${MAX_AGENTS}))`
const STORED_CONTENT = `tuple(toUInt8(is_gone), pages, toUInt8(is_activated), toUInt8(is_copied), toUInt8(is_started), toUInt8(has_first_run),
  ifNull(toUnixTimestamp64Milli(installed_at), toInt64(0)), agents)`
const CONTENT_COLUMNS = [
  'is_gone',
  'pages',
  'is_activated',
  'is_copied',
  'is_started',
  'has_first_run',
  'installed_ms',
  'agents',
]
const NOTHING_DONE = `tuple(toUInt8(1), emptyArrayString(), toUInt8(0), toUInt8(0), toUInt8(0), toUInt8(0), toInt64(0), emptyArrayString())`

const SITTING = 'organization, website, sitting'

/**
 * The rows of these hours that are new, or other than they are stored. A visit goes on through hours that follow one another, and began in the one before
 * them; of the first hour that is known from the row of the hour before, if there is one. After a day it counts as begun anew.
 */
export function changedVisitHours(hours: RawPeriod): string {
  const { since_ms: since, until_ms: until } = hours
  const storedOf = (columns: string, condition: string): string =>
    `SELECT ${SITTING}, toUnixTimestamp64Milli(began) AS began_ms, ${columns} FROM ${once('visit_hours')}
      PREWHERE ${websitesAsked(hours)} AND began >= ${momentAt(since - LONGEST_VISIT_MS)} AND began < ${momentAt(until)}
      WHERE ${condition}`
  const views = steppedViewsSql(hours, {}, `sitting != '' AND ${goesOn(hours)}`)
  const own = `SELECT ${SITTING}, hour_ms, content, days,
      arrayMax(arrayFilter(each -> each <= hour_ms AND NOT has(gone_on, each - ${HOUR_MS}), gone_on)) AS second_ms,
      if(second_ms = ${since} AND earlier.began_ms != 0, earlier.began_ms, second_ms - ${HOUR_MS}) AS first_ms,
      first_ms + ${LONGEST_VISIT_MS} * intDiv(hour_ms - first_ms - ${HOUR_MS}, ${LONGEST_VISIT_MS}) AS began_ms
    FROM (
      SELECT *, groupArray(hour_ms) OVER (PARTITION BY ${SITTING}) AS gone_on
      FROM (SELECT ${SITTING}, hour_ms, ${OWN_CONTENT} AS content, max(retention_days) AS days FROM (${views}) GROUP BY ${SITTING}, hour_ms)
    ) AS view
    LEFT ANY JOIN (${storedOf('hour', `hour = ${momentAt(since - LOOK_BACK_MS)} AND NOT is_gone`)}) AS earlier
      ON view.organization = earlier.organization AND view.website = earlier.website AND view.sitting = earlier.sitting`
  const stored = storedOf(
    `toUnixTimestamp64Milli(hour) AS hour_ms, ${STORED_CONTENT} AS content, toUInt8(0) AS is_own, retention_days AS days, row_version`,
    `hour >= ${momentAt(since)} AND hour < ${momentAt(until)}`,
  )
  return `SELECT ${SITTING}, began_ms, hour_ms, ${CONTENT_COLUMNS.map((name, place) => `content.${place + 1} AS ${name}`).join(', ')}, retention_days, row_version
  FROM (
    SELECT ${SITTING}, began_ms, hour_ms, groupArrayIf(part.content, is_own = 1) AS own, groupArrayIf(part.content, is_own = 0) AS stored,
      if(empty(own), ${NOTHING_DONE}, own[1]) AS content, max(part.days) AS retention_days, max(part.row_version) AS row_version
    FROM (SELECT ${SITTING}, began_ms, hour_ms, content, toUInt8(1) AS is_own, days, toUInt64(0) AS row_version FROM (${own})
      UNION ALL SELECT ${SITTING}, began_ms, hour_ms, content, is_own, days, row_version FROM (${stored})) AS part
    GROUP BY ${SITTING}, began_ms, hour_ms
  ) WHERE empty(stored) OR stored[1] != content ORDER BY hour_ms, ${SITTING} LIMIT ${MAX_CHANGES}`
}
