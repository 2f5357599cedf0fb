/** Checks plain data against the part of JSON Schema that our resources use, and describes each finding with its fix. */

/** The keywords in use; the same data becomes the OpenAPI schema of a custom resource. */
export interface JsonSchema {
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'boolean'
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  /** Anchored; written for engines without look-around. */
  readonly pattern?: string
  /** Counted in code points. */
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[] | undefined
  readonly minProperties?: number
  readonly maxProperties?: number
  /** Of each member's name; custom resources have no such keyword. */
  readonly propertyNames?: JsonSchema
  /** Absent: unknown members are refused. A schema: the object is a map of such values. `true`: unknown members are not checked. */
  readonly additionalProperties?: JsonSchema | true
  /** The pattern's requirement in words, for the message. */
  readonly patternMeaning?: string
  /** What kind of address the text is. The compiler parses it; the API server checks its outer form. */
  readonly address?: 'origin' | 'page' | 'outbound'
}

/** Of an object with these properties and no others. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema {
  return { type: 'object', properties, required }
}

export interface SchemaFinding {
  readonly kind: 'unknown' | 'missing' | 'invalid'
  /** JSON pointer, for example `/spec/retentionDays`. */
  readonly field: string
  /**
   * Completes a sentence that begins with the field: `12 is below 30`. Strings are never repeated, except in enum
   * misses.
   */
  readonly message: string
}

/** The most findings about one object; enough to work on. */
const MAX_FINDINGS = 50
const MAX_SHOWN_CHARS = 40
/** Of the findings about one object, so many say what was probably meant: a person who reads these knows what to look for. */
const MAX_SUGGESTIONS = 5

/**
 * The findings, in the order of the document, at most 50; empty if the value fits. Unknown members come before missing ones. After the last
 * finding that is told nothing more of the value is looked at.
 */
export function checkSchema(schema: JsonSchema, value: unknown, pointer = ''): readonly SchemaFinding[] {
  return findingsIn(schema, value, { most: MAX_FINDINGS, pointer })
}

/** The first of these findings, for whoever tells no other; null if the value fits. */
export function firstFinding(schema: JsonSchema, value: unknown): SchemaFinding | null {
  return findingsIn(schema, value, { most: 1, pointer: '' })[0] ?? null
}

interface FindingsWanted {
  readonly most: number
  readonly pointer: string
}

function findingsIn(schema: JsonSchema, value: unknown, { most, pointer }: FindingsWanted): readonly SchemaFinding[] {
  const findings: Findings = { told: [], most }
  walk(schema, value, pointer, findings)
  return findings.told
}

interface Findings {
  readonly told: SchemaFinding[]
  readonly most: number
}

function tell({ told, most }: Findings, finding: SchemaFinding): void {
  if (told.length < most) told.push(finding)
}

function isFull({ told, most }: Findings): boolean {
  return told.length >= most
}

/** The candidate that was probably meant, or null, as for a name longer than any. Ignores spelling mistakes, case and separators. */
export function closestName(name: string, candidates: readonly string[]): string | null {
  if (name.length > MAX_SHOWN_CHARS) return null
  const plain = plainName(name)
  const allowed = Math.max(1, Math.floor(plain.length / 4))
  const ranked = candidates
    // A difference in length is a lower bound of the distance.
    .filter((candidate) => Math.abs(plainName(candidate).length - plain.length) <= allowed)
    .map((candidate) => ({ candidate, distance: editDistance(plain, plainName(candidate)) }))
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  if (best !== undefined && best.distance <= allowed) return best.candidate
  const extension =
    plain.length < 4 ? undefined : candidates.find((candidate) => plainName(candidate).startsWith(plain))
  return extension ?? null
}

