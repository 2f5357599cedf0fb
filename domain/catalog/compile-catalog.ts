/**
 * Compiles custom resources into the catalog that every role reads.
 *
 * The embedded program's folder and the operator share this function. It is pure: the same objects in the same order
 * give the same catalog, the same version and the same problems. An object with a problem is left out; the caller
 * decides whether the rest may take effect (`isBlocking`).
 */

import { fitsThreshold, thresholdWords } from '../alerts/rules.ts'
import { atOnce, type SmallSteps } from '../published/steps.ts'
import type {
  Catalog,
  CatalogProblem,
  Credentials,
  Organization,
  Website,
  CatalogOrganizations,
  CatalogWebsites,
} from '../catalog.ts'
import { isTimeZone } from '../time-zones.ts'
import type { PartMemory } from '../published/parts.ts'
import { ofParts } from '../published/parts.ts'
import { CatalogTexts } from '../published/text.ts'
import type { Resource, SourceObject } from './objects.ts'
import { organizationId, readObjects, reportTo } from './objects.ts'
import { compileDestination } from './compile-destination.ts'
import type { HeldForms } from './compile-held.ts'
import { holdDestinations, holdOrganizations, holdWebsites, NOTHING_HELD } from './compile-held.ts'
import { compileLogStream, holdLogStreams } from './compile-log-stream.ts'
import { organizationOf, readAllowedNamespaces } from './compile-references.ts'
import { revisedWebsites } from './compile-revision.ts'
import { compileWebhook, holdWebhooks } from './compile-webhook.ts'
import { compileWebsite, finishedWebsite, registerPages } from './compile-website.ts'
import type { CompileRules, Compiler, OrganizationDraft, ObjectOwnership } from './compiler.ts'
import { compiledFrom, displayNameOf, hasRoom, websiteIdOf, noteTenant } from './compiler.ts'
import { LIMITS, PLAN_LIMITS } from '../limits.ts'
import { largerPlan } from '../plan.ts'
import type { ResourceKind } from '../resources/resources.ts'
import type { Sha256Hex } from '../origin.ts'
import type { ApiKey } from '../people/api-key.ts'
import type { ShareLink } from '../people/share-link.ts'
import { compileApiKeys } from './compile-api-key.ts'
import { compileMembers, type MembersInForce } from './compile-member.ts'
import { nextPassChangeMs } from './compile-pass.ts'
import { compileShareLinks } from './compile-share-link.ts'
import { unchanged } from './unchanged.ts'

export interface CatalogInput {
  /** Oldest first. */
  readonly objects: readonly SourceObject[]
  readonly sha256Hex: Sha256Hex
  /** None if absent. */
  readonly rules?: Partial<CompileRules>
  /** Parts that stay in force although their objects cannot be read, or are refused. */
  readonly held?: HeldForms | null
  /** Unix ms. An invitation that has expired by then no longer takes up a place. If absent, none has expired. */
  readonly nowMs?: number
  /** For callers that recompile after small changes. */
  readonly memory?: CompileMemory
}

/** What one compilation passes to the next. It changes only the time a compilation takes, never its result. */
export interface CompileMemory {
  readonly digests: PartMemory<string>
  last: LastCompilation | null
}

interface LastCompilation {
  readonly objects: readonly SourceObject[]
  readonly compilation: Compilation
  readonly atMs: number
}

/** `texts`: those of another memory, to share the texts of a compilation of nearly the same objects. */
export function emptyCompileMemory(texts = new CatalogTexts()): CompileMemory {
  return { digests: { parts: [], texts }, last: null }
}

/** What opens something without a session, by hash, the oldest first. */
export interface PassesInForce {
  readonly apiKeys: ReadonlyMap<string, ApiKey>
  readonly shareLinks: ReadonlyMap<string, ShareLink>
}

/** Who may do what, and what programs and whoever has a link may read. */
interface PeopleInForce extends MembersInForce, PassesInForce {}

export interface Compilation {
  readonly catalog: Catalog
  /** By `destinationKey`. */
  readonly credentials: Credentials
  /** Websites in force by the ID of their organisation. */
  readonly websiteCounts: ReadonlyMap<string, number>
  readonly people: PeopleInForce
  /** IDs of the organisations that objects belong to, by `objectKey`; refused objects are included if their references are valid. */
  readonly owners: ReadonlyMap<string, string>
  readonly problems: readonly CatalogProblem[]
}

/** The version hashes 64 part hashes, so an edit rehashes one part. */
const VERSION_PARTS = 64

export function compileCatalog(input: CatalogInput): Compilation {
  return atOnce(compileInSteps(input))
}

/** The same, with a stop after every object and every part of the catalog. */
export function* compileInSteps(input: CatalogInput): SmallSteps<Compilation> {
  const { objects, memory = emptyCompileMemory(), nowMs: atMs = 0 } = input
  const isHolding = (input.held ?? null) !== null
  const revised = isHolding ? null : yield* revision(input, memory)
  const compilation = revised ?? (yield* compileAll(input, memory.digests))
  // What is held depends on more than the objects.
  memory.last = isHolding ? null : { objects, compilation, atMs }
  return compilation
}

