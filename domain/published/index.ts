/**
 * The index of a catalog that is stored in parts: which of its two names holds each part, with the digest of each.
 *
 * A reader uses nothing until every part in the index has arrived: a catalog is swapped whole although it is stored in
 * parts. The index says which form a reader must know; a program refuses a newer one, and keeps the catalog that it has.
 */

import type { CatalogPlace, Slot } from './place.ts'
import type { CredentialHolder } from './holders.ts'
import { credentialsPartName, partName, SLOTS } from './place.ts'
import { isNumber, isText, listOf, mapOf, isOneOf, shapeOf } from '../guards.ts'
import { memberOf } from '../strict-json.ts'

/** The newest form that this program reads. */
const READER = 1

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
}

const isIndex = shapeOf<CatalogIndex>({
  number: isNumber,
  rights: isText,
  version: isText,
  parts: listOf(shapeOf<PartEntry>({ key: isText, slot: isOneOf(SLOTS), digest: isText })),
  credentials: mapOf(listOf(shapeOf<CredentialsEntry>({ slot: isOneOf(SLOTS), digest: isText }))),
})

/** One object that a reader needs, and the digest that identifies the right content. */
export interface NamedPart {
  readonly name: string
  readonly digest: string
}

/** Why an index cannot be used; a sentence that begins with "the catalog". */
export class UnreadableCatalog extends Error {
  override readonly name = 'UnreadableCatalog'
}

export function indexText({ number, rights, version, parts, credentials }: CatalogIndex): string {
  return JSON.stringify({ number, rights, version, minReader: READER, parts, credentials })
}

/** @throws UnreadableCatalog if this is no index, or a newer form than this program knows. */
export function readIndex(text: string): CatalogIndex {
  const value = jsonOf(text)
  const minReader = memberOf(value, 'minReader')
  if (typeof minReader === 'number' && minReader > READER)
    throw new UnreadableCatalog('the catalog is of a newer form than this program reads')
  if (typeof minReader !== 'number' || !isIndex(value)) throw new UnreadableCatalog('the catalog has no index')
  const { number, rights, version, parts, credentials } = value
  return { number, rights, version, parts, credentials }
}

/** The ConfigMaps that hold the catalog. */
export function catalogParts({ parts }: CatalogIndex, place: CatalogPlace): readonly NamedPart[] {
  return parts.map(({ key, slot, digest }) => ({ name: partName(place, key, slot), digest }))
}

/** The Secrets with a holder's credentials. */
export function credentialsParts(
  { credentials }: CatalogIndex,
  place: CatalogPlace,
  holder: CredentialHolder,
): readonly NamedPart[] {
  return (credentials[holder] ?? []).map(({ slot, digest }, number) => ({
    name: credentialsPartName(place, holder, number, slot),
    digest,
  }))
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UnreadableCatalog('the catalog is not JSON', { cause: error })
  }
}
