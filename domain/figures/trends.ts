/** How installs went in equal parts of a period: enough to draw a small line, whatever the period's length. */

import { DAY_MS, HOUR_MS } from '../durations.ts'

/** At most so many, so that each can still be seen. */
const MOST_PARTS = 31

export interface TrendParts {
  /** Of the first one, Unix ms. */
  readonly sinceMs: number
  /** Of each; the last one may be shorter. */
  readonly lengthMs: number
  readonly count: number
}

/** Hours of a short period, else days or several days together, from the period's beginning on. */
export function trendParts({ sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number }): TrendParts {
  const whole = untilMs - sinceMs
  const lengthMs = whole <= MOST_PARTS * HOUR_MS ? HOUR_MS : DAY_MS * Math.ceil(whole / DAY_MS / MOST_PARTS)
  return { sinceMs, lengthMs, count: Math.ceil(whole / lengthMs) }
}

/** One number for each part. */
export type Trend = readonly number[]

/** Of a total less those that are listed. */
export function restOfTrends(total: Trend, listed: readonly Trend[]): Trend {
  return total.map((count, part) =>
    Math.max(
      0,
      listed.reduce((left, trend) => left - (trend[part] ?? 0), count),
    ),
  )
}
