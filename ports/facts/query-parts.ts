/** The parts that the SQL texts of all queries are made of. */

import type { OwnedWebsite } from '../../domain/model.ts'
import type { FactTable } from './columns.ts'
import { DECIDED_COLUMNS, type QueryParameters, type Turn } from './query-rows.ts'

/** The most keys of one look-up, and so the most rows it returns. */
export const MAX_KEYS = 10_000
/** The most rows of one page of a list; `LIMITS.logsPerPage` is what users see. */
export const MAX_PAGE = 10_000

export interface Query<P extends QueryParameters, R> {
  readonly sql: (params: P) => string
  /** Who waits for the statement. */
  readonly turn: Turn
  /** On replicas: it must see every insert that was acknowledged before, on any of them. */
  readonly isSequential?: true
  /** Never set; carries the type of the rows. */
  readonly row?: R
}

type Text<P> = string | ((params: P) => string)

function declareQuery<P extends QueryParameters, R>(sql: Text<P>, turn: Turn): Query<P, R> {
  return { sql: typeof sql === 'string' ? () => sql : sql, turn }
}

/** A request waits for it. */
export function lookUp<P extends QueryParameters, R>(sql: Text<P>): Query<P, R> {
  return declareQuery(sql, 'look-up')
}

/** A person who looks at a page waits for it: at most 250 ms of the engine's time, thanks to keys, windows or rollups. */
export function pageOf<P extends QueryParameters, R>(sql: Text<P>): Query<P, R> {
  return declareQuery(sql, 'page')
}

/** A tool or a role waits for it. */
export function report<P extends QueryParameters, R>(sql: Text<P>): Query<P, R> {
  return declareQuery(sql, 'report')
}

/** A role waits for it that goes on for good from what it read: a row that a replica does not show yet would be missed silently. */
export function sequential<P extends QueryParameters, R>(sql: Text<P>): Query<P, R> {
  return { ...declareQuery<P, R>(sql, 'report'), isSequential: true }
}

/**
 * A request or dispatch waits for it, and decides by it for good: a row that a replica does not show yet would be taken for one that does
 * not exist. A replica that is behind refuses it, so the decision waits.
 */
export function deciding<P extends QueryParameters, R>(sql: Text<P>): Query<P, R> {
  return { ...declareQuery<P, R>(sql, 'look-up'), isSequential: true }
}

/** Websites by position in two lists: whose they are, and their IDs. */
export type OwnerKeys = { readonly organizations: readonly string[]; readonly websites: readonly string[] }
/** The same by position with their visits or events. */
export type VisitKeys = OwnerKeys & { readonly visit_ids: readonly string[] }
export type EventKeys = OwnerKeys & { readonly event_ids: readonly string[] }
const OWNERS_ASKED = '{organizations:Array(String)}, {websites:Array(String)}'
export const WEBSITES_ASKED = `(organization, website) IN arrayZip(${OWNERS_ASKED})`
export const VISITS_ASKED = `(organization, website, visit_id) IN arrayZip(${OWNERS_ASKED}, {visit_ids:Array(String)})`
export const EVENTS_ASKED = `(organization, website, event_id) IN arrayZip(${OWNERS_ASKED}, {event_ids:Array(String)})`
/** A website of one organisation. */
export const OF_WEBSITE = 'organization = {organization:String} AND website = {website:String}'

export function ownersOf(rows: readonly OwnedWebsite[]): OwnerKeys {
  return { organizations: rows.map((row) => row.organization), websites: rows.map((row) => row.website) }
}

/** The only way to read a table: each natural key once, even if it was inserted twice. */
export function once(table: FactTable): string {
  return `${table} FINAL`
}

/**
 * The only way to read installs: the first record of each event, overridden by the later decision about it if it was pending; one
 * about another record of the event, which was received at another time, says nothing of it.
 * `firsts` selects first records with their time; `decisions` selects the decisions about them, by columns that both tables have.
 * Of the columns that a decision replaces, `firsts` has `columns`: the fewer there are, the faster the engine plans.
 */
export function decided(
  firsts: string,
  decisions: string,
  columns: readonly (typeof DECIDED_COLUMNS)[number][] = DECIDED_COLUMNS,
): string {
  const names = columns.join(', ')
  const values = columns.map(
    (column) =>
      `if(first.resolution = 'pending' AND later.event_id != '', later.${column}, first.${column}) AS ${column}`,
  )
  return `(SELECT first.* EXCEPT (${names}), ${values.join(', ')} FROM (${firsts}) AS first
    LEFT ANY JOIN (SELECT organization, website, event_id, received_at, ${names} FROM ${once('install_decisions')} ${decisions})
      AS later ON first.organization = later.organization AND first.website = later.website AND first.event_id = later.event_id
        AND first.received_at = later.received_at)`
}

/** Installs by a condition on organisation, website and event ID, which can use the order of both tables. */
export function installs(keys: string): string {
  return decided(`SELECT * FROM ${once('installs')} PREWHERE ${keys}`, `PREWHERE ${keys}`)
}

/** Keeps installs with this resolution, by their first record or by their decision. */
export function resolvedAs({ resolution }: { readonly resolution?: string }): string {
  if (resolution === undefined) return ''
  const key = 'organization, website, event_id, received_at'
  const decisions = `SELECT ${key} FROM install_decisions`
  const record = `(${key})`
  const isDecided = `resolution = 'pending' AND ${record} IN (${decisions} WHERE resolution = {resolution:String})`
  const isOpen = `resolution = 'pending' AND ${record} NOT IN (${decisions})`
  return `AND (${resolution === 'pending' ? isOpen : `resolution = {resolution:String} OR (${isDecided})`})`
}

export const ms = (column: string): string => `toUnixTimestamp64Milli(${column}) AS ${column}_ms`
export const at = (parameter: string): string => `fromUnixTimestamp64Milli({${parameter}:Int64}, 'UTC')`

export function withinPeriod(time: string): string {
  return `${time} >= ${at('since_ms')} AND ${time} < ${at('until_ms')}`
}

export const newestFirst = (time: string, id: string): string => `ORDER BY ${time} DESC, ${id} DESC`
export const pageLimit = (): string => `LIMIT least({limit:UInt32}, ${MAX_PAGE})`
