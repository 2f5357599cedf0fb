/** Installs of an organisation's websites, newest first, with the columns that lists show. */

import type { InstallDimension, LeftOutChoice } from '../../../domain/figures/installs.ts'
import { keysOf, partialOf } from '../../../domain/typed-keys.ts'
import { SOURCE_COLUMN_NAMES } from '../../../domain/collection/visit-source.ts'
import { selectFrom, type RowsOf } from '../columns.ts'
import {
  at,
  decided,
  installs,
  MAX_PAGE,
  ms,
  newestFirst,
  once,
  pageLimit,
  pageOf,
  resolvedAs,
  withinPeriod,
} from '../query-parts.ts'
import { countedFilters, leftOutCondition } from './counted-installs.ts'
import { askedFilters, filterCondition, type FilterParameters } from './figure-filters.ts'
import type { FoundKey } from '../../../domain/logs/first-records.ts'
import type { LogWindow } from './logs.ts'
import { ISSUED_AT, issuedWithin, OF_ORGANIZATION, type WebsitesOfOne } from './ranges.ts'
import { visitAgeS } from './raw-figures.ts'

/**
 * With a kind, or a filter on what only figures know of an event, the list has no event that no figure counts; `left_out` has those from CI,
 * containers and tests.
 */
export type InstallFilters = FilterParameters & {
  readonly kind?: string
  readonly installation_id?: string
  readonly resolution?: string
  readonly event_type?: string
  readonly ran_by?: 'agent' | 'person'
  /** Why it is unmatched. */
  readonly reason?: string
  readonly selection_policy?: string
  readonly visit_id?: string
  /** Unix ms: when that visit was issued. */
  readonly visit_since_ms?: number
  readonly visit_until_ms?: number
  /** Whole seconds from that visit to the install, as figures count them: at least, and less than. */
  readonly least_visit_age_s?: number
  readonly visit_age_below_s?: number
  readonly left_out?: LeftOutChoice
}

type InstallPageFilters = InstallFilters & {
  readonly before_ms?: number
  readonly before_id?: string
}
type InstallWindow = { readonly since_ms: number; readonly until_ms: number }
/** Those that the keys of the window name. */
export type OfEvents = { readonly event_ids: readonly string[] }
type InstallRowsParams = InstallWindow & InstallPageFilters & OfEvents

/** What a decision replaces of a line. */
const LINE_DECIDED = [
  'resolution',
  'selection_policy',
  'candidate_count',
  'visit_id',
  'visit_issued_at',
  'reason',
] as const
const INSTALL_LINE = selectFrom('installs', [
  'website',
  'event_id',
  'installation_id',
  'event_type',
  'received_at',
  'install_path',
  'platform',
  'arch',
  'agent',
  'product_version',
  'place',
  'country',
  'is_ci',
  'is_container',
  'is_test',
  ...LINE_DECIDED,
])
export type InstallLineRow = RowsOf<typeof INSTALL_LINE>

const VISIT_SOURCE = selectFrom('visits', ['website', 'visit_id', ...SOURCE_COLUMN_NAMES])
export type VisitSourceRow = RowsOf<typeof VISIT_SOURCE>

/** Columns that no decision changes come first: they narrow down what is read of an install. */
const NARROWING = {
  installation_id: 'installation_id = {installation_id:String}',
  event_type: 'event_type = {event_type:String}',
  ran_by: "(agent = '') = ({ran_by:String} = 'person')",
} as const

const OF_VISITS =
  'organization = {organization:String} AND (website, visit_id) IN arrayZip({of_websites:Array(String)}, {visit_ids:Array(String)})'

/**
 * Whole seconds from the visit to the install, as figures count them. A visit's ID says when it was issued, and is in the projection by
 * arrival; the column of that time is not, so a list would read all installs that there are.
 */
const VISIT_AGE_S = visitAgeS(ISSUED_AT)

/** Columns that the decision about a pending install replaces. */
const DECIDED = {
  resolution: 'resolution = {resolution:String}',
  reason: "resolution = 'unmatched' AND reason = {reason:String}",
  selection_policy: 'selection_policy = {selection_policy:String}',
  visit_id: 'visit_id = {visit_id:String}',
  least_visit_age_s: `visit_id != '' AND ${VISIT_AGE_S} >= {least_visit_age_s:UInt32}`,
  visit_age_below_s: `visit_id != '' AND ${VISIT_AGE_S} < {visit_age_below_s:UInt32}`,
} as const

/** Columns by which the event itself is filtered, whether it is counted or not. */
const OWN_COLUMNS: Readonly<Partial<Record<InstallDimension, string>>> = {
  path: 'install_path',
  platform: 'platform',
  agent: 'agent',
}

function ownConditions(params: FilterParameters): readonly string[] {
  return askedFilters(params).flatMap((filter) => {
    const column = OWN_COLUMNS[filter.dimension]
    return column === undefined ? [] : [filterCondition(filter, column)]
  })
}

