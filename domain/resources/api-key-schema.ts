/** The kind ApiKey: a key for programs that read figures or installs of an organisation. */

import { LIMITS } from '../limits.ts'
import { KEY_SCOPES, type KeyScope } from '../model.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { displayName, organizationHere, passHash, utcTime } from './resource-fields.ts'

/** A checked spec. */
export interface ApiKeySpec {
  readonly organizationRef: { readonly name: string }
  readonly displayName?: string
  readonly scopes: readonly KeyScope[]
  /** RFC 3339, UTC. */
  readonly expiresAt: string
  /** `sha256:` and 64 hex digits. */
  readonly keyHash: string
}

export const API_KEY_SCHEMA: JsonSchema = {
  type: 'object',
  description:
    'Lets programs read figures or installs of an organisation over the API. It holds a digest of the key; the key itself is shown once, to whoever makes it. Delete the object to revoke the key.',
  required: ['organizationRef', 'scopes', 'expiresAt', 'keyHash'],
  properties: {
    organizationRef: organizationHere,
    displayName,
    scopes: {
      type: 'array',
      description: 'What it may read: `figures`, `installs`, or both.',
      minItems: 1,
      maxItems: KEY_SCOPES.length,
      uniqueItems: true,
      items: { type: 'string', description: 'What it may read.', enum: KEY_SCOPES },
    },
    expiresAt: utcTime(
      `When it ends, in UTC, for example 2027-06-30T00:00:00Z; at most ${LIMITS.passDays} days ahead.`,
    ),
    keyHash: passHash('SHA-256 of the key, as `whencectl key` prints it.'),
  },
}
