/**
 * Compiles custom resources into the catalog that every role reads.
 *
 * One function for the folder of the embedded program and for the operator. It is pure: the same objects in the same
 * order give the same catalog, the same version and the same problems. An object with a problem is left out; whether
 * what is left may take effect is the caller's choice (`isBlocking`).
 */

import type { Catalog, CatalogProblem, Credentials, Organization, Website } from './catalog.ts'
import { organizationText, sortedById, websiteText } from './catalog-text.ts'
import type { ReadMemory, Resource, SourceObject } from './catalog-objects.ts'
import { objectKey, readObjects, reportTo, shownName } from './catalog-objects.ts'
import { compileDestination } from './compile-destination.ts'
import { organizationOf, readAllowedNamespaces } from './compile-references.ts'
import { compileWebsite } from './compile-website.ts'
import type { Compiler, CredentialRef, OrganizationDraft, ProviderSettingsChecker, WebsiteDraft } from './compiler.ts'
import { displayNameOf, hasRoom, idOf } from './compiler.ts'
import { LIMITS, PLAN_LIMITS } from './limits.ts'
import type { Sha256Hex } from './origin.ts'
import { parseOutboundUrl } from './outbound-address.ts'
import { unchanged } from './unchanged.ts'

export interface CatalogInput {
  /** Oldest first. */
  readonly objects: readonly SourceObject[]
  readonly sha256Hex: Sha256Hex
  /** A second look at a provider's settings, beyond the schema; for rules that only the provider's module knows. */
  readonly checkProviderSettings?: ProviderSettingsChecker
  /** For callers that compile again when little has changed. */
  readonly memory?: ReadMemory
}

export interface Compilation {
  readonly catalog: Catalog
  /** By `destinationKey`. */
  readonly credentials: Credentials
  /** Which keys of which Secrets the credentials came from, by `destinationKey`; no values. */
  readonly credentialRefs: ReadonlyMap<string, readonly CredentialRef[]>
  readonly problems: readonly CatalogProblem[]
}

export function compileCatalog(input: CatalogInput): Compilation {
  const problems: CatalogProblem[] = []
  const report = reportTo(problems)
  const compiler: Compiler = {
    objects: readObjects(input.objects, report, input.memory),
    report,
    checkProviderSettings: input.checkProviderSettings ?? (() => []),
    allowed: new Map(),
    organizations: new Map(),
    websites: new Map(),
    websiteIds: new Set(),
    originOwners: new Map(),
    credentials: new Map(),
    credentialRefs: new Map(),
  }
  const { resources } = compiler.objects
  const readable = new Set(
    [...resources.Organization, ...resources.Website].filter((it) => readAllowedNamespaces(compiler, it)),
  )
  for (const resource of resources.Organization) if (readable.has(resource)) addOrganization(compiler, resource)
  for (const resource of resources.InstallPath) addInstallPath(compiler, resource)
  for (const resource of resources.Website) if (readable.has(resource)) compileWebsite(compiler, resource)
  for (const resource of resources.Destination) compileDestination(compiler, resource)
  for (const resource of resources.LogStream) addLogStream(compiler, resource)
  const catalog = assemble(compiler, input.sha256Hex)
  return { catalog, credentials: compiler.credentials, credentialRefs: compiler.credentialRefs, problems }
}

function addOrganization(compiler: Compiler, resource: Resource<'Organization'>): void {
  const { plan } = resource.spec
  const most = PLAN_LIMITS[plan].logRetentionDays
  const logRetentionDays = resource.spec.logRetentionDays ?? Math.min(LIMITS.logRetentionDays.fallback, most)
  if (logRetentionDays > most) {
    const message = `${logRetentionDays} is above ${most}, the most that the plan ${plan} allows`
    compiler.report(resource, 'InvalidField', '/spec/logRetentionDays', message)
    return
  }
  const displayName = displayNameOf(compiler, resource)
  if (displayName === null) return
  const key = objectKey(resource.kind, resource.namespace, resource.name)
  const id = shownName(resource)
  const counts = { installPaths: [], websiteCount: 0, logStreamCount: 0 }
  compiler.organizations.set(key, { id, displayName, plan, logRetentionDays, ...counts })
}

function addInstallPath(compiler: Compiler, resource: Resource<'InstallPath'>): void {
  const organization = organizationOf(compiler, resource)
  const id = idOf(compiler, resource)
  const displayName = displayNameOf(compiler, resource)
  if (organization === null || id === null || displayName === null) return
  const { installPaths, plan } = organization
  if (installPaths.some((other) => other.id === id)) {
    compiler.report(resource, 'IdTaken', '/spec/id', 'an older install path of the organisation has this ID')
    return
  }
  const room = { count: 'installPaths', wanted: installPaths.length + 1, field: '' } as const
  if (!hasRoom(compiler, resource, plan, room)) return
  const installPath = { id, displayName, isPaused: resource.spec.paused }
  installPaths.push(unchanged(resource.spec, Object.freeze(installPath)))
}

