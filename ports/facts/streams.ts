/**
 * The SQL texts behind log streams: the part of the backlog that a stream has not finished, lane by lane.
 *
 * The backlog is `stream_pointers`, whose texts are rows of Logs. It is ordered by organisation, lane and offset, so that finished
 * records are skipped without being read.
 */

import { keysOf } from '../../domain/typed-keys.ts'
import { selectFrom, type RowsOf } from './columns.ts'
import { at, ms, once, report, sequential } from './query-parts.ts'
import { STREAM_STANDING, type StreamStandingRow } from './query-rows.ts'

/** Most lanes in one statement: topics times partitions, and a few generations of each. */
const MAX_LANES = 1_000
const MAX_STREAMS = 100_000
const MAX_SPANS = 10_000
/** More than people may give within the time that is read again. */
const MAX_COMMANDS = 10_000
/** Offsets of a lane that one statement looks at; without this bound it would sort everything that is open. */
export const LANE_WINDOW = 20_000

/** The finished part of a stream, by lane: `lane_0` is finished up to and including `done_0`, and so on. */
export type DoneParams = { readonly lanes: number } & { readonly [K in `lane_${number}`]: string } & {
  readonly [K in `done_${number}`]: number
}
/** Bounds of some lanes, by position: above `after_0`, up to and including `through_0`. */
export type BorderParams = { readonly lanes: number } & { readonly [K in `lane_${number}`]: string } & {
  readonly [K in `after_${number}` | `through_${number}`]: number
}
type OfOrganization = { readonly organization: string }
/** Filters of a stream; absent ones are left out. */
export type StreamFilters = {
  readonly websites?: readonly string[]
  readonly kinds?: readonly string[]
  readonly min_status?: number
}

/** A record that waits, as batches are planned from it. */
export interface OpenRow {
  readonly lane: string
  readonly log_offset: number
  readonly at_ms: number
  readonly appended_at_ms: number
  readonly website: string
  readonly kind: string
  readonly status: number
  readonly bytes: number
}
/** With the ID by which Logs find it. */
export interface BacklogRow extends OpenRow {
  readonly id: string
}
const REQUEST_ROW = selectFrom('request_logs', [
  'website',
  'received_at',
  'id',
  'kind',
  'method',
  'path',
  'status',
  'code',
  'duration_ms',
  'origin',
  'body_bytes',
  'user_agent',
  'body_form',
])
const ATTEMPT_ROW = selectFrom('attempts', [
  'website',
  'event_id',
  'destination',
  'attempt_id',
  'started_at',
  'duration_ms',
  'request_url',
  'response_status',
  'code',
])
/** With a body, or both bodies, on request. */
type RequestOfStreamRow = RowsOf<typeof REQUEST_ROW> & { readonly body?: string }
type AttemptOfStreamRow = RowsOf<typeof ATTEMPT_ROW> & {
  readonly request_body?: string
  readonly response_body?: string
}
type ProgressRow = StreamStandingRow & { readonly version: number }

/** The open records of one lane. */
export interface OpenLaneRow {
  readonly lane: string
  /** Of all records: those that the filter leaves out are passed over. */
  readonly first: number
  readonly last: number
  /** Those that the filter lets pass. */
  readonly records: number
  /** Of the oldest of them; 0 if there is none. */
  readonly oldest_ms: number
}

/** The records of one lane that are young enough to keep. */
interface KeptLaneRow {
  readonly lane: string
  /** Of all records. */
  readonly last: number
  /** Those that the filter lets pass. */
  readonly kept: number
  /** 0 if nothing is kept. */
  readonly kept_from: number
}

/** Spans of time, all in milliseconds; at most 10,000 of them. */
type TimeSpans = {
  readonly from_ms: number
  readonly until_ms: number
  readonly step_ms: number
}

/** The records of one span of time. */
export interface OpenSpanRow {
  /** Where the span begins. */
  readonly at_ms: number
  readonly records: number
}

/** The records that are dropped. */
interface DroppedRow {
  readonly records: number
  readonly from_ms: number
  readonly to_ms: number
}

const positions = ({ lanes }: { readonly lanes: number }): readonly number[] =>
  Array.from({ length: Math.min(lanes, MAX_LANES) }, (_, index) => index)

/** Where rows lie: by their own offset, or for rows of several records by the lowest and the highest. */
interface OffsetColumns {
  readonly lowest: string
  readonly highest: string
}
const OF_RECORD: OffsetColumns = { lowest: 'log_offset', highest: 'log_offset' }
const OF_SEVERAL: OffsetColumns = { lowest: 'first_offset', highest: 'last_offset' }
type Within = (offsets: OffsetColumns) => string

