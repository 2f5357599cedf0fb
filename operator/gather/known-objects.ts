/** Caches results for each object of the cluster, so that a pass over all of them is cheap for unchanged ones. */

import type { CatalogProblem } from '../../domain/catalog.ts'
import type { SourceObject } from '../../domain/catalog/objects.ts'
import { objectKey, shownName } from '../../domain/catalog/objects.ts'
import { RESOURCE_API_VERSION } from '../../domain/resources/resources.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { isCut } from './copies.ts'

/** One object with its status, except for conditions. */
export interface DecidedObject {
  readonly kind: ResourceKind
  readonly object: KubeObject
  readonly problems: readonly CatalogProblem[]
  /** False if a problem leaves it out; warnings alone do not. */
  readonly isInForce: boolean
  /** Fields of its status besides its conditions; empty if it is not in force. */
  readonly fields: DecidedFields
}

export type DecidedFields = Readonly<Record<string, unknown>>

export interface KnownObject {
  readonly kind: ResourceKind
  readonly object: KubeObject
  /** `objectKey`. */
  readonly key: string
  /** Its name in problems. */
  readonly shown: string
  /** Sorts older objects first; names decide between objects of the same second. */
  readonly age: string
  /** Without the status, which the compiler does not read. The same object until the spec changes. */
  readonly source: SourceObject
  /** Its rank by age within its kind, in the decision with the number `rankedIn`. */
  rank: number
  rankedIn: number
  /** The last decision; null before. For a former status of the same object, until it is decided again. */
  decided: DecidedObject | null
  /** The only input from other objects that the decided fields depend on. */
  externalInput: string | number | null
}

export interface ObjectMemory {
  readonly known: WeakMap<KubeObject, KnownObject>
  /** By `key`, with the API server's counters: a new status makes a new object with the same spec. */
  readonly latest: Map<string, { readonly counted: string; readonly known: KnownObject }>
  /** Secrets and namespaces, as the compiler reads them. */
  readonly plain: WeakMap<KubeObject, SourceObject>
  /** Number of the decision that is being made. */
  decision: number
}

export function emptyObjectMemory(): ObjectMemory {
  return { known: new WeakMap(), latest: new Map(), plain: new WeakMap(), decision: 0 }
}

/** What is known of an object, or of its previous status or spec, as far as it still holds. */
export function knownObject(kind: ResourceKind, object: KubeObject, memory: ObjectMemory): KnownObject {
  const same = memory.known.get(object)
  if (same !== undefined) return same
  const { name, namespace = '', uid, generation } = object.metadata
  const key = objectKey(kind, namespace, name)
  const counted = uid === undefined || generation === undefined ? null : `${uid} ${generation} ${isCut(object)}`
  const last = memory.latest.get(key)
  const isSameSpec = last !== undefined && last.counted === counted
  const made = isSameSpec ? { ...last.known, object } : firstKnown(kind, object, last?.known)
  memory.known.set(object, made)
  if (counted !== null) memory.latest.set(key, { counted, known: made })
  return made
}

function firstKnown(kind: ResourceKind, object: KubeObject, before: KnownObject | undefined): KnownObject {
  const { name, namespace = '', creationTimestamp = '' } = object.metadata
  const age = `${creationTimestamp}\n${namespace}\n${name}`
  return {
    kind,
    object,
    age,
    externalInput: null,
    decided: null,
    key: objectKey(kind, namespace, name),
    shown: `${kind}/${shownName({ name, namespace })}`,
    source: knownSource(kind, object),
    rank: before?.rank ?? 0,
    rankedIn: before?.age === age ? before.rankedIn : -1,
  }
}

/** Forgets objects that are gone. */
export function forgetAllBut(keys: ReadonlyMap<string, unknown>, { latest }: ObjectMemory): void {
  if (latest.size === keys.size) return
  for (const key of latest.keys()) if (!keys.has(key)) latest.delete(key)
}

/** The data of a Secret, the labels of a namespace. */
export function plainSource(kind: 'Secret' | 'Namespace', object: KubeObject, { plain }: ObjectMemory): SourceObject {
  const known = plain.get(object)
  if (known !== undefined) return known
  const { name, namespace, labels = {} } = object.metadata
  const { type = 'Opaque', data = {} } = object
  const large = isCut(object) ? { tooLarge: WITHOUT_ROOM } : {}
  const value =
    kind === 'Secret'
      ? { apiVersion: 'v1', kind, type, metadata: { name, namespace, labels }, data }
      : { apiVersion: 'v1', kind, metadata: { name, labels } }
  const source = { value, locate: nowhere, ...large }
  plain.set(object, source)
  return source
}

const nowhere = (): string => ''

/** The same words at any time, since they stand in statuses. */
const WITHOUT_ROOM =
  "the objects of its namespace are more or larger than the namespace's share of the operator's memory, and older ones keep their place"

/** Lists do not contain the kind of each object. */
function knownSource(kind: ResourceKind, object: KubeObject): SourceObject {
  const { metadata, spec } = object
  const { name, namespace, uid = '' } = metadata
  const value = { apiVersion: RESOURCE_API_VERSION, kind, metadata: { name, namespace }, spec }
  return { value, uid, locate: nowhere, isAdmitted: true, ...(isCut(object) ? { tooLarge: WITHOUT_ROOM } : {}) }
}
