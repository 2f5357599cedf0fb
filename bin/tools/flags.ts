/** Reads the flags that several tools share. */

import { LIMITS } from '../../domain/limits.ts'
import type { CommandArguments } from '../../runtime/settings/settings.ts'
import { complain } from '../terminal/output.ts'

const FALLBACK_ROWS = 50

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const MOMENT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/

/**
 * A moment in Unix ms: a date, a date with a time (UTC without a zone), or an age such as `90m`, `6h`, `2d`. Undefined
 * if the flag is not given; null, with a message on standard error, if it is invalid.
 */
export function momentOf(run: CommandArguments, flag: string, nowMs: number): number | null | undefined {
  const text = run.flags.get(flag)
  if (text === undefined) return undefined
  const [, amount = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (unit !== '') return nowMs - Number(amount) * (UNITS_MS[unit] ?? 0)
  const hasZone = text.length === 10 || /(Z|[+-]\d{2}:\d{2})$/.test(text)
  const ms = MOMENT.test(text) && isDay(text.slice(0, 10)) ? Date.parse(hasZone ? text : `${text}Z`) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  complain(`${flag} must be a date such as 2026-11-21T13:00 (UTC), or an age such as 90m, 6h or 2d\n`)
  return null
}

/** `Date.parse` takes 30 February for 2 March. */
function isDay(day: string): boolean {
  const ms = Date.parse(day)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day)
}

/** Number of rows to show; null, with a message on standard error, if it is not valid for a page. */
export function limitOf(run: CommandArguments): number | null {
  const text = run.flags.get('--limit')
  if (text === undefined) return FALLBACK_ROWS
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMITS.logsPerPage) return limit
  complain(`--limit must be a number from 1 to ${LIMITS.logsPerPage}\n`)
  return null
}
