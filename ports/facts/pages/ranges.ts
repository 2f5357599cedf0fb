/** Ranges of visit IDs by time. The tables of visits are ordered by ID, so a range reads nothing else. */

import { WEBSITES_ASKED, withinPeriod, type OwnerKeys } from '../query-parts.ts'
import { VISIT_ID_PREFIXES, visitIdTime } from '../../../domain/receipt.ts'

/** Websites of one organisation. */
export type WebsitesOfOne = { readonly organization: string; readonly websites: readonly string[] }

/** The same, or websites of several by position. */
export type AskedWebsites = WebsitesOfOne | OwnerKeys

/** `since_ms` (inclusive) and `until_ms` (exclusive) bound the time, in Unix ms. */
type IssuedPeriod = {
  readonly since_ms: number
  readonly until_ms: number
  /** Key IDs that visits of the period can have; all if absent. The fewer there are, the faster the engine plans. */
  readonly key_ids?: readonly number[]
}

export type RawPeriod = AskedWebsites & IssuedPeriod

/** Websites of one organisation. */
export const OF_ORGANIZATION = 'organization = {organization:String} AND website IN {websites:Array(String)}'

/** The websites of the period. */
export function websitesAsked(period: AskedWebsites): string {
  return 'organizations' in period ? WEBSITES_ASKED : OF_ORGANIZATION
}

/** The columns that tell the websites of the period apart, of a table of a join; fewer are compared faster. */
export function websiteColumns(period: AskedWebsites, table = ''): string {
  return ('organizations' in period ? ['organization', 'website'] : ['website']).map((name) => table + name).join(', ')
}

/**
 * A condition on `visit_id` for visits issued within a period, which uses the order of the table. The times are in the
 * text as hex digits: the engine would take 20 ms to read 64 expressions with parameters.
 */
export function issuedBetween({ since_ms: since, until_ms: until, key_ids: keyIds }: IssuedPeriod): string {
  const from = visitIdTime(since)
  const to = visitIdTime(until)
  const prefixes = VISIT_ID_PREFIXES.filter((prefix) => keyIds?.includes(parseInt(prefix.slice(1), 16)) ?? true)
  const ranges = prefixes.map((prefix) => `(visit_id >= '${prefix}${from}' AND visit_id < '${prefix}${to}')`)
  return `(${ranges.join(' OR ')})`
}

/**
 * The same for the table of visits, whose index of times finds them with any key ID. Without `FINAL` the engine plans it in a sixth of the
 * time of ranges for all key IDs; tables without that index would be read as a whole.
 */
export const VISIT_ISSUED = withinPeriod('issued_at')

/** A moment as Unix ms, in the text of a statement: for times that are none of its parameters. */
export const momentAt = (ms: number): string => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`

/** The start of the hour of a moment, as Unix ms. */
export const hourStart = (moment: string): string => `toInt64(toUnixTimestamp(toStartOfHour(${moment}))) * 1000`

/** `VISIT_ISSUED` for a period that is none of the parameters. */
export function issuedAtWithin({ since_ms: since, until_ms: until }: IssuedPeriod): string {
  return `issued_at >= ${momentAt(since)} AND issued_at < ${momentAt(until)}`
}

/**
 * The same for visits that are merged while they are read (`FINAL`): by ranges of IDs, if the key IDs are known. By the index of times the engine
 * has to add every row that could have the same key, and takes a dozen times as long for 20 million visits.
 */
export const issuedOfMerged = (period: IssuedPeriod): string =>
  period.key_ids === undefined ? issuedAtWithin(period) : issuedBetween(period)

/** The same for rows that have been read already: it does not use the order, and is faster to plan. */
export function issuedWithin({
  since_ms: since,
  until_ms: until,
}: {
  readonly since_ms: number
  readonly until_ms: number
}): string {
  return `(substring(visit_id, 3, 12) >= '${visitIdTime(since)}' AND substring(visit_id, 3, 12) < '${visitIdTime(until)}')`
}

/** When the visit was issued, by its ID: to the millisecond the time that the visit has. */
export const ISSUED_AT =
  "fromUnixTimestamp64Milli(reinterpretAsInt64(reverse(unhex(substring(visit_id, 3, 12)))), 'UTC')"
