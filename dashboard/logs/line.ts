/** Turns stored rows into lines of Logs. */

import { websiteShown } from '../../domain/logs/dashboard-place.ts'
import type { LogLine } from '../../domain/logs/line.ts'
import type { LogLineRow } from '../../ports/facts/pages/logs.ts'

export function lineOf(row: LogLineRow): LogLine {
  const isAttempt = row.destination !== ''
  return {
    direction: isAttempt ? 'outbound' : 'inbound',
    website: websiteShown(row.website),
    at: row.at_ms,
    id: row.id,
    kind: row.kind,
    method: row.method,
    path: row.path,
    status: row.status,
    code: row.code,
    durationMs: row.duration_ms,
    ...(isAttempt ? { event: row.event_id, destination: row.destination } : { origin: row.origin, bytes: row.bytes }),
    ...(row.body === undefined
      ? {}
      : { userAgent: row.user_agent ?? '', bodyForm: row.body_form ?? '', body: row.body }),
  }
}
