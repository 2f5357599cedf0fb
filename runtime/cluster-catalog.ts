/**
 * Keeps the catalog as the operator publishes it in the cluster: swapped whole, and the last good one kept on disk.
 *
 * A catalog travels in several ConfigMaps; it is taken once the index and every shard that it names are there. Whatever
 * goes wrong afterwards, what is in force stays in force.
 */

import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'

import type { Catalog, CatalogProblem, Credentials } from '../domain/catalog.ts'
import { destinationKey } from '../domain/catalog.ts'
import type { CatalogPlace } from '../domain/catalog-place.ts'
import { CATALOG_LABEL, credentialsName, CREDENTIALS_KEY, INDEX_KEY } from '../domain/catalog-place.ts'
import { indexName, SHARD_KEY, shardName } from '../domain/catalog-place.ts'
import { emptyShardMemory, fromShards, readIndex, UnreadableCatalog } from '../domain/catalog-shards.ts'
import type { ProviderId } from '../domain/model.ts'
import type { CatalogChange, CatalogSource } from './catalog-source.ts'
import { createCatalogCopy, type KeptCatalog } from './catalog-copy.ts'
import type { KubeClient } from './kube/client.ts'
import type { KubeMetrics } from './kube/metrics.ts'
import type { KubeObject } from './kube/objects.ts'
import { type Reflector, startReflector } from './kube/reflector.ts'
import type { Logger } from './logger.ts'

export interface ClusterCatalogOptions {
  readonly client: KubeClient
  readonly place: CatalogPlace
  /** Whose credentials are read as well; null for roles that need none. */
  readonly provider: ProviderId | null
  /** Where the last good catalog is kept; credentials never lie there. */
  readonly folder: string
  readonly metrics: KubeMetrics
  readonly logger: Logger
  readonly random: () => number
  /** How long a start waits for a catalog before it gives up; for tests. */
  readonly patienceMs?: number
}

/** Neither the cluster nor the disk has a catalog: a start must not answer as if there were no websites. */
export class NoCatalog extends Error {
  override readonly name = 'NoCatalog'
}

/** The API server has this long before the copy on the disk is taken. */
const CLUSTER_FIRST_MS = 3_000
const PATIENCE_MS = 60_000
const MAX_TEXT_BYTES = 64 * 1024 * 1024

/** @throws NoCatalog */
export async function openClusterCatalog(options: ClusterCatalogOptions): Promise<CatalogSource> {
  const source = new ClusterCatalog(options)
  try {
    await source.open()
    return {
      current: () => source.catalog,
      credentials: () => source.credentials,
      problems: () => source.problems,
      onChange: (listener) => {
        source.listeners.add(listener)
        return () => source.listeners.delete(listener)
      },
      close: () => source.close(),
    }
  } catch (error) {
    await source.close()
    throw error
  }
}

interface Shard {
  readonly packed: string
  readonly text: string
  readonly digest: string
}

class ClusterCatalog {
  readonly listeners = new Set<(change: CatalogChange) => void>()
  credentials: Credentials = new Map()
  problems: readonly CatalogProblem[] = []
  readonly #options: ClusterCatalogOptions
  readonly #copy
  readonly #maps: Reflector
  readonly #secret: Reflector | null
  readonly #first = Promise.withResolvers<void>()
  #catalog: Catalog | null = null
  readonly #memory = emptyShardMemory()
  /** By name of its ConfigMap: a shard that did not change is not unpacked again. */
  #shards = new Map<string, Shard>()

