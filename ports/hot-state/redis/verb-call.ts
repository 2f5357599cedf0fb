/**
 * Several verbs and their arguments as one argument of Redis, which `lua/run.lua` takes apart. A client that sends each
 * by itself spends more processor time on that than on everything else that a verb costs it.
 */

export type ScriptArgument = string | number | Buffer

interface VerbCall {
  /** ASCII, at most 255 characters. */
  readonly name: string
  readonly args: readonly ScriptArgument[]
}

const NAME_LENGTH_BYTES = 1
const COUNT_BYTES = 2
const ARGUMENT_LENGTH_BYTES = 4

const UTF8_BYTES_MOST = 3
/** Of a number in decimal digits. */
const NUMBER_BYTES_MOST = 24
/** Up to this length, writing the characters one by one costs less than a call of the runtime. */
const SHORT_CHARS = 32
const ASCII_MAX = 0x7f

/** For each verb: length of its name (1 byte), name, number of arguments (2 bytes), and each with its length (4 bytes); big-endian. */
export function encodeVerbCalls(calls: readonly VerbCall[]): Buffer {
  // More than needed: measuring each text first would cost as much as writing it.
  const bytes = Buffer.allocUnsafe(calls.reduce((sum, call) => sum + mostBytesOf(call), 0))
  let at = 0
  for (const { name, args } of calls) {
    at = bytes.writeUInt8(name.length, at)
    at = writeText(bytes, name, at)
    at = bytes.writeUInt16BE(args.length, at)
    for (const arg of args) {
      const start = at + ARGUMENT_LENGTH_BYTES
      const end = writeArgument(bytes, arg, start)
      bytes.writeUInt32BE(end - start, at)
      at = end
    }
  }
  return bytes.subarray(0, at)
}

function mostBytesOf({ name, args }: VerbCall): number {
  let bytes = NAME_LENGTH_BYTES + name.length + COUNT_BYTES
  for (const arg of args) {
    bytes += ARGUMENT_LENGTH_BYTES
    if (typeof arg === 'number') bytes += NUMBER_BYTES_MOST
    else bytes += typeof arg === 'string' ? arg.length * UTF8_BYTES_MOST : arg.length
  }
  return bytes
}

/** Returns where the next one begins. */
function writeArgument(bytes: Buffer, arg: ScriptArgument, at: number): number {
  if (typeof arg === 'number') return writeText(bytes, String(arg), at)
  return typeof arg === 'string' ? writeText(bytes, arg, at) : at + arg.copy(bytes, at)
}

function writeText(bytes: Buffer, text: string, at: number): number {
  if (text.length > SHORT_CHARS) return at + bytes.write(text, at)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code > ASCII_MAX) return at + bytes.write(text, at)
    bytes[at + index] = code
  }
  return at + text.length
}
