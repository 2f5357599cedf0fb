/** Decides, from what was gathered and nothing else, what the cluster should hold: the catalog, credentials and statuses. */

import type { Catalog, CatalogProblem } from '../domain/catalog.ts'
import { destinationKey } from '../domain/catalog.ts'
import type { ReadMemory, SourceObject } from '../domain/catalog-objects.ts'
import { objectKey, shownName } from '../domain/catalog-objects.ts'
import { shardCount, toShards } from '../domain/catalog-shards.ts'
import type { ShardedCatalog } from '../domain/catalog-shards.ts'
import { compileCatalog } from '../domain/compile-catalog.ts'
import type { Compilation } from '../domain/compile-catalog.ts'
import type { ProviderId } from '../domain/model.ts'
import { PROVIDER_IDS } from '../domain/model.ts'
import type { Sha256Hex } from '../domain/origin.ts'
import { RESOURCE_API_VERSION, RESOURCE_KINDS } from '../domain/resources.ts'
import type { ResourceKind } from '../domain/resources.ts'
import type { KubeObject } from '../runtime/kube/objects.ts'

/** Everything that a decision depends on. */
export interface Gathered {
  readonly resources: { readonly [K in ResourceKind]: readonly KubeObject[] }
  /** Those that a Destination or LogStream refers to, as far as they are there. */
  readonly secrets: readonly KubeObject[]
  /** Their names and labels alone. */
  readonly namespaces: readonly KubeObject[]
  /** Shards that the catalog has in the cluster; 0 where there is none yet. */
  readonly shardsInUse: number
  readonly baseUrl: string
}

/** One object with what its status should say, its conditions aside. */
export interface DecidedObject {
  readonly kind: ResourceKind
  readonly object: KubeObject
  readonly problems: readonly CatalogProblem[]
  /** Fields of the status beside its conditions; empty for what is not in force. */
  readonly fields: Readonly<Record<string, unknown>>
}

export interface Decision {
  readonly catalog: ShardedCatalog
  readonly websites: number
  /** The text of each provider's Secret. */
  readonly credentials: ReadonlyMap<ProviderId, string>
  /** By `objectKey`. */
  readonly objects: ReadonlyMap<string, DecidedObject>
}

/** What one decision leaves for the next: results that hold as long as an object is the same. */
export interface DecisionMemory {
  readonly sources: WeakMap<KubeObject, SourceObject>
  /** By kind and place, with what the API server counts: a new status makes a new object with the same spec. */
  readonly latest: Map<string, { readonly generation: string; readonly source: SourceObject }>
  readonly decided: WeakMap<KubeObject, DecidedObject>
  readonly read: ReadMemory
}

export function emptyMemory(): DecisionMemory {
  return { sources: new WeakMap(), latest: new Map(), decided: new WeakMap(), read: new WeakMap() }
}

/** The memory changes nothing but the time it takes. */
export function decide(gathered: Gathered, sha256Hex: Sha256Hex, memory: DecisionMemory): Decision {
  const { resources, secrets, shardsInUse } = gathered
  const ordered = RESOURCE_KINDS.flatMap((kind) =>
    oldestFirst(resources[kind]).map((object) => sourceOf(kind, object, memory)),
  )
  const plainSecrets = secrets.map(({ metadata, data }) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', data: data ?? {} },
    metadata: { name: metadata.name, namespace: metadata.namespace },
  }))
  const plainNamespaces = gathered.namespaces.map(({ metadata: { name, labels = {} } }) => ({
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name, labels },
  }))
  const plain = [...plainSecrets, ...plainNamespaces].map((value): SourceObject => ({ value, locate: nowhere }))
  const objects = [...plain, ...ordered]
  const compilation = compileCatalog({ objects, sha256Hex, memory: memory.read })
  const { catalog } = compilation
  return {
    catalog: toShards(catalog, shardCount(catalog.websites.size, shardsInUse), sha256Hex),
    websites: catalog.websites.size,
    credentials: credentialsByProvider(compilation),
    objects: decidedObjects(gathered, compilation, memory),
  }
}

const nowhere = (): string => ''

/** Without the status, which the compiler does not read; lists do not say the kind of each object. */
function sourceOf(kind: ResourceKind, object: KubeObject, { sources, latest }: DecisionMemory): SourceObject {
  const known = sources.get(object)
  if (known !== undefined) return known
  const { name, namespace, uid, generation } = object.metadata
  const key = objectKey(kind, namespace ?? '', name)
  const counted = uid === undefined || generation === undefined ? null : `${uid} ${generation}`
  const last = latest.get(key)
  if (counted !== null && last?.generation === counted) {
    sources.set(object, last.source)
    return last.source
  }
  const value = { apiVersion: RESOURCE_API_VERSION, kind, metadata: { name, namespace }, spec: object['spec'] }
  const source = { value, locate: nowhere }
  sources.set(object, source)
  if (counted !== null) latest.set(key, { generation: counted, source })
  return source
}

