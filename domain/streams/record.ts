/** What a log stream sends of one record of Logs: the line that exports show too, as JSON. */

import type { LogLine } from '../logs/line.ts'

interface StreamRecord {
  readonly organization: string
  readonly id: string
  readonly atMs: number
  readonly website: string
  readonly kind: string
  readonly status: number
  /** JSON of a `LogLine`. */
  readonly text: string
}

/** Columns of a row of Logs by name. */
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
  return { organization: columnText(row, 'organization'), id, atMs, website, kind, status, text: JSON.stringify(line) }
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

/** The same record without its bodies. */
export function withoutBodies(record: string): string {
  const { ...line } = JSON.parse(record) as Record<string, unknown>
  for (const name of BODIES) delete line[name]
  return JSON.stringify(line)
}
