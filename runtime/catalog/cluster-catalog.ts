/**
 * Keeps the catalog that the operator publishes in the cluster: swapped whole, with the last good one saved on disk.
 *
 * A catalog is spread over several ConfigMaps; it takes effect once the index and every shard it names have arrived.
 * Later errors never change the catalog in force.
 */

import type { Catalog, CatalogProblem, Credentials } from '../../domain/catalog.ts'
import { withNumber } from '../../domain/published/catalog-number.ts'
import type { CatalogPlace } from '../../domain/published/place.ts'
import { CATALOG_LABEL, indexName } from '../../domain/published/place.ts'
import { emptyShardMemory, fromShards } from '../../domain/published/shards.ts'
import type { CredentialHolder } from '../../domain/published/holders.ts'
import type { CatalogIndex } from '../../domain/published/index.ts'
import { credentialsParts, UnreadableCatalog } from '../../domain/published/index.ts'
import type { CatalogChange, CatalogSource } from './source.ts'
import { createCatalogCopy } from './copy.ts'
import { createCredentialFetcher } from './cluster-credentials.ts'
import { type Reflector, startReflector, type KubeWatching } from '../kube/reflector.ts'
import type { Logger } from '../logger.ts'
import type { PublishedProblem } from '../../domain/published/problems.ts'
import type { PartsMemory } from './whole-catalog.ts'
import { publishedProblems, wholeCatalog } from './whole-catalog.ts'
import { endedWithin } from '../../common/deadline.ts'

interface ClusterCatalogOptions {
  readonly watching: KubeWatching
  readonly place: CatalogPlace
  /** Whose credentials are read as well; null for roles that need none. */
  readonly holder: CredentialHolder | null
  /** Where the last good catalog is saved; never with credentials. */
  readonly folder: string
  /** How long a start waits for a catalog; set by tests. */
  readonly patienceMs?: number
}

/** Neither the cluster nor the disk has a catalog: a start must not answer as if there were no websites. */
class NoCatalog extends Error {
  override readonly name = 'NoCatalog'
}

/** How long the API server may take before the copy on disk is used. */
const CLUSTER_FIRST_MS = 3_000
const PATIENCE_MS = 60_000

