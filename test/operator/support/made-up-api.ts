/** An API server that exists only in this process: lists, watches and Secrets, as much as gathering needs. */

import { PassThrough, Readable } from 'node:stream'

import { RESOURCE_PLURALS } from '../../../domain/resources/crd.ts'
import { RESOURCE_KINDS, type ResourceKind } from '../../../domain/resources/resources.ts'
import { KubeError, type KubeClient, type KubeRequest } from '../../../runtime/kube/client.ts'
import type { KubeObject } from '../../../runtime/kube/objects.ts'
import { kubeKey } from '../../../runtime/kube/objects.ts'

type MadeUpKind = ResourceKind | 'Secret' | 'ConfigMap'

export interface MadeUpApi {
  readonly client: KubeClient
  /** Keys of the Secrets whose values were read. */
  readonly secretReads: string[]
  /** Creates the object, or changes its spec. */
  readonly put: (kind: MadeUpKind, namespace: string, object: object) => void
  /** As the operator does it: the generation stays. */
  readonly putStatus: (kind: ResourceKind, key: string, status: object) => void
  readonly remove: (kind: MadeUpKind, key: string) => void
  /** From now on watches bring nothing, and are not told that; lists have everything. */
  readonly silence: () => void
  /** Of these kinds. */
  readonly objects: (...kinds: readonly MadeUpKind[]) => readonly KubeObject[]
  readonly end: () => void
}

interface Collection {
  readonly objects: Map<string, KubeObject>
  /** What happened, for watches that begin later. */
  readonly events: { readonly version: number; readonly line: string }[]
  readonly watches: Set<PassThrough>
}

/** `late`: parts of paths whose lists never come. */
export function madeUpApi(late: readonly string[] = []): MadeUpApi {
  const collections = new Map<string, Collection>()
  const secretReads: string[] = []
  let count = 0
  let isSilent = false
  const collection = (plural: string): Collection => {
    const found = collections.get(plural) ?? { objects: new Map(), events: [], watches: new Set() }
    collections.set(plural, found)
    return found
  }
  const pluralOf = (kind: MadeUpKind) => ({ ...RESOURCE_PLURALS, Secret: 'secrets', ConfigMap: 'configmaps' })[kind]
  const tell = (plural: string, type: string, object: KubeObject): void => {
    const line = `${JSON.stringify({ type, object })}\n`
    collection(plural).events.push({ version: count, line })
    if (isSilent) return
    for (const watch of collection(plural).watches) watch.write(line)
  }
  const version = () => String((count += 1))
  const place = (plural: string, object: KubeObject): void => {
    const { objects } = collection(plural)
    const type = objects.has(kubeKey(object)) ? 'MODIFIED' : 'ADDED'
    objects.set(kubeKey(object), object)
    tell(plural, type, object)
  }
  const stream = async ({ path, signal }: KubeRequest) => {
    const [url = '', query = ''] = path.split('?')
    const plural = url.split('/').at(-1) ?? ''
    const namespace = /namespaces\/([^/]+)\//.exec(url)?.[1]
    if (query.includes('watch=true')) {
      const watch = endless(signal)
      const since = Number(new URLSearchParams(query).get('resourceVersion'))
      for (const { version: at, line } of collection(plural).events) if (at > since) watch.write(line)
      collection(plural).watches.add(watch)
      watch.on('close', () => collection(plural).watches.delete(watch))
      return watch
    }
    if (late.some((part) => path.includes(part))) return endless(signal)
    const all = [...collection(plural).objects.values()]
    const items = all.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
    return Readable.from(listParts(items, String(count)))
  }
  const request = async ({ path }: KubeRequest) => {
    const [, namespace = '', name = ''] = /namespaces\/([^/]+)\/secrets\/([^/]+)$/.exec(path) ?? []
    secretReads.push(`${namespace}/${name}`)
    const found = collection('secrets').objects.get(`${namespace}/${name}`)
    if (found === undefined) throw new KubeError(404, 'NotFound', path)
    return structuredClone(found)
  }
  return {
    client: { stream, request } as unknown as KubeClient,
    secretReads,
    put: (kind, namespace, object) => {
      const { metadata, ...rest } = object as KubeObject
      const before = collection(pluralOf(kind)).objects.get(`${namespace}/${metadata.name}`)
      const creationTimestamp = new Date(Date.UTC(2026, 0, 1) + count * 1_000).toISOString()
      const counters = {
        uid: `uid-${count}`,
        creationTimestamp,
        ...before?.metadata,
        resourceVersion: version(),
        generation: (before?.metadata.generation ?? 0) + 1,
      }
      place(pluralOf(kind), { ...rest, metadata: { ...metadata, namespace, ...counters } })
    },
    putStatus: (kind, key, status) => {
      const object = collection(pluralOf(kind)).objects.get(key)
      if (object === undefined) throw new Error(`there is no ${kind} ${key}`)
      place(pluralOf(kind), { ...object, status, metadata: { ...object.metadata, resourceVersion: version() } })
    },
    remove: (kind, key) => {
      const object = collection(pluralOf(kind)).objects.get(key)
      if (object === undefined) throw new Error(`there is no ${kind} ${key}`)
      collection(pluralOf(kind)).objects.delete(key)
      version()
      tell(pluralOf(kind), 'DELETED', object)
    },
    silence: () => void (isSilent = true),
    objects: (...kinds) => kinds.flatMap((kind) => [...collection(pluralOf(kind)).objects.values()]),
    end: () => {
      for (const { watches } of collections.values()) for (const watch of watches) watch.end()
    },
  }
}

function endless(signal: AbortSignal | undefined): PassThrough {
  const stream = new PassThrough()
  signal?.addEventListener('abort', () => stream.destroy(new Error('aborted')))
  return stream
}

/** Piece by piece, as a long answer comes. */
function* listParts(items: readonly KubeObject[], resourceVersion: string): Generator<Buffer> {
  yield Buffer.from(`{"metadata":${JSON.stringify({ resourceVersion })},"items":[`)
  for (const [index, item] of items.entries()) yield Buffer.from((index === 0 ? '' : ',') + JSON.stringify(item))
  yield Buffer.from(']}')
}

/** What a world without anything special gives to a decision. */
export function gatheredFrom(resources: (kind: ResourceKind) => readonly KubeObject[]) {
  const own = Object.fromEntries(RESOURCE_KINDS.map((kind) => [kind, resources(kind)]))
  return {
    resources: own as { readonly [K in ResourceKind]: readonly KubeObject[] },
    secrets: [],
    namespaces: [],
    partsInUse: [],
    credentialSlots: 4,
    ownSecrets: new Set<string>(),
    baseUrl: 'https://whence.example',
    before: null,
    published: [],
    paused: new Set<string>(),
    heldNamespaces: new Set<string>(),
    warnings: () => [],
    nowMs: 0,
  }
}
