/** Times as parts of keys: texts of equal length, which sort as the times do. */

const TIME_DIGITS = 15

/** A time in Unix ms; one before 1970 counts as 1970. */
export function timeKey(ms: number): string {
  return String(Math.max(0, Math.trunc(ms))).padStart(TIME_DIGITS, '0')
}
