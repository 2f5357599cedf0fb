/** Schemas of parameters that several routes take. */

import { LIMITS } from '../../domain/limits.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'

export function textParameter(description: string, maxLength: number): JsonSchema {
  return { type: 'string', description, minLength: 1, maxLength }
}

export const WEBSITE_PARAMETER = textParameter('One website instead of all.', LIMITS.websiteIdChars)

/** A text that may be empty: an empty one means that nothing is known. */
export function maybeEmptyParameter(description: string, maxLength: number): JsonSchema {
  return { type: 'string', description, minLength: 0, maxLength }
}

const fromVisit = (what: string): JsonSchema =>
  maybeEmptyParameter(`${what} of the visit; empty: the visit has none.`, LIMITS.urlChars)

/** Where a visit came from, as figures count it. */
export const ORIGIN_PARAMETERS = {
  source: fromVisit('utm_source'),
  medium: fromVisit('utm_medium'),
  campaign: fromVisit('utm_campaign'),
  referrer: fromVisit('Host of the referrer'),
  page: fromVisit('Origin and path of the page'),
} as const satisfies Readonly<Record<string, JsonSchema>>

/** A period of Unix milliseconds, of which either end may be left out. */
export const PERIOD_PARAMETERS = {
  since: { type: 'integer', description: 'Unix ms, inclusive.', minimum: 0 },
  until: { type: 'integer', description: 'Unix ms, exclusive.', minimum: 0 },
} as const satisfies Readonly<Record<string, JsonSchema>>
