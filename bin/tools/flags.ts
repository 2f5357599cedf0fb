/** Reads the flags that several tools share. */

import { LIMITS } from '../../domain/limits.ts'
import type { RunOutcome } from '../../runtime/settings.ts'

const FALLBACK_ROWS = 50

/** How many rows are asked for; null, and a word on standard error, where that is no number that a page can hold. */
export function limitOf(run: RunOutcome): number | null {
  const text = run.flags.get('--limit')
  if (text === undefined) return FALLBACK_ROWS
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMITS.logsPerPage) return limit
  process.stderr.write(`--limit must be a number from 1 to ${LIMITS.logsPerPage}\n`)
  return null
}
