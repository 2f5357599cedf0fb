/** Reads the engine's errors without their text, which repeats row contents. */

import { FactsUnavailable, RowsRefused } from '../facts.ts'

/** The engine did not answer in time. */
export class EngineSilent extends Error {
  override readonly name = 'EngineSilent'

  constructor(afterMs: number) {
    super(`in ${afterMs / 1_000} seconds`)
  }
}

/** The engine's error number as text, or `UNKNOWN` if the error did not come from the engine. */
export function engineCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^\d+$/.test(code) ? code : 'UNKNOWN'
}

/** Completes "the engine did not answer" with the time-out or the error number; empty if neither is known. */
function engineReason(error: unknown): string {
  if (error instanceof EngineSilent) return ` ${error.message}`
  const code = engineCode(error)
  return code === 'UNKNOWN' ? '' : ` (code ${code})`
}

/**
 * Errors that the rows cause, so that repeating them is useless (numbers of ClickHouse's ErrorCodes.cpp): parse errors,
 * values that do not fit, sizes, constraints.
 */
const REFUSALS: ReadonlySet<string> = new Set(
  [6, 25, 26, 27, 32, 33, 38, 41, 53, 69, 70, 72, 117, 130, 131, 190, 321, 349, 407, 467, 469, 524, 691].map(String),
)

/** Translates the error of an insert into the port's errors. */
export function insertError(error: unknown): RowsRefused | FactsUnavailable {
  if (error instanceof RowsRefused) return error
  const code = engineCode(error)
  return REFUSALS.has(code)
    ? new RowsRefused(code)
    : new FactsUnavailable(`the engine did not accept the rows${engineReason(error)}`)
}

/** Translates the error of a query into the port's errors. */
export function queryError(error: unknown): FactsUnavailable {
  return new FactsUnavailable(`the engine did not answer${engineReason(error)}`)
}
