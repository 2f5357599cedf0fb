/** Deliveries of an organisation's websites: counted by state and by provider answer, and as a list. */

import { DAY_MS } from '../../../domain/durations.ts'
import { keysOf } from '../../../domain/typed-keys.ts'
import type { DeliveryError, DeliveryGroup } from '../../../domain/delivery/counts.ts'
import { selectFrom, type RowsOf } from '../columns.ts'
import { at, newestFirst, once, pageLimit, pageOf, withinPeriod } from '../query-parts.ts'
import { countedFilters } from './counted-installs.ts'
import type { FilterParameters } from './figure-filters.ts'
import type { LogWindow } from './logs.ts'
import { momentAt, OF_ORGANIZATION, type WebsitesOfOne } from './ranges.ts'

interface DeliveryErrorRow extends DeliveryError {
  /** The latest of these attempts. */
  readonly example_attempt: string
}

interface AttemptWordsRow {
  readonly website: string
  readonly event_id: string
  readonly destination: string
  readonly attempt_id: string
  /** The beginning of its answer. */
  readonly words: string
}

interface LastAttemptRow {
  readonly website: string
  readonly event_id: string
  readonly destination: string
  /** 0: there was no answer. */
  readonly last_status: number
  readonly last_code: string
  /** The beginning of its answer. */
  readonly words: string
}

/** Filters of figures say which install events the deliveries are of. */
export type DeliveryListFilters = FilterParameters & {
  readonly website?: string
  readonly destination?: string
  readonly status?: string
  readonly reason?: string
  readonly except_reason?: string
  /** Outcome of an attempt within the period; the status below is that of its answer. */
  readonly code?: string
  readonly response_status?: number
  /** The provider accepts it after this moment, Unix ms. */
  readonly open_after_ms?: number
}

type DeliveryPageParams = LogWindow &
  DeliveryListFilters & { readonly limit: number; readonly before_ms?: number; readonly before_id?: string }

type DeliveryKeys = WebsitesOfOne & {
  readonly of_websites: readonly string[]
  readonly event_ids: readonly string[]
  readonly destinations: readonly string[]
}

const DELIVERY_LINE = selectFrom('deliveries', [
  'website',
  'event_id',
  'destination',
  'job_id',
  'provider',
  'status',
  'reason',
  'detail',
  'attempts',
  'changed_at',
  'next_attempt_at',
  'deadline_at',
])
export type DeliveryLineRow = RowsOf<typeof DELIVERY_LINE>

/** Outcomes of an attempt after which nothing more is expected from the provider. */
const GOOD_OUTCOMES = "('delivered', 'accepted')"
/** Answers of providers are cut to this many characters: lists show what was wrong, and link to the rest. */
const WORDS = 'substringUTF8(response_body, 1, 600)'

/** Conditions on the state of a delivery, which hold once its rows are merged. */
const OF_DELIVERIES = {
  website: 'website = {website:String}',
  destination: 'destination = {destination:String}',
  status: 'status = {status:String}',
  reason: 'reason = {reason:String}',
  except_reason: 'reason != {except_reason:String}',
  open_after_ms: `deadline_at > ${at('open_after_ms')}`,
  before_id: `(changed_at, job_id) < (${at('before_ms')}, {before_id:String})`,
} as const
const OF_ATTEMPTS = {
  code: 'code = {code:String}',
  response_status: 'response_status = {response_status:UInt16}',
} as const

function wanted(
  known: Readonly<Partial<Record<keyof DeliveryListFilters, string>>>,
  params: DeliveryPageParams,
): readonly string[] {
  return keysOf(known).flatMap((name) => (params[name] === undefined ? [] : (known[name] ?? [])))
}

/** A condition on deliveries, or on the events that they are for: an attempt in the period got this answer. */
function answeredSo(params: DeliveryPageParams, key: 'event_id' | 'website, event_id, destination'): readonly string[] {
  const conditions = wanted(OF_ATTEMPTS, params)
  if (conditions.length === 0) return []
  const all = [OF_ORGANIZATION, withinPeriod('started_at'), `outcome NOT IN ${GOOD_OUTCOMES}`, ...conditions]
  return [`(${key}) IN (SELECT ${key} FROM attempts PREWHERE ${all.join(' AND ')})`]
}

function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

/** No provider takes an event that is older. */
const OLDEST_EVENT_MS = 31 * DAY_MS