/** Conditions of this form can use the order of the table. */
function beyond(params: DoneParams): Within {
  return ({ highest }) => {
    const done = positions(params).map(
      (index) => `NOT (lane = {lane_${index}:String} AND ${highest} <= {done_${index}:UInt64})`,
    )
    return ['organization = {organization:String}', ...done].join(' AND ')
  }
}

function between(params: BorderParams): Within {
  return ({ lowest, highest }) => {
    const lanes = positions(params).map(
      (index) =>
        `(lane = {lane_${index}:String} AND ${highest} > {after_${index}:Int64} AND ${lowest} <= {through_${index}:UInt64})`,
    )
    return `organization = {organization:String} AND (${lanes.length === 0 ? 'false' : lanes.join(' OR ')})`
  }
}

/** Columns of which a row holds one value for each record. */
const OF_POINTERS: Readonly<Record<string, string>> = {
  log_offset: 'arrayMap(above -> first_offset + above, offsets)',
  id: "splitByChar(',', ids)",
  at: 'arrayMap(later -> addMilliseconds(oldest_at, later), times)',
  bytes: 'sizes',
}

/** All records of the backlog within these bounds, with these columns; one that lies in two rows comes twice. */
function backlog(columns: readonly string[], within: Within): string {
  const arrays = columns.flatMap((column) => (column in OF_POINTERS ? [`${OF_POINTERS[column]} AS ${column}`] : []))
  return `(SELECT ${columns.join(', ')} FROM stream_pointers ARRAY JOIN ${arrays.join(', ')}
    PREWHERE ${within(OF_SEVERAL)} WHERE ${within(OF_RECORD)})`
}

/** Each record once, in the order of each lane; at most `per_lane` of each. */
function inOrder(columns: readonly string[], within: Within): string {
  const all = ['lane', 'log_offset', 'at', 'appended_at', 'website', 'kind', 'status', ...columns]
  const shown = all.map((column) => (column === 'at' || column === 'appended_at' ? ms(column) : column)).join(', ')
  return `SELECT ${shown} FROM (SELECT * FROM ${backlog(all, within)} ORDER BY lane, log_offset LIMIT 1 BY lane, log_offset)
    ORDER BY lane, log_offset LIMIT {per_lane:UInt32} BY lane LIMIT ${MAX_LANES * 1_000}`
}

const FILTERS: Readonly<Record<keyof StreamFilters, string>> = {
  websites: 'website IN {websites:Array(String)}',
  kinds: 'kind IN {kinds:Array(String)}',
  min_status: 'status >= {min_status:UInt16}',
}

/** The columns that they look at. */
const FILTERED: Readonly<Record<keyof StreamFilters, string>> = {
  websites: 'website',
  kinds: 'kind',
  min_status: 'status',
}

function givenFilters(params: StreamFilters): readonly (keyof StreamFilters)[] {
  return keysOf(FILTERS).filter((name) => params[name] !== undefined)
}

function streamFilters(params: StreamFilters): string {
  return givenFilters(params)
    .map((name) => ` AND ${FILTERS[name]}`)
    .join('')
}

/** What lies beyond what is done, with the columns that the filters of the stream need. */
function openBacklog(params: DoneParams & StreamFilters): string {
  const filtered = givenFilters(params).map((name) => FILTERED[name])
  return backlog(['lane', 'log_offset', 'at', ...filtered], beyond(params))
}

/**
 * Rows of Logs to which pointers within these bounds point: `key` is website, time and ID, within the organisation. No FINAL: rows of one key
 * are equal.
 */
function pointedTo(from: string, key: string, params: BorderParams & StreamFilters): string {
  const found = `SELECT website, at, id FROM ${backlog(['log_offset', 'website', 'at', 'id', 'kind', 'status'], between(params))}`
  return `FROM ${from} PREWHERE organization = {organization:String} AND (${key}) IN (${found} WHERE true${streamFilters(params)})
    LIMIT 1 BY ${key} LIMIT ${MAX_LANES * 1_000}`
}

type OfBatch = BorderParams & OfOrganization & StreamFilters & { readonly bodies?: number }
const bodies = (params: OfBatch, names: string): string => (params.bodies === undefined ? '' : `, ${names}`)

