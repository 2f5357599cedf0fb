/** Errors in the words and status codes of ClickHouse's HTTP interface. */

/** What this fixture itself refuses; `text` is in the engine's form, so that clients read it as one of its errors. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  constructor(code: number, type: string, why: string) {
    super(`Code: ${code}. DB::Exception: ${why}. (${type})`)
  }
}

/** The engine's numbers by status, as in `exceptionCodeToHTTPStatus` of ClickHouse; everything else is 500. */
const CODES_OF_STATUS: readonly (readonly [number, readonly number[]])[] = [
  [400, [6, 26, 27, 33, 38, 41, 53, 62, 69, 70, 72, 117, 130, 131, 168, 190, 349, 376, 467]],
  [401, [194]],
  [403, [192, 193, 497, 516]],
  [404, [16, 46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 391]],
  [408, [159]],
  [413, [307]],
  [501, [48]],
  [503, [209]],
]

export interface Refusal {
  readonly code: string
  readonly status: number
  /** The engine's text with its version, as a server ends it. */
  readonly text: string
}

/** An error that is not the engine's own gets 1002 (UNKNOWN_EXCEPTION). */
export function refusalOf(error: unknown, version: string): Refusal {
  const message = error instanceof Error ? error.message : String(error)
  const found = /Code: (\d+)/.exec(message)?.[1]
  const text = found === undefined ? `Code: 1002. DB::Exception: ${message}. (UNKNOWN_EXCEPTION)` : message
  const code = found ?? '1002'
  return { code, status: statusOf(Number(code)), text: `${text.trimEnd()} (version ${version})\n` }
}

function statusOf(code: number): number {
  return CODES_OF_STATUS.find(([, codes]) => codes.includes(code))?.[0] ?? 500
}
