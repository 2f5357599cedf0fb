/** What is kept in memory of the cluster's objects: what decisions need, and nothing else that a tenant can make large. */

import {
  CHANGED_BY_ANNOTATION,
  DASHBOARD_MANAGER,
  lastWriterOf,
  managedFieldsOf,
  type LastWriter,
} from '../../domain/resources/field-owners.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { withKnownSpec } from '../../runtime/kube/objects.ts'
import { PAUSED_ANNOTATION, RECONCILE_ANNOTATION } from './annotations.ts'
import { isText, shapeOf } from '../../domain/guards.ts'
import { objectOf } from '../../domain/strict-json.ts'
import { presentOf } from '../../domain/typed-keys.ts'

const ANNOTATIONS = [CHANGED_BY_ANNOTATION, PAUSED_ANNOTATION, RECONCILE_ANNOTATION] as const
/** A longer annotation counts as absent; those that mean something are shorter. */
const ANNOTATION_CHARS = 1_024

/** A custom resource. `before`: what was kept of its last version, whose spec is shared if it is the same. */
export function resourceCopy(object: KubeObject, before: KubeObject | undefined): KubeObject {
  const isWhole = before !== undefined && !isCut(before)
  const { spec, status, metadata } = withKnownSpec(object, isWhole ? before : undefined)
  const { creationTimestamp, generation, namespace } = metadata
  // Of those who own fields only the last one who wrote the spec.
  const writer = lastWriterOf(managedFieldsOf(metadata))
  const annotations = ownAnnotations(metadata.annotations)
  const known = presentOf({ namespace, creationTimestamp, generation, annotations, writer })
  return { metadata: { ...versionMetadata(object), ...known }, spec, status }
}

/** Who last wrote the spec of an object whose copy `resourceCopy` made; null if nobody is known. */
export function writerIn({ metadata }: KubeObject): LastWriter | null {
  const writer = metadata['writer']
  return isWriter(writer) ? writer : null
}

const isWriter = shapeOf<LastWriter>({ manager: isText, time: isText })

const CUT = 'isCut'
/** Say whose an object is, and what it belongs to. */
const IDENTIFYING = ['installation', 'tenant', 'id', 'organizationRef', 'websiteRef'] as const
/** Of a status that the operator did not write; its own are shorter. */
const CUT_STATUS_CHARS = 8_192

/** What is kept of a custom resource or Secret that memory has no room for: neither what it specifies nor any values. */
export function cutCopy({ metadata, spec, status }: KubeObject): KubeObject {
  const { installation } = objectOf(status)
  const isShort = JSON.stringify(status ?? {}).length <= CUT_STATUS_CHARS
  const shortStatus = isShort || status === undefined ? status : { installation }
  return {
    metadata,
    ...(spec === undefined ? {} : { spec: namedFieldsOf(objectOf(spec), IDENTIFYING) }),
    ...(shortStatus === undefined ? {} : { status: shortStatus }),
    [CUT]: true,
  }
}

/** Whether memory had no room for what it specifies. */
export function isCut(object: KubeObject): boolean {
  return object[CUT] === true
}

function namedFieldsOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): object {
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]] as const])),
  )
}

const MANAGED_BY = 'app.kubernetes.io/managed-by'

/** Whether a Secret that is known by its metadata bears the dashboard's label. */
export function bearsDashboardLabel({ metadata }: KubeObject): boolean {
  return metadata.creationTimestamp !== undefined
}

/** Of a Secret that is known by its metadata; of one that the dashboard made also since when it exists. */
export function secretVersionCopy(object: KubeObject): KubeObject {
  const { labels, creationTimestamp } = object.metadata
  if (labels?.[MANAGED_BY] !== DASHBOARD_MANAGER || creationTimestamp === undefined)
    return { metadata: versionMetadata(object) }
  return { metadata: { ...versionMetadata(object), creationTimestamp } }
}

/** Of a namespace. */
export function labelsCopy(object: KubeObject): KubeObject {
  return { metadata: { ...versionMetadata(object), labels: object.metadata.labels ?? {} } }
}

function versionMetadata({ metadata: { name, namespace, uid, resourceVersion } }: KubeObject): KubeObject['metadata'] {
  return { name, ...presentOf({ namespace, uid, resourceVersion }) }
}

function ownAnnotations(all: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> | undefined {
  const own = ANNOTATIONS.flatMap((name) => {
    const value = all[name]
    return value === undefined || value.length > ANNOTATION_CHARS ? [] : [[name, value] as const]
  })
  return own.length === 0 ? undefined : Object.fromEntries(own)
}
