/** Installs of a website in the order in which they were received, to decide them again. */

import { selectFrom, type RowsOf } from '../columns.ts'
import { at, installs, MAX_PAGE, once, pageLimit, report, withinPeriod } from '../query-parts.ts'

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

/** `since_ms` (inclusive) and `until_ms` (exclusive) bound the time; rows come after `after_ms` and `after_id`. */
type InOrder = {
  readonly website: string
  readonly since_ms: number
  readonly until_ms: number
  readonly after_ms: number
  readonly after_id: string
  readonly limit: number
}

const BOUNDS = `website = {website:String} AND ${withinPeriod('received_at')}
  AND (received_at, event_id) > (${at('after_ms')}, {after_id:String})`
const OLDEST_FIRST = 'ORDER BY received_at, event_id'

/** A key that was inserted twice and is not merged yet occurs twice. */
const CANDIDATES = 3

interface SourceRow {
  readonly visit_id: string
  readonly source: string
}

export const REPLAY_QUERIES = {
  /** A page of installs, the oldest first. Their keys are found from few columns, and read whole only then. */
  installsInOrder: report<InOrder, DecidedInstallRow>(`SELECT ${DECIDED_INSTALL.sql}
    FROM ${installs(`(website, event_id) IN (SELECT website, event_id FROM installs WHERE ${BOUNDS} ${OLDEST_FIRST}
      LIMIT least({limit:UInt32}, ${MAX_PAGE}) * ${CANDIDATES})`)}
    WHERE ${BOUNDS} ${OLDEST_FIRST} ${pageLimit()}`),

  /** The campaign's source of visits, by ID; empty if a visit names none. */
  sourcesOfVisits: report<{ readonly website: string; readonly visit_ids: readonly string[] }, SourceRow>(
    `SELECT visit_id, utm_source AS source FROM ${once('visits')}
    PREWHERE website = {website:String} AND visit_id IN {visit_ids:Array(String)} LIMIT ${MAX_PAGE}`,
  ),
} as const
