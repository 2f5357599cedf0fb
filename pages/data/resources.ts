/** Objects of the configuration: lists, single ones with their version, and changes that are tried before they are made. */

import { queryOptions } from '@tanstack/react-query'

import type { Condition } from '../../domain/resources/conditions.ts'
import type { OwnedField } from '../../domain/resources/field-owners.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { ask, path } from './ask.ts'

export type ResourceSpec = Readonly<Record<string, unknown>>

export interface ResourceRow {
  readonly kind: ResourceKind
  readonly namespace: string
  readonly name: string
  /** Goes back as If-Match. */
  readonly version: string
  /** RFC 3339, or empty. */
  readonly createdAt: string
  readonly origin: { readonly by: 'dashboard' | 'gitops' | 'kubectl'; readonly manager: string } | null
  readonly conditions: readonly Condition[]
  readonly spec: ResourceSpec
}

export interface StoredResource extends ResourceRow {
  readonly readOnly: readonly OwnedField[]
}

interface ResourceQueryRef {
  readonly organization: string
  readonly kind: ResourceKind
  readonly namespace: string
  readonly name: string
}

export interface Warning {
  readonly reason: string
  readonly field: string
  readonly message: string
}

function kindPath(organization: string, kind: string): string {
  return path('/api/organizations/:organization/resources/:kind', { organization, kind })
}

function objectPath({ organization, kind, namespace, name }: ResourceQueryRef): string {
  return kindPath(organization, kind) + path('/:namespace/:name', { namespace, name })
}

export function resourcesQuery(organization: string, kind: ResourceKind) {
  return queryOptions({
    queryKey: ['resources', organization, kind],
    queryFn: ({ signal }) =>
      ask<{ readonly resources: readonly ResourceRow[] }>(kindPath(organization, kind), { signal }).then(
        ({ resources }) => resources,
      ),
  })
}

const AGAIN_MS = 2_000

/** Asked again until it is in force, or is refused for good. */
export function resourceQuery(ref: ResourceQueryRef) {
  return queryOptions({
    queryKey: ['resources', ref.organization, ref.kind, ref.namespace, ref.name],
    queryFn: ({ signal }) => ask<StoredResource>(objectPath(ref), { signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && state.data.conditions.some(isStateFinal) ? false : AGAIN_MS,
  })
}

function isStateFinal({ type, status }: Condition): boolean {
  return (type === 'Ready' || type === 'Stalled') && status === 'True'
}

export interface Wanted {
  readonly organization: string
  readonly kind: ResourceKind
  readonly spec: ResourceSpec
  /** Null: it is new. */
  readonly stored: Pick<ResourceRow, 'namespace' | 'name' | 'version'> | null
  /** Of a new one; empty: the service gives one. */
  readonly name: string
}

/** What the compiler would warn of. Rejects with what it would refuse, as a write does. */
export function tryOut(wanted: Wanted): Promise<readonly Warning[]> {
  return send<{ readonly warnings: readonly Warning[] }>(wanted, '?dryRun=All').then(({ warnings }) => warnings)
}

export function save(wanted: Wanted): Promise<StoredResource> {
  return send<StoredResource>(wanted, '')
}

function send<T>({ organization, kind, spec, stored, name }: Wanted, manner: string): Promise<T> {
  if (stored === null) {
    const body = name === '' ? { spec } : { name, spec }
    return ask<T>(kindPath(organization, kind) + manner, { method: 'POST', body })
  }
  const address = objectPath({ organization, kind, ...stored }) + manner
  return ask<T>(address, { method: 'PUT', body: { spec }, headers: versionHeader(stored.version) })
}

export function remove(organization: string, { kind, namespace, name, version }: ResourceRow): Promise<unknown> {
  const address = objectPath({ organization, kind, namespace, name })
  return ask(address, { method: 'DELETE', headers: versionHeader(version) })
}

function versionHeader(version: string): Readonly<Record<string, string>> {
  return { 'If-Match': `"${version}"` }
}

/** Keeps credentials in a new Secret, which goes with the object if that is there. Gives its name. */
export function keepSecret(
  { organization, kind, stored }: Wanted,
  values: Readonly<Record<string, string>>,
): Promise<string> {
  const owner = stored === null ? {} : kind === 'LogStream' ? { logStream: stored.name } : { destination: stored.name }
  return ask<{ readonly name: string }>(path('/api/organizations/:organization/secrets', { organization }), {
    method: 'POST',
    body: { values, ...owner },
  }).then(({ name }) => name)
}
