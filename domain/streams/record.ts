/** The form in which a log stream sends a record of Logs: the same line as in exports, as JSON. */

import type { LogLine } from '../logs/line.ts'

interface StreamRecord {
  readonly organization: string
  readonly id: string
  readonly atMs: number
  readonly website: string
  readonly kind: string
  readonly status: number
  /** As the backlog keeps it: `unpackedRecord` makes a `LogLine` of it. */
  readonly text: string
}

/** The text of one record, and its time. */
export interface SentRecord {
  readonly atMs: number
  /** JSON. */
  readonly text: string
}

/** A row of Logs, by column name. */
type LogRow = Readonly<Record<string, unknown>>

const columnText = (row: LogRow, column: string): string => {
  const value = row[column]
  return typeof value === 'string' ? value : ''
}
const numberIn = (row: LogRow, column: string): number => Number(row[column] ?? 0)

/** Null for a row of a table that Logs do not show. */
export function streamRecord(table: string, row: LogRow): StreamRecord | null {
  const line = table === 'request_logs' ? requestLine(row) : table === 'attempts' ? attemptLine(row) : null
  if (line === null) return null
  const { id, at: atMs, website, kind, status } = line
  return { organization: columnText(row, 'organization'), id, atMs, website, kind, status, text: packed(line) }
}

function requestLine(row: LogRow): LogLine {
  return {
    direction: 'inbound',
    ...{
      website: columnText(row, 'website'),
      at: numberIn(row, 'received_at'),
      id: columnText(row, 'id'),
      kind: columnText(row, 'kind'),
    },
    ...{
      method: columnText(row, 'method'),
      path: columnText(row, 'path'),
      status: numberIn(row, 'status'),
      code: columnText(row, 'code'),
    },
    ...{
      durationMs: numberIn(row, 'duration_ms'),
      origin: columnText(row, 'origin'),
      bytes: numberIn(row, 'body_bytes'),
    },
    ...{
      userAgent: columnText(row, 'user_agent'),
      bodyForm: columnText(row, 'body_form'),
      body: columnText(row, 'body'),
    },
  }
}

interface AttemptLine extends LogLine {
  readonly requestBody: string
  readonly responseBody: string
}

function attemptLine(row: LogRow): AttemptLine {
  return {
    direction: 'outbound',
    ...{
      website: columnText(row, 'website'),
      at: numberIn(row, 'started_at'),
      id: columnText(row, 'attempt_id'),
      kind: 'delivery',
    },
    ...{ method: 'POST', path: columnText(row, 'request_url'), status: numberIn(row, 'response_status') },
    ...{ code: columnText(row, 'code'), durationMs: numberIn(row, 'duration_ms') },
    ...{ event: columnText(row, 'event_id'), destination: columnText(row, 'destination') },
    ...{ requestBody: columnText(row, 'request_body'), responseBody: columnText(row, 'response_body') },
  }
}

const BODIES = ['body', 'requestBody', 'responseBody'] as const
/** Ends the JSON of a stored record. Neither JSON nor ClickHouse's text format has to escape it. */
const END_OF_HEAD = '\u001e'

type Line = Record<string, unknown>

/** Bodies follow the JSON unescaped: escaping their quotes twice was the most expensive part of a row. */
function packed(line: LogLine): string {
  const head: Line = { ...line }
  const bodies: [string, number][] = []
  let tail = ''
  for (const name of BODIES) {
    const body = head[name]
    if (typeof body !== 'string') continue
    delete head[name]
    bodies.push([name, body.length])
    tail += body
  }
  return `${JSON.stringify({ ...head, bodies })}${END_OF_HEAD}${tail}`
}

/** A record of the backlog as it is sent, with or without its bodies. @throws SyntaxError if it is not one */
export function unpackedRecord(record: string, includeBodies: boolean): string {
  const end = record.indexOf(END_OF_HEAD)
  const { bodies, ...line } = JSON.parse(record.slice(0, end)) as Line & {
    readonly bodies: readonly (readonly [string, number])[]
  }
  let at = end + 1
  for (const [name, length] of includeBodies ? bodies : []) {
    line[name] = record.slice(at, at + length)
    at += length
  }
  return JSON.stringify(line)
}
