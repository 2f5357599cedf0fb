/**
 * The form in which a log stream sends a record of Logs: the same line as in exports, as JSON. Until it is sent, the backlog holds
 * only where the record is.
 */

import { websiteShown } from '../logs/dashboard-place.ts'
import type { LogLine } from '../logs/line.ts'
import { ATTEMPT_KIND } from '../model.ts'

/** Where a record of Logs is, and what decides whether and when it is sent. */
export interface StreamPointer {
  readonly organization: string
  readonly id: string
  readonly atMs: number
  readonly website: string
  readonly kind: string
  readonly status: number
  /** Of its text, about: batches are planned by it. */
  readonly bytes: number
}

/** The text of one record, and its time. */
export interface SentRecord {
  readonly atMs: number
  /** JSON. */
  readonly text: string
}

/** A row of Logs, by column name. */
type LogRow = Readonly<Record<string, unknown>>

/** Of a line without the texts that somebody else chose: names of fields, times, IDs. */
const FRAME_BYTES = 320

const columnText = (row: LogRow, column: string): string => {
  const value = row[column]
  return typeof value === 'string' ? value : ''
}
const numberIn = (row: LogRow, column: string): number => Number(row[column] ?? 0)

/** Null for a row of a table that Logs do not show. `row` is as it is inserted; `byteLength` is of UTF-8. */
export function streamPointer(table: string, row: LogRow, byteLength: (text: string) => number): StreamPointer | null {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- rows as the facts-writer makes them, by the table's columns
  if (table === 'request_logs') return requestPointer(row as unknown as InsertedRequest, byteLength)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- rows as the facts-writer makes them, by the table's columns
  return table === 'attempts' ? attemptPointer(row as unknown as InsertedAttempt, byteLength) : null
}

/** The columns that are read of a row as it is inserted: by name, since this is done for each record that is written. */
interface InsertedRequest extends Omit<StreamPointer, 'atMs' | 'bytes'> {
  readonly received_at: number
  readonly path: string
  readonly origin: string
  readonly user_agent: string
  readonly body: string
}

interface InsertedAttempt extends Pick<StreamPointer, 'organization' | 'website'> {
  readonly attempt_id: string
  readonly started_at: number
  readonly response_status: number
  readonly request_url: string
  readonly request_body: string
  readonly response_body: string
}

/** The size is that of the line as it is sent: a byte of a body may take six as JSON. */
function requestPointer(row: InsertedRequest, byteLength: (text: string) => number): StreamPointer {
  const { organization, id, website, kind, status } = row
  const bytes = FRAME_BYTES + byteLength(JSON.stringify([row.path, row.origin, row.user_agent, row.body]))
  return { organization, id, atMs: row.received_at, website, kind, status, bytes }
}

function attemptPointer(row: InsertedAttempt, byteLength: (text: string) => number): StreamPointer {
  const { organization, attempt_id: id, started_at: atMs, website, response_status: status } = row
  const bytes = FRAME_BYTES + byteLength(JSON.stringify([row.request_url, row.request_body, row.response_body]))
  return { organization, id, atMs, website, kind: ATTEMPT_KIND, status, bytes }
}

/** A request as it is sent. `row` is as it is read, with times in ms. */
export function requestText(row: LogRow, includeBodies: boolean): string {
  const line: LogLine = {
    direction: 'inbound',
    website: websiteShown(columnText(row, 'website')),
    at: numberIn(row, 'received_at_ms'),
    id: columnText(row, 'id'),
    kind: columnText(row, 'kind'),
    method: columnText(row, 'method'),
    path: columnText(row, 'path'),
    status: numberIn(row, 'status'),
    code: columnText(row, 'code'),
    durationMs: numberIn(row, 'duration_ms'),
    origin: columnText(row, 'origin'),
    bytes: numberIn(row, 'body_bytes'),
    userAgent: columnText(row, 'user_agent'),
    bodyForm: columnText(row, 'body_form'),
    ...(includeBodies ? { body: columnText(row, 'body') } : {}),
  }
  return JSON.stringify(line)
}

interface AttemptLine extends LogLine {
  readonly requestBody?: string
  readonly responseBody?: string
}

/** An attempt as it is sent. `row` is as it is read, with times in ms. */
export function attemptText(row: LogRow, includeBodies: boolean): string {
  const bodies = { requestBody: columnText(row, 'request_body'), responseBody: columnText(row, 'response_body') }
  const line: AttemptLine = {
    direction: 'outbound',
    website: columnText(row, 'website'),
    at: numberIn(row, 'started_at_ms'),
    id: columnText(row, 'attempt_id'),
    kind: ATTEMPT_KIND,
    method: 'POST',
    path: columnText(row, 'request_url'),
    status: numberIn(row, 'response_status'),
    code: columnText(row, 'code'),
    durationMs: numberIn(row, 'duration_ms'),
    event: columnText(row, 'event_id'),
    destination: columnText(row, 'destination'),
    ...(includeBodies ? bodies : {}),
  }
  return JSON.stringify(line)
}
