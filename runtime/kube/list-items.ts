/** Reads a list of the API server object by object as it arrives: a large one is never in memory as a whole. */

import { BrokenStream } from './lines.ts'
import { isKubeObject, type KubeObject } from './objects.ts'
import { isText, orAbsent, parsedAs, shapeOf, type Guard } from '../../domain/guards.ts'

/** What surrounds the objects. */
export interface ListHead {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
}

const isHead = shapeOf<ListHead>({
  metadata: orAbsent(
    shapeOf<NonNullable<ListHead['metadata']>>({ resourceVersion: orAbsent(isText), continue: orAbsent(isText) }),
  ),
})

/** An object of the API server is at most a few megabytes; what surrounds the objects is less. */
const MAX_PART_BYTES = 32 * 1024 * 1024

const QUOTE = 34
const BACKSLASH = 92
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/**
 * Passes every object to `take` and returns what surrounds them.
 * @throws BrokenStream if the text is no such list
 */
export async function readList(stream: AsyncIterable<Buffer>, take: (object: KubeObject) => void): Promise<ListHead> {
  const cutter = new Cutter(take)
  for await (const chunk of stream) cutter.add(chunk)
  return cutter.head()
}

/** Finds where objects begin and end by counting brackets outside of strings. */
class Cutter {
  readonly #take: (object: KubeObject) => void
  /** The unfinished rest: the beginning of an object, or of what surrounds them. */
  #bytes: Buffer = Buffer.alloc(0)
  #start = 0
  #around = ''
  #depth = 0
  #isInText = false
  #isEscaped = false
  /** Within the outermost object's list of items. */
  #isInItems = false

  constructor(take: (object: KubeObject) => void) {
    this.#take = take
  }

  add(chunk: Buffer): void {
    const from = this.#bytes.length
    this.#bytes = from === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    this.#start = 0
    for (let at = from; at < this.#bytes.length; at += 1) {
      const byte = this.#bytes[at]
      if (this.#isInText) at = this.#passText(at)
      else if (byte === QUOTE) this.#isInText = true
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#open(at, byte === OPEN_LIST)
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#close(at)
    }
    this.#bytes = this.#bytes.subarray(this.#start)
    if (this.#bytes.length > MAX_PART_BYTES) throw new BrokenStream('an object of a list has no end')
  }

  /** @throws BrokenStream if the list broke off. */
  head(): ListHead {
    return parseListPart(this.#around + this.#bytes.toString('utf8'), isHead)
  }

  /** The end of the string, or of the chunk within it. */
  #passText(from: number): number {
    const bytes = this.#bytes
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at]
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) {
        this.#isInText = false
        return at
      }
    }
    return bytes.length
  }

  #open(at: number, isList: boolean): void {
    if (this.#isInItems && this.#depth === 2) this.#start = at
    this.#depth += 1
    if (!isList || this.#depth !== 2) return
    this.#isInItems = true
    this.#around += this.#bytes.toString('utf8', this.#start, at + 1)
  }

  #close(at: number): void {
    this.#depth -= 1
    if (!this.#isInItems || this.#depth > 2) return
    if (this.#depth === 2) {
      this.#take(parseListPart(this.#bytes.toString('utf8', this.#start, at + 1), isKubeObject))
      this.#start = at + 1
      return
    }
    this.#isInItems = false
    this.#start = at
  }
}

function parseListPart<T>(text: string, isRight: Guard<T>): T {
  const part = parsedAs(isRight, text)
  if (part === null) throw new BrokenStream('a list is not JSON, or has an object without a name')
  return part
}
