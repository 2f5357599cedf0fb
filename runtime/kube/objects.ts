/** The fields that are read of any Kubernetes object, and the keys of objects. */

export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly generation?: number
    readonly creationTimestamp?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly [member: string]: unknown
  }
  readonly [member: string]: unknown
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
