/** What is kept in memory of the cluster's objects: what decisions need, and nothing else that a tenant can make large. */

import { CHANGED_BY_ANNOTATION, lastWriterOf, type ManagedEntry } from '../../domain/resources/field-owners.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { withKnownSpec } from '../../runtime/kube/objects.ts'
import { PAUSED_ANNOTATION, RECONCILE_ANNOTATION } from './annotations.ts'

const ANNOTATIONS = [CHANGED_BY_ANNOTATION, PAUSED_ANNOTATION, RECONCILE_ANNOTATION] as const
/** A longer annotation counts as absent; those that mean something are shorter. */
const ANNOTATION_CHARS = 1_024

/** A custom resource. `before`: what was kept of its last version, whose spec is shared if it is the same. */
export function resourceCopy(object: KubeObject, before: KubeObject | undefined): KubeObject {
  const { spec, status, metadata } = withKnownSpec(object, before)
  const { creationTimestamp, generation, namespace } = metadata
  // Of those who own fields only the last one who wrote the spec.
  const writer = lastWriterOf((metadata['managedFields'] ?? []) as readonly ManagedEntry[])
  const annotations = ownAnnotations(metadata.annotations)
  const known = { ...versionOf(object), namespace, creationTimestamp, generation, annotations, writer }
  const given = Object.entries(known).filter(([, value]) => value !== undefined && value !== null)
  return { metadata: Object.fromEntries(given) as unknown as KubeObject['metadata'], spec, status }
}

/** Of a Secret that is known by its metadata. */
export function versionCopy(object: KubeObject): KubeObject {
  return { metadata: versionOf(object) }
}

/** Of a namespace. */
export function labelsCopy(object: KubeObject): KubeObject {
  return { metadata: { ...versionOf(object), labels: object.metadata.labels ?? {} } }
}

function versionOf({ metadata: { name, namespace, uid, resourceVersion } }: KubeObject): KubeObject['metadata'] {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
}

function ownAnnotations(all: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> | undefined {
  const own = ANNOTATIONS.flatMap((name) => {
    const value = all[name]
    return value === undefined || value.length > ANNOTATION_CHARS ? [] : [[name, value] as const]
  })
  return own.length === 0 ? undefined : Object.fromEntries(own)
}
