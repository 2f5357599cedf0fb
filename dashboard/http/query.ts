/** Reads the query of a request to the dashboard's API into typed values. */

import { refuseField, type Refusal } from '../../domain/errors.ts'
import { checkSchema, objectSchema } from '../../domain/schema/json-schema.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import type { RouteRow } from './route.ts'

type ReadQuery = { readonly kind: 'object'; readonly value: JsonObject } | Refusal

/** Refuses repeated parameters; numbers and booleans become values if the schema asks for them. */
export function readQuery(query: URLSearchParams, { query: schema }: Pick<RouteRow, 'query'>): ReadQuery {
  if (schema === undefined) return { kind: 'object', value: {} }
  const names = [...query.keys()]
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return refuseField(`/${twice}`, 'comes twice')
  const value = Object.fromEntries([...query].map(([name, text]) => [name, valueOf(text, schema[name]?.type)]))
  const [finding] = checkSchema(objectSchema(schema, []), value)
  if (finding !== undefined) return refuseField(finding.field, finding.message)
  return { kind: 'object', value }
}

function valueOf(text: string, type: string | undefined): string | number | boolean {
  if (type === 'integer' && /^-?[0-9]{1,15}$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
