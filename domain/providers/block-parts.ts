/** Pieces that several providers' blocks have in common. */

import type { JsonSchema } from '../schema/json-schema.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'

export const hours = (count: number): number => count * HOUR_MS
export const days = (count: number): number => count * DAY_MS

const REF_CHARS = 253

export const secretName: JsonSchema = {
  type: 'string',
  description: 'Name of the Secret.',
  minLength: 1,
  maxLength: REF_CHARS,
}

export const keyRef: JsonSchema = {
  type: 'object',
  description: 'A key of a Secret in the same namespace.',
  required: ['name', 'key'],
  properties: {
    name: secretName,
    key: { type: 'string', description: 'The key in it that holds the value.', minLength: 1, maxLength: REF_CHARS },
  },
}

/** Google and Meta give their accounts and pixels numbers. */
export const digits: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 20,
  pattern: '^[0-9]+$',
  patternMeaning: 'must be only digits, in quotes and without hyphens',
}

export const token = (description: string, fallback?: string): JsonSchema => ({
  type: 'string',
  description,
  ...(fallback === undefined ? {} : { default: fallback }),
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$',
  patternMeaning: 'may have only letters, digits, hyphens, dots and underscores',
})

/** It applies to states of the USA; it does not replace consent. */
export const limitedDataUse: JsonSchema = {
  type: 'boolean',
  description: 'Asks the provider to process every event as one whose use the visitor has limited. Default: no.',
}
