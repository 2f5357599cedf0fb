/** Reads the engine's errors without their text, which repeats what the rows hold. */

import { FactsUnavailable, RowsRefused } from '../facts.ts'

/** The engine had given no answer when its time was over. */
export class EngineSilent extends Error {
  override readonly name = 'EngineSilent'

  constructor(afterMs: number) {
    super(`in ${afterMs / 1_000} seconds`)
  }
}

/** The engine's number of an error as text, or `UNKNOWN` for what did not come from the engine. */
export function engineCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^\d+$/.test(code) ? code : 'UNKNOWN'
}

/** Completes "the engine did not answer": how long it was given, or its number; nothing where neither is known. */
function reasonOf(error: unknown): string {
  if (error instanceof EngineSilent) return ` ${error.message}`
  const code = engineCode(error)
  return code === 'UNKNOWN' ? '' : ` (code ${code})`
}

/**
 * Errors that lie in the rows, so that repeating them is of no use (numbers of ClickHouse's ErrorCodes.cpp): parse
 * errors, values that do not fit, sizes, constraints.
 */
const REFUSALS: ReadonlySet<string> = new Set(
  [6, 25, 26, 27, 32, 33, 38, 41, 53, 69, 70, 72, 117, 130, 131, 190, 321, 349, 407, 467, 469, 524, 691].map(String),
)

/** Puts what an insert failed with into the port's words. */
export function insertError(error: unknown): RowsRefused | FactsUnavailable {
  if (error instanceof RowsRefused) return error
  const code = engineCode(error)
  return REFUSALS.has(code)
    ? new RowsRefused(code)
    : new FactsUnavailable(`the engine did not take the rows${reasonOf(error)}`)
}

/** Puts what a query failed with into the port's words. */
export function queryError(error: unknown): FactsUnavailable {
  return new FactsUnavailable(`the engine did not answer${reasonOf(error)}`)
}
