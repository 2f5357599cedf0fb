/** Compiles one Destination: its provider's block, its defaults, and the credentials that its references stand for. */

import { destinationKey } from './catalog.ts'
import type { Resource, SecretObject } from './catalog-objects.ts'
import { objectKey, withDefaults } from './catalog-objects.ts'
import { websiteOf } from './compile-references.ts'
import type { Compiler, CredentialRef } from './compiler.ts'
import { displayNameOf, hasRoom } from './compiler.ts'
import type { EventType, ProviderId } from './model.ts'
import { EVENT_TYPES, PROVIDER_IDS } from './model.ts'
import { PROVIDER_BLOCKS } from './provider-blocks.ts'
import type { ProviderBlock } from './provider-blocks.ts'
import type { DestinationSpec } from './resources.ts'
import { unchanged } from './unchanged.ts'

/** Adds the destination to its website's draft, or reports why it is left out. */
export function compileDestination(compiler: Compiler, resource: Resource<'Destination'>): void {
  const { spec } = resource
  const website = websiteOf(compiler, resource)
  const displayName = displayNameOf(compiler, resource)
  const block = blockOf(compiler, resource)
  if (website === null || displayName === null || block === null) return
  // Its name is its ID, and two namespaces may use one name.
  if (website.destinations.some(({ id }) => id === resource.name)) {
    compiler.report(resource, 'IdTaken', '/metadata/name', 'an older destination of the website has this name')
    return
  }
  const { plan } = website.organization
  const room = { count: 'destinationsPerWebsite', wanted: website.destinations.length + 1, field: '' } as const
  if (!hasRoom(compiler, resource, plan, room)) return
  const refs = credentialRefsOf(compiler, resource, block)
  if (refs === null) return
  const key = destinationKey(website.website.id, resource.name)
  compiler.credentialRefs.set(key, refs)
  compiler.credentials.set(key, credentialsOf(compiler, refs))
  const made = {
    id: resource.name,
    website: website.website.id,
    organization: website.organization.id,
    displayName,
    provider: spec.provider,
    mode: spec.mode,
    eventTypes: spec.eventTypes ?? defaultEventTypes(spec.provider),
    reconstructionWindowHours: spec.reconstructionWindowHours,
    settings: block.settings,
  }
  website.destinations.push(unchanged(spec, Object.freeze(made)))
}

/** GA4 names its events as we do; the advertising providers would count one install thrice. */
export function defaultEventTypes(provider: ProviderId): readonly EventType[] {
  return provider === 'ga4' ? EVENT_TYPES : ['install_completed']
}

interface Block {
  readonly provider: ProviderBlock
  /** Pointer to the block. */
  readonly field: string
  readonly settings: Readonly<Record<string, unknown>>
  readonly ref: { readonly name: string; readonly key?: string }
}

function blockOf(compiler: Compiler, resource: Resource<'Destination'>): Block | null {
  const { spec } = resource
  const provider = PROVIDER_BLOCKS[spec.provider]
  const blocks = PROVIDER_IDS.map((id) => PROVIDER_BLOCKS[id].block).filter((name) => Object.hasOwn(spec, name))
  const mismatch = (field: string, message: string) => compiler.report(resource, 'ProviderMismatch', field, message)
  const surplus = blocks.filter((name) => name !== provider.block)
  for (const name of surplus) mismatch(`/spec/${name}`, `belongs to another provider than ${spec.provider}`)
  if (!blocks.includes(provider.block))
    mismatch('/spec', `the provider ${spec.provider} needs the block ${provider.block}`)
  if (surplus.length > 0 || !blocks.includes(provider.block)) return null
  const { [provider.secret.refField]: ref, ...settings } = withDefaults(provider.schema, spec[provider.block]) as {
    readonly [field: string]: unknown
  }
  const field = `/spec/${provider.block}`
  const findings = compiler.checkProviderSettings(spec.provider, settings)
  for (const finding of findings) compiler.report(resource, 'InvalidField', field + finding.field, finding.message)
  if (findings.length > 0) return null
  return { provider, field, settings: settingsOf(spec, settings), ref: ref as Block['ref'] }
}

/** The same object for the same spec. */
const SETTINGS = new WeakMap<DestinationSpec, Block['settings']>()

function settingsOf(spec: DestinationSpec, settings: Block['settings']): Block['settings'] {
  const known = SETTINGS.get(spec) ?? Object.freeze(settings)
  SETTINGS.set(spec, known)
  return known
}

function credentialRefsOf(
  compiler: Compiler,
  resource: Resource<'Destination'>,
  { provider, field, ref }: Block,
): readonly CredentialRef[] | null {
  const { namespace } = resource
  const pointer = `${field}/${provider.secret.refField}`
  const secret = compiler.objects.secrets.get(objectKey('Secret', namespace, ref.name))
  if (secret === undefined) {
    const isSeen = compiler.objects.seen.has(objectKey('Secret', namespace, ref.name))
    const message = isSeen
      ? `Secret ${ref.name} is itself refused`
      : `there is no Secret ${ref.name} in namespace ${namespace}`
    compiler.report(resource, isSeen ? 'RefNotAccepted' : 'RefNotFound', `${pointer}/name`, message)
    return null
  }
  const keys = keysOf(provider, ref, secret)
  if (keys.missing === null) {
    return keys.found.map(([key, credential]) => ({ credential, namespace, secret: ref.name, key }))
  }
  const at = 'credential' in provider.secret ? `${pointer}/key` : pointer
  compiler.report(resource, 'RefNotFound', at, `Secret ${ref.name} has no value for ${keys.missing}`)
  return null
}

type KeyFinding =
  { readonly found: readonly (readonly [string, string])[]; readonly missing: null } | { readonly missing: string }

/** Secret key to credential name. An empty value is as good as none: no provider takes it. */
function keysOf(provider: ProviderBlock, ref: Block['ref'], secret: SecretObject): KeyFinding {
  const has = (key: string) => (secret.values.get(key) ?? '') !== ''
  const reading = provider.secret
  if ('credential' in reading) {
    const key = ref.key ?? ''
    return has(key) ? { found: [[key, reading.credential]], missing: null } : { missing: key }
  }
  const complete = reading.sets.find((set) => Object.keys(set).every(has))
  if (complete !== undefined) return { found: Object.entries(complete), missing: null }
  return { missing: reading.sets.map((set) => Object.keys(set).join(', ')).join('; or ') }
}

function credentialsOf(compiler: Compiler, refs: readonly CredentialRef[]): Readonly<Record<string, string>> {
  const values = refs.map(({ namespace, secret, key, credential }) => {
    const value = compiler.objects.secrets.get(objectKey('Secret', namespace, secret))?.values.get(key) ?? ''
    return [credential, value] as const
  })
  return Object.freeze(Object.fromEntries(values))
}
