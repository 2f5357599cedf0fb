/** Checks bodies against their schemas and reports the wrong field, without repeating its value. */

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { listIn } from '../../domain/guards.ts'
import { KNOWN_MEMBERS } from '../../domain/collection/schemas.ts'
import { refuseField, type Refusal } from '../../domain/errors.ts'
import type { JsonObject } from '../../domain/strict-json.ts'

type Validator = (body: JsonObject) => Refusal | null

export function compileValidator(schema: object): Validator {
  // One error is enough for an answer, and stopping there keeps the worst body cheap. Unknown members are ignored.
  const ajv = new Ajv({ strict: true, strictTypes: false, allErrors: false, ownProperties: true, messages: true })
  const validate: ValidateFunction = ajv.compile(schema)
  return (body) => {
    if (validate(body)) return null
    // The last one is the outermost: for an alternative, the first would describe only one side.
    const error = validate.errors?.at(-1)
    return error === undefined ? refuseField('', 'is not valid') : refuseField(pointerOf(error), messageOf(error))
  }
}

function pointerOf(error: ErrorObject): string {
  const missing: unknown = error.keyword === 'required' ? error.params['missingProperty'] : undefined
  const path = typeof missing === 'string' ? `${error.instancePath}/${missing}` : error.instancePath
  // Names made up by a client (adapters, for example) are values of the request too.
  return path
    .split('/')
    .map((part, index) => (index === 0 || KNOWN_MEMBERS.has(part) || /^\d{1,4}$/.test(part) ? part : '*'))
    .join('/')
}

function messageOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
      return 'is required'
    case 'enum':
      return `must be one of ${listIn(error.params, 'allowedValues').join(', ')}`
    case 'anyOf':
      return 'has a type or a length that is not allowed here'
    case 'propertyNames':
      return 'has a member whose name is not allowed'
    default:
      return error.message ?? 'is not valid'
  }
}
