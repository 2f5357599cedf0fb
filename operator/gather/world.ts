/** Keeps copies of everything in the cluster that the operator's decisions depend on, and of its own objects. */

import type { CatalogPlace } from '../../domain/published/place.ts'
import { objectKey } from '../../domain/catalog/objects.ts'
import { LIMITS } from '../../domain/limits.ts'
import { CATALOG_LABEL } from '../../domain/published/place.ts'
import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { RESOURCE_API_VERSION, RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import { type KubeObject, kubeKey } from '../../runtime/kube/objects.ts'
import type { KeptCopies, Reflector, WatchedList, KubeWatching } from '../../runtime/kube/reflector.ts'
import { startReflector } from '../../runtime/kube/reflector.ts'
import { bearsDashboardLabel, labelsCopy, resourceCopy } from './copies.ts'
import { inShort } from './map-copies.ts'
import type { NamespaceState } from './namespaces.ts'
import { createNamespaces } from './namespaces.ts'
import { PAUSED_ANNOTATION, RECONCILE_ANNOTATION } from './annotations.ts'
import { installationOfObject } from './ownership.ts'
import type { RoomNews } from './room.ts'
import { watchSecrets, type Everywhere, type WatchedSecrets } from './watched-secrets.ts'
import { recordOf } from '../../domain/typed-keys.ts'

const FORBIDDEN = 403

/** What of a cluster an operator looks after. */
export interface Territory {
  /** Of the catalog, whose objects are its own. */
  readonly place: CatalogPlace
  /** Empty: all. */
  readonly namespaces: readonly string[]
  /** The operator's own installation; objects of others are left alone. */
  readonly installation: string
}

/** Who hears what has changed; everything is called often, and must only take note. */
interface WorldNews {
  /** Something that decisions depend on has changed. */
  readonly onChange: () => void
  /** Only the status of an object changed, mostly by our own write: no decision depends on it. */
  readonly onStatus: (key: string) => void
  /** An object that the operator may have written is gone. */
  readonly onGone: (kind: 'ConfigMap') => void
}

interface WorldOptions {
  readonly watching: KubeWatching
  readonly territory: Territory
  /** For the custom resources. */
  readonly room: RoomNews
  readonly news: WorldNews
  readonly nowMs: () => number
}

/** The custom resources. */
export interface WorldResources {
  readonly resources: (kind: ResourceKind) => readonly KubeObject[]
  readonly resource: (kind: ResourceKind, namespace: string, name: string) => KubeObject | undefined
  /** Metadata of the Secrets that bear the dashboard's label; whether it made them, only their type says. */
  readonly dashboardSecrets: () => readonly KubeObject[]
  /** Whether all custom resources and names of Secrets are known, as they are now. */
  readonly isWhole: () => boolean
}

/** The operator's own objects, as `inShort` makes them. */
export interface WorldMaps {
  readonly configMap: (name: string) => KubeObject | undefined
  readonly configMaps: () => Iterable<KubeObject>
}

/** How far each namespace is known. */
export interface WorldNamespaces {
  /** Names and labels; empty if only one namespace is watched, since no other one can refer to it. */
  readonly namespaces: () => readonly KubeObject[]
  /** Empty if all namespaces are watched at once. */
  readonly namespaceStates: () => ReadonlyMap<string, NamespaceState>
  /** Namespaces without news, because the API server refuses. */
  readonly outdated: () => ReadonlySet<string>
}

interface World extends WorldResources, WorldMaps, WorldNamespaces {
  readonly secrets: WatchedSecrets
  /** Whether every first answer has arrived, even if it is a refusal. */
  readonly isReady: () => boolean
  /** Lists all objects of a kind anew. */
  readonly readAgain: (kind: ResourceKind) => void
  readonly close: () => Promise<void>
}

export function watchWorld(options: WorldOptions): World {
  const { watching, territory, news } = options
  const { place, namespaces } = territory
  const start: StartWatch = (list, copies) => startReflector(watching, list, { onFailure, ...copies })
  // A refusal is an answer too: what waits for the first answer may continue.
  const onFailure = (status: number): void => {
    if (status === FORBIDDEN) news.onChange()
  }
  /** One watch for the whole cluster, or one in each namespace. */
  const everywhere: Everywhere = ({ path: base, ...list }, copies) => {
    const paths = namespaces.length === 0 ? [base] : namespaces.map((namespace) => `${base}/namespaces/${namespace}`)
    return paths.map((path) => start({ ...list, path: `${path}/${list.name}` }, copies))
  }
  const kinds = watchKinds(options, everywhere)
  const { reflectors: secrets, watched } = watchSecrets(namespaces, everywhere, news.onChange)
  const labelled = watchNamespaces(namespaces, start, news.onChange)
  const own = `/api/v1/namespaces/${place.namespace}`
  /** The operator's own objects. */
  const query = { labelSelector: `${CATALOG_LABEL}=${place.name}` }
  const maps: Reflector = start(
    { name: 'configmaps', path: `${own}/configmaps`, query },
    {
      shape: inShort,
      onChange: (key) => {
        if (key === null || !maps.objects.has(key)) news.onGone('ConfigMap')
        news.onChange()
      },
    },
  )
  const all = [...Object.values(kinds).flat(), ...secrets, ...labelled, maps]
  const { spaces, seen } = spacesOf(options, kinds, { secrets, labelled })
  // The first pass waits for the slowest namespace, but no longer than this.
  const patience = setTimeout(news.onChange, LIMITS.namespacePatienceMs)
  patience.unref()
  const common = namespaces.length === 0 ? all : [...labelled, maps]
  return {
    isReady: () => common.every((watch) => watch.isSynced()) && ![...spaces.states().values()].includes('Pending'),
    isWhole: () => [...Object.values(kinds), secrets].every((watches) => isCurrent(watches, spaces.states())),
    namespaceStates: () => spaces.states(),
    outdated: () => spaces.outdated(),
    resources: (kind) => seen(kinds[kind]).flatMap(({ objects }) => [...objects.values()]),
    resource: (kind, namespace, name) => found(kinds[kind], `${namespace}/${name}`),
    secrets: watched,
    dashboardSecrets: () => secrets.flatMap(({ objects }) => [...objects.values()].filter(bearsDashboardLabel)),
    namespaces: () => labelled.flatMap(({ objects }) => [...objects.values()]),
    configMap: (name) => maps.objects.get(`${place.namespace}/${name}`),
    configMaps: () => maps.objects.values(),
    readAgain: (kind) => {
      for (const watch of kinds[kind]) watch.readAgain()
    },
    close: async () => {
      clearTimeout(patience)
      await Promise.all(all.map((reflector) => reflector.close()))
    },
  }
}

type StartWatch = (list: WatchedList, copies: KeptCopies) => Reflector
type KindWatches = { readonly [K in ResourceKind]: readonly Reflector[] }

function watchKinds({ territory, room, news }: WorldOptions, everywhere: Everywhere): KindWatches {
  const kinds: KindWatches = recordOf(RESOURCE_KINDS, (kind) => {
    const sort = sortChanges(kind, news, territory.installation)
    const onChange = (key: string | null): void =>
      key === null
        ? sort.all(kinds[kind].flatMap(({ objects }) => [...objects.values()]))
        : sort.one(key, found(kinds[kind], key))
    const onKept = (objects: Map<string, KubeObject>, key: string): void => room.changed(kind, objects, key)
    const list = { name: RESOURCE_PLURALS[kind], path: `/apis/${RESOURCE_API_VERSION}` }
    return everywhere(list, { onChange, onKept, shape: resourceCopy })
  })
  return kinds
}

/** Whether the watches of one kind know everything: those of namespaces that are gone have nothing to know. */
function isCurrent(watches: readonly Reflector[], states: ReadonlyMap<string, NamespaceState>): boolean {
  const inOrder = [...states.values()]
  return watches.every((watch, number) => inOrder[number] === 'Gone' || (watch.isSynced() && watch.failure() === null))
}

function spacesOf(
  { territory: { namespaces }, nowMs }: WorldOptions,
  kinds: KindWatches,
  { secrets, labelled }: { readonly secrets: readonly Reflector[]; readonly labelled: readonly Reflector[] },
) {
  const watches = new Map(
    namespaces.map((namespace, number) => [
      namespace,
      [...Object.values(kinds), secrets].flatMap((of) => of[number] ?? []),
    ]),
  )
  const exists = (namespace: string): boolean | null => {
    const watch = labelled[namespaces.indexOf(namespace)]
    return watch?.isSynced() === true ? watch.objects.has(`/${namespace}`) : null
  }
  const spaces = createNamespaces({ watches, exists, nowMs })
  /** A namespace counts only if all of it is known: references to the rest would look broken. */
  const seen = (reflectors: readonly Reflector[]): readonly Reflector[] => {
    if (namespaces.length === 0) return reflectors
    const states = spaces.states()
    return reflectors.filter((_, number) => states.get(namespaces[number] ?? '') === 'Seen')
  }
  return { spaces, seen }
}

/**
 * By name if there is a list, so that no right to read other namespaces is needed. Only labels matter: annotations of
 * namespaces change all the time.
 */
function watchNamespaces(names: readonly string[], start: StartWatch, onChange: () => void): readonly Reflector[] {
  if (names.length === 1) return []
  const known = new Map<string, string>()
  const watch = (query: Readonly<Record<string, string>>): Reflector => {
    const noteAll = (objects: Reflector['objects']): void => {
      for (const [key, { metadata }] of objects) known.set(key, JSON.stringify(metadata.labels))
    }
    const list = { name: 'namespaces', path: '/api/v1/namespaces', isMetadataOnly: true, query }
    const onOne = (key: string | null): void => {
      if (key === null) {
        noteAll(reflector.objects)
        onChange()
        return
      }
      const labels = JSON.stringify(reflector.objects.get(key)?.metadata.labels)
      if (known.get(key) === labels) return
      known.set(key, labels)
      onChange()
    }
    const reflector: Reflector = start(list, { shape: labelsCopy, onChange: onOne })
    return reflector
  }
  return names.length === 0 ? [watch({})] : names.map((name) => watch({ fieldSelector: `metadata.name=${name}` }))
}

/**
 * The API server counts a new generation for every change except to status, labels and annotations. Two of those matter
 * as well: an owner that is another installation, and a request to check the object again.
 */
function sortChanges(kind: ResourceKind, { onChange, onStatus }: WorldNews, installation: string) {
  const generations = new Map<string, string>()
  const generationOf = (object: KubeObject) => {
    const { uid = '', generation = 0, annotations = {} } = object.metadata
    const owner = installationOfObject(object) ?? installation
    const foreign = owner === installation ? '' : owner
    return [uid, generation, foreign, annotations[RECONCILE_ANNOTATION], annotations[PAUSED_ANNOTATION]].join(' ')
  }
  return {
    /** A full list was read. */
    all(objects: readonly KubeObject[]): void {
      generations.clear()
      for (const object of objects) generations.set(kubeKey(object), generationOf(object))
      onChange()
    },
    one(key: string, object: KubeObject | undefined): void {
      const isStatusOnly = object !== undefined && generations.get(key) === generationOf(object)
      if (object === undefined) generations.delete(key)
      else generations.set(key, generationOf(object))
      const { name = '', namespace = '' } = object?.metadata ?? {}
      if (isStatusOnly) onStatus(objectKey(kind, namespace, name))
      else onChange()
    },
  }
}

function found(reflectors: readonly Reflector[], key: string): KubeObject | undefined {
  for (const { objects } of reflectors) {
    const object = objects.get(key)
    if (object !== undefined) return object
  }
  return undefined
}
