/** Findings in words: what is wrong with a value, and what would fit. Strings are never repeated, except in enum misses. */

import type { ErrorObject } from 'ajv'

import { closestName, MOST_NAME_CHARS } from './closest-name.ts'

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a map of fields',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
}

/** The value, the limit that it does not keep, and the schema that says so. */
interface Broken {
  readonly data: unknown
  readonly limit: number
  readonly schema: Readonly<Record<string, unknown>>
}

const atLeast = ({ limit }: Broken): string => `needs at least ${countText(limit, 'entry', 'entries')}`

export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** By keyword. */
const WORDS: Readonly<Record<string, (broken: Broken) => string>> = {
  enum: ({ data, schema }) => notInEnum(String(data), textsIn(schema['enum'])),
  isWhole: () => 'has half of a character',
  minLength: ({ data, limit }) =>
    data === '' ? 'is empty' : `is shorter than ${countText(limit, 'character', 'characters')}`,
  maxLength: ({ data, limit }) => `has ${codePoints(String(data))} characters, more than ${limit}`,
  pattern: ({ schema: { pattern, patternMeaning: meaning } }) =>
    typeof meaning === 'string' ? meaning : `does not match ${String(pattern)}`,
  minimum: ({ data, limit }) => `${String(data)} is below ${limit}`,
  maximum: ({ data, limit }) => `${String(data)} is above ${limit}`,
  minItems: atLeast,
  minProperties: atLeast,
  maxItems: ({ data, limit }) => `has ${countEntries(data)} entries, more than ${limit}`,
  maxProperties: ({ data, limit }) => `has ${countEntries(data)} entries, more than ${limit}`,
  uniqueItems: () => 'has an entry twice',
}

/** What is wrong with a value, beside unknown and missing members. */
export function findingText({ keyword, params, parentSchema: schema = {}, data }: ErrorObject): string {
  return WORDS[keyword]?.({ data, limit: Number(params['limit']), schema }) ?? wrongType(schema, data)
}

function countEntries(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}

function wrongType({ type, enum: words }: Readonly<Record<string, unknown>>, value: unknown): string {
  const asked = `must be ${Array.isArray(words) ? `one of ${words.join(', ')}` : TYPE_NAMES[String(type)]}`
  if (value === null || value === undefined) return `${asked}, but nothing is written there`
  if (type === 'string' && words === undefined && typeof value !== 'object') return `${asked}: put it in quotes`
  if (type === 'integer' && typeof value === 'string') return `${asked}: remove the quotes`
  if (typeof value === 'number') return `${asked}, not ${value}`
  return `${asked}, not ${Array.isArray(value) ? TYPE_NAMES['array'] : typeof value === 'object' ? TYPE_NAMES['object'] : `a ${typeof value}`}`
}

export function unknownField(meant: string | null, known: readonly string[]): string {
  if (meant !== null) return `is not a field here; did you mean ${meant}?`
  return known.length === 0 ? 'is not a field here' : `is not a field here; there are ${known.join(', ')}`
}

export function missingField(words: unknown): string {
  return Array.isArray(words) ? `is missing; choose one of ${words.join(', ')}` : 'is missing'
}

function notInEnum(value: string, allowed: readonly string[]): string {
  const meant = closestName(value, allowed)
  const shown = value.length <= MOST_NAME_CHARS && /^[\w .-]*$/.test(value) ? `"${value}"` : 'this value'
  return `${shown} is not one of ${allowed.join(', ')}${meant === null ? '' : `; did you mean ${meant}?`}`
}

function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

function countText(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