/** Null if more than the content of websites has changed, or if an invitation has expired meanwhile. */
function* revision(
  { objects, sha256Hex, nowMs = 0 }: CatalogInput,
  { last, digests }: CompileMemory,
): SmallSteps<Compilation | null> {
  if (last === null || nowMs < last.atMs || nowMs >= last.compilation.people.changesAtMs) return null
  const { catalog } = last.compilation
  const revised = yield* revisedWebsites(last.objects, objects, catalog)
  if (revised === null) return null
  if (revised.length === 0) return last.compilation
  const websites = new Map(catalog.websites)
  for (const website of revised) websites.set(website.id, website)
  const version = yield* catalogVersion({ ...catalog, websites }, sha256Hex, digests)
  return { ...last.compilation, catalog: Object.freeze({ ...catalog, version, websites }) }
}

function* compilerOf(input: CatalogInput, problems: CatalogProblem[]): SmallSteps<Compiler> {
  const ownership: ObjectOwnership = { owners: new Map(), tenants: new Map(), allowed: new Map() }
  const { owners } = ownership
  const reports = { report: reportTo(problems, { owners }), warn: reportTo(problems, { isWarning: true, owners }) }
  const objects = yield* readObjects(input.objects, reports)
  for (const of of Object.values<readonly Resource<ResourceKind>[]>(objects.resources))
    for (const { key, spec } of of) noteTenant(ownership, key, spec.tenant)
  for (const [key, { tenant }] of objects.tooLarge) noteTenant(ownership, key, tenant === '' ? undefined : tenant)
  return {
    objects,
    ...reports,
    rules: { ...NO_RULES, ...input.rules },
    ownership,
    made: {
      organizations: new Map(),
      websites: new Map(),
      websiteIds: new Set(),
      originOwners: new Map(),
      credentials: new Map(),
    },
  }
}

const NO_RULES: CompileRules = {
  ownSecrets: new Set(),
  isWithoutSecrets: false,
  withoutRoom: new Map(),
  checkProviderSettings: () => [],
}

function* compileAll(input: CatalogInput, digests: PartMemory<string>): SmallSteps<Compilation> {
  const problems: CatalogProblem[] = []
  const compiler = yield* compilerOf(input, problems)
  const { resources } = compiler.objects
  const held = input.held ?? NOTHING_HELD
  holdOrganizations(compiler, held)
  const refused = new Set(
    [...resources.Organization, ...resources.Website].filter((it) => !readAllowedNamespaces(compiler, it)),
  )
  for (const resource of resources.Organization) if (!refused.has(resource)) addOrganization(compiler, resource)
  for (const resource of resources.InstallPath) addInstallPath(compiler, resource)
  holdWebsites(compiler, held)
  for (const resource of resources.Website) {
    if (!refused.has(resource)) compileWebsite(compiler, resource)
    yield
  }
  for (const resource of resources.Website) {
    registerPages(compiler, resource)
    yield
  }
  for (const resource of resources.Destination) {
    compileDestination(compiler, resource)
    yield
  }
  holdDestinations(compiler, held)
  for (const resource of resources.LogStream) compileLogStream(compiler, resource)
  holdLogStreams(compiler, held)
  for (const resource of resources.Webhook) compileWebhook(compiler, resource)
  holdWebhooks(compiler, held)
  const people = compilePeople(compiler, input.nowMs ?? 0)
  const catalog = yield* assemble(compiler, input.sha256Hex, digests)
  const { credentials, organizations } = compiler.made
  const { owners } = compiler.ownership
  const websiteCounts = new Map([...organizations.values()].map((each) => [each.id, each.websiteCount]))
  return { catalog, credentials, websiteCounts, people, owners, problems }
}

function compilePeople(compiler: Compiler, nowMs: number): PeopleInForce {
  const { members, changesAtMs: ofMembers } = compileMembers(compiler, nowMs)
  const apiKeys = compileApiKeys(compiler, nowMs)
  const shareLinks = compileShareLinks(compiler, nowMs)
  const { ApiKey, ShareLink } = compiler.objects.resources
  const changesAtMs = Math.min(ofMembers, nextPassChangeMs([...ApiKey, ...ShareLink], nowMs))
  return { members, apiKeys, shareLinks, changesAtMs }
}

