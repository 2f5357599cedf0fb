/** Names of the objects that hold the compiled catalog in a cluster: shared by the operator and the readers. */

import type { CredentialHolder } from './holders.ts'
import { RESOURCE_GROUP } from '../resources/resources.ts'

/** The place of the compiled catalog in a cluster. */
export interface CatalogPlace {
  readonly namespace: string
  /** Prefix of its objects' names; two installations in one namespace need two. */
  readonly name: string
}

/** The label of its objects; the value is the place's name. */
export const CATALOG_LABEL = `${RESOURCE_GROUP}/catalog`

/** Keys in the objects. */
export const INDEX_KEY = 'index.json'
export const SHARD_KEY = 'shard.json.gz'
export const PROBLEMS_KEY = 'problems.json'
export const CREDENTIALS_KEY = 'credentials.json.gz'
export const NONCE_KEY = 'nonce'

/**
 * Every part has two names. New content goes to the name that the index does not use, and the index is written last.
 */
export const SLOTS = ['a', 'b'] as const
export type Slot = (typeof SLOTS)[number]

export function otherSlot(slot: Slot): Slot {
  return slot === 'a' ? 'b' : 'a'
}

export function indexName({ name }: CatalogPlace): string {
  return `${name}-catalog`
}

/** The problems shown to organisations; there is no such object while there are none. */
export function problemsName({ name }: CatalogPlace): string {
  return `${name}-catalog-problems`
}

/** `key`: binary digits that the hashes of all IDs in the part begin with; empty if one part holds everything. */
export function partName({ name }: CatalogPlace, key: string, slot: Slot): string {
  return `${name}-catalog-${key === '' ? 'all' : key}-${slot}`
}

/** Fixed names: rights to Secrets can only be granted by name, so a setting fixes the number of parts. */
export function credentialsPartName(
  { name }: CatalogPlace,
  holder: CredentialHolder,
  number: number,
  slot: Slot,
): string {
  return `${name}-${holder.replaceAll('_', '-')}-${number}-${slot}`
}
