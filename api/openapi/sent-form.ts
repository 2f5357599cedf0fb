/** Schemas of request bodies as clients may send them: null counts as absent wherever a member may be absent, and texts have their formats. */

import { memberOf, objectOf } from '../../domain/strict-json.ts'
import { listIn } from '../../domain/guards.ts'
import { moment } from '../../domain/collection/schema-parts.ts'
import type { SchemaJson } from './schemas.ts'

interface Parts {
  readonly type?: string
  readonly properties?: Readonly<Record<string, SchemaJson>>
  readonly required?: readonly string[]
  readonly additionalProperties?: SchemaJson
  readonly anyOf?: readonly SchemaJson[]
  readonly enum?: readonly unknown[]
}

const NULL: SchemaJson = { type: 'null' }

/** Entries of a list keep their places, so those may not be null. */
export function sentForm(schema: SchemaJson): SchemaJson {
  if (schema === moment) return MOMENT
  const { properties, required = [], additionalProperties, anyOf }: Parts = schema
  const members = Object.entries(properties ?? {}).map(([name, member]) => {
    const sent = { ...sentForm(member), ...FORMATS[name] }
    return [name, required.includes(name) ? sent : nullable(sent)]
  })
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(members) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: nullable(sentForm(additionalProperties)) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(sentForm) }),
  }
}

/** A moment is a number, or a text that begins like a date of ISO 8601. */
const MOMENT: SchemaJson = {
  anyOf: listIn(moment, 'anyOf').flatMap((one) =>
    memberOf(one, 'type') === 'string'
      ? [
          { ...objectOf(one), format: 'date-time' },
          { ...objectOf(one), format: 'date' },
        ]
      : [one],
  ),
}
const FORMATS: Readonly<Record<string, SchemaJson>> = { page_url: { format: 'uri' } }

function nullable(schema: SchemaJson): SchemaJson {
  const { type, anyOf, enum: words }: Parts = schema
  if (anyOf !== undefined) return { ...schema, anyOf: [...anyOf, NULL] }
  if (type === undefined || type === 'object') return { anyOf: [schema, NULL] }
  return { ...schema, type: [type, 'null'], ...(words === undefined ? {} : { enum: [...words, null] }) }
}
