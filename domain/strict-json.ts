/** Reads a request body as one JSON object and refuses what parsers disagree about: duplicate or dangerous keys, depth, width. */

import { LIMITS } from './limits.ts'

export type JsonObject = Readonly<Record<string, unknown>>

const QUOTE = 0x22
const BACKSLASH = 0x5c
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
  return isAcceptable(text, value as JsonObject) ? (value as JsonObject) : null
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

interface Tally {
  keys: number
  /** Keys of objects and elements of arrays; an empty array counts as one. */
  members: number
}

/** Where a key stands twice in one object the text has more keys than the value. */
function isAcceptable(text: string, value: JsonObject): boolean {
  const tally: Tally = { keys: 0, members: 0 }
  return isSmall(value, 1, tally) && tally.keys === keysIn(text)
}

/** False where depth or width is passed or a key is dangerous; counts on the way. */
function isSmall(value: object, depth: number, tally: Tally): boolean {
  if (depth > LIMITS.jsonDepth) return false
  if (Array.isArray(value)) tally.members += Math.max(1, value.length)
  else if (!areSafe(Object.keys(value), tally)) return false
  if (tally.members > LIMITS.jsonMembers) return false
  for (const member of Object.values(value) as unknown[]) {
    if (typeof member === 'object' && member !== null && !isSmall(member, depth + 1, tally)) return false
  }
  return true
}

function areSafe(keys: readonly string[], tally: Tally): boolean {
  tally.keys += keys.length
  tally.members += keys.length
  return !keys.some((key) => DANGEROUS_KEYS.has(key))
}

/** Keys in text that is known to be JSON: the colons outside of strings. */
function keysIn(text: string): number {
  let keys = 0
  let isInString = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) isInString = !isInString
    else if (isInString && code === BACKSLASH) index++
    else if (!isInString && code === COLON) keys++
  }
  return keys
}
