/** Directory of a cluster: watches its resources, without their Secrets, and compiles them as the operator does. */

import { createHash } from 'node:crypto'

import type { SourceObject } from '../../domain/catalog/objects.ts'
import { compileCatalog } from '../../domain/catalog/compile-catalog.ts'
import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import { RESOURCE_API_VERSION } from '../../domain/resources/resources.ts'
import type { KubeClient } from '../../runtime/kube/client.ts'
import type { KubeMetrics } from '../../runtime/kube/metrics.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { startReflector, type Reflector } from '../../runtime/kube/reflector.ts'
import type { Logger } from '../../runtime/logger.ts'
import { websitesOf, type Directory } from './directory.ts'

interface ClusterDirectoryOptions {
  readonly client: KubeClient
  /** Empty: all. */
  readonly namespaces: readonly string[]
  /** Objects that name another installation are left alone. */
  readonly installation: string
  readonly logger: Logger
  readonly metrics: KubeMetrics
  readonly random: () => number
  readonly nowMs: () => number
}

export interface ClusterDirectory extends Directory {
  /** Resolves once every kind has been read everywhere. */
  readonly synced: Promise<void>
  readonly close: () => Promise<void>
}

const KINDS = ['Organization', 'InstallPath', 'Website', 'Destination', 'Member'] as const
type Kind = (typeof KINDS)[number]
type DirectoryView = Pick<ReturnType<typeof compileCatalog>, 'catalog' | 'members'>

const NOBODY: DirectoryView = {
  catalog: { version: '', organizations: new Map(), websites: new Map(), origins: new Set() },
  members: [],
}

export function watchDirectory(options: ClusterDirectoryOptions): ClusterDirectory {
  let view: DirectoryView | null = null
  const onChange = (): void => {
    view = null
  }
  const watches = KINDS.map((kind) => ({ kind, reflectors: reflectorsOf(kind, options, onChange) }))
  const all = watches.flatMap(({ reflectors }) => reflectors)
  // Half of the objects would be another organisation than there is.
  const current = (): DirectoryView => {
    if (!all.every((reflector) => reflector.isSynced())) return NOBODY
    view ??= compiled(watches, options)
    return view
  }
  return {
    organizations: () => current().catalog.organizations,
    websites: (organization) => websitesOf(current().catalog, organization),
    members: () => current().members,
    synced: Promise.all(all.map(({ synced }) => synced)).then(() => undefined),
    close: async () => void (await Promise.all(all.map((reflector) => reflector.close()))),
  }
}

function reflectorsOf(kind: Kind, options: ClusterDirectoryOptions, onChange: () => void): readonly Reflector[] {
  const { client, namespaces, logger, metrics, random } = options
  const name = RESOURCE_PLURALS[kind]
  const base = `/apis/${RESOURCE_API_VERSION}`
  const paths = namespaces.length === 0 ? [base] : namespaces.map((namespace) => `${base}/namespaces/${namespace}`)
  return paths.map((path) =>
    startReflector({ client, name, path: `${path}/${name}`, onChange, logger, metrics, random }),
  )
}

interface KindWatch {
  readonly kind: Kind
  readonly reflectors: readonly Reflector[]
}

function compiled(watches: readonly KindWatch[], { installation, nowMs }: ClusterDirectoryOptions): DirectoryView {
  const objects = watches.flatMap(({ kind, reflectors }) =>
    reflectors
      .flatMap((reflector) => [...reflector.objects.values()])
      .filter((object) => isOurs(object, installation))
      .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
      .map((object) => sourceOf(kind, object)),
  )
  const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')
  return compileCatalog({ objects, sha256Hex, nowMs: nowMs(), isWithoutSecrets: true })
}

function isOurs({ spec, status }: KubeObject, installation: string): boolean {
  const named = nameIn(spec) ?? nameIn(status)
  return named === null || named === installation
}

function nameIn(part: unknown): string | null {
  const { installation } = (part ?? {}) as { readonly installation?: unknown }
  return typeof installation === 'string' && installation !== '' ? installation : null
}

/** Names settle what was made within one second, as for the operator. */
function ageOf({ metadata: { creationTimestamp = '', namespace = '', name } }: KubeObject): string {
  return `${creationTimestamp} ${namespace} ${name}`
}

function sourceOf(kind: Kind, { metadata: { name, namespace }, spec }: KubeObject): SourceObject {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) }
  return { value: { apiVersion: RESOURCE_API_VERSION, kind, metadata, spec }, locate: () => '', isAdmitted: true }
}