/** The filters for which the row of the event among those that are counted is asked. */
function countedAlone(params: FilterParameters): FilterParameters {
  const asked = askedFilters(params).filter(({ dimension }) => OWN_COLUMNS[dimension] === undefined)
  return partialOf(
    asked.map(({ name }) => name),
    (name) => params[name],
  )
}

const AFTER = `(received_at, event_id) < (${at('before_ms')}, {before_id:String})`

function filterConditions<N extends keyof InstallPageFilters>(
  known: Readonly<Record<N, string>>,
  filters: InstallPageFilters,
): readonly string[] {
  const names = keysOf(known)
  return names.filter((name) => filters[name] !== undefined).map((name) => known[name])
}

function joined(all: readonly string[]): string {
  return all.map((condition) => ` AND (${condition})`).join('')
}

/** Matched to a visit that began then. */
function visitConditions(params: InstallWindow & InstallPageFilters): readonly string[] {
  const { visit_since_ms: since = 0, visit_until_ms: until = params.until_ms } = params
  const isBounded = params.visit_since_ms !== undefined || params.visit_until_ms !== undefined
  return isBounded ? [`visit_id != '' AND ${issuedWithin({ since_ms: since, until_ms: until })}`] : []
}

/** What a figure says of an install without a visit of its own is the decision about a later event. */
const OUTCOME = {
  resolution: 'resolution = {resolution:String}',
  reason: 'reason = {reason:String}',
  selection_policy: 'selection_policy = {selection_policy:String}',
  visit_id: 'visit_id = {visit_id:String}',
  visit_since_ms: `visit_issued_at >= ${at('visit_since_ms')}`,
  visit_until_ms: `visit_issued_at < ${at('visit_until_ms')}`,
  least_visit_age_s: `${visitAgeS('visit_issued_at')} >= {least_visit_age_s:UInt32}`,
  visit_age_below_s: `${visitAgeS('visit_issued_at')} < {visit_age_below_s:UInt32}`,
} as const

/** Counted as that, by the table from which figures come. */
function countedConditions(params: InstallWindow & InstallPageFilters, scope: string): readonly string[] {
  const outcome = params.kind === undefined ? [] : filterConditions(OUTCOME, params)
  const kind = params.kind === undefined ? [] : ['kind = {kind:String}']
  const conditions = [...kind, ...countedFilters(countedAlone(params)), ...outcome]
  if (conditions.length === 0 && params.left_out !== 'only') return []
  const key = 'organization, website, received_at, event_id'
  return [
    `(${key}) IN (SELECT ${key} FROM ${once('counted_installs')} WHERE ${scope} AND ${withinPeriod('received_at')}
      AND kind != 'superseded' AND ${leftOutCondition(params.left_out)} ${joined(conditions)})`,
  ]
}

/** Keeps installs whose first record or whose decision satisfies the condition: both tables have the columns. */
function keptByDecision(decided: readonly string[], { resolution }: InstallPageFilters, scope: string): string {
  if (resolution === 'pending') return resolvedAs({ resolution })
  if (decided.length === 0) return ''
  const all = decided.map((condition) => `(${condition})`).join(' AND ')
  return ` AND (${all} OR (resolution = 'pending' AND (organization, website, event_id) IN (
    SELECT organization, website, event_id FROM install_decisions WHERE ${scope} AND ${all})))`
}

/** Filters on the event itself. If figures are asked for one kind, theirs is the decision that counts. */
function ownFilters(params: InstallWindow & InstallPageFilters): InstallWindow & InstallPageFilters {
  if (params.kind === undefined) return params
  const isOwn = ([name]: readonly [string, unknown]): boolean => !Object.hasOwn(OUTCOME, name)
  const { since_ms, until_ms, ...filters } = params
  return { since_ms, until_ms, ...Object.fromEntries(Object.entries(filters).filter(isOwn)) }
}

interface VisitKeyRow {
  readonly website: string
  readonly visit_id: string
}

/** One visit, and the results of the command that was copied in it. */
interface SharedCommandRow extends VisitKeyRow {
  /** Distinct ones. */
  readonly installations: number
  readonly events: number
  readonly completed: number
  readonly first_run: number
  /** Of the events. */
  readonly by_agents: number
  readonly first_ms: number
  readonly last_ms: number
}

interface InstallListText {
  readonly columns: string
  /** A condition on columns that `installs`, `visits` and `install_decisions` have: it limits which rows may be read at all. */
  readonly scope: string
  /** Those of `columns` that a decision replaces; all if absent. */
  readonly decidedColumns?: Parameters<typeof decided>[2]
}

/** Conditions on the rows of a page. */
function pageConditions(asked: InstallWindow & InstallPageFilters, scope: string) {
  const params = ownFilters(asked)
  const after = params.before_id === undefined ? '' : ` AND ${AFTER}`
  return {
    bounds: `${scope} AND ${withinPeriod('received_at')}${after}${joined([...filterConditions(NARROWING, params), ...ownConditions(params), ...countedConditions(asked, scope)])}`,
    decided: [...filterConditions(DECIDED, params), ...visitConditions(params)],
  }
}

