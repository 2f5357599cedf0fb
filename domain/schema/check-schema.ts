/** Checks plain data against a schema, and describes each finding with its fix. ajv checks; the order and the words are ours. */

import { Ajv, type ErrorObject } from 'ajv'
import type { DataValidateFunction } from 'ajv/dist/types/index.js'

import { oncePerObject } from '../once-per-object.ts'
import { closestName } from './closest-name.ts'
import { sortFindings, memberAt, type PlacedError } from './finding-order.ts'
import { findingText, missingField, textsIn, unknownField } from './finding-words.ts'
import type { JsonSchema } from './json-schema.ts'
import { strictForm } from './strict-form.ts'

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
/** Of the findings about one object, so many say what was probably meant: a person who reads these knows what to look for. */
const MAX_SUGGESTIONS = 5

/** The findings, in the order of the document, at most 50; empty if the value fits. Unknown members come before missing ones. */
export function checkSchema(schema: JsonSchema, value: unknown): readonly SchemaFinding[] {
  return findingsIn(schema, value, MAX_FINDINGS)
}

/** The first of these findings, for whoever tells no other; null if the value fits. */
export function firstFinding(schema: JsonSchema, value: unknown): SchemaFinding | null {
  return findingsIn(schema, value, 1)[0] ?? null
}

function findingsIn(schema: JsonSchema, value: unknown, most: number): readonly SchemaFinding[] {
  const validate = validatorOf(schema)
  if (validate(value)) return []
  return sortFindings(validate.errors ?? [], value)
    .slice(0, most)
    .map((placed, told) => findingOf(placed, told < MAX_SUGGESTIONS))
}

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  messages: false,
  strictTypes: false,
  ownProperties: true,
  // What follows halves the time that compiling takes: the schemas are made above, and keep to the language.
  meta: false,
  validateSchema: false,
  code: { optimize: false },
})

/** Lists unknown members: as many as are told. */
function refuseUnknown(known: readonly string[]): DataValidateFunction {
  const names = new Set(known)
  const check: DataValidateFunction = (value: object) => {
    const errors: Partial<ErrorObject>[] = []
    for (const name of Object.keys(value)) {
      if (names.has(name)) continue
      errors.push({ keyword: 'knownMembers', params: { name, known } })
      if (errors.length === MAX_FINDINGS) break
    }
    check.errors = errors
    return errors.length === 0
  }
  return check
}

ajv.addKeyword({ keyword: 'knownMembers', type: 'object', compile: refuseUnknown, errors: true })
/** In UTF-8, as files have it, half of a character would become another text. */
ajv.addKeyword({ keyword: 'isWhole', type: 'string', validate: (_: true, text: string) => text.isWellFormed() })
ajv.addKeyword({ keyword: 'isSafe', type: 'number', validate: (_: true, value: number) => Number.isSafeInteger(value) })
ajv.addKeyword('patternMeaning')

/** Schemas come from our own tables, so there are few. */
const validatorOf = oncePerObject((schema: JsonSchema) => ajv.compile(strictForm(schema)))

function findingOf({ error, place }: PlacedError, maySuggest: boolean): SchemaFinding {
  const { instancePath: field, keyword, params, parentSchema = {}, propertyName } = error
  if (keyword === 'knownMembers') {
    const name = String(params['name'])
    const known = textsIn(params['known'])
    const meant = maySuggest ? closestName(name, known) : null
    return { kind: 'unknown', field: field + pointerStep(name), message: unknownField(meant, known) }
  }
  if (keyword === 'required') {
    const name = String(params['missingProperty'])
    const schema = memberAt(parentSchema['properties'], name)
    return { kind: 'missing', field: field + pointerStep(name), message: missingField(memberAt(schema, 'enum')) }
  }
  const message = findingText(error)
  // A name is not repeated, but counted.
  return {
    kind: 'invalid',
    field,
    message: propertyName === undefined ? message : `key ${(place.at(-2) ?? 0) + 1} ${message}`,
  }
}

/** One step of a JSON pointer, escaped. */
function pointerStep(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
