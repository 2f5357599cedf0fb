/** Installs of a website in the order in which they were received, to decide them again; the requests for this, and their results. */

import { selectFrom, type RowOf, type RowsOf } from '../columns.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import {
  at,
  installs,
  MAX_PAGE,
  newestFirst,
  OF_WEBSITE,
  once,
  pageLimit,
  pageOf,
  report,
  withinPeriod,
} from '../query-parts.ts'
import { OF_ORGANIZATION } from './ranges.ts'

const DECIDED_INSTALL = selectFrom('installs', [
  'event_id',
  'installation_id',
  'event_type',
  'received_at',
  'resolution',
  'selection_policy',
  'visit_id',
  'visit_issued_at',
  'verdicts',
])
export type DecidedInstallRow = RowsOf<typeof DECIDED_INSTALL>

/** Installs from `since_ms` (inclusive) to `until_ms` (exclusive) that come after `after_ms` and `after_id`. */
type InOrder = OwnedWebsite & {
  readonly since_ms: number
  readonly until_ms: number
  readonly after_ms: number
  readonly after_id: string
}

interface OrderedPageRow {
  /** Each time that an event was recorded; 0: there are no more. */
  readonly records: number
  readonly last_ms: number
  readonly last_id: string
}

const IN_ORDER = `${OF_WEBSITE} AND ${withinPeriod('received_at')}
  AND (received_at, event_id) > (${at('after_ms')}, {after_id:String})`
const OLDEST_FIRST = 'ORDER BY received_at, event_id'
const UP_TO_LAST = `${IN_ORDER} AND (received_at, event_id) <= (${at('last_ms')}, {last_id:String})`

interface SourceRow {
  readonly visit_id: string
  readonly source: string
}

const ASKED = selectFrom('decision_replays', [
  'website',
  'id',
  'organization',
  'asked_at',
  'policy',
  'window_ms',
  'is_tokens_only',
  'since',
  'until',
])
export type AskedReplayRow = RowsOf<typeof ASKED>

export type OpenReplayRow = AskedReplayRow & Pick<RowOf<'decision_replays'>, 'session'>

/** `waiting` until the role `rollup` has started. */
type ReplayState = 'waiting' | 'running' | 'done' | 'failed'

/** The moments of the progress are null while the replay waits. */
export interface ReplayLineRow extends AskedReplayRow {
  readonly state: ReplayState
  readonly installs: number
  readonly reached_ms: number | null
  /** JSON: of a `ReplayResult` if it is done, otherwise of an `UnfinishedReplay`. Not in lists; empty while it waits. */
  readonly result: string
}

/** Includes the progress of each replay; `found` limits both sides, and `result`, which may be megabytes, is an expression. */
function withProgress(found: string, result: string): string {
  return `SELECT ${ASKED.sql}, if(later.state = '', 'waiting', later.state) AS state, later.installs AS installs,
    if(later.state = '', NULL, toUnixTimestamp64Milli(later.reached)) AS reached_ms, ${result} AS result
    FROM (SELECT * FROM ${once('decision_replays')} PREWHERE ${OF_ORGANIZATION} AND ${found}) AS asked
    LEFT ANY JOIN (SELECT organization, website, id, state, installs, reached, result FROM ${once('decision_replay_results')}
      PREWHERE ${OF_ORGANIZATION} AND ${found}) AS later
      ON asked.organization = later.organization AND asked.website = later.website AND asked.id = later.id`
}

interface StoredReplayRow {
  readonly id: string
  /** As in `ReplayLineRow`. */
  readonly result: string
}

type ReplayScope = { readonly websites: readonly string[]; readonly organization: string }

type CancelledScope = ReplayScope & {
  readonly subjects: readonly string[]
  readonly type: string
  readonly since_ms: number
}

