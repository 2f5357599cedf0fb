/**
 * Directory and inventory of a cluster: watches all kinds, and compiles them as the operator does, but without Secrets,
 * which it may not read.
 */

import { memberOf } from '../../domain/strict-json.ts'
import { sha256Hex } from '../../common/digest.ts'
import {
  compileCatalog,
  emptyCompileMemory,
  type Compilation,
  type PassesInForce,
} from '../../domain/catalog/compile-catalog.ts'
import type { SourceObject } from '../../domain/catalog/objects.ts'
import { readIndex } from '../../domain/published/index.ts'
import { INDEX_KEY, indexName, type CatalogPlace } from '../../domain/published/place.ts'
import { RIGHTS_KINDS } from '../../domain/published/rights-mark.ts'
import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import { RESOURCE_API_VERSION, RESOURCE_KINDS, type ResourceKind } from '../../domain/resources/resources.ts'
import { dataMember } from '../../runtime/catalog/members.ts'
import { KubeError } from '../../runtime/kube/client.ts'
import { type KubeObject, requestObject } from '../../runtime/kube/objects.ts'
import { startReflector, type Reflector, type KubeWatching } from '../../runtime/kube/reflector.ts'
import { listedObject, withManagers } from './cluster-objects.ts'
import { websitesOf, type Directory } from './directory.ts'
import { watchIndex } from './index-watch.ts'
import { createInventory, type Inventory, type InventoryView } from './inventory.ts'

interface ClusterDirectoryOptions {
  readonly watching: KubeWatching
  /** Where the operator publishes the catalog, whose index is asked for. */
  readonly place: CatalogPlace
  /** Empty: all. */
  readonly namespaces: readonly string[]
  /** Objects that name another installation are left alone. */
  readonly installation: string
  readonly nowMs: () => number
}

/** When the index is asked for; tests set it. */
interface AskingPace {
  /** The default is the process's own monotonic clock. */
  readonly elapsedMs?: () => number
  /** Between two requests. */
  readonly everyMs?: number
}

export interface ClusterDirectory extends Directory {
  readonly inventory: Inventory
  readonly close: () => Promise<void>
}

/** Until all of these are known, nobody has any rights: with only some of the members, the wrong people could decide. */
const DECISIVE: readonly ResourceKind[] = RIGHTS_KINDS

const NO_PASSES: PassesInForce = { apiKeys: new Map(), shareLinks: new Map() }

export function watchDirectory(options: ClusterDirectoryOptions, pace: AskingPace = {}): ClusterDirectory {
  let view: DirectoryView | null = null
  const onChange = (): void => {
    view = null
  }
  const watches = RESOURCE_KINDS.map((kind) => ({ kind, reflectors: reflectorsOf(kind, options, onChange) }))
  const all = watches.flatMap(({ reflectors }) => reflectors)
  const decisive = watches.flatMap(({ kind, reflectors }) => (DECISIVE.includes(kind) ? reflectors : []))
  const compile = viewCompiler(watches, options)
  const current = (): DirectoryView => (view ??= compile())
  const isKnown = (): boolean => decisive.every((reflector) => reflector.isSynced())
  const { logger } = options.watching
  const asking = { elapsedMs: () => performance.now(), ...pace }
  const index = watchIndex({ ask: indexReader(options), copies: decisive, logger, ...asking })
  return {
    organizations: () => (isKnown() ? current().compilation.catalog.organizations : new Map()),
    websites: (organization) => (isKnown() ? websitesOf(current().compilation.catalog, organization) : []),
    members: () => (isKnown() ? current().compilation.people.members : []),
    passes: () => (isKnown() ? current().compilation.people : NO_PASSES),
    inventory: createInventory(() => current().listed, options.nowMs),
    rightsAge: index.rightsAge,
    catalogNumber: index.number,
    synced: Promise.all([...all.map(({ synced }) => synced), index.confirmed]).then(() => undefined),
    close: async () => {
      await Promise.all([index.close(), ...all.map((reflector) => reflector.close())])
    },
  }
}

