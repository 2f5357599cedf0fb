/** What the steps of the catalog compiler have in common: drafts, counts against the plan, names and IDs. */

import type { AllowedNamespaces } from '../catalog.ts'
import type {
  CompiledFrom,
  Destination,
  InstallPath,
  LogStream,
  Organization,
  RegisteredPage,
  Webhook,
  Website,
} from '../catalog.ts'
import type { CheckedObjects, ObjectId, Report, Resource } from './objects.ts'
import { LIMITS } from '../limits.ts'
import type { Plan } from '../model.ts'
import type { ProviderId } from '../providers/index.ts'
import type { PlanCount } from '../plan.ts'
import { refuseByPlan } from '../plan.ts'

/** Findings about a provider's settings; `field` is a pointer into the block, for example `/measurementId`. */
export type ProviderSettingsChecker = (
  provider: ProviderId,
  settings: Readonly<Record<string, unknown>>,
) => readonly { readonly field: string; readonly message: string }[]

/** The part of a compiler that reports the problems of one object. */
export interface Reporting {
  readonly report: Report
  /** Reports a problem of an object that stays in force. */
  readonly warn: Report
}

/** Shared state of the steps. */
export interface Compiler extends Reporting {
  readonly objects: CheckedObjects
  readonly rules: CompileRules
  readonly ownership: ObjectOwnership
  readonly made: MadeSoFar
}

/** What a compilation is to leave out, or to check beside the schemas. */
export interface CompileRules {
  /** `objectKey` of the service's own Secrets, which no object may refer to. */
  readonly ownSecrets: ReadonlySet<string>
  /** The caller cannot read Secrets: destinations count as if they had theirs, and no credentials are returned. */
  readonly isWithoutSecrets: boolean
  /** `objectKey` of objects that do not fit into the catalog, with the reason in words. */
  readonly withoutRoom: ReadonlyMap<string, string>
  /** Checks a provider's settings beyond the schema; for rules that only the provider's module knows. */
  readonly checkProviderSettings: ProviderSettingsChecker
}

/** Whose the objects are, by `objectKey`. */
export interface ObjectOwnership {
  /** IDs of the organisations that objects belong to. */
  readonly owners: Map<string, string>
  /** Tenants of objects; objects of the operator of the service are not included. */
  readonly tenants: Map<string, string>
  /** The other namespaces that Organizations and Websites admit; includes refused objects. */
  readonly allowed: Map<string, AllowedNamespaces>
}

/** What the objects before the present one have made. */
interface MadeSoFar {
  /** By `objectKey`; paths and websites are added in the order of their creation. */
  readonly organizations: Map<string, OrganizationDraft>
  /** By `objectKey`. */
  readonly websites: Map<string, WebsiteDraft>
  readonly websiteIds: Set<string>
  /** Claimant (`claimantOf`) by registered origin, of a domain or a page; loopback origins, which all may share, are not included. */
  readonly originOwners: Map<string, string>
  readonly credentials: Map<string, Readonly<Record<string, string>>>
}

/** What an Organization itself says. */
type SaidByOrganization = Pick<Organization, 'displayName' | 'logRetentionDays' | 'timeZone' | 'alertRules'>

export interface OrganizationDraft {
  readonly id: string
  readonly plan: Plan
  readonly said: SaidByOrganization
  readonly parts: OrganizationParts
  websiteCount: number
  readonly result: OrganizationResult
}

interface OrganizationParts {
  readonly installPaths: InstallPath[]
  readonly logStreams: LogStream[]
  readonly webhooks: Webhook[]
}

interface OrganizationResult {
  /** The organisation with its parts; null until all of them are read. */
  finished: Organization | null
  /** The organisation as it was in force, if its own object does not count; null for all others. */
  readonly held: Organization | null
}

export interface WebsiteDraft {
  readonly organization: OrganizationDraft
  readonly core: WebsiteCore
  /** Its own pages that fit the plan, and the origins of its domains and of these pages. */
  registered: Registered
  readonly destinations: Destination[]
}

export interface Registered {
  readonly pages: readonly RegisteredPage[]
  readonly origins: ReadonlySet<string>
}

/** What follows from a valid spec alone. */
export interface WebsiteCore {
  readonly website: Omit<Website, 'organization' | 'destinations' | 'measurementIds'>
  readonly domains: ReadonlySet<string>
  /** The result of the latest compilation, with its organisation and destinations. */
  finished: Website | null
}

/** Whether the plan has room for `wanted` of these in total; reports it if not. */
export function hasRoom(
  compiler: Compiler,
  object: ObjectId,
  plan: Plan,
  room: { readonly count: PlanCount; readonly wanted: number; readonly field: string },
): boolean {
  const refusal = refuseByPlan(plan, room.count, room.wanted)
  if (refusal === null) return true
  compiler.report(object, refusal.code === 'plan_limit' ? 'PlanLimit' : 'PlanRequired', room.field, refusal)
  return false
}

/** Whether the object does not fit into the catalog; reports it if so. */
export function isLeftOut(compiler: Compiler, object: ObjectId): boolean {
  const why = compiler.rules.withoutRoom.get(object.key)
  if (why !== undefined) compiler.report(object, 'TooLarge', '', why)
  return why !== undefined
}

export function compiledFrom({
  namespace,
  name: objectName,
  spec: { allowedNamespaces, tenant },
}: Resource<'Organization'> | Resource<'Website'>): CompiledFrom {
  return {
    namespace,
    objectName,
    ...(allowedNamespaces === undefined ? {} : { allowedNamespaces }),
    ...(tenant === undefined ? {} : { tenant }),
  }
}

/** The owner of an origin: the objects of one tenant in one namespace share it. No namespace has a space in its name. */
export function claimantOf({
  namespace,
  tenant = '',
}: {
  readonly namespace: string
  readonly tenant?: string
}): string {
  return tenant === '' ? namespace : `${namespace} ${tenant}`
}

/** Records whose object it is, before anything is compared with it. */
export function noteTenant({ tenants }: ObjectOwnership, key: string, tenant: string | undefined): void {
  if (tenant !== undefined) tenants.set(key, tenant)
}

/** The display name, within the limit even if the object's own name replaces it; null if refused. */
export function displayNameOf(
  compiler: Reporting,
  object: ObjectId & { readonly spec: { readonly displayName?: string } },
): string | null {
  const name = object.spec.displayName ?? object.name
  if (name.length <= LIMITS.nameChars || object.spec.displayName !== undefined) return name
  const message = `is missing, and metadata.name has more than ${LIMITS.nameChars} characters`
  compiler.report(object, 'InvalidField', '/spec/displayName', message)
  return null
}

/** The ID in the spec, otherwise the object's name if that can be an ID; null if refused. */
export function websiteIdOf(
  compiler: Reporting,
  object: ObjectId & { readonly spec: { readonly id?: string } },
): string | null {
  const id = object.spec.id ?? object.name
  if (object.spec.id !== undefined || (!id.includes('.') && id.length <= LIMITS.websiteIdChars)) return id
  const message = `is missing, and metadata.name cannot stand in: it has dots or more than ${LIMITS.websiteIdChars} characters`
  compiler.report(object, 'InvalidField', '/spec/id', message)
  return null
}
