/** What may be logged of an error that was thrown while credentials or identifiers were at hand. */

/** Errors of the language itself about its own values. Their messages name members and types; a SyntaxError quotes the text that it could not read. */
const PLAIN_ERRORS = new Set(['TypeError', 'ReferenceError', 'RangeError'])
/** Of a stack: where it was thrown, and who asked for that. */
const FRAMES = 4

interface LoggedFault {
  /** The error's name, with its message if that repeats no values. */
  readonly cause: string
  /** Places in the code, the innermost first; absent if there are none. */
  readonly at?: readonly string[]
}

export function loggedFault(error: unknown): LoggedFault {
  if (!(error instanceof Error)) return { cause: 'unknown' }
  const { name, message, stack = '' } = error
  const at = stack
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, FRAMES)
  return { cause: PLAIN_ERRORS.has(name) ? `${name}: ${message}` : name, ...(at.length === 0 ? {} : { at }) }
}