/** One step of a JSON pointer, escaped. */
function pointerStep(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

type Walk = (schema: JsonSchema, value: never, pointer: string, findings: Findings) => void

const WALKS: { readonly [T in JsonSchema['type']]: Walk } = {
  object: walkObject,
  array: walkArray,
  string: walkString,
  integer: walkInteger,
  boolean: () => undefined,
}

const TYPE_NAMES: { readonly [T in JsonSchema['type']]: string } = {
  object: 'a map of fields',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
}

function walk(schema: JsonSchema, value: unknown, pointer: string, findings: Findings): void {
  if (isFull(findings)) return
  if (!hasType(schema.type, value)) {
    tell(findings, { kind: 'invalid', field: pointer, message: wrongType(schema, value) })
    return
  }
  WALKS[schema.type](schema, value as never, pointer, findings)
}

function walkObject(schema: JsonSchema, value: Record<string, unknown>, pointer: string, findings: Findings) {
  const known = schema.properties ?? {}
  for (const [name, member] of Object.entries(value)) {
    if (isFull(findings)) return
    const memberPointer = pointer + pointerStep(name)
    const memberSchema = Object.hasOwn(known, name) ? known[name] : schema.additionalProperties
    if (memberSchema === true) continue
    if (memberSchema !== undefined) walk(memberSchema, member, memberPointer, findings)
    else {
      const meant = findings.told.length < MAX_SUGGESTIONS ? closestName(name, Object.keys(known)) : null
      tell(findings, { kind: 'unknown', field: memberPointer, message: unknownField(meant, Object.keys(known)) })
    }
  }
  walkNames(schema, Object.keys(value), pointer, findings)
  for (const name of schema.required ?? []) {
    if (Object.hasOwn(value, name)) continue
    tell(findings, { kind: 'missing', field: pointer + pointerStep(name), message: missingField(known[name]) })
  }
}

/** How many members there are, and what they are called; a name is not repeated, but counted. */
function walkNames(schema: JsonSchema, names: readonly string[], pointer: string, findings: Findings): void {
  const add = (message: string) => tell(findings, { kind: 'invalid', field: pointer, message })
  const { minProperties, maxProperties, propertyNames } = schema
  if (minProperties !== undefined && names.length < minProperties)
    add(`needs at least ${countText(minProperties, 'entry', 'entries')}`)
  if (maxProperties !== undefined && names.length > maxProperties)
    add(`has ${names.length} entries, more than ${maxProperties}`)
  if (propertyNames === undefined || names.length > (maxProperties ?? names.length)) return
  for (const [place, name] of names.entries()) {
    if (isFull(findings)) return
    for (const { message } of checkSchema(propertyNames, name)) add(`key ${place + 1} ${message}`)
  }
}

function walkArray(schema: JsonSchema, value: readonly unknown[], pointer: string, findings: Findings): void {
  const add = (message: string) => tell(findings, { kind: 'invalid', field: pointer, message })
  const { minItems, maxItems, items } = schema
  if (minItems !== undefined && value.length < minItems)
    add(`needs at least ${countText(minItems, 'entry', 'entries')}`)
  if (maxItems !== undefined && value.length > maxItems) add(`has ${value.length} entries, more than ${maxItems}`)
  if (schema.uniqueItems === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length) {
    add('has an entry twice')
  }
  // A list that is far too long gets one finding, not thousands.
  const walked = value.slice(0, maxItems ?? value.length)
  if (items !== undefined) walked.forEach((item, index) => walk(items, item, pointer + pointerStep(index), findings))
}

function walkString(schema: JsonSchema, value: string, pointer: string, findings: Findings): void {
  const add = (message: string) => tell(findings, { kind: 'invalid', field: pointer, message })
  if (schema.enum !== undefined) {
    if (!schema.enum.includes(value)) add(notInEnum(value, schema.enum))
    return
  }
  // In UTF-8, as files have it, it would become another text.
  if (/\p{Cs}/u.test(value)) return add('has half of a character')
  const chars = codePoints(value)
  if (schema.minLength !== undefined && chars < schema.minLength) {
    add(chars === 0 ? 'is empty' : `is shorter than ${countText(schema.minLength, 'character', 'characters')}`)
    return
  }
  if (schema.maxLength !== undefined && chars > schema.maxLength) {
    // No pattern is tried on more than it was written for.
    return add(`has ${chars} characters, more than ${schema.maxLength}`)
  }
  if (schema.pattern !== undefined && !compiledPattern(schema.pattern).test(value)) {
    add(schema.patternMeaning ?? `does not match ${schema.pattern}`)
  }
}

function walkInteger(schema: JsonSchema, value: number, pointer: string, findings: Findings): void {
  const add = (message: string) => tell(findings, { kind: 'invalid', field: pointer, message })
  if (schema.minimum !== undefined && value < schema.minimum) add(`${value} is below ${schema.minimum}`)
  if (schema.maximum !== undefined && value > schema.maximum) add(`${value} is above ${schema.maximum}`)
}

/** Patterns come from our own schemas, so there are few; compiling one costs more than the rest of a check. */
const COMPILED = new Map<string, RegExp>()

function compiledPattern(pattern: string): RegExp {
  const known = COMPILED.get(pattern) ?? new RegExp(pattern, 'u')
  COMPILED.set(pattern, known)
  return known
}

function hasType(type: JsonSchema['type'], value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return type === 'integer' ? Number.isSafeInteger(value) : typeof value === type
}

function wrongType(schema: JsonSchema, value: unknown): string {
  const asked = `must be ${schema.enum === undefined ? TYPE_NAMES[schema.type] : `one of ${schema.enum.join(', ')}`}`
  if (value === null || value === undefined) return `${asked}, but nothing is written there`
  if (schema.type === 'string' && schema.enum === undefined && typeof value !== 'object') {
    return `${asked}: put it in quotes`
  }
  if (schema.type === 'integer' && typeof value === 'string') return `${asked}: remove the quotes`
  if (typeof value === 'number') return `${asked}, not ${value}`
  return `${asked}, not ${Array.isArray(value) ? TYPE_NAMES.array : typeof value === 'object' ? TYPE_NAMES.object : `a ${typeof value}`}`
}

function unknownField(meant: string | null, known: readonly string[]): string {
  if (meant !== null) return `is not a field here; did you mean ${meant}?`
  return known.length === 0 ? 'is not a field here' : `is not a field here; there are ${known.join(', ')}`
}

function missingField(schema: JsonSchema | undefined): string {
  return schema?.enum === undefined ? 'is missing' : `is missing; choose one of ${schema.enum.join(', ')}`
}

function notInEnum(value: string, allowed: readonly string[]): string {
  const meant = closestName(value, allowed)
  const shown = value.length <= MAX_SHOWN_CHARS && /^[\w .-]*$/.test(value) ? `"${value}"` : 'this value'
  return `${shown} is not one of ${allowed.join(', ')}${meant === null ? '' : `; did you mean ${meant}?`}`
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

function countText(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

/**
 * Edit distance in which swapping two neighbours counts once; names are truncated so that a hostile one costs nothing.
 */
function editDistance(first: string, second: string): number {
  const a = first.slice(0, MAX_SHOWN_CHARS)
  const b = second.slice(0, MAX_SHOWN_CHARS)
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j += 1) {
      const isSwap = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j]
      const substituted = cell(row, j) + (a[i] === b[j] ? 0 : 1)
      const swapped = isSwap ? cell(before, j - 1) + 1 : Infinity
      next.push(Math.min(substituted, swapped, cell(row, j + 1) + 1, cell(next, j) + 1))
    }
    before = row
    row = next
  }
  return cell(row, b.length)
}

function cell(row: readonly number[], index: number): number {
  return row[index] ?? 0
}
