/** Brings the catalog and the credentials into the cluster, and writes nothing that is there already. */

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

import type { CatalogPlace } from '../domain/catalog-place.ts'
import { CATALOG_LABEL, CREDENTIALS_KEY, INDEX_KEY, SHARD_KEY } from '../domain/catalog-place.ts'
import { credentialsName, indexName, shardName } from '../domain/catalog-place.ts'
import { readIndex } from '../domain/catalog-shards.ts'
import { PROVIDER_IDS } from '../domain/model.ts'
import type { KubeObject } from '../runtime/kube/objects.ts'
import type { Writer } from './writer.ts'
import type { Decision } from './decide.ts'

const compress = promisify(gzip)

export interface PublisherOptions {
  readonly writer: Writer
  readonly place: CatalogPlace
  /** What is in the cluster now, by name. */
  readonly configMap: (name: string) => KubeObject | undefined
  readonly configMaps: () => Iterable<KubeObject>
  readonly secret: (name: string) => KubeObject | undefined
}

export interface Publisher {
  /** Shards that the catalog in the cluster has; 0 where there is none. */
  readonly shardsInUse: () => number
  /** Resolves once the cluster holds what was decided; rejects where that must be tried again. */
  readonly publish: (decision: Decision) => Promise<void>
}

const AT_ONCE = 8
/** The API server takes a megabyte; base64 is its affair. */
const MAX_BYTES = 1_000_000

export function createPublisher(options: PublisherOptions): Publisher {
  const { place, writer } = options
  const packed = new Packer()
  const put = async (kind: 'ConfigMap' | 'Secret', name: string, content: Content): Promise<void> => {
    const isThere = kind === 'ConfigMap' ? options.configMap(name) : options.secret(name)
    await writer.applyWhereNew(isThere, objectOf(kind, name, place, content), (object) => holds(object, content))
  }
  return {
    shardsInUse: () => shardsOf(options.configMap(indexName(place))),
    publish: async ({ catalog, credentials }) => {
      const count = catalog.shards.length
      const tasks = [
        ...PROVIDER_IDS.map((provider) => async () => {
          const text = credentials.get(provider) ?? '{}'
          await put('Secret', credentialsName(place, provider), {
            data: { [CREDENTIALS_KEY]: await packed.pack(text) },
          })
        }),
        ...catalog.shards.map((text, number) => async () => {
          await put('ConfigMap', shardName(place, number, count), {
            binaryData: { [SHARD_KEY]: await packed.pack(text) },
          })
        }),
      ]
      await inLanes(tasks)
      // Last, because it is what makes readers take the others.
      await put('ConfigMap', indexName(place), { data: { [INDEX_KEY]: JSON.stringify(catalog.index) } })
      packed.keepUsed()
      const wanted = new Set([indexName(place), ...catalog.shards.map((_, number) => shardName(place, number, count))])
      const surplus = [...options.configMaps()].filter(({ metadata }) => !wanted.has(metadata.name))
      await inLanes(
        surplus.map(
          ({ metadata }) =>
            () =>
              writer.remove('ConfigMap', place.namespace, metadata.name),
        ),
      )
    },
  }
}

interface Content {
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
}

/** Compressed texts by text: most of them are those of the pass before. */
class Packer {
  #known = new Map<string, string>()
  #used = new Map<string, string>()

  async pack(text: string): Promise<string> {
    const packed = this.#known.get(text) ?? (await compress(text)).toString('base64')
    if (packed.length * 0.75 > MAX_BYTES) throw new Error('a part of the catalog is too large for the API server')
    this.#used.set(text, packed)
    return packed
  }

  keepUsed(): void {
    this.#known = this.#used
    this.#used = new Map()
  }
}

function objectOf(kind: 'ConfigMap' | 'Secret', name: string, place: CatalogPlace, content: Content): KubeObject {
  const labels = { [CATALOG_LABEL]: place.name, 'app.kubernetes.io/managed-by': 'whence-operator' }
  return { apiVersion: 'v1', kind, metadata: { name, namespace: place.namespace, labels }, ...content }
}

/** Whether the object holds this. Members that others added are theirs, and nobody reads them. */
function holds(object: KubeObject, content: Content): boolean {
  const has = (members: unknown, wanted: Readonly<Record<string, string>> = {}) =>
    Object.entries(wanted).every(([name, value]) => (members as Record<string, string> | undefined)?.[name] === value)
  return has(object['data'], content.data) && has(object['binaryData'], content.binaryData)
}

/** An index that cannot be read is as good as none: the catalog is then written as a new one. */
function shardsOf(index: KubeObject | undefined): number {
  const text = (index?.['data'] as Readonly<Record<string, string>> | undefined)?.[INDEX_KEY]
  try {
    return text === undefined ? 0 : readIndex(text).shards.length
  } catch {
    return 0
  }
}

async function inLanes(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const queue = [...tasks]
  const lanes = Array.from({ length: Math.min(AT_ONCE, tasks.length) }, async () => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) await task()
  })
  await Promise.all(lanes)
}