/** @throws NoCatalog */
export async function openClusterCatalog(options: ClusterCatalogOptions): Promise<CatalogSource> {
  const source = new ClusterCatalog(options)
  try {
    await source.open()
    return {
      current: () => source.catalog,
      asOf: () => source.catalog.number,
      credentials: () => source.credentials,
      problems: () => source.problems,
      objectProblems: () => [...source.problems, ...source.published],
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

class ClusterCatalog {
  readonly listeners = new Set<(change: CatalogChange) => void>()
  credentials: Credentials = new Map()
  problems: readonly CatalogProblem[] = []
  published: readonly PublishedProblem[] = []
  readonly #options: ClusterCatalogOptions
  readonly #logger: Logger
  readonly #copy
  readonly #maps: Reflector
  /** Null for a role that needs no credentials. */
  readonly #fetcher
  readonly #first = Promise.withResolvers<void>()
  #catalog: Catalog | null = null
  readonly #memory = emptyShardMemory()
  readonly #parts: PartsMemory = new Map()

  constructor(options: ClusterCatalogOptions) {
    this.#options = options
    const { watching, place, holder, folder } = options
    const { logger } = watching
    this.#logger = logger
    this.#copy = createCatalogCopy(`${folder}/catalog-${place.namespace}-${place.name}.json`, logger)
    const base = `/api/v1/namespaces/${place.namespace}`
    const query = { labelSelector: `${CATALOG_LABEL}=${place.name}` }
    const onChange = (): void => {
      this.#take()
      this.#takeProblems()
    }
    this.#maps = startReflector(watching, { name: 'configmaps', path: `${base}/configmaps`, query }, { onChange })
    this.#fetcher = holder === null ? null : createCredentialFetcher(watching, place, () => this.#take())
  }

  get catalog(): Catalog {
    if (this.#catalog === null) throw new NoCatalog('there is no catalog yet')
    return this.#catalog
  }

  /** Resolves once there is a catalog: from the cluster if it answers, otherwise from the disk. */
  async open(): Promise<void> {
    const { holder, patienceMs = PATIENCE_MS } = this.#options
    const logger = this.#logger
    if (await this.#isThereWithin(Math.min(CLUSTER_FIRST_MS, patienceMs))) return
    // A role that sends can do nothing without credentials, which are on no disk: its work waits on the engines meanwhile.
    const kept = holder === null ? await this.#copy.read() : null
    if (kept !== null && this.#catalog === null) {
      this.#swap(withNumber(fromShards(kept.version, kept.shards), kept.number))
      logger.warn({ version: kept.version, number: kept.number }, 'using the last catalog saved on disk')
      return
    }
    logger.warn({}, 'waiting for a catalog')
    if (await this.#isThereWithin(patienceMs)) return
    throw new NoCatalog('neither the cluster nor the disk has a catalog; is the operator running?')
  }

  async close(): Promise<void> {
    await Promise.all([this.#maps.close(), this.#fetcher?.close()])
    await this.#copy.close()
  }

  async #isThereWithin(deadlineMs: number): Promise<boolean> {
    await endedWithin(this.#first.promise, deadlineMs)
    return this.#catalog !== null
  }

  /** Uses what the cluster holds if it is complete; does nothing while parts are still missing. */
  #take(): void {
    try {
      const { place } = this.#options
      const whole = wholeCatalog(place, (name) => this.#maps.objects.get(`${place.namespace}/${name}`), this.#parts)
      if (whole === null) return
      const { index, texts } = whole
      const credentials = this.#credentialsOf(index)
      if (credentials === null) return
      const isOther = index.version !== this.#catalog?.version
      const content = isOther ? fromShards(index.version, texts, this.#memory) : this.catalog
      const catalog = withNumber(content, index.number)
      // Together: a destination without its credentials would look invalid.
      this.#takeCredentials(credentials)
      this.problems = []
      if (catalog === this.#catalog) return
      this.#swap(catalog)
      this.#copy.keep({ version: index.version, number: index.number, shards: texts })
    } catch (error) {
      this.#refuse(error)
    }
  }

  /** They may come before or after the catalog that they belong to: they change nothing but what people see. */
  #takeProblems(): void {
    const { place } = this.#options
    const published = publishedProblems(place, (name) => this.#maps.objects.get(`${place.namespace}/${name}`))
    const catalog = this.#catalog
    const isSame = JSON.stringify(published) === JSON.stringify(this.published)
    this.published = published
    if (catalog !== null && !isSame) this.#tell(catalog, catalog)
  }

  #tell(catalog: Catalog, previous: Catalog): void {
    for (const listener of this.listeners) listener({ catalog, previous, problems: [], isAccepted: true })
  }

  /** Null until they have arrived. */
  #credentialsOf(index: CatalogIndex): Credentials | null {
    const { place, holder } = this.#options
    if (holder === null || this.#fetcher === null) return new Map()
    return this.#fetcher.of(credentialsParts(index, place, holder))
  }

  #takeCredentials(credentials: Credentials): void {
    if (this.#options.holder === null || isSameCredentials(credentials, this.credentials)) return
    this.credentials = credentials
    this.#logger.info({ objects: credentials.size }, 'credentials in force')
  }

  #swap(catalog: Catalog): void {
    const previous = this.#catalog ?? catalog
    this.#catalog = catalog
    const { version, number } = catalog
    this.#logger.info({ version, number, websites: catalog.websites.size }, 'catalog in force')
    this.#first.resolve()
    this.#tell(catalog, previous)
  }

  #refuse(error: unknown): void {
    const message = error instanceof UnreadableCatalog ? error.message : 'the catalog cannot be read'
    if (this.problems.some((problem) => problem.message === message)) return
    const object = `ConfigMap/${indexName(this.#options.place)}`
    this.problems = [{ object, source: '', field: '', reason: 'CatalogUnreadable', message }]
    this.#logger.error({ why: message }, 'catalog of the cluster refused, keeping the one in force')
  }
}

/** By identity: what was fetched once stays the same object. */
function isSameCredentials(a: Credentials, b: Credentials): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
}
