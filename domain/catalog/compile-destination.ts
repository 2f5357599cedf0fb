/** Compiles one Destination: its provider's block, its defaults, and the credentials that it refers to. */

import { objectOf } from '../strict-json.ts'
import type { Destination } from '../catalog.ts'
import { destinationKey } from '../catalog.ts'
import type { Resource, SecretObject } from './objects.ts'
import { referredWebsite } from './compile-references.ts'
import { areUsable, hasValue, secretOf } from './compile-secrets.ts'
import type { Compiler } from './compiler.ts'
import { displayNameOf, hasRoom, isLeftOut } from './compiler.ts'
import type { EventType } from '../model.ts'
import type { ProviderId } from '../providers/index.ts'
import { EVENT_TYPES } from '../model.ts'
import type { ProviderBlock } from '../providers/descriptor.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS } from '../providers/index.ts'
import { withDefaults } from '../schema/schema-values.ts'

/** Adds the destination to its website's draft, or reports why it is left out. */
export function compileDestination(compiler: Compiler, resource: Resource<'Destination'>): void {
  const website = referredWebsite(compiler, resource)
  const displayName = displayNameOf(compiler, resource)
  const core = destinationCore(compiler, resource)
  if (website === null || displayName === null || core === null) return
  // A destination's name is its ID, and two namespaces may use one name.
  if (website.destinations.some(({ id }) => id === resource.name)) {
    compiler.report(resource, 'IdTaken', '/metadata/name', 'an older destination of the website has this name')
    return
  }
  const { plan } = website.organization
  const room = { count: 'destinationsPerWebsite', wanted: website.destinations.length + 1, field: '' } as const
  if (!hasRoom(compiler, resource, plan, room)) return
  const access = compiler.rules.isWithoutSecrets ? NO_ACCESS : accessOf(compiler, resource, core)
  if (access === null || isLeftOut(compiler, resource)) return
  const belongsTo = { website: website.core.website.id, organization: website.organization.id }
  const key = destinationKey(belongsTo, resource.name)
  compiler.made.credentials.set(key, access.credentials)
  website.destinations.push(finished(resource, core, { displayName, ...belongsTo }))
}

/** The destination of the previous compilation if its website is the same. */
function finished(
  { name, namespace, spec }: Resource<'Destination'>,
  core: Core,
  own: Pick<Destination, 'displayName' | 'website' | 'organization'>,
): Destination {
  const before = core.finished
  if (before?.website === own.website && before.organization === own.organization) return before
  core.finished = Object.freeze({
    ...own,
    id: name,
    namespace,
    provider: spec.provider,
    mode: spec.mode,
    eventTypes: spec.eventTypes ?? defaultEventTypes(spec.provider),
    reconstructionWindowHours: spec.reconstructionWindowHours,
    ci: spec.ci,
    repeats: spec.repeats,
    settings: core.block.settings,
  })
  return core.finished
}

/** GA4 uses our event names; advertising providers get the installs, which a completion or a first run begins. */
function defaultEventTypes(provider: ProviderId): readonly EventType[] {
  return provider === 'ga4' ? EVENT_TYPES : ['install_completed', 'first_run']
}

interface Block {
  readonly provider: ProviderBlock
  /** JSON pointer to the block. */
  readonly field: string
  readonly settings: Readonly<Record<string, unknown>>
  readonly ref: { readonly name: string; readonly key?: string }
}

/** The parts that depend on the spec alone, and what compilations derived from them. */
interface Core {
  readonly block: Block
  finished: Destination | null
  access: Access | null
}

/** The origin of the credentials, and their values. */
interface Access {
  readonly secret: SecretObject | null
  readonly credentials: Readonly<Record<string, string>>
}

const NO_ACCESS: Access = { secret: null, credentials: {} }

function destinationCore(compiler: Compiler, resource: Resource<'Destination'>): Core | null {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- what this step has noted
  const core = (resource.memo as Core | null) ?? newCore(compiler, resource)
  if (core === null) return null
  resource.memo = core
  const { field, settings } = core.block
  const findings = compiler.rules.checkProviderSettings(resource.spec.provider, settings)
  for (const finding of findings) compiler.report(resource, 'InvalidField', field + finding.field, finding.message)
  return findings.length > 0 ? null : core
}

function newCore(compiler: Compiler, resource: Resource<'Destination'>): Core | null {
  const { spec } = resource
  const provider = PROVIDER_DESCRIPTORS[spec.provider].block
  const blocks = PROVIDER_IDS.map((id) => PROVIDER_DESCRIPTORS[id].block.field).filter((name) =>
    Object.hasOwn(spec, name),
  )
  const mismatch = (field: string, message: string) => compiler.report(resource, 'ProviderMismatch', field, message)
  const surplus = blocks.filter((name) => name !== provider.field)
  for (const name of surplus) mismatch(`/spec/${name}`, `belongs to another provider than ${spec.provider}`)
  if (!blocks.includes(provider.field))
    mismatch('/spec', `the provider ${spec.provider} needs the block ${provider.field}`)
  if (surplus.length > 0 || !blocks.includes(provider.field)) return null
  const { [provider.secret.refField]: ref, ...settings } = objectOf(withDefaults(provider.schema, spec[provider.field]))
  const field = `/spec/${provider.field}`
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the schema has shown that it is a reference
  const block = { provider, field, settings: Object.freeze(settings), ref: ref as Block['ref'] }
  return { block, finished: null, access: null }
}

/** The access of the previous compilation if the Secret is the same; null after a problem has been reported. */
function accessOf(compiler: Compiler, resource: Resource<'Destination'>, core: Core): Access | null {
  const { provider, field, ref } = core.block
  const pointer = `${field}/${provider.secret.refField}`
  const secret = secretOf(compiler, resource, ref.name, pointer)
  if (secret === null || core.access?.secret === secret) return secret && core.access
  const keys = secretKeys(provider, ref, secret.values)
  const at = 'credential' in provider.secret ? `${pointer}/key` : pointer
  if (keys.missing !== null) {
    compiler.report(resource, 'RefNotFound', at, `Secret ${ref.name} has no value for ${keys.missing}`)
    return null
  }
  const used = keys.found.map(([key]) => key)
  if (!areUsable(compiler, resource, { secret, keys: used, field: at })) return null
  const credentials = Object.fromEntries(
    keys.found.map(([key, credential]) => [credential, secret.values.get(key) ?? '']),
  )
  core.access = { secret, credentials: Object.freeze(credentials) }
  return core.access
}

type KeyFinding =
  { readonly found: readonly (readonly [string, string])[]; readonly missing: null } | { readonly missing: string }

/** Secret key to credential name. */
function secretKeys(provider: ProviderBlock, ref: Block['ref'], values: ReadonlyMap<string, string>): KeyFinding {
  const has = (key: string) => hasValue(values, key)
  const reading = provider.secret
  if ('credential' in reading) {
    const key = ref.key ?? ''
    return has(key) ? { found: [[key, reading.credential]], missing: null } : { missing: key }
  }
  const complete = reading.sets.find((set) => Object.keys(set).every(has))
  if (complete !== undefined) return { found: Object.entries(complete), missing: null }
  return { missing: reading.sets.map((set) => Object.keys(set).join(', ')).join('; or ') }
}
