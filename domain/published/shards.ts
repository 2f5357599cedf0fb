/** Reassembles a catalog from the texts of its parts. */

import type { Catalog, CompiledFrom, Destination, Organization, RegisteredPage, Website } from '../catalog.ts'
import { jsonOf, UnreadableCatalog } from './index.ts'
import { CatalogTexts } from './text.ts'
import { LIMITS } from '../limits.ts'
import type { HookScan, WebsiteId } from '../model.ts'
import type { ProviderId } from '../providers/index.ts'

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

/** What one catalog passes to the next, which then shares everything unchanged. Holds only the latest. */
interface ShardMemory {
  readonly texts: CatalogTexts
  catalog: Catalog | null
  /** By their text. */
  shards: ReadonlyMap<string, ReadShard>
}

export function emptyShardMemory(): ShardMemory {
  return { texts: new CatalogTexts(), catalog: null, shards: new Map() }
}

interface ReadShard {
  readonly text: string
  readonly organizations: readonly Organization[]
  readonly stored: readonly StoredWebsite[]
  /** With the organisations of the latest catalog; null at first. */
  readonly websites: readonly Website[] | null
}

/**
 * The catalog in these shards. A memory changes only the time it takes.
 * @throws UnreadableCatalog
 */
export function fromShards(version: string, texts: readonly string[], memory = emptyShardMemory()): Catalog {
  const { catalog: before } = memory
  const shards = texts.map((text) => memory.shards.get(text) ?? readShard(text, memory))
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
  // Only now: a catalog that cannot be read must change nothing.
  memory.catalog = catalog
  memory.shards = next
  return catalog
}

function readShard(text: string, memory: ShardMemory): ReadShard {
  const { organizations, websites } = jsonOf(text) as StoredShard
  const own = organizations.map((each) => kept({ ...objectOfId(each.id), ...{ logStreams: [] }, ...each }, memory))
  return { text, organizations: own, stored: websites, websites: null }
}

/** An organisation stays the same object while its content is the same: websites of all shards refer to it. */
function kept(organization: Organization, { catalog, texts }: ShardMemory): Organization {
  const last = catalog?.organizations.get(organization.id)
  const isSame = last !== undefined && texts.organization(last) === texts.organization(organization)
  return isSame ? last : Object.freeze(organization)
}

/** Earlier versions stored no resource; an organisation's can be derived from its ID, which `shownName` made. */
function objectOfId(id: string): CompiledFrom {
  const [first = '', second] = id.split('/')
  return second === undefined ? { namespace: 'default', objectName: first } : { namespace: first, objectName: second }
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
  const pages: readonly RegisteredPage[] = item.pages
  const { namespace } = organization
  return Object.freeze({
    // What earlier versions did not publish.
    ...{ namespace, objectName: item.id, installationsPerVisitWarning: LIMITS.installationsPerVisit.fallback },
    ...{ selectionPolicy: 'latest_visit' as const },
    ...item,
    destinations: item.destinations.map((each) => Object.freeze({ ...{ namespace }, ...each })),
    pages,
    hookScan: scan,
    organization,
    origins: new Set(item.origins),
    providers: new Set(item.providers),
  })
}
