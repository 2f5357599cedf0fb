/** Names of the objects in which a cluster keeps the compiled catalog: agreed between the operator and those who read. */

import type { ProviderId } from '../model.ts'
import { RESOURCE_GROUP } from '../resources/resources.ts'

/** Where the compiled catalog lies in a cluster. */
export interface CatalogPlace {
  readonly namespace: string
  /** What the names of its objects begin with; two installations in one namespace need two. */
  readonly name: string
}

/** Its value is the place's name. */
export const CATALOG_LABEL = `${RESOURCE_GROUP}/catalog`

/** Members of the objects. */
export const INDEX_KEY = 'index.json'
export const SHARD_KEY = 'shard.json.gz'
export const CREDENTIALS_KEY = 'credentials.json.gz'
export const NONCE_KEY = 'nonce'

/** Every part has two names. What is new goes to the one that the index does not use, and the index is written last. */
export const SLOTS = ['a', 'b'] as const
export type Slot = (typeof SLOTS)[number]

export function otherSlot(slot: Slot): Slot {
  return slot === 'a' ? 'b' : 'a'
}

export function indexName({ name }: CatalogPlace): string {
  return `${name}-catalog`
}

/** `key`: binary digits that the hashes of all IDs in the part begin with; empty where one part holds everything. */
export function partName({ name }: CatalogPlace, key: string, slot: Slot): string {
  return `${name}-catalog-${key === '' ? 'all' : key}-${slot}`
}

/** Fixed names: rights to Secrets can be given by name alone, so there are as many parts as a setting allows. */
export function credentialsPartName({ name }: CatalogPlace, provider: ProviderId, number: number, slot: Slot): string {
  return `${name}-${provider.replaceAll('_', '-')}-${number}-${slot}`
}

/** In the form with one name each, which is still read: of a shard. */
export function singleShardName({ name }: CatalogPlace, number: number, count: number): string {
  return `${name}-catalog-${number}-of-${count}`
}

/** In the form with one name each, which is still read: of a provider's credentials. */
export function singleCredentialsName({ name }: CatalogPlace, provider: ProviderId): string {
  return `${name}-${provider.replaceAll('_', '-')}`
}
