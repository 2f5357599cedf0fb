/** A line of Logs as the API shows it. */

import type { LogLineRow } from '../../ports/facts/pages/logs.ts'

interface LogLine {
  readonly direction: 'inbound' | 'outbound'
  readonly website: string
  readonly at: number
  readonly id: string
  readonly kind: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly code: string
  readonly durationMs: number
  /** Of requests. */
  readonly origin?: string
  readonly bytes?: number
  readonly userAgent?: string
  readonly body?: string
  readonly bodyForm?: string
  /** Of attempts. */
  readonly event?: string
  readonly destination?: string
}

export function lineOf(row: LogLineRow): LogLine {
  const isAttempt = row.destination !== ''
  return {
    ...{ direction: isAttempt ? 'outbound' : 'inbound', website: row.website, at: row.at_ms, id: row.id },
    ...{ kind: row.kind, method: row.method, path: row.path, status: row.status, code: row.code },
    durationMs: row.duration_ms,
    ...(isAttempt ? { event: row.event_id, destination: row.destination } : { origin: row.origin, bytes: row.bytes }),
    ...(row.body === undefined
      ? {}
      : { userAgent: row.user_agent ?? '', bodyForm: row.body_form ?? '', body: row.body }),
  }
}
