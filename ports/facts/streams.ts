/**
 * The SQL texts behind log streams: the part of the backlog that a stream has not finished, lane by lane.
 *
 * The table is ordered by organisation, lane and offset, so that finished records are skipped without being read.
 */

import { selectFrom, type RowsOf } from './columns.ts'
import { at, ms, once, report, sequential } from './query-parts.ts'
import { STREAM_STANDING, type StreamStandingRow } from './query-rows.ts'

/** Most lanes in one statement: topics times partitions, and a few generations of each. */
const MAX_LANES = 1_000
const MAX_STREAMS = 100_000
/** Offsets of a lane that one statement looks at; without this bound it would sort everything that is open. */
export const LANE_WINDOW = 20_000

/** The finished part of a stream, by lane: `lane_0` is finished up to and including `done_0`, and so on. */
export type DoneParams = { readonly lanes: number } & { readonly [K in `lane_${number}`]: string } & {
  readonly [K in `done_${number}`]: number
}
/** Bounds of some lanes, by position: above `after_0`, up to and including `through_0`. */
type BorderParams = { readonly lanes: number } & { readonly [K in `lane_${number}`]: string } & {
  readonly [K in `after_${number}` | `through_${number}`]: number
}
type OfOrganization = { readonly organization: string }
/** Filters of a stream; absent ones are left out. */
type StreamFilters = {
  readonly websites?: readonly string[]
  readonly kinds?: readonly string[]
  readonly min_status?: number
}

const BACKLOG_ROW = selectFrom('stream_backlog', [
  'lane',
  'log_offset',
  'id',
  'at',
  'appended_at',
  'website',
  'kind',
  'status',
  'record',
])
export type BacklogRow = RowsOf<typeof BACKLOG_ROW>
const OPEN_ROW = selectFrom('stream_backlog', [
  ...(['lane', 'log_offset', 'at', 'appended_at', 'website', 'kind', 'status'] as const),
])
export type OpenRow = RowsOf<typeof OPEN_ROW> & { readonly bytes: number }
type ProgressRow = StreamStandingRow & { readonly version: number }

/** The open records of one lane. */
export interface OpenLaneRow {
  readonly lane: string
  readonly first: number
  readonly last: number
  readonly records: number
  readonly oldest_ms: number
}

/** The records of one lane that are young enough to keep. */
interface KeptLaneRow {
  readonly lane: string
  readonly last: number
  readonly kept: number
  /** 0 if nothing is kept. */
  readonly kept_from: number
}

/** The records that are dropped. */
interface DroppedRow {
  readonly records: number
  readonly from_ms: number
  readonly to_ms: number
}

const positions = ({ lanes }: { readonly lanes: number }): readonly number[] =>
  Array.from({ length: Math.min(lanes, MAX_LANES) }, (_, index) => index)

/** Conditions of this form can use the order of the table. */
function beyond(params: DoneParams): string {
  const done = positions(params).map(
    (index) => `NOT (lane = {lane_${index}:String} AND log_offset <= {done_${index}:UInt64})`,
  )
  return ['organization = {organization:String}', ...done].join(' AND ')
}

function between(params: BorderParams): string {
  const lanes = positions(params).map(
    (index) =>
      `(lane = {lane_${index}:String} AND log_offset > {after_${index}:Int64} AND log_offset <= {through_${index}:UInt64})`,
  )
  return `organization = {organization:String} AND (${lanes.length === 0 ? 'false' : lanes.join(' OR ')})`
}

const FILTERS: Readonly<Record<keyof StreamFilters, string>> = {
  websites: 'website IN {websites:Array(String)}',
  kinds: 'kind IN {kinds:Array(String)}',
  min_status: 'status >= {min_status:UInt16}',
}

function streamFilters(params: StreamFilters): string {
  const names = (Object.keys(FILTERS) as (keyof StreamFilters)[]).filter((name) => params[name] !== undefined)
  return names.map((name) => ` AND ${FILTERS[name]}`).join('')
}

