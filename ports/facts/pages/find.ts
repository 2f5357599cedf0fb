/** What an ID names: an install event, a visit, a delivery by its job, or a request. */

import { pageOf, withinPeriod } from '../query-parts.ts'
import { OF_ORGANIZATION, type WebsitesOfOne } from './ranges.ts'

/** Requests are stored in the order of their time, which their IDs begin with: `since_ms` (inclusive) and `until_ms` (exclusive) are around it. */
type FoundId = WebsitesOfOne & { readonly id: string; readonly since_ms: number; readonly until_ms: number }

interface FoundRow {
  readonly kind: 'install' | 'visit' | 'delivery' | 'request'
  readonly website: string
  /** Of the event of an install or delivery; else the ID itself. */
  readonly id: string
}

/** Websites may use the same ID. */
const MOST = 20

const namedBy = (kind: FoundRow['kind'], id: string, from: string): string =>
  `SELECT '${kind}' AS kind, website, ${id} AS id FROM ${from}`

export const FIND_QUERIES = {
  /** No FINAL: whether it is there does not depend on which version is shown. */
  findId: pageOf<FoundId, FoundRow>(`SELECT DISTINCT kind, website, id FROM (
    ${namedBy('install', 'event_id', `installs PREWHERE ${OF_ORGANIZATION} AND event_id = {id:String}`)}
    UNION ALL ${namedBy('visit', 'visit_id', `visits PREWHERE ${OF_ORGANIZATION} AND visit_id = {id:String}`)}
    UNION ALL ${namedBy('delivery', 'event_id', `deliveries PREWHERE ${OF_ORGANIZATION} AND job_id = {id:String}`)}
    UNION ALL ${namedBy(
      'request',
      'id',
      `request_logs PREWHERE ${OF_ORGANIZATION} AND ${withinPeriod('received_at')}
      AND id = {id:String}`,
    )}
  ) ORDER BY kind, website, id LIMIT ${MOST}`),
} as const
