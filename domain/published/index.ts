/**
 * The index of a catalog that is stored in parts: which of its two names holds each part, with the digest of each.
 *
 * A reader uses nothing until every part in the index has arrived: a catalog is swapped whole although it is stored in
 * parts. Two forms are read: this one, and the earlier one in which every part had a single name.
 */

import type { CatalogPlace, Slot } from './place.ts'
import { isProviderHolder, type CredentialHolder } from './holders.ts'
import { credentialsPartName, partName, singleCredentialsName, singleShardName, SLOTS } from './place.ts'

/** The newest form that this program reads. Programs that read only older forms keep the catalog they have. */
const READER = 2

export interface PartEntry {
  /** The same as in `partName`. */
  readonly key: string
  readonly slot: Slot
  /** Of the part's text. */
  readonly digest: string
}

export interface CredentialsEntry {
  readonly slot: Slot
  /** Digest of nonce and text, so that it reveals nothing about the text. */
  readonly digest: string
}

export interface CatalogIndex {
  /** Of the catalog (`catalog-number.ts`); each write of a changed index has a higher one. */
  readonly number: number
  /** Of the objects that say who may do what (`rights-mark.ts`); empty if it is not known. */
  readonly rights: string
  /** Version of the catalog as a whole. */
  readonly version: string
  readonly parts: readonly PartEntry[]
  /** One list per holder, in the order of their numbers. */
  readonly credentials: Readonly<Record<string, readonly CredentialsEntry[]>>
  /** Digests in the form with one name each; null in the current form. */
  readonly single: readonly string[] | null
}

/** One object that a reader needs, and the digest that identifies the right content; null if there is none. */
export interface NamedPart {
  readonly name: string
  readonly digest: string | null
}

/** Why an index cannot be used; a sentence that begins with "the catalog". */
export class UnreadableCatalog extends Error {
  override readonly name = 'UnreadableCatalog'
}

export function indexText({ number, rights, version, parts, credentials }: Omit<CatalogIndex, 'single'>): string {
  // Readers of the earlier form read `shards` before the form's number.
  return JSON.stringify({ number, rights, version, minReader: READER, shards: [], parts, credentials })
}

/** @throws UnreadableCatalog if this is no index, or a newer form than this program knows. */
export function readIndex(text: string): CatalogIndex {
  const value = jsonOf(text) as (Partial<CatalogIndex> & { minReader?: unknown; shards?: unknown }) | null
  if (typeof value?.version !== 'string' || typeof value.minReader !== 'number' || !Array.isArray(value.shards)) {
    throw new UnreadableCatalog('the catalog has no index')
  }
  const { number = 0, rights = '', version, minReader, parts, credentials } = value
  if (minReader > READER) throw new UnreadableCatalog('the catalog is of a newer form than this program reads')
  if (minReader < READER) {
    return { number, rights, version, parts: [], credentials: {}, single: value.shards as readonly string[] }
  }
  if (!Array.isArray(parts) || !parts.every(isEntry) || typeof credentials !== 'object') {
    throw new UnreadableCatalog('the catalog has no index')
  }
  return { number, rights, version, parts: parts as readonly PartEntry[], credentials, single: null }
}

/** The ConfigMaps that hold the catalog. */
export function catalogParts({ parts, single }: CatalogIndex, place: CatalogPlace): readonly NamedPart[] {
  if (single === null) return parts.map(({ key, slot, digest }) => ({ name: partName(place, key, slot), digest }))
  return single.map((digest, number) => ({ name: singleShardName(place, number, single.length), digest }))
}

/** The Secrets with a holder's credentials. Only providers had some in the form with one name each. */
export function credentialsParts(
  { credentials, single }: CatalogIndex,
  place: CatalogPlace,
  holder: CredentialHolder,
): readonly NamedPart[] {
  if (single !== null)
    return isProviderHolder(holder) ? [{ name: singleCredentialsName(place, holder), digest: null }] : []
  return (credentials[holder] ?? []).map(({ slot, digest }, number) => ({
    name: credentialsPartName(place, holder, number, slot),
    digest,
  }))
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new UnreadableCatalog('the catalog is not JSON', { cause: error })
  }
}

function isEntry({ key, slot, digest }: Partial<PartEntry>): boolean {
  return typeof key === 'string' && SLOTS.some((each) => each === slot) && typeof digest === 'string'
}
