/** The SQL text behind the page of log streams. */

import { once, pageOf } from '../query-parts.ts'
import { STREAM_STANDING, type StreamStandingRow } from '../query-rows.ts'

export const STREAM_PAGE_QUERIES = {
  /** The progress of these streams of an organisation; no row for a stream that no process has served yet. */
  streamsOfOrganization: pageOf<
    { readonly organization: string; readonly streams: readonly string[] },
    StreamStandingRow
  >(
    `SELECT ${STREAM_STANDING.sql} FROM ${once('stream_progress')}
    PREWHERE organization = {organization:String} AND stream IN {streams:Array(String)} ORDER BY stream LIMIT 1000`,
  ),
} as const
