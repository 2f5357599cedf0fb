/** Our schemas as JSON Schema says them, with the few keywords that only we have. */

import type { JsonSchema } from './json-schema.ts'

/**
 * As JSON Schema says it: members that the schema does not name are refused, and nothing is looked into that is longer than it may be. No
 * pattern is tried on more than it was written for.
 */
export function strictForm(schema: JsonSchema): object {
  const { type, enum: words } = schema
  if (words !== undefined) return { type, enum: words }
  switch (type) {
    case 'string':
      return strictText(schema)
    case 'integer':
      return { type, isSafe: true, ...given(schema, ['minimum', 'maximum']) }
    case 'array': {
      const inside = schema.items === undefined ? {} : { items: strictForm(schema.items) }
      const lengths = given(schema, ['minItems', 'maxItems'])
      return { type, ...lengths, ...unlessLong(schema, 'maxItems', { ...inside, ...given(schema, ['uniqueItems']) }) }
    }
    case 'object':
      return strictObject(schema)
    case 'boolean':
      return { type }
  }
}

function strictText(schema: JsonSchema): object {
  const pattern = given(schema, ['pattern', 'patternMeaning'])
  return {
    type: 'string',
    isWhole: true,
    ...given(schema, ['minLength', 'maxLength']),
    ...unlessLong(schema, 'maxLength', pattern),
  }
}

function strictObject(schema: JsonSchema): object {
  const { properties, propertyNames, additionalProperties: others } = schema
  const names = propertyNames === undefined ? {} : { propertyNames: strictForm(propertyNames) }
  const members =
    typeof others === 'object'
      ? unlessLong(schema, 'maxProperties', {
          ...names,
          ...strictMembers(properties ?? {}),
          additionalProperties: strictForm(others),
        })
      : {
          ...names,
          ...strictMembers(properties ?? {}),
          ...(others === true ? {} : { knownMembers: Object.keys(properties ?? {}) }),
        }
  return { type: 'object', ...given(schema, ['required', 'minProperties', 'maxProperties']), ...members }
}

function strictMembers(properties: NonNullable<JsonSchema['properties']>): object {
  const members = Object.entries(properties).map(([name, member]) => [name, strictForm(member)] as const)
  return { properties: Object.fromEntries(members) }
}

/** The keywords of these that the schema has. */
function given(schema: JsonSchema, keywords: readonly (keyof JsonSchema)[]): object {
  return Object.fromEntries(keywords.flatMap((name) => (schema[name] === undefined ? [] : [[name, schema[name]]])))
}

function unlessLong(schema: JsonSchema, most: 'maxLength' | 'maxItems' | 'maxProperties', then: object): object {
  return schema[most] === undefined || Object.keys(then).length === 0 ? then : { if: { [most]: schema[most] }, then }
}
