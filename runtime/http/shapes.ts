/** Types of values from their schemas, and schemas that both interfaces use. */

import { Type, type Static, type TSchema, type TUnsafe } from 'typebox'

type Deep<T> = T extends readonly (infer Entry)[]
  ? readonly Deep<Entry>[]
  : T extends object
    ? { readonly [N in keyof T]: Deep<T[N]> }
    : T

/** A value that fits the schema. */
export type Shape<Schema extends TSchema> = Deep<Static<Schema>>

/** One of these words. */
export function oneOf<Word extends string>(
  words: readonly Word[],
  description?: string,
): TUnsafe<Word> & { readonly type: 'string'; readonly enum: readonly string[] } {
  const said = description === undefined ? {} : { description }
  return { ...Type.Unsafe<Word>({}), type: 'string', enum: words, ...said }
}
