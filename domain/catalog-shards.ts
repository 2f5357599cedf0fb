/**
 * Splits a catalog into shards that are stored one by one, and puts it together again.
 *
 * Text goes in and out: JSON with members in a fixed order, so that an unchanged shard has an unchanged text and digest.
 * The index names the digest of every shard, and whoever reads takes nothing until all of them are there: a catalog is
 * swapped whole though it travels in parts.
 */

import type { Catalog, Destination, Organization, Page, Website } from './catalog.ts'
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

export function toShards(catalog: Catalog, count: number, sha256Hex: Sha256Hex): ShardedCatalog {
  const drafts = Array.from({ length: count }, () => ({
    organizations: [] as Organization[],
    websites: [] as StoredWebsite[],
  }))
  const draftOf = (id: string) => drafts[numberOf(id, count)]
  for (const organization of sorted(catalog.organizations.values()))
    draftOf(organization.id)?.organizations.push(organization)
  for (const website of sorted(catalog.websites.values())) draftOf(website.id)?.websites.push(stored(website))
  const shards = drafts.map((draft) => JSON.stringify(draft satisfies StoredShard))
  return { index: { version: catalog.version, minReader: READER, shards: shards.map(sha256Hex) }, shards }
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

/** The catalog that these shards are. @throws UnreadableCatalog */
export function fromShards(version: string, shards: readonly string[]): Catalog {
  const stores = shards.map((text) => parsed(text) as StoredShard)
  const organizations = new Map<string, Organization>()
  for (const { organizations: each } of stores) for (const item of each) organizations.set(item.id, Object.freeze(item))
  const websites = new Map<WebsiteId, Website>()
  const origins = new Set<string>()
  for (const store of stores) {
    for (const item of store.websites) {
      const organization = organizations.get(item.organization)
      if (organization === undefined) throw new UnreadableCatalog('the catalog lacks an organisation')
      const website = restored(item, organization)
      websites.set(website.id, website)
      for (const origin of website.origins) origins.add(origin)
    }
  }
  return Object.freeze({ version, organizations, websites, origins })
}

function stored(website: Website): StoredWebsite {
  const { organization, origins, providers, ...plain } = website
  return {
    ...plain,
    organization: organization.id,
    origins: [...origins],
    providers: [...providers].sort(),
  }
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

/** The first 32 bits of FNV-1a: every reader and writer must agree on it for ever, and it is not about secrets. */
function numberOf(id: string, count: number): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < id.length; index += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193) >>> 0
  }
  return hash % count
}

function sorted<T extends { readonly id: string }>(items: Iterable<T>): readonly T[] {
  return [...items].sort((a, b) => (a.id < b.id ? -1 : 1))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new UnreadableCatalog('the catalog is not JSON', { cause: error })
  }
}