export const STREAM_QUERIES = {
  /** Organisations with a stream that was served since then: the facts-writer writes their backlog. */
  streamingOrganizations: report<{ readonly since_ms: number }, { readonly organization: string }>(
    `SELECT DISTINCT organization FROM ${once('stream_progress')} WHERE seen_at >= ${at('since_ms')} LIMIT ${MAX_STREAMS}`,
  ),

  /** The newest row of each lane of these organisations. Duplicate rows change no maximum. */
  newestOfLanes: sequential<
    { readonly organizations: readonly string[] },
    { readonly lane: string; readonly newest: number; readonly appended_at_ms: number }
  >(`SELECT lane, max(log_offset) AS newest, toUnixTimestamp64Milli(argMax(appended_at, log_offset)) AS appended_at_ms
    FROM stream_backlog WHERE organization IN {organizations:Array(String)} GROUP BY lane LIMIT ${MAX_LANES}`),

  /** The open records, lane by lane. */
  openLanes: sequential<DoneParams & OfOrganization, OpenLaneRow>(
    (params) => `SELECT lane, min(log_offset) AS first, max(log_offset) AS last, count() AS records,
      toUnixTimestamp64Milli(min(at)) AS oldest_ms
    FROM ${once('stream_backlog')} WHERE ${beyond(params)} GROUP BY lane ORDER BY lane LIMIT ${MAX_LANES}`,
  ),

  /** What batches are planned from: rows within these bounds, in the order of each lane; at most `per_lane` of each. */
  openBetween: sequential<BorderParams & OfOrganization & { readonly per_lane: number }, OpenRow>(
    (params) => `SELECT ${OPEN_ROW.sql}, length(record) AS bytes FROM ${once('stream_backlog')} WHERE ${between(params)}
    ORDER BY lane, log_offset LIMIT {per_lane:UInt32} BY lane LIMIT ${MAX_LANES * 1_000}`,
  ),

  /** Rows within these bounds, in the order of each lane; at most `per_lane` of each. */
  backlogBetween: sequential<BorderParams & OfOrganization & { readonly per_lane: number }, BacklogRow>(
    (params) => `SELECT ${BACKLOG_ROW.sql} FROM ${once('stream_backlog')} WHERE ${between(params)}
    ORDER BY lane, log_offset LIMIT {per_lane:UInt32} BY lane LIMIT ${MAX_LANES * 1_000}`,
  ),

  /** The time of the oldest record that is kept if `excess` open records are dropped; no row if all are dropped. */
  cutoffOfBacklog: sequential<DoneParams & OfOrganization & { readonly excess: number }, { readonly at_ms: number }>(
    (params) => `SELECT ${ms('at')} FROM ${once('stream_backlog')} WHERE ${beyond(params)}
    ORDER BY at LIMIT {excess:UInt64}, 1`,
  ),

  /** The position in each lane of the first record that is not older than this. */
  keptSince: sequential<DoneParams & OfOrganization & { readonly since_ms: number }, KeptLaneRow>(
    (params) => `SELECT lane, max(log_offset) AS last, countIf(at >= ${at('since_ms')}) AS kept,
      minIf(log_offset, at >= ${at('since_ms')}) AS kept_from
    FROM ${once('stream_backlog')} WHERE ${beyond(params)} GROUP BY lane ORDER BY lane LIMIT ${MAX_LANES}`,
  ),

  /** How many records of a stream are within these bounds, and from what time. */
  recordsBetween: sequential<BorderParams & OfOrganization & StreamFilters, DroppedRow>(
    (
      params,
    ) => `SELECT count() AS records, toUnixTimestamp64Milli(min(at)) AS from_ms, toUnixTimestamp64Milli(max(at)) AS to_ms
    FROM ${once('stream_backlog')} WHERE ${between(params)}${streamFilters(params)}`,
  ),

  /** The progress of every stream. */
  streamStates: report<Record<never, never>, Omit<ProgressRow, 'progress' | 'version'>>(
    `SELECT ${STREAM_STANDING.sql.replace(', progress', '')} FROM ${once('stream_progress')} ORDER BY organization, stream LIMIT ${MAX_STREAMS}`,
  ),

  /** The progress of one stream. */
  streamProgress: sequential<OfOrganization & { readonly stream: string }, ProgressRow>(
    `SELECT ${STREAM_STANDING.sql}, row_version AS version FROM ${once('stream_progress')}
    WHERE organization = {organization:String} AND stream = {stream:String} LIMIT 1`,
  ),

  /** The commands that people gave to a stream, in order; entries of the activity. */
  streamCommands: report<
    OfOrganization & { readonly subject: string; readonly since_ms: number; readonly types: readonly string[] },
    { readonly at_ms: number; readonly id: string; readonly type: string; readonly message: string }
  >(`SELECT toUnixTimestamp64Milli(noticed_at) AS at_ms, id, type, message FROM ${once('activity')}
    WHERE organization = {organization:String} AND subject = {subject:String} AND type IN {types:Array(String)}
      AND noticed_at >= ${at('since_ms')} ORDER BY noticed_at, id LIMIT 100`),
} as const
