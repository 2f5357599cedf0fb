/**
 * Splits a catalog into shards that are stored one by one, and puts it together again.
 *
 * Text goes in and out: JSON with members in a fixed order, so that an unchanged shard has an unchanged text and digest.
 * The index names the digest of every shard, and whoever reads takes nothing until all of them are there: a catalog is
 * swapped whole though it travels in parts.
 */

import type { Catalog, Destination, Organization, Page, Website } from './catalog.ts'
import { organizationText, sortedById, websiteText } from './catalog-text.ts'
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
  const drafts = Array.from({ length: count }, () => ({ organizations: [] as string[], websites: [] as string[] }))
  const draftOf = (id: string) => drafts[numberOf(id, count)]
  for (const organization of sortedById(catalog.organizations.values()))
    draftOf(organization.id)?.organizations.push(organizationText(organization))
  for (const website of sortedById(catalog.websites.values())) draftOf(website.id)?.websites.push(websiteText(website))
  const shards = drafts.map(
    ({ organizations, websites }) =>
      `{"organizations":[${organizations.join(',')}],"websites":[${websites.join(',')}]}`,
  )
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

/** What one catalog leaves for the next: shards by their text. Holds those of the latest catalog alone. */
export type ShardMemory = Map<string, ReadShard>

interface ReadShard {
  readonly store: StoredShard
  readonly websites: Map<StoredWebsite, Website>
}

/** The catalog that these shards are. A memory changes nothing but the time it takes. @throws UnreadableCatalog */
export function fromShards(version: string, shards: readonly string[], memory: ShardMemory = new Map()): Catalog {
  const stores = shards.map((text) => memory.get(text) ?? read(text))
  const organizations = new Map<string, Organization>()
  for (const { store } of stores)
    for (const item of store.organizations) organizations.set(item.id, Object.freeze(item))
  const websites = new Map<WebsiteId, Website>()
  const origins = new Set<string>()
  for (const { store, websites: known } of stores) {
    for (const item of store.websites) {
      const organization = organizations.get(item.organization)
      if (organization === undefined) throw new UnreadableCatalog('the catalog lacks an organisation')
      const before = known.get(item)
      const website = before?.organization === organization ? before : restored(item, organization)
      known.set(item, website)
      websites.set(website.id, website)
      for (const origin of website.origins) origins.add(origin)
    }
  }
  memory.clear()
  for (const [number, text] of shards.entries()) {
    const store = stores[number]
    if (store !== undefined) memory.set(text, store)
  }
  return Object.freeze({ version, organizations, websites, origins })
}

function read(text: string): ReadShard {
  return { store: parsed(text) as StoredShard, websites: new Map() }
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new UnreadableCatalog('the catalog is not JSON', { cause: error })
  }
}
