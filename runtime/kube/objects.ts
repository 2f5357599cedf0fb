/** The fields that are read of any Kubernetes object, and the keys of objects. */

import { isNumber, isText, mapOf, orAbsent, shapeOf } from '../../domain/guards.ts'
import { isObject, type JsonObject } from '../../domain/strict-json.ts'
import { KubeError, type KubeRequest, type KubeRequests } from './client.ts'

interface KnownMetadata {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: KnownMetadata & JsonObject
  readonly [member: string]: unknown
}

const isTextOrAbsent = orAbsent(isText)
const isMetadata = shapeOf<KnownMetadata>({
  name: isText,
  namespace: isTextOrAbsent,
  uid: isTextOrAbsent,
  resourceVersion: isTextOrAbsent,
  generation: orAbsent(isNumber),
  creationTimestamp: orAbsent(isText),
  labels: orAbsent(mapOf(isText)),
  annotations: orAbsent(mapOf(isText)),
})

export function isKubeObject(value: unknown): value is KubeObject {
  if (!isObject(value) || !isMetadata(value['metadata'])) return false
  return isTextOrAbsent(value['apiVersion']) && isTextOrAbsent(value['kind'])
}

/** The object in the answer. @throws KubeError if there is none */
export async function requestObject(client: KubeRequests, request: KubeRequest): Promise<KubeObject> {
  const answer = await client.request(request)
  if (isKubeObject(answer)) return answer
  throw new KubeError(0, 'NoObject', 'the answer of the API server is not an object with a name')
}

/** Namespace and name; a cluster-wide object has an empty namespace. */
export function kubeKey({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

/** The namespace and name that a key of `kubeKey` has. */
export function placeOfKey(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = key.split('/')
  return { namespace, name }
}

/**
 * The object, with the spec of its version before if that is the same one: a new status does not bring a second copy into memory
 * while the first is still in use. The API server gives every change of a spec a new generation.
 */
export function withKnownSpec(object: KubeObject, before: KubeObject | undefined): KubeObject {
  const { uid, generation } = object.metadata
  const isSame = uid !== undefined && generation !== undefined && before?.metadata.uid === uid
  return isSame && before.metadata.generation === generation ? { ...object, spec: before['spec'] } : object
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Removes what only the server needs, which is more than half of most objects. */
export function stripped(object: KubeObject): KubeObject {
  const { managedFields: _managedFields, annotations, ...metadata } = object.metadata
  if (annotations === undefined) return { ...object, metadata }
  const { [LAST_APPLIED]: _lastApplied, ...kept } = annotations
  return { ...object, metadata: { ...metadata, annotations: kept } }
}
