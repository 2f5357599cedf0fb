/** Objects of the configuration: lists, single objects with their version, and changes with a dry run first. */

import { queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { ask, path } from './ask.ts'

export type ResourceSpec = Readonly<Record<string, unknown>>

export type ResourceRow = JsonFrom<'resources'>['resources'][number]

export type StoredResource = JsonFrom<'resource'>

/** Its ID is the name of the object, if it has no other. */
export function idOfWebsite({ name, spec: { id } }: ResourceRow): string {
  return typeof id === 'string' ? id : name
}

export interface ResourceQueryRef {
  readonly organization: string
  readonly kind: ResourceKind
  readonly namespace: string
  readonly name: string
}

export type Warning = JsonFrom<'createResource', 201>['warnings'][number]

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
      ask<JsonFrom<'resources'>>(kindPath(organization, kind), { signal }).then(({ resources }) => resources),
  })
}

export function readStored(ref: ResourceQueryRef, signal?: AbortSignal): Promise<StoredResource> {
  return ask(objectPath(ref), signal === undefined ? {} : { signal })
}

const AGAIN_MS = 2_000
/** Somebody has just saved, and watches. */
const SOON_MS = 100
const WATCHED_MS = 10_000

/**
 * Asked again until it is in force, or is refused for good: often in the first seconds after `savedAt` (as of
 * `performance.now()`), so that the time until then is known.
 */
export function resourceQuery(ref: ResourceQueryRef, savedAt = -Infinity) {
  return queryOptions({
    queryKey: ['resources', ref.organization, ref.kind, ref.namespace, ref.name],
    queryFn: ({ signal }) => readStored(ref, signal),
    refetchInterval: ({ state }) => (state.data !== undefined && isDecidedFor(state.data) ? false : againMs(savedAt)),
  })
}

function againMs(savedAt: number): number {
  return performance.now() - savedAt < WATCHED_MS ? SOON_MS : AGAIN_MS
}

function isDecidedFor({ isJudged, conditions }: StoredResource): boolean {
  return (
    isJudged && conditions.some(({ type, status }) => (type === 'Ready' || type === 'Stalled') && status === 'True')
  )
}

/** Whether collection goes by what is stored. */
export function isInForce({ isJudged, conditions }: StoredResource): boolean {
  return isJudged && conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

/** What this browser saved last of an object; null: nothing. */
export interface LastSave {
  readonly version: string
  /** `performance.now()` when it was sent. */
  readonly sentAt: number
  /** Until collection went by it, as far as this browser saw it; null: not yet. */
  readonly liveAfterMs: number | null
}

/** Not asked of the server: `useSave` puts it there. */
export function lastSaveQuery({ organization, kind, namespace, name }: ResourceQueryRef) {
  return queryOptions({
    queryKey: ['saved', organization, kind, namespace, name],
    queryFn: (): LastSave | null => null,
    enabled: false,
    staleTime: Infinity,
  })
}

export interface Wanted {
  readonly organization: string
  readonly kind: ResourceKind
  readonly spec: ResourceSpec
  /** Null for a new object. */
  readonly stored: { readonly namespace: string; readonly name: string; readonly version: string } | null
  /** Name of a new object; if empty, the service chooses one. */
  readonly name: string
}

/** A dry run: resolves with the compiler's warnings, and rejects like a write. */
export function tryOut(wanted: Wanted): Promise<readonly Warning[]> {
  return send<JsonFrom<'createResource', 200>>(wanted, '?dryRun=All').then(({ warnings }) => warnings)
}

export function save(wanted: Wanted): Promise<StoredResource> {
  return send<JsonFrom<'createResource', 201>>(wanted, '')
}

function send<T>({ organization, kind, spec, stored, name }: Wanted, manner: string): Promise<T> {
  if (stored === null) {
    const body = name === '' ? { spec } : { name, spec }
    return ask<T>(kindPath(organization, kind) + manner, { method: 'POST', body })
  }
  const address = objectPath({ organization, kind, ...stored }) + manner
  return ask<T>(address, { method: 'PUT', body: { spec }, headers: versionHeader(stored.version) })
}

export function remove(organization: string, { kind, namespace, name, version }: StoredResource): Promise<unknown> {
  const address = objectPath({ organization, kind, namespace, name })
  return ask(address, { method: 'DELETE', headers: versionHeader(version) })
}

function versionHeader(version: string): Readonly<Record<string, string>> {
  return { 'If-Match': `"${version}"` }
}

/** Stores credentials in a new Secret, which is deleted together with the object if the object exists. Resolves with its name. */
export function keepSecret(
  { organization, kind, stored }: Wanted,
  values: Readonly<Record<string, string>>,
): Promise<string> {
  const owner = stored === null ? {} : kind === 'LogStream' ? { logStream: stored.name } : { destination: stored.name }
  return ask<JsonFrom<'createSecret'>>(path('/api/organizations/:organization/secrets', { organization }), {
    method: 'POST',
    body: { values, ...owner },
  }).then(({ name }) => name)
}
