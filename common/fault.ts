/** What may be logged of an error that was thrown while credentials or identifiers were at hand. */

/** Errors of the language itself about its own values. */
const PLAIN_ERRORS = new Set(['TypeError', 'ReferenceError', 'RangeError'])
/**
 * What their messages may say: words of the code, types and numbers. Others quote the value that was at hand, as in "Received type string ('…')",
 * "on string '…'" or an invalid header.
 */
const PLAIN_MESSAGES: readonly RegExp[] = [
  /^Cannot (?:read|set) properties of (?:undefined|null) \((?:reading|setting) '[A-Za-z_$][\w$]{0,31}'\)$/,
  /^Cannot destructure property '[\w$]+' of '[^']*' as it is (?:undefined|null)\.$/,
  /^(?:\(intermediate value\)|[\w$.])+ is not (?:a function|a constructor|defined|iterable)(?: or its return value is not iterable)?$/,
  /^Cannot access '[\w$]+' before initialization$/,
  /^(?:Invalid (?:URL|time value|array length|string length|count value: -?\w+)|Assignment to constant variable\.)$/,
  /^(?:Maximum call stack size exceeded|Do not know how to serialize a BigInt)$/,
  /^(?:Cannot convert undefined or null to object|Reduce of empty array with no initial value)$/,
]
/** A place in the code, unlike a line of a message that happens to begin in the same way. */
const FRAME = /^at .*(?::\d+:\d+|<anonymous>)\)?$/
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
    .replace(message, () => '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => FRAME.test(line))
    .slice(0, FRAMES)
  const isPlain = PLAIN_ERRORS.has(name) && PLAIN_MESSAGES.some((form) => form.test(message))
  return { cause: isPlain ? `${name}: ${message}` : name, ...(at.length === 0 ? {} : { at }) }
}
