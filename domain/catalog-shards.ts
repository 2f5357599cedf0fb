/**
 * Splits a catalog into shards that are stored one by one, and puts it together again.
 *
 * Text goes in and out: JSON with members in a fixed order, so that an unchanged shard has an unchanged text and digest.
 * The index names the digest of every shard, and whoever reads takes nothing until all of them are there: a catalog is
 * swapped whole though it travels in parts.
 */

import type { Catalog, Destination, Organization, Page, Website } from './catalog.ts'
import type { PartMemory } from './catalog-parts.ts'
import { ofParts } from './catalog-parts.ts'
import { organizationText } from './catalog-text.ts'
import type { HookScan, ProviderId, WebsiteId } from './model.ts'
import type { Sha256Hex } from './origin.ts'

/** What reads shards of this form. A later form that older programs cannot read has a greater number. */
const READER = 1

export interface CatalogIndex {
  /** Version of the catalog as a whole. */
  readonly version: string
  /** Programs whose reader is older keep what they have. */
  readonly minReader: number
  /** Digest of every shard's text, in the order of their numbers. */
  readonly shards: readonly string[]
}

export interface ShardedCatalog {
  readonly index: CatalogIndex
  /** Texts by number. */
  readonly shards: readonly string[]
}

/** So many websites of ordinary size compress to well below 64 KiB. */
const WEBSITES_PER_SHARD = { least: 16, most: 256 }
const MAX_SHARDS = 4_096

interface StoredWebsite extends Omit<Website, 'organization' | 'origins' | 'providers' | 'destinations'> {
  readonly organization: string
  readonly origins: readonly string[]
  readonly providers: readonly ProviderId[]
  readonly destinations: readonly Destination[]
}

interface StoredShard {
  readonly organizations: readonly Organization[]
  readonly websites: readonly StoredWebsite[]
}

/**
 * A power of two that gives shards of a good size. The number in use stays while it is not far off: changing it rewrites
 * every shard.
 */
export function shardCount(websites: number, inUse: number): number {
  const load = websites / Math.max(1, inUse)
  const isGood = inUse > 0 && load <= WEBSITES_PER_SHARD.most && (load >= WEBSITES_PER_SHARD.least || inUse === 1)
  if (isGood) return inUse
  const wanted = Math.max(1, (websites * 2) / WEBSITES_PER_SHARD.most)
  return Math.min(MAX_SHARDS, 2 ** Math.ceil(Math.log2(wanted)))
}

/** What one catalog leaves for the next, for callers that compile again when little has changed. */
export type PackMemory = PartMemory<{ readonly text: string; readonly digest: string }>

export function toShards(
  catalog: Catalog,
  count: number,
  sha256Hex: Sha256Hex,
  memory: PackMemory = { parts: [] },
): ShardedCatalog {
  const parts = ofParts(catalog, count, (text) => ({ text, digest: sha256Hex(text) }), memory)
  const index = { version: catalog.version, minReader: READER, shards: parts.map(({ digest }) => digest) }
  return { index, shards: parts.map(({ text }) => text) }
}

/** Why an index cannot be used; a sentence that begins with "the catalog". */
export class UnreadableCatalog extends Error {
  override readonly name = 'UnreadableCatalog'
}

/** @throws UnreadableCatalog for what is no index, or for a newer form than this program knows. */
export function readIndex(text: string): CatalogIndex {
  const value = parsed(text) as Partial<CatalogIndex> | null
  if (typeof value?.version !== 'string' || typeof value.minReader !== 'number' || !Array.isArray(value.shards)) {
    throw new UnreadableCatalog('the catalog has no index')
  }
  if (value.minReader > READER) throw new UnreadableCatalog('the catalog is of a newer form than this program reads')
  return { version: value.version, minReader: value.minReader, shards: value.shards as readonly string[] }
}

/** What one catalog leaves for the next, which then shares with it whatever did not change. Holds the latest one alone. */
export interface ShardMemory {
  catalog: Catalog | null
  /** By their text. */
  shards: ReadonlyMap<string, ReadShard>
}

export function emptyShardMemory(): ShardMemory {
  return { catalog: null, shards: new Map() }
}

interface ReadShard {
  readonly text: string
  readonly organizations: readonly Organization[]
  readonly stored: readonly StoredWebsite[]
  /** With the organisations of the latest catalog; null before that. */
  readonly websites: readonly Website[] | null
}

/** The catalog that these shards are. A memory changes nothing but the time it takes. @throws UnreadableCatalog */
export function fromShards(version: string, texts: readonly string[], memory = emptyShardMemory()): Catalog {
  const { catalog: before } = memory
  const shards = texts.map((text) => memory.shards.get(text) ?? read(text, before))
  const organizations = new Map(shards.flatMap((shard) => shard.organizations.map((each) => [each.id, each] as const)))
  const areAllSame = before !== null && isSameMap(before.organizations, organizations)
  const websites = new Map<WebsiteId, Website>()
  const origins = new Set<string>()
  const next = new Map<string, ReadShard>()
  for (const shard of shards) {
    const own = areAllSame ? (shard.websites ?? restoredAll(shard, organizations)) : restoredAll(shard, organizations)
    next.set(shard.text, { ...shard, websites: own })
    for (const website of own) {
      websites.set(website.id, website)
      for (const origin of website.origins) origins.add(origin)
    }
  }
  const catalog = Object.freeze({ version, organizations, websites, origins })
  // Only now: a catalog that cannot be read leaves nothing behind.
  memory.catalog = catalog
  memory.shards = next
  return catalog
}

function read(text: string, before: Catalog | null): ReadShard {
  const { organizations, websites } = parsed(text) as StoredShard
  const own = organizations.map((each) => kept(each, before))
  return { text, organizations: own, stored: websites, websites: null }
}

/** An organisation stays the same object as long as it says the same: websites of all shards refer to it. */
function kept(organization: Organization, before: Catalog | null): Organization {
  const last = before?.organizations.get(organization.id)
  const isSame = last !== undefined && organizationText(last) === organizationText(organization)
  return isSame ? last : Object.freeze(organization)
}

function isSameMap<T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>): boolean {
  return a.size === b.size && [...b].every(([key, value]) => a.get(key) === value)
}

/** @throws UnreadableCatalog */
function restoredAll(
  { stored, websites }: ReadShard,
  organizations: ReadonlyMap<string, Organization>,
): readonly Website[] {
  return stored.map((item, index) => {
    const organization = organizations.get(item.organization)
    if (organization === undefined) throw new UnreadableCatalog('the catalog lacks an organisation')
    const last = websites?.[index]
    return last?.organization === organization ? last : restored(item, organization)
  })
}

function restored(item: StoredWebsite, organization: Organization): Website {
  const scan: HookScan = item.hookScan
  const pages: readonly Page[] = item.pages
  return Object.freeze({
    ...item,
    pages,
    hookScan: scan,
    organization,
    origins: new Set(item.origins),
    providers: new Set(item.providers),
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new UnreadableCatalog('the catalog is not JSON', { cause: error })
  }
}
