/** Reassembles a catalog from the texts of its parts. */

import { atOnce, type SmallSteps } from './steps.ts'
import type { Catalog, Destination, Organization, Website } from '../catalog.ts'
import { jsonOf, UnreadableCatalog } from './index.ts'
import { CatalogTexts } from './text.ts'
import type { WebsiteId } from '../model.ts'
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

/** What one catalog passes to the next, so that everything unchanged is reused. Holds only the latest catalog. */
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
  /** The websites, with the organisations of the latest catalog; null at first. */
  readonly websites: readonly Website[] | null
}

/**
 * The catalog in these shards. A memory changes only the time it takes.
 * @throws UnreadableCatalog
 */
export function fromShards(version: string, texts: Iterable<string>, memory = emptyShardMemory()): Catalog {
  return atOnce(shardsInSteps(version, texts, memory))
}

/**
 * The same, one shard a step.
 * @throws UnreadableCatalog
 */
export function* shardsInSteps(
  version: string,
  texts: Iterable<string>,
  memory = emptyShardMemory(),
): SmallSteps<Catalog> {
  const { catalog: before } = memory
  const shards: ReadShard[] = []
  for (const text of texts) {
    shards.push(memory.shards.get(text) ?? readShard(text, memory))
    yield
  }
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
    yield
  }
  const catalog = Object.freeze({ version, number: 0, organizations, websites, origins })
  // Not earlier: a catalog that cannot be read must change nothing.
  memory.catalog = catalog
  memory.shards = next
  return catalog
}

function readShard(text: string, memory: ShardMemory): ReadShard {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the operator wrote it: the index has its digest
  const { organizations, websites } = jsonOf(text) as StoredShard
  const own = organizations.map((each) => kept(each, memory))
  return { text, organizations: own, stored: websites, websites: null }
}

/** An organisation stays the same object while its content stays the same: websites of all shards refer to it. */
function kept(organization: Organization, { catalog, texts }: ShardMemory): Organization {
  const last = catalog?.organizations.get(organization.id)
  const isSame = last !== undefined && texts.organization(last) === texts.organization(organization)
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
  return Object.freeze({
    ...item,
    destinations: item.destinations.map((each) => Object.freeze(each)),
    organization,
    origins: new Set(item.origins),
    providers: new Set(item.providers),
  })
}
