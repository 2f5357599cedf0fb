/** Remembers what was worked out about each object of the cluster, so that a pass over all of them costs little for most. */

import type { CatalogProblem } from '../../domain/catalog.ts'
import type { SourceObject } from '../../domain/catalog/objects.ts'
import { objectKey, shownName } from '../../domain/catalog/objects.ts'
import { RESOURCE_API_VERSION } from '../../domain/resources/resources.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'

/** One object with what its status should say, its conditions aside. */
export interface DecidedObject {
  readonly kind: ResourceKind
  readonly object: KubeObject
  readonly problems: readonly CatalogProblem[]
  /** False where a problem leaves it out; one with warnings alone is in force. */
  readonly isInForce: boolean
  /** Fields of the status beside its conditions; empty for what is not in force. */
  readonly fields: DecidedFields
}

export type DecidedFields = Readonly<Record<string, unknown>>

export interface KnownObject {
  readonly kind: ResourceKind
  readonly object: KubeObject
  /** `objectKey`. */
  readonly key: string
  /** As problems call it. */
  readonly shown: string
  /** Sorts older objects first; names settle what was made within one second. */
  readonly age: string
  /** Without the status, which the compiler does not read. The same one until the spec is another one. */
  readonly source: SourceObject
  /** Its place by age among those of its kind, in the decision with the number `rankedIn`. */
  rank: number
  rankedIn: number
  /** What was decided last; null before. Of a former status of the same object, until it is decided anew. */
  decided: DecidedObject | null
  /** The one thing from outside of the object that the fields of that decision are made of. */
  figure: string | number | null
}

export interface ObjectMemory {
  readonly known: WeakMap<KubeObject, KnownObject>
  /** By `key`, with what the API server counts: a new status makes a new object with the same spec. */
  readonly latest: Map<string, { readonly counted: string; readonly known: KnownObject }>
  /** Secrets and namespaces, as the compiler reads them. */
  readonly plain: WeakMap<KubeObject, SourceObject>
  /** Number of the decision that is being made. */
  decision: number
}

export function emptyObjectMemory(): ObjectMemory {
  return { known: new WeakMap(), latest: new Map(), plain: new WeakMap(), decision: 0 }
}

/** What is known of an object, or of the same one before its status or spec changed, as far as it still holds. */
export function knownObject(kind: ResourceKind, object: KubeObject, memory: ObjectMemory): KnownObject {
  const same = memory.known.get(object)
  if (same !== undefined) return same
  const { name, namespace = '', uid, generation } = object.metadata
  const key = objectKey(kind, namespace, name)
  const counted = uid === undefined || generation === undefined ? null : `${uid} ${generation}`
  const last = memory.latest.get(key)
  const isSameSpec = last !== undefined && last.counted === counted
  const made = isSameSpec ? { ...last.known, object } : newObject(kind, object, last?.known)
  memory.known.set(object, made)
  if (counted !== null) memory.latest.set(key, { counted, known: made })
  return made
}

function newObject(kind: ResourceKind, object: KubeObject, before: KnownObject | undefined): KnownObject {
  const { name, namespace = '', creationTimestamp = '' } = object.metadata
  const age = `${creationTimestamp}\n${namespace}\n${name}`
  return {
    ...{ kind, object, age, figure: null, decided: null },
    key: objectKey(kind, namespace, name),
    shown: `${kind}/${shownName({ name, namespace })}`,
    source: sourceOf(kind, object),
    rank: before?.rank ?? 0,
    rankedIn: before?.age === age ? before.rankedIn : -1,
  }
}

/** Forgets objects that are gone. */
export function forgetAllBut(keys: ReadonlyMap<string, unknown>, { latest }: ObjectMemory): void {
  if (latest.size === keys.size) return
  for (const key of latest.keys()) if (!keys.has(key)) latest.delete(key)
}

/** Of a Secret its data, of a namespace its labels. */
export function plainSource(kind: 'Secret' | 'Namespace', object: KubeObject, { plain }: ObjectMemory): SourceObject {
  const known = plain.get(object)
  if (known !== undefined) return known
  const { name, namespace, labels = {} } = object.metadata
  const { type = 'Opaque', data = {} } = object
  const value =
    kind === 'Secret'
      ? { apiVersion: 'v1', kind, type, metadata: { name, namespace, labels }, data }
      : { apiVersion: 'v1', kind, metadata: { name, labels } }
  const source = { value, locate: nowhere }
  plain.set(object, source)
  return source
}

const nowhere = (): string => ''

/** Lists do not say the kind of each object. */
function sourceOf(kind: ResourceKind, { metadata, spec }: KubeObject): SourceObject {
  const { name, namespace } = metadata
  const value = { apiVersion: RESOURCE_API_VERSION, kind, metadata: { name, namespace }, spec }
  return { value, locate: nowhere, isAdmitted: true }
}