/** Asks the API server itself; null if nothing was published yet. */
function indexReader({ watching: { client }, place }: ClusterDirectoryOptions) {
  const path = `/api/v1/namespaces/${place.namespace}/configmaps/${indexName(place)}`
  return async (signal: AbortSignal) => {
    try {
      const map = await requestObject(client, { method: 'GET', path, signal })
      return readIndex(dataMember(map, 'data', INDEX_KEY) ?? '')
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null
      throw error
    }
  }
}

function reflectorsOf(
  kind: ResourceKind,
  options: ClusterDirectoryOptions,
  onChange: () => void,
): readonly Reflector[] {
  const { watching, namespaces } = options
  const name = RESOURCE_PLURALS[kind]
  const base = `/apis/${RESOURCE_API_VERSION}`
  const paths = namespaces.length === 0 ? [base] : namespaces.map((namespace) => `${base}/namespaces/${namespace}`)
  return paths.map((path) =>
    startReflector(watching, { name, path: `${path}/${name}` }, { shape: withManagers, onChange }),
  )
}

interface KindWatch {
  readonly kind: ResourceKind
  readonly reflectors: readonly Reflector[]
}

interface DirectoryView {
  readonly compilation: Compilation
  readonly listed: InventoryView
}

interface KnownSource {
  /** The API server's counters: equal ones mean an equal spec. */
  readonly counted: string
  readonly source: SourceObject
}

/** Specs that did not change are not checked again, whatever the operator writes into statuses. */
function viewCompiler(
  watches: readonly KindWatch[],
  { installation, nowMs }: ClusterDirectoryOptions,
): () => DirectoryView {
  const memory = emptyCompileMemory()
  let known = new Map<string, KnownSource>()
  return () => {
    const found = watches.flatMap(({ kind, reflectors }) => objectsByAge(kind, reflectors, installation))
    const next = new Map<string, KnownSource>()
    const sources = found.map(({ kind, object }) => {
      const key = `${kind} ${object.metadata.namespace ?? ''} ${object.metadata.name}`
      const counted = `${object.metadata.uid ?? ''} ${object.metadata.generation ?? ''}`
      const before = known.get(key)
      const each = before?.counted === counted ? before : { counted, source: admittedSource(kind, object) }
      next.set(key, each)
      return each.source
    })
    known = next
    const compilation = compileCatalog({
      objects: sources,
      sha256Hex,
      nowMs: nowMs(),
      memory,
      rules: { isWithoutSecrets: true },
    })
    const objects = found.map(({ kind, object }) => listedObject(kind, object))
    const listed = { objects, sources, owners: compilation.owners, isWithoutSecrets: true }
    return { compilation, listed }
  }
}

function objectsByAge(kind: ResourceKind, reflectors: readonly Reflector[], installation: string) {
  return reflectors
    .flatMap((reflector) => [...reflector.objects.values()])
    .filter((object) => isOfInstallation(object, installation))
    .map((object) => ({ kind, object, age: ageOf(object) }))
    .sort((a, b) => (a.age < b.age ? -1 : 1))
}

function isOfInstallation({ spec, status }: KubeObject, installation: string): boolean {
  const named = nameIn(spec) ?? nameIn(status)
  return named === null || named === installation
}

function nameIn(part: unknown): string | null {
  const installation = memberOf(part, 'installation')
  return typeof installation === 'string' && installation !== '' ? installation : null
}

/** Names order objects of the same second, as for the operator. */
function ageOf({ metadata: { creationTimestamp = '', namespace = '', name } }: KubeObject): string {
  return `${creationTimestamp} ${namespace} ${name}`
}

function admittedSource(kind: ResourceKind, { metadata: { name, namespace }, spec }: KubeObject): SourceObject {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) }
  return { value: { apiVersion: RESOURCE_API_VERSION, kind, metadata, spec }, locate: () => '', isAdmitted: true }
}
