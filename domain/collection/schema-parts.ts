/** Pieces that the schemas of request bodies are made of. */

import { LIMITS } from '../limits.ts'
import { MOMENT_MAX_MS } from '../privacy/identities.ts'

export type Schema = Readonly<Record<string, unknown>>

export const text = (maxLength: number): Schema => ({ type: 'string', maxLength })
export const identifier = text(LIMITS.identifierChars)
/** Unix ms, or a date as text. */
export const moment: Schema = { anyOf: [{ type: 'integer', minimum: 0, maximum: MOMENT_MAX_MS }, text(64)] }
export const url = text(LIMITS.urlChars)

export const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more })