export const REPLAY_PAGE_QUERIES = {
  /** The replays that an organisation requested, newest first. */
  replayLines: pageOf<ReplayScope & { readonly limit: number }, ReplayLineRow>(
    `${withProgress('true', "''")}
    ${newestFirst('asked_at', 'id')} ${pageLimit()}`,
  ),

  /** One replay, with its result or the reason for its end: while it runs, a checkpoint would be read in vain. */
  replayById: pageOf<ReplayScope & { readonly id: string }, ReplayLineRow>(
    withProgress('id = {id:String}', "if(later.state = 'running', '', later.result)"),
  ),

  /** Those of these subjects of the activity for which somebody noted a cancellation. */
  cancelledReplays: pageOf<CancelledScope, { readonly subject: string }>(`SELECT DISTINCT subject FROM activity
    PREWHERE organization = {organization:String} AND noticed_at >= ${at('since_ms')} AND type = {type:String}
    WHERE subject IN {subjects:Array(String)} LIMIT ${MAX_PAGE}`),

  /** What is stored of replays that have failed. */
  failedReplays: pageOf<ReplayScope & { readonly ids: readonly string[] }, StoredReplayRow>(
    `SELECT id, result FROM ${once('decision_replay_results')} PREWHERE ${OF_ORGANIZATION} AND id IN {ids:Array(String)} LIMIT ${MAX_PAGE}`,
  ),
} as const

export const REPLAY_QUERIES = {
  /** Requested and not finished, the oldest first. */
  openReplays: report<
    { readonly limit: number },
    OpenReplayRow
  >(`SELECT ${ASKED.sql}, session FROM ${once('decision_replays')}
    WHERE (organization, website, id) NOT IN (SELECT organization, website, id FROM ${once('decision_replay_results')} WHERE state IN ('done', 'failed'))
    ORDER BY asked_at, id ${pageLimit()}`),

  /** What is stored of one of them; no row until somebody has begun it. */
  begunReplay: report<OwnedWebsite & { readonly id: string }, StoredReplayRow & { readonly version: number }>(
    `SELECT id, result, row_version AS version FROM ${once('decision_replay_results')} PREWHERE ${OF_WEBSITE} AND id = {id:String} LIMIT 1`,
  ),

  /** A row if somebody cancelled it: an entry of the activity, which is no older than the replay. */
  cancelledReplay: report<
    { readonly organization: string; readonly subject: string; readonly type: string; readonly since_ms: number },
    { readonly id: string }
  >(`SELECT id FROM activity WHERE organization = {organization:String} AND noticed_at >= ${at('since_ms')}
    AND type = {type:String} AND subject = {subject:String} LIMIT 1`),

  /** Where the next page of installs ends: one row. Records that do not count, because the event was recorded before, are on it, too. */
  pageInOrder: report<InOrder & { readonly limit: number }, OrderedPageRow>(
    `SELECT count() AS records,
    toUnixTimestamp64Milli(max(received_at)) AS last_ms, argMax(event_id, (received_at, event_id)) AS last_id
    FROM (SELECT received_at, event_id FROM installs WHERE ${IN_ORDER} ${OLDEST_FIRST} ${pageLimit()})`,
  ),

  /** The installs of that page, the oldest first; there may be none. */
  installsInOrder: report<InOrder & Omit<OrderedPageRow, 'records'>, DecidedInstallRow>(
    `SELECT ${DECIDED_INSTALL.sql}
    FROM ${installs(`(organization, website, event_id) IN (SELECT organization, website, event_id FROM installs WHERE ${UP_TO_LAST})`)}
    WHERE ${UP_TO_LAST} ${OLDEST_FIRST} LIMIT ${MAX_PAGE}`,
  ),

  /** The campaign's source of these visits, by ID; empty if a visit names none. */
  sourcesOfVisits: report<OwnedWebsite & { readonly visit_ids: readonly string[] }, SourceRow>(
    `SELECT visit_id, source FROM ${once('visits')}
    PREWHERE ${OF_WEBSITE} AND visit_id IN {visit_ids:Array(String)} LIMIT ${MAX_PAGE}`,
  ),
} as const