function addOrganization(compiler: Compiler, resource: Resource<'Organization'>): void {
  const { plan } = resource.spec
  const { namespace, name } = resource
  const id = organizationId({ namespace, name, tenant: resource.spec.tenant })
  compiler.ownership.owners.set(resource.key, id)
  const most = PLAN_LIMITS[plan].logRetentionDays
  const logRetentionDays = resource.spec.logRetentionDays ?? Math.min(LIMITS.logRetentionDays.fallback, most)
  if (logRetentionDays > most) {
    const message = `${logRetentionDays} is above ${most}, the most that the plan ${plan} allows${largerPlan(plan, (limits) => limits.logRetentionDays >= logRetentionDays)}`
    compiler.report(resource, 'InvalidField', '/spec/logRetentionDays', message)
    return
  }
  const { timeZone } = resource.spec
  if (!isTimeZone(timeZone)) {
    const message = `${timeZone} is no time zone of the IANA database: write one such as Europe/Berlin`
    compiler.report(resource, 'InvalidField', '/spec/timeZone', message)
    return
  }
  const alertRules = resource.spec.alerts?.rules ?? []
  const unfit = alertRules.findIndex((rule) => !fitsThreshold(rule))
  const rule = alertRules[unfit]
  if (rule !== undefined) {
    compiler.report(resource, 'InvalidField', `/spec/alerts/rules/${unfit}/threshold`, thresholdWords(rule.kind))
    return
  }
  const displayName = displayNameOf(compiler, resource)
  if (displayName === null) return
  compiler.made.organizations.set(resource.key, {
    id,
    plan,
    said: { displayName, logRetentionDays, timeZone, alertRules },
    parts: { installPaths: [], logStreams: [], webhooks: [] },
    websiteCount: 0,
    result: { finished: null, held: null },
  })
}

function addInstallPath(compiler: Compiler, resource: Resource<'InstallPath'>): void {
  const organization = organizationOf(compiler, resource)
  const id = websiteIdOf(compiler, resource)
  const displayName = displayNameOf(compiler, resource)
  if (organization === null || id === null || displayName === null) return
  const { parts, plan } = organization
  const { installPaths } = parts
  if (installPaths.some((other) => other.id === id)) {
    compiler.report(resource, 'IdTaken', '/spec/id', 'an older install path of the organisation has this ID')
    return
  }
  const room = { count: 'installPaths', wanted: installPaths.length + 1, field: '' } as const
  if (!hasRoom(compiler, resource, plan, room)) return
  const installPath = { id, displayName, isPaused: resource.spec.paused }
  installPaths.push(unchanged(resource, Object.freeze(installPath)))
}

function* assemble(compiler: Compiler, sha256Hex: Sha256Hex, digests: PartMemory<string>): SmallSteps<Catalog> {
  const byId = new Map<string, Organization>()
  const sources = new Map(compiler.objects.resources.Organization.map((resource) => [resource.key, resource]))
  for (const [key, draft] of compiler.made.organizations) {
    const resource = sources.get(key)
    const { id, result } = draft
    if (result.held === null && resource === undefined) continue
    result.finished = result.held ?? (resource === undefined ? null : finishOrganization(compiler, resource, draft))
    if (result.finished !== null) byId.set(id, result.finished)
  }
  const websites = new Map<string, Website>()
  const origins = new Set<string>()
  for (const draft of compiler.made.websites.values()) {
    const organization = draft.organization.result.finished
    if (organization === null) continue
    const website = finishedWebsite(draft.core, organization, draft)
    websites.set(website.id, website)
    for (const origin of website.origins) origins.add(origin)
    yield
  }
  const version = yield* catalogVersion({ organizations: byId, websites }, sha256Hex, digests)
  return Object.freeze({ version, number: 0, organizations: byId, websites, origins })
}

function* catalogVersion(
  catalog: CatalogOrganizations & CatalogWebsites,
  sha256Hex: Sha256Hex,
  digests: PartMemory<string>,
): SmallSteps<string> {
  const parts = yield* ofParts(catalog, VERSION_PARTS, sha256Hex, digests)
  return sha256Hex(parts.join('\n')).slice(0, 16)
}

function finishOrganization(
  compiler: Compiler,
  resource: Resource<'Organization'>,
  draft: OrganizationDraft,
): Organization {
  const { id, plan, said, parts } = draft
  const { installPaths, logStreams, webhooks } = parts
  const oldest = installPaths[0]?.id ?? null
  const named = resource.spec.defaultInstallPath
  const isFound = named === undefined || installPaths.some((installPath) => installPath.id === named)
  if (!isFound) reportMissingDefault(compiler, resource, named)
  const firstInstallPath = isFound && named !== undefined ? named : oldest
  const own = { id, ...compiledFrom(resource), plan, ...said }
  const organization = { ...own, installPaths, firstInstallPath, logStreams, webhooks }
  return unchanged(resource, Object.freeze(organization))
}

/** The organisation stays, with its oldest path: to drop all its websites would be out of proportion. */
function reportMissingDefault(compiler: Compiler, organization: Resource<'Organization'>, named: string): void {
  const isRefused = compiler.objects.resources.InstallPath.some(
    ({ key, spec, name, namespace }) =>
      compiler.ownership.tenants.get(key) === organization.spec.tenant &&
      (spec.organizationRef.namespace ?? namespace) === organization.namespace &&
      spec.organizationRef.name === organization.name &&
      (spec.id ?? name) === named,
  )
  const field = '/spec/defaultInstallPath'
  if (isRefused) compiler.report(organization, 'RefNotAccepted', field, `the install path ${named} is itself refused`)
  else compiler.report(organization, 'RefNotFound', field, `the organisation has no install path ${named}`)
}
