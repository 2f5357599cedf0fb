/** Adjusts a value to its schema: fills in defaults, and leaves out unknown members. */

import type { JsonSchema } from './json-schema.ts'

/** Fills in absent members with the schema's defaults, at every depth. */
export function withDefaults(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? value : value.map((item) => withDefaults(items, item))
  }
  if (typeof value !== 'object' || value === null) return value
  const filled: Record<string, unknown> = { ...value }
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (Object.hasOwn(filled, name)) filled[name] = withDefaults(member, filled[name])
    else if (member.default !== undefined) filled[name] = member.default
  }
  return filled
}

/** The value without the members that the schema does not know, at every depth. */
export function withoutUnknown(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? value : value.map((item) => withoutUnknown(items, item))
  }
  if (typeof value !== 'object' || value === null || schema.additionalProperties === true) return value
  const known = schema.properties ?? {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
      const of = Object.hasOwn(known, name) ? known[name] : schema.additionalProperties
      return of === undefined || of === true ? [] : [[name, withoutUnknown(of, member)]]
    }),
  )
}