/**
 * Events with a record in the window that fits, each once, those of the newest records first; it reads few columns, by the projection by arrival.
 * `completeRows` says what follows from them, because a record may be a repeat that does not count.
 */
export function installKeys(params: InstallWindow & InstallPageFilters, scope: string): string {
  const { bounds, decided: conditions } = pageConditions(params, scope)
  return `SELECT event_id, ${ms('received_at')} FROM installs
    WHERE ${bounds}${keptByDecision(conditions, ownFilters(params), scope)}
    ${newestFirst('received_at', 'event_id')} LIMIT 1 BY event_id ${pageLimit()}`
}

/**
 * The first records of `event_ids` that are in the window and fit, newest first. The engine compares an ID faster than a pair of website and
 * ID; the row itself is judged again.
 */
export function installList(params: InstallRowsParams, { columns, scope, decidedColumns }: InstallListText): string {
  const { bounds, decided: conditions } = pageConditions(params, scope)
  const firsts = `SELECT * FROM ${once('installs')} PREWHERE ${scope} AND event_id IN {event_ids:Array(String)}`
  // A decision has the time of its install, so it is in the window, too.
  const decisions = `PREWHERE ${scope} AND ${withinPeriod('received_at')}`
  return `SELECT ${columns} FROM ${decided(firsts, decisions, decidedColumns)}
    WHERE ${bounds}${joined(conditions)} ${newestFirst('received_at', 'event_id')} LIMIT ${MAX_PAGE}`
}

const BY_TOKEN = `${OF_ORGANIZATION} AND ${withinPeriod('received_at')} AND resolution = 'matched' AND selection_policy = 'handoff'`
/** Events of these visits, by the projection that is ordered by visit. */
const eventsOfVisits = (table: 'installs' | 'install_decisions'): string =>
  `SELECT organization, website, event_id FROM ${table} WHERE website IN {websites:Array(String)} AND ${OF_VISITS}`

/** Visits by position in both lists. */
type OfVisits = { readonly of_websites: readonly string[]; readonly visit_ids: readonly string[] }
type InstallsOfWindow = LogWindow & InstallPageFilters
type SharedWindow = LogWindow & { readonly least: number; readonly limit: number }

export const INSTALL_QUERIES = {
  /** Newest first, of which `installLines` then reads the rows. */
  installKeys: pageOf<InstallsOfWindow & { readonly limit: number }, FoundKey>((params) =>
    installKeys(params, OF_ORGANIZATION),
  ),

  installLines: pageOf<InstallsOfWindow & OfEvents, InstallLineRow>((params) =>
    installList(params, { columns: INSTALL_LINE.sql, decidedColumns: LINE_DECIDED, scope: OF_ORGANIZATION }),
  ),

  /** Visits whose copied command seems to have been run on several machines, by rows that may be repeats; those of the most machines first. */
  sharedVisits: pageOf<SharedWindow, VisitKeyRow>(`
    SELECT website, visit_id FROM (
      SELECT website, visit_id, installation_id FROM installs WHERE ${BY_TOKEN}
      UNION ALL SELECT website, visit_id, installation_id FROM install_decisions WHERE ${BY_TOKEN})
    GROUP BY website, visit_id HAVING uniq(installation_id) >= {least:UInt32}
    ORDER BY uniq(installation_id) DESC, visit_id ${pageLimit()}`),

  /** Of these visits, what came of their commands; only the record of each event that counts is counted. */
  sharedCommands: pageOf<SharedWindow & OfVisits, SharedCommandRow>(`
    SELECT website, visit_id, uniqExact(installation_id) AS installations, count() AS events,
      countIf(event_type = 'install_completed') AS completed, countIf(event_type = 'first_run') AS first_run,
      countIf(agent != '') AS by_agents, toUnixTimestamp64Milli(min(received_at)) AS first_ms,
      toUnixTimestamp64Milli(max(received_at)) AS last_ms
    FROM ${installs(`(organization, website, event_id) IN (${eventsOfVisits('installs')} UNION ALL ${eventsOfVisits('install_decisions')})`)}
    WHERE ${BY_TOKEN} AND ${OF_VISITS}
    GROUP BY website, visit_id HAVING installations >= {least:UInt32} ORDER BY installations DESC, last_ms DESC, visit_id ${pageLimit()}`),

  /** Where visits came from, by website and ID as pairs. */
  visitSources: pageOf<
    WebsitesOfOne & {
      readonly of_websites: readonly string[]
      readonly visit_ids: readonly string[]
    },
    VisitSourceRow
  >(`SELECT ${VISIT_SOURCE.sql} FROM ${once('visits')}
    PREWHERE ${OF_ORGANIZATION} AND (website, visit_id) IN arrayZip({of_websites:Array(String)}, {visit_ids:Array(String)})
    LIMIT 10000`),
} as const
