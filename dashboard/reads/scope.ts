/** Gives a handler only its organisation's websites and the facts about them. */

import type { Destination } from '../../domain/catalog.ts'
import { DAY_MS, hourOf } from '../../domain/durations.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import { dashboardPlace } from '../../domain/logs/dashboard-place.ts'
import type { RunOptions, FactsReader } from '../../ports/facts/facts.ts'
import type { PageQueryName } from '../../ports/facts/pages/pages.ts'
import type { QueryName, QueryParams, QueryRow } from '../../ports/facts/queries.ts'
import type { StatementShare } from '../../ports/facts/query-rows.ts'
import { type ScopedCall } from '../http/call.ts'
import { shareFigures } from './equal-figures.ts'
import type { DirectoryOrganization, DirectoryWebsite } from '../resources/directory.ts'

/** Statements that read requests, which may be of the dashboard. */
const OF_REQUESTS: ReadonlySet<QueryName> = new Set<QueryName>(['requestLines', 'requestLog'])

/** What the scope fills in. */
type Scoped = 'websites' | 'organization'

/** What handlers know of a website, besides its facts. */
export interface ReadWebsite extends Pick<DirectoryWebsite, 'id' | 'displayName' | 'retentionDays'> {
  readonly destinations: readonly Pick<Destination, 'id' | 'displayName' | 'provider' | 'mode'>[]
}

/** Runs queries of pages over the websites of one organisation. */
export interface ScopedQueries {
  /** Runs a query of pages over these websites; it ends with the client. Rejects like `Facts.run`. */
  readonly run: <Q extends PageQueryName>(
    query: Q,
    params: Omit<QueryParams<Q>, Scoped>,
  ) => Promise<readonly QueryRow<Q>[]>
}

export interface OrganizationFacts extends ScopedQueries {
  readonly organization: DirectoryOrganization
  /** All websites of the organisation, or the one that the parameter `website` of the query names. */
  readonly websites: readonly ReadWebsite[]
  /** Under what lines of Logs are stored: these websites and, unless one is named, the requests of the dashboard. */
  readonly logPlaces: readonly string[]
  /**
   * How its statements are asked: they end with the client, are charged to the organisation and to whoever reads, and leave out what is older than its
   * website keeps now.
   */
  readonly asked: Required<Pick<RunOptions, 'signal' | 'share' | 'kept'>>
}

/** Turns a reading function into a route's handler, which refuses calls that name another organisation's website. */
export type ReadScope = <T extends object, Asked extends ScopedCall = ScopedCall>(
  handle: (reads: OrganizationFacts, call: Asked) => Promise<T>,
) => (call: Asked) => Promise<T | Refusal>

interface ReadParts {
  /** The websites of the organisation that a call is about; at least the one that its query names, if it names one. */
  readonly websitesOf: (call: ScopedCall) => readonly ReadWebsite[]
  readonly facts: FactsReader
  /** A clock that never goes back. */
  readonly elapsedMs: () => number
}

/** Refuses a website of another organisation as one that does not exist. */
export function createReadScope({ websitesOf, facts, elapsedMs }: ReadParts): ReadScope {
  const runShared = shareFigures(facts, elapsedMs)
  return (handle) => async (call) => {
    const { organization, reader } = call.scope
    const all = websitesOf(call)
    const { website: wanted } = call.query
    const websites = wanted === undefined ? all : all.filter(({ id }) => id === wanted)
    if (wanted !== undefined && websites.length === 0) return refuse('not_found')
    const { rank, nowMs, signal } = call
    const share = { rank, organization: organization.id, person: reader }
    const isOfAll = wanted === undefined
    return handle(organizationFacts(runShared, { organization, websites, isOfAll }, { share, nowMs, signal }), call)
  }
}

interface ReadOrganization {
  readonly organization: DirectoryOrganization
  readonly websites: readonly ReadWebsite[]
  /** These are all of its websites. */
  readonly isOfAll: boolean
}

interface ReadBy {
  readonly share: StatementShare
  readonly nowMs: number
  readonly signal: AbortSignal
}

/** The facts about these websites. */
export function organizationFacts(
  runAll: FactsReader['run'],
  { organization, websites, isOfAll }: ReadOrganization,
  { share, nowMs, signal }: ReadBy,
): OrganizationFacts {
  const ids = websites.map(({ id }) => id)
  // By the hour, so that what several people look at is the same statement.
  const hour = hourOf(nowMs)
  const kept = websites.map(({ id, retentionDays }) => ({ website: id, sinceMs: hour - retentionDays * DAY_MS }))
  const asked = { signal, share, kept }
  const logPlaces = isOfAll ? [...ids, dashboardPlace(organization.id)] : ids
  const run: OrganizationFacts['run'] = (query, params) => {
    const scope = { organization: organization.id, websites: OF_REQUESTS.has(query) ? logPlaces : ids }
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the parameters of the query, with those of the scope
    return runAll(query, { ...params, ...scope } as unknown as QueryParams<typeof query>, asked)
  }
  return { organization, websites, logPlaces, asked, run }
}
