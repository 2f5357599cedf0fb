/** Installs and deliveries of an organisation's websites: lists, newest first, and counts by cause. */

import { LIMITS } from '../../../domain/limits.ts'
import { selectFrom, type RowsOf } from '../columns.ts'
import { at, installs, newestFirst, once, pageLimit, pageOf, resolvedAs, withinPeriod } from '../query-parts.ts'
import type { LogWindow } from './logs.ts'
import { PAGE_PLACE } from './raw-figures.ts'
import { issuedWithin } from './ranges.ts'

export type InstallFilters = {
  readonly resolution?: string
  readonly event_type?: string
  readonly install_path?: string
  readonly platform?: string
  readonly agent?: string
  /** Why it is unmatched. */
  readonly reason?: string
  readonly selection_policy?: string
  /** Where the visit came from that it was matched to; empty: the visit does not say. */
  readonly source?: string
  readonly medium?: string
  readonly campaign?: string
  readonly referrer?: string
  readonly page?: string
  /** Unix ms: when that visit was issued. */
  readonly visit_since_ms?: number
  readonly visit_until_ms?: number
}

type InstallPageFilters = InstallFilters & { readonly before_ms?: number; readonly before_id?: string }

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
  'resolution',
  'selection_policy',
  'candidate_count',
  'visit_id',
  'visit_issued_at',
  'reason',
])
export type InstallLineRow = RowsOf<typeof INSTALL_LINE>

const VISIT_SOURCE = selectFrom('visits', [
  'website',
  'visit_id',
  'page_url',
  'source_referrer',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
])
export type VisitSourceRow = RowsOf<typeof VISIT_SOURCE>

/** Columns that no decision changes come first: they narrow what is read of an install. */
const NARROWING = {
  event_type: 'event_type = {event_type:String}',
  install_path: 'install_path = {install_path:String}',
  platform: 'platform = {platform:String}',
  agent: 'agent = {agent:String}',
} as const

/** Columns that the decision about a pending install replaces. */
const DECIDED = {
  resolution: 'resolution = {resolution:String}',
  reason: "resolution = 'unmatched' AND reason = {reason:String}",
  selection_policy: 'selection_policy = {selection_policy:String}',
} as const

/** What a visit says of where it came from, as figures count it. */
const VISIT_ORIGIN = {
  source: 'utm_source = {source:String}',
  medium: 'utm_medium = {medium:String}',
  campaign: 'utm_campaign = {campaign:String}',
  referrer: 'domain(source_referrer) = {referrer:String}',
  page: `${PAGE_PLACE} = {page:String}`,
} as const

const SCOPE = 'website IN {websites:Array(String)} AND organization = {organization:String}'
const AFTER = `(received_at, event_id) < (${at('before_ms')}, {before_id:String})`

function filterConditions<N extends keyof InstallPageFilters>(
  known: Readonly<Record<N, string>>,
  filters: InstallPageFilters,
): readonly string[] {
  const names = Object.keys(known) as N[]
  return names.filter((name) => filters[name] !== undefined).map((name) => known[name])
}

function joined(all: readonly string[]): string {
  return all.map((condition) => ` AND (${condition})`).join('')
}

/** Matched to one of these visits; receipts hold for 30 days, so that older visits than that have none. */
function visitConditions(params: LogWindow & InstallPageFilters): readonly string[] {
  const { visit_since_ms: since, visit_until_ms: until } = params
  const issued = {
    since_ms: since ?? Math.max(0, params.since_ms - LIMITS.receiptLifetimeMs),
    until_ms: until ?? params.until_ms,
  }
  const origin = filterConditions(VISIT_ORIGIN, params)
  const visits = `SELECT website, visit_id FROM visits PREWHERE ${SCOPE} AND ${issuedAtWithin(issued)}`
  return [
    ...(since === undefined && until === undefined ? [] : [`visit_id != '' AND ${issuedWithin(issued)}`]),
    ...(origin.length === 0 ? [] : [`(website, visit_id) IN (${visits} WHERE ${origin.join(' AND ')})`]),
  ]
}