export const STREAM_QUERIES = {
  /** Organisations with a stream that was served since then: the facts-writer writes their backlog. */
  streamingOrganizations: report<{ readonly since_ms: number }, { readonly organization: string }>(
    `SELECT DISTINCT organization FROM ${once('stream_progress')} WHERE seen_at >= ${at('since_ms')} LIMIT ${MAX_STREAMS}`,
  ),

  /** The newest row of each lane of these organisations. Duplicate rows change no maximum. */
  newestOfLanes: sequential<
    { readonly organizations: readonly string[] },
    { readonly lane: string; readonly newest: number; readonly appended_at_ms: number }
  >(`SELECT lane, max(last_offset) AS newest, toUnixTimestamp64Milli(argMax(appended_at, last_offset)) AS appended_at_ms
    FROM stream_pointers WHERE organization IN {organizations:Array(String)} GROUP BY lane LIMIT ${MAX_LANES}`),

  /** The open records, lane by lane. */
  openLanes: sequential<DoneParams & OfOrganization & StreamFilters, OpenLaneRow>(
    (params) => `SELECT lane, min(log_offset) AS first, max(log_offset) AS last,
      groupBitmapIf(log_offset, true${streamFilters(params)}) AS records,
      toUnixTimestamp64Milli(minIf(at, true${streamFilters(params)})) AS oldest_ms
    FROM ${openBacklog(params)} GROUP BY lane ORDER BY lane LIMIT ${MAX_LANES}`,
  ),

  /** What batches are planned from: records within these bounds, in the order of each lane; at most `per_lane` of each. */
  openBetween: sequential<BorderParams & OfOrganization & { readonly per_lane: number }, OpenRow>((params) =>
    inOrder(['bytes'], between(params)),
  ),

  /** Records within these bounds, in the order of each lane; at most `per_lane` of each. */
  backlogBetween: sequential<BorderParams & OfOrganization & { readonly per_lane: number }, BacklogRow>((params) =>
    inOrder(['bytes', 'id'], between(params)),
  ),

  /** The requests among the records within these bounds, in no order. */
  requestsOfBatch: sequential<OfBatch, RequestOfStreamRow>(
    (params) => `SELECT ${REQUEST_ROW.sql}${bodies(params, 'body')}
    ${pointedTo('request_logs', 'website, received_at, id', params)}`,
  ),

  /** The attempts among the records within these bounds, in no order. */
  attemptsOfBatch: sequential<OfBatch, AttemptOfStreamRow>(
    (params) => `SELECT ${ATTEMPT_ROW.sql}${bodies(params, 'request_body, response_body')}
    ${pointedTo('attempts', 'website, started_at, attempt_id', params)}`,
  ),

  /**
   * How many open records have their time in each span of `step_ms` from `from_ms` on, before `until_ms`; oldest span first, none that is
   * empty. Bitmaps hold a million records in a few megabytes; telling duplicates by a set of them took more than 100.
   */
  openByTime: sequential<DoneParams & OfOrganization & StreamFilters & TimeSpans, OpenSpanRow>(
    (params) => `SELECT {from_ms:Int64} + span * {step_ms:Int64} AS at_ms, sum(of_lane) AS records
    FROM (SELECT intDiv(toUnixTimestamp64Milli(at) - {from_ms:Int64}, {step_ms:Int64}) AS span, groupBitmap(log_offset) AS of_lane
      FROM ${openBacklog(params)}
      WHERE at >= ${at('from_ms')} AND at < ${at('until_ms')}${streamFilters(params)} GROUP BY lane, span)
    GROUP BY span ORDER BY span LIMIT ${MAX_SPANS}`,
  ),

  /** The position in each lane of the first record that is not older than this. */
  keptSince: sequential<DoneParams & OfOrganization & StreamFilters & { readonly since_ms: number }, KeptLaneRow>(
    (params) => `SELECT lane, max(log_offset) AS last,
      groupBitmapIf(log_offset, at >= ${at('since_ms')}${streamFilters(params)}) AS kept,
      minIf(log_offset, at >= ${at('since_ms')}${streamFilters(params)}) AS kept_from
    FROM ${openBacklog(params)} GROUP BY lane ORDER BY lane LIMIT ${MAX_LANES}`,
  ),

  /** How many records of a stream are within these bounds, and from what time. */
  recordsBetween: sequential<BorderParams & OfOrganization & StreamFilters, DroppedRow>(
    (params) => `SELECT sum(of_lane) AS records, toUnixTimestamp64Milli(min(oldest)) AS from_ms,
      toUnixTimestamp64Milli(max(newest)) AS to_ms
    FROM (SELECT groupBitmap(log_offset) AS of_lane, min(at) AS oldest, max(at) AS newest
      FROM ${backlog(['lane', 'log_offset', 'at', 'website', 'kind', 'status'], between(params))}
      WHERE true${streamFilters(params)} GROUP BY lane)`,
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
      AND noticed_at >= ${at('since_ms')} ORDER BY noticed_at, id LIMIT ${MAX_COMMANDS}`),
} as const
