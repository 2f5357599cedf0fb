/** All writes to the cluster: server-side apply under one name, only for actual changes, and counted. */

import type { KubeClient } from '../../runtime/kube/client.ts'
import { APPLY_TYPE, KubeError } from '../../runtime/kube/client.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { kubeKey } from '../../runtime/kube/objects.ts'
import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { RESOURCE_API_VERSION } from '../../domain/resources/resources.ts'
import { memberOf, textOf } from '../../domain/strict-json.ts'

/** Identifies our fields to the API server. */
const FIELD_MANAGER = 'whence-operator'

/** Deletes objects. */
export interface ObjectRemover {
  /** Does nothing if the object is gone. With a UID, only the object with this UID is deleted. */
  readonly remove: (kind: 'ConfigMap' | 'Secret', namespace: string, name: string, uid?: string) => Promise<void>
}

/** Writes objects of the operator's own. */
export interface ObjectWriter extends ObjectRemover {
  /** Applies the object unless the existing or just written one already holds it; both are compared as copies are kept. */
  readonly applyWhereNew: (
    isThere: KubeObject | undefined,
    wanted: ObjectInTwoForms,
    holds: (copy: KubeObject) => boolean,
  ) => Promise<void>
  /**
   * Applies the object if the one in the cluster still has this version, or if there is none for null. Resolves with the object's version
   * after the write; rejects with a KubeError of status 409 if another program has written it meanwhile.
   */
  readonly replace: (wanted: KubeObject, over: string | null) => Promise<string>
  /** Applies the object unconditionally. */
  readonly apply: (wanted: KubeObject) => Promise<void>
}

export interface StatusWriter {
  /**
   * Applies the status, or this manager's part of it; does nothing if the object is gone. Without a manager, and with a
   * version in the object's metadata, it is refused if that version is not the latest. Resolves with the object's
   * version after the write; empty if the object is gone.
   */
  readonly applyStatus: (kind: ResourceKind, object: KubeObject, status: object, manager?: string) => Promise<string>
}

export interface Writer extends ObjectWriter, StatusWriter {
  readonly create: (path: string, body: object) => Promise<void>
  /** Written objects of this kind may have been deleted: only the copy shows whether they exist. */
  readonly forgetWritten: (kind: string) => void
}

interface ObjectInTwoForms {
  /** As copies of it are kept. */
  readonly short: KubeObject
  readonly whole: () => KubeObject
}

interface WriterOptions {
  readonly client: KubeClient
  /** False stops all writing at once: another operator may be leading by now. */
  readonly mayWrite: () => boolean
  readonly onWrite: (what: string, result: 'written' | 'refused') => void
}

const PLURALS: Readonly<Record<string, string>> = { ConfigMap: 'configmaps', Secret: 'secrets' }

export function createWriter({ client, mayWrite, onWrite }: WriterOptions): Writer {
  /** Last written, and the version it replaced: the copy of the cluster lags a moment behind. */
  const recent = new Map<string, { readonly over: string; readonly object: KubeObject }>()
  /** Keys of writes that may have succeeded or not; only a later success clears them. */
  const unsure = new Set<string>()
  const counted = async <T>(what: string, write: () => Promise<T>): Promise<T> => {
    if (!mayWrite()) throw new KubeError(0, 'NotLeading', 'this operator does not lead')
    try {
      const answer = await write()
      onWrite(what, 'written')
      return answer
    } catch (error) {
      onWrite(what, 'refused')
      throw error
    }
  }
  const pathOf = ({ kind = '', metadata }: KubeObject) =>
    `/api/v1/namespaces/${metadata.namespace ?? ''}/${PLURALS[kind] ?? ''}/${metadata.name}`
  const apply = async (wanted: KubeObject): Promise<void> => {
    await counted(wanted.kind ?? '', () => client.request(applying(pathOf(wanted), wanted)))
  }
  return {
    apply,
    applyWhereNew: async (isThere, { short, whole }, holds) => {
      const key = `${short.kind ?? ''}/${kubeKey(short)}`
      const over = isThere?.metadata.resourceVersion ?? ''
      const last = recent.get(key)
      const now = last?.over === over ? last.object : isThere
      if (!unsure.has(key) && now !== undefined && holds(now)) return
      unsure.add(key)
      await apply(whole())
      unsure.delete(key)
      recent.set(key, { over, object: short })
    },
    replace: (wanted, over) =>
      counted(wanted.kind ?? '', () => versionAfter(client.request(replacing(pathOf(wanted), wanted, over)))),
    applyStatus: (kind, { metadata }, status, manager) => {
      const { name, namespace = '', resourceVersion } = metadata
      const over = manager === undefined && resourceVersion !== undefined ? { resourceVersion } : {}
      const body = { apiVersion: RESOURCE_API_VERSION, kind, metadata: { name, namespace, ...over }, status }
      const path = `/apis/${RESOURCE_API_VERSION}/namespaces/${namespace}/${RESOURCE_PLURALS[kind]}/${name}/status`
      const asked = { ...applying(path, body, manager), isAnswerUnread: false, accept: METADATA } as const
      return counted(`${kind}/status`, () => versionAfter(unlessGone(client.request(asked))))
    },
    remove: async (kind, namespace, name, uid) => {
      const path = `/api/v1/namespaces/${namespace}/${PLURALS[kind] ?? ''}/${name}`
      recent.delete(`${kind}/${namespace}/${name}`)
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } }
      const asked = { method: 'DELETE', path, ...(uid === undefined ? {} : { body, isAnswerUnread: true }) } as const
      await counted(kind, () => unlessGone(client.request(asked)))
    },
    forgetWritten: (kind) => {
      for (const key of recent.keys()) if (key.startsWith(`${kind}/`)) recent.delete(key)
    },
    create: async (path, body) => {
      await counted('Event', () => client.request({ method: 'POST', path, body }))
    },
  }
}

/**
 * Fields we apply are ours, even if another manager wrote them last. Warnings about unknown fields would reach no one, and checking for
 * them makes the API server parse the body twice.
 */
function applying(path: string, body: object, manager = FIELD_MANAGER) {
  const query = `fieldManager=${manager}&force=true&fieldValidation=Ignore`
  return { method: 'PATCH', path: `${path}?${query}`, body, contentType: APPLY_TYPE, isAnswerUnread: true } as const
}

/** Refused unless the object has this version; for null, unless there is none. */
function replacing(path: string, wanted: KubeObject, over: string | null) {
  const body = over === null ? wanted : { ...wanted, metadata: { ...wanted.metadata, resourceVersion: over } }
  const asked = over === null ? creating(path, body) : applying(path, body)
  return { ...asked, isAnswerUnread: false, accept: METADATA } as const
}

/** Unlike an apply, it is refused if the object exists. */
function creating(path: string, body: object) {
  const collection = path.slice(0, path.lastIndexOf('/'))
  return { method: 'POST', path: `${collection}?fieldManager=${FIELD_MANAGER}`, body, contentType: JSON_TYPE } as const
}

const JSON_TYPE = 'application/json'

/** Only names and versions of the answer are used. */
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'

async function versionAfter(request: Promise<unknown>): Promise<string> {
  return textOf(memberOf(memberOf(await request, 'metadata'), 'resourceVersion'))
}

async function unlessGone(request: Promise<unknown>): Promise<unknown> {
  try {
    return await request
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 404) throw error
    return null
  }
}
