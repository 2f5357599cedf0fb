/** Figures: what happened in a period, read raw within ranges of the tables' own order. */

import { once, pageOf } from '../query-parts.ts'
import { issuedBetween } from './ranges.ts'

type RawPeriod = {
  readonly websites: readonly string[]
  readonly since_ms: number
  readonly until_ms: number
}

interface VisitHourRow {
  readonly hour_ms: number
  readonly visits: number
}

export const FIGURE_QUERIES = {
  /** Visits of each hour of a period. */
  visitsByHour: pageOf<RawPeriod, VisitHourRow>(`
    SELECT toUnixTimestamp(toStartOfHour(issued_at)) * 1000 AS hour_ms, count() AS visits FROM ${once('visits')}
    PREWHERE website IN {websites:Array(String)} AND ${issuedBetween('since_ms', 'until_ms')}
    GROUP BY hour_ms ORDER BY hour_ms LIMIT 10000`),
} as const
