/** Pieces that the schemas of request bodies are made of. */

import { LIMITS } from '../limits.ts'
import { LAST_MOMENT_MS } from '../durations.ts'

export type Schema = Readonly<Record<string, unknown>>

export const text = (maxLength: number): Schema => ({ type: 'string', maxLength })
export const identifier = text(LIMITS.identifierChars)
/** Unix ms, or a date as text. */
export const moment: Schema = { anyOf: [{ type: 'integer', minimum: 0, maximum: LAST_MOMENT_MS }, text(64)] }
/** What is stored of an address, before query and fragment, is bounded by `checkVisitFields`; the rest by the body. */
export const url = text(LIMITS.bodyBytes)

export const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more })