function addLogStream(compiler: Compiler, resource: Resource<'LogStream'>): void {
  const organization = organizationOf(compiler, resource)
  if ((resource.spec.s3 === undefined) === (resource.spec.webhook === undefined)) {
    compiler.report(resource, 'InvalidField', '/spec', 'must have either s3 or webhook, and not both')
    return
  }
  const displayName = displayNameOf(compiler, resource)
  const isCallable = hasCallableAddress(compiler, resource)
  if (organization === null || displayName === null || !isCallable) return
  const room = { count: 'logStreams', wanted: organization.logStreamCount + 1, field: '' } as const
  if (hasRoom(compiler, resource, organization.plan, room)) organization.logStreamCount += 1
}

/** What a name will resolve to is looked at on every call; what the text alone tells, already here. */
function hasCallableAddress(compiler: Compiler, resource: Resource<'LogStream'>): boolean {
  const { s3, webhook } = resource.spec
  const [field, address] =
    s3 === undefined ? ['/spec/webhook/url', webhook?.url] : ['/spec/s3/endpoint', s3['endpoint']]
  const parsed = parseOutboundUrl(typeof address === 'string' ? address : '')
  if (!parsed.ok) compiler.report(resource, 'InvalidField', field, parsed.why)
  return parsed.ok
}

function assemble(compiler: Compiler, sha256Hex: Sha256Hex): Catalog {
  const organizations = new Map<OrganizationDraft, Organization>()
  for (const resource of compiler.objects.resources.Organization) {
    const draft = compiler.organizations.get(objectKey(resource.kind, resource.namespace, resource.name))
    if (draft !== undefined) organizations.set(draft, finishOrganization(compiler, resource, draft))
  }
  const websites = new Map<string, Website>()
  const origins = new Set<string>()
  for (const draft of compiler.websites.values()) {
    const organization = organizations.get(draft.organization)
    if (organization === undefined) continue
    websites.set(draft.website.id, finishWebsite(draft, organization))
    for (const origin of draft.website.origins) origins.add(origin)
  }
  const byId = new Map([...organizations.values()].map((organization) => [organization.id, organization]))
  const version = digest(byId, websites, sha256Hex)
  return Object.freeze({ version, organizations: byId, websites, origins })
}

function finishOrganization(
  compiler: Compiler,
  resource: Resource<'Organization'>,
  draft: OrganizationDraft,
): Organization {
  const { id, displayName, plan, logRetentionDays, installPaths } = draft
  const oldest = installPaths[0]?.id ?? null
  const named = resource.spec.defaultInstallPath
  const isFound = named === undefined || installPaths.some((installPath) => installPath.id === named)
  if (!isFound) reportMissingDefault(compiler, resource, named)
  const firstInstallPath = isFound && named !== undefined ? named : oldest
  const organization = { id, displayName, plan, logRetentionDays, installPaths, firstInstallPath }
  return unchanged(resource.spec, Object.freeze(organization))
}

/** The organisation stays, with its oldest path: taking all its websites away would be out of proportion. */
function reportMissingDefault(compiler: Compiler, organization: Resource<'Organization'>, named: string): void {
  const isRefused = compiler.objects.resources.InstallPath.some(
    ({ spec, name, namespace }) =>
      (spec.organizationRef.namespace ?? namespace) === organization.namespace &&
      spec.organizationRef.name === organization.name &&
      (spec.id ?? name) === named,
  )
  const field = '/spec/defaultInstallPath'
  if (isRefused) compiler.report(organization, 'RefNotAccepted', field, `the install path ${named} is itself refused`)
  else compiler.report(organization, 'RefNotFound', field, `the organisation has no install path ${named}`)
}

function finishWebsite(draft: WebsiteDraft, organization: Organization): Website {
  const measurementIds = draft.destinations
    .filter((destination) => destination.provider === 'ga4')
    .map((destination) => String(destination.settings['measurementId']))
  const website = {
    ...draft.website,
    organization,
    destinations: draft.destinations,
    measurementIds: [...new Set(measurementIds)],
  }
  return unchanged(draft.website, Object.freeze(website))
}

/** Independent of the order in which organisations and websites came, except where that order has a meaning. */
function digest(
  organizations: ReadonlyMap<string, Organization>,
  websites: ReadonlyMap<string, Website>,
  sha256Hex: Sha256Hex,
): string {
  const texts = [
    ...sortedById(organizations.values()).map(organizationText),
    ...sortedById(websites.values()).map(websiteText),
  ]
  return sha256Hex(texts.join('\n')).slice(0, 16)
}