/** By the column, as it is asked several times in one statement: ranges of IDs would take longer to plan than to read. */
function issuedAtWithin({ since_ms: since, until_ms: until }: Pick<LogWindow, 'since_ms' | 'until_ms'>): string {
  return `issued_at >= fromUnixTimestamp64Milli(${since}, 'UTC') AND issued_at < fromUnixTimestamp64Milli(${until}, 'UTC')`
}

/** Keeps installs that their first record or their decision makes fit: both tables have the columns. */
function keptByDecision(decided: readonly string[], { resolution }: InstallPageFilters): string {
  if (resolution === 'pending') return resolvedAs({ resolution })
  if (decided.length === 0) return ''
  const all = decided.map((condition) => `(${condition})`).join(' AND ')
  return ` AND (${all} OR (resolution = 'pending' AND (website, event_id) IN (
    SELECT website, event_id FROM install_decisions WHERE website IN {websites:Array(String)} AND ${all})))`
}

/** A key that was inserted twice and is not merged yet occurs twice. */
const CANDIDATES = 3

/** `failed` deliveries wait to be replayed. */
interface DeliveryGroupRow {
  readonly website: string
  readonly destination: string
  readonly provider: string
  readonly status: string
  readonly reason: string
  readonly deliveries: number
  readonly first_ms: number
  readonly last_ms: number
  /** One of them. */
  readonly example: string
  /** Of those that are not over: how many will be, within two hours. */
  readonly expiring: number
}

export const INSTALL_QUERIES = {
  /** Installs of a window. Their keys are found first, from few columns, and read whole only then. */
  installLines: pageOf<LogWindow & InstallPageFilters & { readonly limit: number }, InstallLineRow>((params) => {
    const after = params.before_id === undefined ? '' : ` AND ${AFTER}`
    const bounds = `${SCOPE} AND ${withinPeriod('received_at')}${after}${joined(filterConditions(NARROWING, params))}`
    const decided = [...filterConditions(DECIDED, params), ...visitConditions(params)]
    return `SELECT ${INSTALL_LINE.sql}
    FROM ${installs(`(website, event_id) IN (SELECT website, event_id FROM installs
      WHERE ${bounds}${keptByDecision(decided, params)} ${newestFirst('received_at', 'event_id')}
      LIMIT least({limit:UInt32}, 10000) * ${CANDIDATES})`)}
    WHERE ${bounds}${joined(decided)}
    ${newestFirst('received_at', 'event_id')} ${pageLimit()}`
  }),

  /** Where visits came from, by website and ID as pairs. */
  visitSources: pageOf<
    Pick<LogWindow, 'websites' | 'organization'> & {
      readonly of_websites: readonly string[]
      readonly visit_ids: readonly string[]
    },
    VisitSourceRow
  >(`SELECT ${VISIT_SOURCE.sql} FROM ${once('visits')}
    PREWHERE (website, visit_id) IN arrayZip({of_websites:Array(String)}, {visit_ids:Array(String)}) AND ${SCOPE}
    LIMIT 10000`),

  /** Deliveries that changed in a period, by destination, status and reason, each with one example. */
  deliveryGroups: pageOf<LogWindow, DeliveryGroupRow>(`
    SELECT website, destination, provider, status, reason, count() AS deliveries,
      toUnixTimestamp64Milli(min(changed_at)) AS first_ms, toUnixTimestamp64Milli(max(changed_at)) AS last_ms,
      argMax(event_id, changed_at) AS example,
      countIf(status IN ('pending', 'retrying') AND deadline_at < ${at('until_ms')} + INTERVAL 2 HOUR) AS expiring
    FROM ${once('deliveries')} WHERE ${SCOPE} AND ${withinPeriod('changed_at')}
    GROUP BY website, destination, provider, status, reason
    ORDER BY website, destination, status, deliveries DESC LIMIT 5000`),
} as const
