/** The kind ShareLink: an address that shows the Overview of a website to whoever has it. */

import { INSTALLS_BY, type InstallDimension } from '../figures/installs.ts'
import { PERIOD_NAMES, type PeriodName } from '../figures/periods.ts'
import { LIMITS } from '../limits.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { displayName, passHash, utcTime, websiteHere } from './resource-fields.ts'

/** A checked spec. */
export interface ShareLinkSpec {
  readonly websiteRef: { readonly name: string }
  readonly displayName?: string
  readonly period: PeriodName
  readonly filters: readonly SharedFilter[]
  /** RFC 3339, UTC. */
  readonly expiresAt: string
  /** `sha256:` and 64 hex digits. */
  readonly tokenHash: string
}

/** A filter for each operator that is there. */
export interface SharedFilter {
  readonly field: InstallDimension
  readonly is?: readonly string[]
  readonly isNot?: readonly string[]
  readonly contains?: readonly string[]
}

const filterValues = (description: string): JsonSchema => ({
  type: 'array',
  description,
  minItems: 1,
  maxItems: LIMITS.figureFilterValues,
  items: { type: 'string', description: 'A value, as pages show it.', maxLength: LIMITS.figureFilterChars },
})

export const SHARE_LINK_SCHEMA: JsonSchema = {
  type: 'object',
  description:
    'Shows the Overview of a website, for a fixed period and under fixed filters, to whoever has the address. It holds a digest of the token in that address; the address itself is shown once, to whoever makes it. Delete the object to revoke the link.',
  required: ['websiteRef', 'period', 'expiresAt', 'tokenHash'],
  properties: {
    websiteRef: websiteHere,
    displayName,
    period: {
      type: 'string',
      description: 'The period, counted from the day on which it is opened.',
      enum: PERIOD_NAMES,
    },
    filters: {
      type: 'array',
      description: 'What is counted: all of these must fit.',
      default: [],
      maxItems: LIMITS.figureFilters,
      items: {
        type: 'object',
        description: 'A field, and at least one of `is`, `isNot` and `contains`.',
        required: ['field'],
        minProperties: 2,
        properties: {
          field: { type: 'string', description: 'What is compared, by its name in addresses.', enum: INSTALLS_BY },
          is: filterValues(
            'Fits what has one of these values. An empty one stands for what has none: Direct, No campaign, None.',
          ),
          isNot: filterValues('Fits what has none of these values.'),
          contains: filterValues('Fits a value in which one of these texts occurs, in capitals or not.'),
        },
      },
    },
    expiresAt: utcTime(
      `When it ends, in UTC, for example 2027-06-30T00:00:00Z; at most ${LIMITS.passDays} days ahead.`,
    ),
    tokenHash: passHash('SHA-256 of the token.'),
  },
}
