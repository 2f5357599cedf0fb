/** Schemas of parameters that several routes take. */

import { LIMITS } from '../../domain/limits.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'

export function textParameter(description: string, maxLength: number): JsonSchema {
  return { type: 'string', description, minLength: 1, maxLength }
}

export const WEBSITE_PARAMETER = textParameter('One website instead of all.', LIMITS.websiteIdChars)

/** A period of Unix milliseconds, of which either end may be left out. */
export const PERIOD_PARAMETERS = {
  since: { type: 'integer', description: 'Unix ms, inclusive.', minimum: 0 },
  until: { type: 'integer', description: 'Unix ms, exclusive.', minimum: 0 },
} as const satisfies Readonly<Record<string, JsonSchema>>
