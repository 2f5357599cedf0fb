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

/** For each verb: length of its name (1 byte), name, number of arguments (2 bytes), and each with its length (4 bytes); big-endian. */
export function encodeVerbCalls(calls: readonly VerbCall[]): Buffer {
  const texts = calls.map(({ args }) => args.map((arg) => (typeof arg === 'number' ? String(arg) : arg)))
  const lengths = texts.map((some) => some.map((arg) => Buffer.byteLength(arg)))
  const size = calls.reduce((sum, { name }, place) => sum + sizeOf(name, lengths[place] ?? []), 0)
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  calls.forEach(({ name, args }, place) => {
    at = bytes.writeUInt8(name.length, at)
    at += bytes.write(name, at, 'latin1')
    at = bytes.writeUInt16BE(args.length, at)
    texts[place]?.forEach((arg, index) => {
      const length = lengths[place]?.[index] ?? 0
      at = bytes.writeUInt32BE(length, at)
      at += typeof arg === 'string' ? bytes.write(arg, at, length, 'utf8') : arg.copy(bytes, at)
    })
  })
  return bytes
}

function sizeOf(name: string, lengths: readonly number[]): number {
  const head = NAME_LENGTH_BYTES + name.length + COUNT_BYTES
  return lengths.reduce((sum, length) => sum + ARGUMENT_LENGTH_BYTES + length, head)
}
