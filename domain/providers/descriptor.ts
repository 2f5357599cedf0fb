/**
 * What is known about a provider, apart from how its requests are built. A descriptor is the only place of these facts:
 * identities, schemas, GPC rules, definitions of resources, settings and the chart's lists follow from it.
 */

import type { JsonSchema } from '../schema/json-schema.ts'
import type { ProviderGuide } from './guide.ts'

/** How an identifier is sent and stored. A `moment` comes as Unix ms or as a date, and is stored as Unix ms. */
export type IdentifierKind = 'text' | 'long text' | 'text or number' | 'moment'

export interface ProviderDescriptor {
  /** Its name in resources, records, topics and on the wire: small letters and underscores. */
  readonly id: string
  /** The name shown to people. */
  readonly name: string
  /** Under Global Privacy Control, advertising providers get nothing about a visit, and none of their identifiers are stored. */
  readonly isAdvertising: boolean
  /** The oldest install that is still sent, in ms after it was received. */
  readonly maxAgeMs: number
  /** How long the provider recognises a repeated ID, in ms; null if it never does. */
  readonly dedupeMs: number | null
  /** The identifiers by which it recognises a visitor, under the names that a visit has for them. */
  readonly identifiers: Readonly<Record<string, IdentifierKind>>
  /** Descriptions for the API's documentation. Click IDs in the address, and moments, need none. */
  readonly identifierWords?: Readonly<Record<string, string>>
  /** Set if a visit has these identifiers once per account, by the account's ID. `what` describes them. */
  readonly accounts?: { readonly idPattern: string; readonly what: string }
  /** Query parameters that carry its click IDs into a page's address. */
  readonly clickParameters: readonly string[]
  /** Its website, as a source of visits. */
  readonly site?: ProviderSite
  readonly block: ProviderBlock
  /** Step by step to a destination; without it there is the plain form alone. */
  readonly guide?: ProviderGuide
  /** The address of its API. */
  readonly api: ProviderAddress
  /** The address that issues access tokens, if requests need one. */
  readonly tokens?: ProviderAddress
}

/** The category by which Google Analytics groups a source into a channel. */
export type SiteCategory = 'search' | 'social' | 'video' | 'shopping' | 'other'

interface ProviderSite {
  /** The source of a visit from there, as `utm_source` usually names it. */
  readonly source: string
  readonly category: SiteCategory
  /** Its hosts and other names of the source (`domain/collection/known-sites.ts`). */
  readonly names: readonly string[]
  readonly ads: AdNetwork
}

/** What a click with one of its click parameters says of a visit. */
export interface AdNetwork {
  /** As people call it. */
  readonly name: string
  /** The medium of the click. */
  readonly medium: string
  /** It adds its click parameter to links in unpaid posts, too. */
  readonly marksUnpaidLinks?: true
}

/** The block of a Destination that holds the provider's settings. */
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
  /** The origin that is used unless the operator sets another one. */
  readonly url: string
  /** Name of the setting that replaces it; its environment variable and the chart's value are derived from it. */
  readonly setting: `${string}Url`
  /** What is reached there, as the settings page says it. */
  readonly what: string
}
