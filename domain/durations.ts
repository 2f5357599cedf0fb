/** Lengths of time, in milliseconds and in seconds, the hour of a moment, and the wait that a header asks for. */

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The end of 2099: every version of ClickHouse's times holds it, and a retention can still be added. No later moment is accepted or stored. */
export const LAST_MOMENT_MS = 4_102_444_799_999

export const MINUTE_S = 60
export const HOUR_S = 60 * MINUTE_S
export const DAY_S = 24 * HOUR_S

/** Start of the hour (UTC) of this moment; Unix ms. */
export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS
}

/** Start of the hour after it. */
export function hourAfter(ms: number): number {
  return hourOf(ms) + HOUR_MS
}

const DAYS = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const MONTHS = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
/** The form that senders must use. The two obsolete forms are ambiguous and not supported (RFC 9110, section 5.6.7). */
const HTTP_DATE = new RegExp(`^${DAYS}, [0-3][0-9] ${MONTHS} [0-9]{4} [0-2][0-9]:[0-5][0-9]:[0-6][0-9] GMT$`)

/**
 * The wait that a `Retry-After` asks for, in ms: seconds, or a date. Null if it is meaningless: words, fractions, signs, times in
 * the past, and more than a year (RFC 9110, section 10.2.3).
 */
export function askedWaitMs(header: string | null, nowMs: number): number | null {
  const text = header?.trim() ?? ''
  const askedMs = /^[0-9]{1,8}$/.test(text) ? Number(text) * SECOND_MS : httpDateMs(text) - nowMs
  return askedMs > 0 && askedMs <= 365 * DAY_MS ? askedMs : null
}

function httpDateMs(text: string): number {
  return HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
}
