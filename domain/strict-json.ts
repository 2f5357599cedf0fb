/** Reads a request body as one JSON object and refuses what parsers disagree about: duplicate or dangerous keys, depth, width. */

import { LIMITS } from './limits.ts'

export type JsonObject = Readonly<Record<string, unknown>>

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COLON = 0x3a

/** Keys that change what an object is when code copies it carelessly. */
const DANGEROUS_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Null where the text is not one acceptable object. A byte-order mark is refused by the grammar itself. */
export function parseStrictJson(text: string): JsonObject | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return isAcceptable(text) ? (value as JsonObject) : null
}

/**
 * Removes members that are null, at every level: in the contract null counts as absent. The input is left as it is;
 * nesting is at most `LIMITS.jsonDepth` by then.
 */
export function withoutNulls(value: JsonObject): JsonObject {
  let copy: Record<string, unknown> | null = null
  for (const key of Object.keys(value)) {
    const member = value[key]
    const kept = isPlainObject(member) ? withoutNulls(member) : member
    if (kept === member && member !== null) continue
    copy ??= { ...value }
    if (member === null) delete copy[key]
    else copy[key] = kept
  }
  return copy ?? value
}

/** The same value with every text in it, names too, cleaned. */
export function mapTexts(value: JsonObject, clean: (text: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [clean(name), mapMember(member, clean)]))
}

function mapMember(member: unknown, clean: (text: string) => string): unknown {
  if (typeof member === 'string') return clean(member)
  if (Array.isArray(member)) return member.map((item) => mapMember(item, clean))
  return isPlainObject(member) ? mapTexts(member, clean) : member
}

function isPlainObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** One pass over text that is known to be JSON: only structure and keys are looked at. */
function isAcceptable(text: string): boolean {
  const scan = new StructureScan()
  let index = 0
  while (index < text.length) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      const end = endOfString(text, index)
      if (!scan.takeString(text, index, end)) return false
      index = end
    } else if (!scan.takeMark(code)) return false
    index++
  }
  return true
}

function endOfString(text: string, start: number): number {
  let index = start + 1
  while (text.charCodeAt(index) !== QUOTE) index += text.charCodeAt(index) === BACKSLASH ? 2 : 1
  return index
}

/**
 * Where the scan stands: the open containers, the keys of each open object, and how many members there were. Members are
 * keys of objects and elements of arrays; an empty array counts as one.
 */
class StructureScan {
  readonly #keys: (string[] | null)[] = []
  #members = 0
  #expectsKey = false

  /** Braces, brackets, commas and colons; false where depth or width is passed. */
  takeMark(code: number): boolean {
    switch (code) {
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#keys.push(code === OPEN_BRACE ? [] : null)
        this.#expectsKey = code === OPEN_BRACE
        if (code === OPEN_BRACKET) this.#members++
        return this.#keys.length <= LIMITS.jsonDepth && this.#members <= LIMITS.jsonMembers
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#keys.pop()
        this.#expectsKey = false
        return true
      case COMMA:
        this.#expectsKey = this.#keys.at(-1) !== null
        if (!this.#expectsKey) this.#members++
        return this.#members <= LIMITS.jsonMembers
      case COLON:
        this.#expectsKey = false
        return true
      default:
        return true
    }
  }

  /** A string is a key where the innermost container is an object and no colon has come since. */
  takeString(text: string, start: number, end: number): boolean {
    const keys = this.#keys.at(-1)
    if (!this.#expectsKey || keys === null || keys === undefined) return true
    const literal = text.slice(start + 1, end)
    const key = literal.includes('\\') ? (JSON.parse(`"${literal}"`) as string) : literal
    if (DANGEROUS_KEYS.has(key) || keys.includes(key)) return false
    keys.push(key)
    return ++this.#members <= LIMITS.jsonMembers
  }
}
