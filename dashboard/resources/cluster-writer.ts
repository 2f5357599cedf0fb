/**
 * Writes objects into a cluster. Each write names the version that was read, so the API server itself compares and sets;
 * fields of another manager are never taken over.
 */

import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import { RESOURCE_API_VERSION, type ResourceKind } from '../../domain/resources/resources.ts'
import { KubeError, type KubeClient } from '../../runtime/kube/client.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import type { ResourceAddress, ResourceWriter, StoredObject, WriteOutcome } from './writer.ts'

const FIELD_MANAGER = 'whence-dashboard'
/** Fields that a person set by hand may be changed; those of a tool that would set them again may not. */
const BY_HAND = /^kubectl(-|$)/
const JSON_PATCH = 'application/json-patch+json'
const NOT_FOUND = 404
const CONFLICT = 409
const INVALID = 422

export function clusterWriter(client: KubeClient): ResourceWriter {
  return {
    read: (ref) => read(client, ref),
    create: ({ spec, ...ref }) => {
      const { kind, namespace, name } = ref
      const body = { apiVersion: RESOURCE_API_VERSION, kind, metadata: { name, namespace }, spec }
      return outcomeOf(
        client.request({ method: 'POST', path: `${collection(ref)}?fieldManager=${FIELD_MANAGER}`, body }),
      )
    },
    replace: async ({ spec, ...ref }, version) => {
      const refused = await refuseForeign(client, ref, version)
      if (refused !== null) return refused
      const body = [
        { op: 'replace', path: '/metadata/resourceVersion', value: version },
        { op: 'replace', path: '/spec', value: spec },
      ]
      const path = `${pathOf(ref)}?fieldManager=${FIELD_MANAGER}`
      return outcomeOf(client.request({ method: 'PATCH', path, body, contentType: JSON_PATCH }))
    },
    remove: async (ref, version) => {
      const refused = await refuseForeign(client, ref, version)
      if (refused !== null) return refused
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { resourceVersion: version } }
      return outcomeOf(client.request({ method: 'DELETE', path: pathOf(ref), body }))
    },
  }
}

async function read(client: KubeClient, ref: ResourceAddress): Promise<StoredObject | null> {
  try {
    const object = (await client.request({ method: 'GET', path: pathOf(ref) })) as KubeObject
    const spec = (object['spec'] ?? {}) as Readonly<Record<string, unknown>>
    return { ...ref, spec, version: object.metadata.resourceVersion ?? '', managedBy: managerOf(object) }
  } catch (error) {
    if (error instanceof KubeError && error.status === NOT_FOUND) return null
    throw error
  }
}

/** Managers are those of the very version that is then written, or the write is refused. */
async function refuseForeign(client: KubeClient, ref: ResourceAddress, version: string): Promise<WriteOutcome | null> {
  const stored = await read(client, ref)
  if (stored === null || stored.version !== version) return { kind: 'conflict' }
  return stored.managedBy === null ? null : { kind: 'managed_elsewhere', manager: stored.managedBy }
}

interface FieldOwner {
  readonly manager?: string
  readonly subresource?: string
  readonly fieldsV1?: Readonly<Record<string, unknown>>
}

/** Whoever else owns a field of the spec and would set it again. */
function managerOf({ metadata }: KubeObject): string | null {
  const managed = (metadata['managedFields'] ?? []) as readonly FieldOwner[]
  const foreign = managed.find(
    ({ manager = '', subresource, fieldsV1 = {} }) =>
      subresource === undefined && 'f:spec' in fieldsV1 && manager !== FIELD_MANAGER && !BY_HAND.test(manager),
  )
  return foreign?.manager ?? null
}

async function outcomeOf(sent: Promise<unknown>): Promise<WriteOutcome> {
  try {
    await sent
    return { kind: 'written' }
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    if (error.status === CONFLICT || error.status === NOT_FOUND) return { kind: 'conflict' }
    if (error.status === INVALID) return { kind: 'refused', reason: 'InvalidField', field: '', message: error.message }
    throw error
  }
}

function collection({ kind, namespace }: ResourceAddress): string {
  const plural = RESOURCE_PLURALS[kind as ResourceKind]
  return `/apis/${RESOURCE_API_VERSION}/namespaces/${encodeURIComponent(namespace)}/${plural}`
}

function pathOf(ref: ResourceAddress): string {
  return `${collection(ref)}/${encodeURIComponent(ref.name)}`
}
