/** Lengths of time, in milliseconds and in seconds, and the hour of a moment. */

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

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