  constructor(options: ClusterCatalogOptions) {
    this.#options = options
    const { place, provider } = options
    this.#copy = createCatalogCopy(`${options.folder}/catalog-${place.namespace}-${place.name}.json`, options.logger)
    const base = `/api/v1/namespaces/${place.namespace}`
    this.#maps = startReflector({
      ...options,
      name: 'configmaps',
      path: `${base}/configmaps`,
      query: { labelSelector: `${CATALOG_LABEL}=${place.name}` },
      onChange: () => this.#take(),
    })
    this.#secret =
      provider === null
        ? null
        : startReflector({
            ...options,
            name: 'credentials',
            path: `${base}/secrets`,
            query: { fieldSelector: `metadata.name=${credentialsName(place, provider)}` },
            onChange: () => this.#takeCredentials(),
          })
  }

  get catalog(): Catalog {
    if (this.#catalog === null) throw new NoCatalog('there is no catalog yet')
    return this.#catalog
  }

  /** Resolves once there is a catalog, from the cluster if it answers, else from the disk. */
  async open(): Promise<void> {
    const { logger, provider, patienceMs = PATIENCE_MS } = this.#options
    if (await this.#isThereWithin(Math.min(CLUSTER_FIRST_MS, patienceMs))) return
    // Who delivers can do nothing without credentials, which are on no disk: jobs wait on the event log meanwhile.
    const kept = provider === null ? await this.#copy.read() : null
    if (kept !== null && this.#catalog === null) {
      this.#swap(fromShards(kept.version, kept.shards))
      logger.warn({ version: kept.version }, 'catalog in force is the last one of the disk')
      return
    }
    logger.warn({}, 'waiting for a catalog')
    if (await this.#isThereWithin(patienceMs)) return
    throw new NoCatalog('neither the cluster nor the disk has a catalog; is the operator running?')
  }

  async close(): Promise<void> {
    await Promise.all([this.#maps.close(), this.#secret?.close()])
    await this.#copy.close()
  }

  async #isThereWithin(deadlineMs: number): Promise<boolean> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(() => late.resolve(), deadlineMs)
    await Promise.race([this.#first.promise, late.promise])
    clearTimeout(timer)
    return this.#catalog !== null
  }

  /** Takes what the cluster holds now if it is whole, and says nothing where it is still on its way. */
  #take(): void {
    try {
      const whole = this.#whole()
      if (whole === null || whole.version === this.#catalog?.version) return
      const catalog = fromShards(whole.version, whole.shards, this.#memory)
      if (!this.#hasCredentialsFor(catalog)) return
      this.#swap(catalog)
      this.#copy.keep(whole)
      this.problems = []
    } catch (error) {
      this.#refuse(error)
    }
  }

  /** Catalog and credentials come on two ways: a destination without its credentials would look like a wrong one. */
  #hasCredentialsFor(catalog: Catalog): boolean {
    const { provider } = this.#options
    if (provider === null) return true
    return [...catalog.websites.values()].every((website) =>
      website.destinations
        .filter((destination) => destination.provider === provider)
        .every((destination) => this.credentials.has(destinationKey(website.id, destination.id))),
    )
  }

  #whole(): KeptCatalog | null {
    const { place } = this.#options
    const named = (name: string) => this.#maps.objects.get(`${place.namespace}/${name}`)
    const text = memberOf(named(indexName(place)), 'data', INDEX_KEY)
    if (text === null) return null
    const index = readIndex(text)
    const shards = new Map<string, Shard>()
    for (const [number, digest] of index.shards.entries()) {
      const name = shardName(place, number, index.shards.length)
      const shard = this.#shard(name, memberOf(named(name), 'binaryData', SHARD_KEY))
      if (shard?.digest !== digest) return null
      shards.set(name, shard)
    }
    this.#shards = shards
    return { version: index.version, shards: [...shards.values()].map((shard) => shard.text) }
  }

  #shard(name: string, packed: string | null): Shard | null {
    const known = this.#shards.get(name)
    if (packed === null || known?.packed === packed) return packed === null ? null : (known ?? null)
    const text = unpacked(packed)
    const shard = { packed, text, digest: createHash('sha256').update(text).digest('hex') }
    this.#shards.set(name, shard)
    return shard
  }

  #swap(catalog: Catalog): void {
    const previous = this.#catalog ?? catalog
    this.#catalog = catalog
    this.#options.logger.info({ version: catalog.version, websites: catalog.websites.size }, 'catalog in force')
    this.#first.resolve()
    for (const listener of this.listeners) listener({ catalog, previous, problems: [], isAccepted: true })
  }

  #refuse(error: unknown): void {
    const message = error instanceof UnreadableCatalog ? error.message : 'the catalog cannot be read'
    if (this.problems.some((problem) => problem.message === message)) return
    const { place, logger } = this.#options
    const object = `ConfigMap/${indexName(place)}`
    this.problems = [{ object, source: '', field: '', reason: 'CatalogUnreadable', message }]
    logger.error({ why: message }, 'catalog of the cluster refused, the one in force stays')
  }

  #takeCredentials(): void {
    const [secret] = this.#secret?.objects.values() ?? []
    const packed = memberOf(secret, 'data', CREDENTIALS_KEY)
    // A Secret that was deleted is written again by the operator; until then the credentials known stay good.
    if (packed === null) return
    try {
      const { credentials } = JSON.parse(unpacked(packed)) as {
        readonly credentials: Readonly<Record<string, Readonly<Record<string, string>>>>
      }
      this.credentials = new Map(Object.entries(credentials))
      this.#options.logger.info({ destinations: this.credentials.size }, 'credentials in force')
      this.#take()
    } catch {
      this.#options.logger.error({}, 'credentials of the cluster cannot be read, those in force stay')
    }
  }
}

function memberOf(object: KubeObject | undefined, group: 'data' | 'binaryData', name: string): string | null {
  const member = (object?.[group] as Readonly<Record<string, unknown>> | undefined)?.[name]
  return typeof member === 'string' ? member : null
}

function unpacked(packed: string): string {
  return gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_TEXT_BYTES }).toString('utf8')
}