/** Older objects keep their place; names settle what was made within one second, so that every pass decides alike. */
function oldestFirst(objects: readonly KubeObject[]): readonly KubeObject[] {
  const order = ({ metadata }: KubeObject) =>
    `${metadata.creationTimestamp ?? ''}\n${metadata.namespace ?? ''}\n${metadata.name}`
  return objects
    .map((object) => ({ object, at: order(object) }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ object }) => object)
}

/** Members in a fixed order: equal credentials make an equal text. */
function credentialsByProvider({ catalog, credentials }: Compilation): ReadonlyMap<ProviderId, string> {
  const texts = PROVIDER_IDS.map((provider) => {
    const own: [string, Readonly<Record<string, string>>][] = []
    for (const website of catalog.websites.values()) {
      for (const destination of website.destinations) {
        const key = destinationKey(website.id, destination.id)
        if (destination.provider === provider) own.push([key, credentials.get(key) ?? {}])
      }
    }
    own.sort(([a], [b]) => (a < b ? -1 : 1))
    return [provider, JSON.stringify({ credentials: Object.fromEntries(own) })] as const
  })
  return new Map(texts)
}

function decidedObjects(
  gathered: Gathered,
  compilation: Compilation,
  { decided: before, latest }: DecisionMemory,
): ReadonlyMap<string, DecidedObject> {
  const problems = Map.groupBy(compilation.problems, (problem) => problem.object)
  const decided = new Map<string, DecidedObject>()
  const view = viewOf(compilation.catalog, gathered.baseUrl)
  for (const kind of RESOURCE_KINDS) {
    for (const object of gathered.resources[kind]) {
      const { name, namespace = '' } = object.metadata
      const own = problems.get(`${kind}/${shownName({ name, namespace })}`) ?? []
      const fields = own.length === 0 ? fieldsOf(kind, object, view) : {}
      const last = before.get(object)
      const made =
        last !== undefined && isSameDecision(last, own, fields) ? last : { kind, object, problems: own, fields }
      before.set(object, made)
      decided.set(objectKey(kind, namespace, name), made)
    }
  }
  for (const key of latest.keys()) if (!decided.has(key)) latest.delete(key)
  return decided
}

/** Of two with problems nothing is said: there are few. */
function isSameDecision(
  last: DecidedObject,
  problems: readonly CatalogProblem[],
  fields: DecidedObject['fields'],
): boolean {
  if (problems.length > 0 || last.problems.length > 0) return false
  const names = Object.keys(fields)
  return names.length === Object.keys(last.fields).length && names.every((name) => fields[name] === last.fields[name])
}

interface SpecInShort {
  readonly id?: string
}

interface CatalogView {
  readonly catalog: Catalog
  readonly baseUrl: string
  /** Websites in force by the ID of their organisation. */
  readonly counts: ReadonlyMap<string, number>
}

function viewOf(catalog: Catalog, baseUrl: string): CatalogView {
  const counts = new Map<string, number>()
  for (const { organization } of catalog.websites.values()) {
    counts.set(organization.id, (counts.get(organization.id) ?? 0) + 1)
  }
  return { catalog, baseUrl, counts }
}

function fieldsOf(
  kind: ResourceKind,
  { metadata, spec }: KubeObject,
  view: CatalogView,
): Readonly<Record<string, unknown>> {
  const id = (spec as SpecInShort).id ?? metadata.name
  if (kind === 'Website') return websiteFields(id, view)
  if (kind === 'InstallPath') return { id }
  if (kind !== 'Organization') return {}
  const own = shownName({ name: metadata.name, namespace: metadata.namespace ?? '' })
  return { websites: view.counts.get(own) ?? 0 }
}

function websiteFields(id: string, { catalog, baseUrl }: CatalogView): Readonly<Record<string, unknown>> {
  const installPath = catalog.websites.get(id)?.organization.firstInstallPath ?? null
  const path = installPath === null ? '' : `/paths/${installPath}`
  return {
    id,
    snippet: `<script async src="${baseUrl}/browser.js" data-project="${id}"></script>`,
    hookCommand: `curl -fsSL ${baseUrl}/v1/projects/${id}${path}/report.sh | sh -s -- install_completed`,
  }
}
