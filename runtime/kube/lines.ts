/** Splits a stream into lines of JSON, and ends it after a long silence. */

import type { IncomingMessage } from 'node:http'

/** An object of the API server is at most a few megabytes. */
const MAX_LINE_BYTES = 32 * 1024 * 1024
const NEW_LINE = 10

/** A line that is not JSON, or has no end. */
export class BrokenStream extends Error {
  override readonly name = 'BrokenStream'
}

/**
 * The lines of a stream, parsed. After `silenceMs` without a byte the connection counts as dead: the stream is
 * destroyed and the loop rejects.
 */
export async function* jsonLines(stream: IncomingMessage, silenceMs: number): AsyncGenerator<unknown> {
  const silence = setTimeout(() => stream.destroy(new BrokenStream('nothing came for too long')), silenceMs)
  const arriving: AsyncIterable<Buffer> = stream
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of arriving) {
      silence.refresh()
      const { lines, left } = split(rest, chunk)
      rest = left
      for (const line of lines) yield parseLine(line)
    }
  } finally {
    clearTimeout(silence)
    stream.destroy()
  }
}

function split(rest: Buffer, chunk: Buffer): { readonly lines: readonly Buffer[]; readonly left: Buffer } {
  const lines: Buffer[] = []
  const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
  let from = 0
  for (let end = text.indexOf(NEW_LINE); end >= 0; end = text.indexOf(NEW_LINE, from)) {
    if (end > from) lines.push(text.subarray(from, end))
    from = end + 1
  }
  const left = text.subarray(from)
  if (left.length > MAX_LINE_BYTES) throw new BrokenStream('a line has no end')
  return { lines, left }
}

function parseLine(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    throw new BrokenStream('a line is not JSON')
  }
}