/** On deliveries and attempts: they are of events that fit the filters of figures, whether figures count these or not. */
function ofFilteredEvents(params: LogWindow & FilterParameters): readonly string[] {
  const conditions = countedFilters(params)
  if (conditions.length === 0) return []
  const received = `received_at >= ${momentAt(params.since_ms - OLDEST_EVENT_MS)} AND received_at < ${momentAt(params.until_ms)}`
  return [
    `(website, event_id) IN (SELECT website, event_id FROM ${once('counted_installs')}
      PREWHERE ${OF_ORGANIZATION} AND ${received} WHERE kind != 'superseded' AND ${conditions.join(' AND ')})`,
  ]
}

export const DELIVERY_QUERIES = {
  /** Deliveries that changed in a period, by destination, status and reason, each with one example. */
  deliveryGroups: pageOf<LogWindow & FilterParameters & { readonly now_ms: number }, DeliveryGroup>(
    (params) => `
    SELECT website, destination, provider, status, reason, count() AS deliveries,
      toUnixTimestamp64Milli(min(changed_at)) AS first_ms, toUnixTimestamp64Milli(max(changed_at)) AS last_ms,
      argMax(event_id, changed_at) AS example,
      countIf(status IN ('pending', 'retrying') AND deadline_at < ${at('now_ms')} + INTERVAL 2 HOUR) AS expiring,
      countIf(status = 'failed' AND deadline_at > ${at('now_ms')}) AS replayable
    FROM ${once('deliveries')} WHERE ${[OF_ORGANIZATION, withinPeriod('changed_at'), ...ofFilteredEvents(params)].join(' AND ')}
    GROUP BY website, destination, provider, status, reason
    ORDER BY website, destination, status, deliveries DESC LIMIT 5000`,
  ),

  /** Attempts of a period that failed, by the provider's answer. No FINAL: an attempt that is stored twice has one ID. */
  deliveryErrors: pageOf<LogWindow & FilterParameters & { readonly limit: number }, DeliveryErrorRow>(
    (params) => `
    SELECT website, destination, provider, response_status AS status, code,
      uniqExact(event_id) AS deliveries, uniqExact(attempt_id) AS tries,
      toUnixTimestamp64Milli(min(started_at)) AS first_ms, toUnixTimestamp64Milli(max(started_at)) AS last_ms,
      argMax(event_id, (started_at, attempt_id)) AS example,
      argMax(attempt_id, (started_at, attempt_id)) AS example_attempt
    FROM attempts PREWHERE ${OF_ORGANIZATION} AND ${withinPeriod('started_at')} AND outcome NOT IN ${GOOD_OUTCOMES}
    ${whereAll(ofFilteredEvents(params))}
    GROUP BY website, destination, provider, status, code
    ORDER BY deliveries DESC, last_ms DESC ${pageLimit()}`,
  ),

  /** The providers' answers to these attempts, by the attempts' keys. */
  attemptWords: pageOf<DeliveryKeys & { readonly attempt_ids: readonly string[] }, AttemptWordsRow>(`
    SELECT website, event_id, destination, attempt_id, ${WORDS} AS words FROM attempts
    PREWHERE ${OF_ORGANIZATION} AND (website, event_id, destination, attempt_id) IN arrayZip({of_websites:Array(String)},
      {event_ids:Array(String)}, {destinations:Array(String)}, {attempt_ids:Array(String)})
    LIMIT 1 BY website, event_id, destination, attempt_id LIMIT 1000`),

  /** Deliveries that changed in a period, the latest first. Their latest state counts, so rows are merged first. */
  deliveryLines: pageOf<DeliveryPageParams, DeliveryLineRow>((params) => {
    // The event alone is compared much faster than the whole key, and leaves few deliveries to compare.
    const keys = [OF_ORGANIZATION, ...answeredSo(params, 'event_id')]
    const answered = answeredSo(params, 'website, event_id, destination')
    const conditions = [
      withinPeriod('changed_at'),
      ...wanted(OF_DELIVERIES, params),
      ...answered,
      ...ofFilteredEvents(params),
    ]
    return `SELECT ${DELIVERY_LINE.sql} FROM ${once('deliveries')}
      PREWHERE ${keys.join(' AND ')} WHERE ${conditions.join(' AND ')}
      ${newestFirst('changed_at', 'job_id')} ${pageLimit()}`
  }),

  /** The last attempt of each of these deliveries. */
  lastAttempts: pageOf<DeliveryKeys, LastAttemptRow>(`
    SELECT website, event_id, destination, argMax(response_status, number) AS last_status,
      argMax(code, number) AS last_code, argMax(${WORDS}, number) AS words FROM attempts
    PREWHERE ${OF_ORGANIZATION} AND (website, event_id, destination) IN arrayZip({of_websites:Array(String)}, {event_ids:Array(String)},
      {destinations:Array(String)})
    GROUP BY website, event_id, destination LIMIT 10000`),
} as const
