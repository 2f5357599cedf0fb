/**
 * What is known of a provider, apart from how a delivery to it is built. A descriptor is the only place of these facts:
 * identities, schemas, GPC rules, definitions of resources, settings and the chart's lists follow from it.
 */

import type { JsonSchema } from '../schema/json-schema.ts'

/** How an identifier comes and is kept. A `moment` comes as Unix ms or as a date, and is kept as Unix ms. */
export type IdentifierKind = 'text' | 'long text' | 'text or number' | 'moment'

export interface ProviderDescriptor {
  /** Its name in resources, records, topics and on the wire: small letters and underscores. */
  readonly id: string
  /** For people. */
  readonly name: string
  /** Advertising providers get nothing of a visit under Global Privacy Control, and nothing of it is kept. */
  readonly isAdvertising: boolean
  /** The oldest install that is still sent, in ms after it was received. */
  readonly maxAgeMs: number
  /** How long the provider recognises a repeated ID, in ms; null if it never does. */
  readonly dedupeMs: number | null
  /** What it knows a visitor by, under the names that a visit has for them. */
  readonly identifiers: Readonly<Record<string, IdentifierKind>>
  /** Set if a visit has these identifiers once for each account, by the account's ID. */
  readonly accounts?: { readonly idPattern: string }
  /** Query parameters that carry its click IDs into a page's address. */
  readonly clickParameters: readonly string[]
  readonly block: ProviderBlock
  /** Where its API is reached. */
  readonly api: ProviderAddress
  /** Where it gives access tokens, if requests need one. */
  readonly tokens?: ProviderAddress
}

/** The block of a Destination that holds what the provider needs. */
export interface ProviderBlock {
  /** Field of `Destination.spec`. */
  readonly field: string
  /** The whole block, with its references to Secrets. */
  readonly schema: JsonSchema
  readonly secret: SecretReading
}

/** One reference inside a block. Either it names a key, or the Secret holds one of several sets of keys. */
type SecretReading =
  | { readonly refField: string; readonly credential: string }
  /** From Secret key to credential name; the first set whose keys are all present is used. */
  | { readonly refField: string; readonly sets: readonly Readonly<Record<string, string>>[] }

export interface ProviderAddress {
  /** Origin that is used unless the operator sets another one. */
  readonly url: string
  /** Name of the setting that does so; its variable and the chart's value are derived from it. */
  readonly setting: `${string}Url`
  /** What is reached there, in the words of the settings page. */
  readonly what: string
}
