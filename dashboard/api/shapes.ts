/** Schemas that the declarations of several routes are made of. */

import { recordOf } from '../../domain/typed-keys.ts'
import { Type, type TSchema, type TUnsafe } from 'typebox'

import { INSTALLS_BY, LEFT_OUT_CHOICES } from '../../domain/figures/installs.ts'
import { LIMITS } from '../../domain/limits.ts'
import { SOURCE_COLUMN_NAMES } from '../../domain/collection/visit-source.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { oneOf } from '../../runtime/http/shapes.ts'

/** Values of a type that the schema itself does not show, such as a map. */
export function typed<Value>(schema: JsonSchema): TUnsafe<Value> & JsonSchema {
  return { ...Type.Unsafe<Value>({}), ...schema }
}

export function maybe<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
}

/** The same schema for each name. */
export function each<Name extends string, Schema extends TSchema>(
  names: readonly Name[],
  schema: Schema,
): Readonly<Record<Name, Schema>> {
  return recordOf(names, () => schema)
}

export const TEXT = Type.String()
export const NUMBER = Type.Number()
export const FLAG = Type.Boolean()
/** Unix ms. */
export const TIME = Type.Number({ description: 'Unix ms.' })
export const MAYBE_TIME = maybe(Type.Number(), 'Unix ms, or null.')

/** The cursor of the next page. */
export const NEXT = maybe(TEXT, 'The cursor of the next page; null: this is the last one.')

export const EXAMPLE_UNTIL = maybe(
  NUMBER,
  'Unix ms at which made-up traffic ends that is among the figures; null: there is none.',
)

/** Where a visit came from, with what names it. */
export const SOURCED_VISIT = Type.Object({ website: TEXT, visit_id: TEXT, ...each(SOURCE_COLUMN_NAMES, TEXT) })

export function textParameter(description: string, maxLength: number) {
  return Type.String({ description, minLength: 1, maxLength })
}

/** A text that may be empty: an empty one means that nothing is known. */
export function maybeEmptyParameter(description: string, maxLength: number) {
  return Type.String({ description, minLength: 0, maxLength })
}

export const WEBSITE_PARAMETER = textParameter('One website instead of all.', LIMITS.websiteIdChars)

/** As long as a cursor may be. */
export const CURSOR_CHARS = 400
export const CURSOR_PARAMETER = textParameter('`next` of the page before.', CURSOR_CHARS)

export const FILTER_WORDS = `Which installs and visits are meant, once for each filter, all of which must fit: \`dimension:operator:value,value\`. Dimensions: ${INSTALLS_BY.join(', ')}. Operators: \`is\` and \`is_not\` (one of the values; an empty value: there is none), \`contains\` (in capitals or not). A backslash stands before a comma or backslash of a value.`
/** `filter`, once for each of them. */
export const FILTER_PARAMETER = Type.Array(Type.String({ maxLength: LIMITS.urlChars }), {
  description: FILTER_WORDS,
  maxItems: LIMITS.figureFilters,
})

/** What becomes of installs that figures leave out. */
export const LEFT_OUT_PARAMETER = oneOf(
  LEFT_OUT_CHOICES,
  'Installs from CI, containers and tests, too, or only these; without it they are left out. Visits and conversion never count them.',
)

/** A period of Unix milliseconds, of which either end may be left out. */
export const PERIOD_PARAMETERS = {
  since: Type.Integer({ description: 'Unix ms, inclusive.', minimum: 0 }),
  until: Type.Integer({ description: 'Unix ms, exclusive.', minimum: 0 }),
} as const
