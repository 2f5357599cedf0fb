/** What the steps of the catalog compiler share: drafts, room in the plan, names and IDs. */

import type { AllowedNamespaces } from '../resources/allowed-namespaces.ts'
import type { CompiledFrom, Destination, InstallPath, Organization, Page, Website } from '../catalog.ts'
import type { CheckedObjects, ObjectId, Report, Resource } from './objects.ts'
import { LIMITS } from '../limits.ts'
import type { Plan, ProviderId } from '../model.ts'
import type { PlanCount } from '../plan.ts'
import { refuseByPlan } from '../plan.ts'

/** One credential and where it comes from; no value. */
export interface CredentialRef {
  /** As the provider's module calls it, for example `apiSecret`. */
  readonly credential: string
  readonly namespace: string
  readonly secret: string
  readonly key: string
}

/** Findings about a provider's settings; `field` is a pointer into the block, for example `/measurementId`. */
export type ProviderSettingsChecker = (
  provider: ProviderId,
  settings: Readonly<Record<string, unknown>>,
) => readonly { readonly field: string; readonly message: string }[]

/** As much of a compiler as it takes to say what is wrong with one object. */
export type Reporting = Pick<Compiler, 'report' | 'warn'>

/** What the steps share while they run. */
export interface Compiler {
  readonly objects: CheckedObjects
  readonly report: Report
  /** Takes down what is wrong with an object that stays in force. */
  readonly warn: Report
  /** `objectKey` of Secrets that are the service's own. */
  readonly ownSecrets: ReadonlySet<string>
  /** `objectKey` of objects that the catalog has no room for, and why. */
  readonly withoutRoom: ReadonlyMap<string, string>
  readonly checkProviderSettings: ProviderSettingsChecker
  /** Organizations by `objectKey`; paths and websites are added in the order of their creation. */
  readonly organizations: Map<string, OrganizationDraft>
  /** Whom Organizations and Websites let in beside their own namespace, by `objectKey`; refused ones are among them. */
  readonly allowed: Map<string, AllowedNamespaces>
  /** Websites by `objectKey`. */
  readonly websites: Map<string, WebsiteDraft>
  readonly websiteIds: Set<string>
  /** Namespace by registered origin, of a domain or a page; loopback origins, which are everybody's, are not among them. */
  readonly originOwners: Map<string, string>
  readonly credentials: Map<string, Readonly<Record<string, string>>>
  readonly credentialRefs: Map<string, readonly CredentialRef[]>
}

export interface OrganizationDraft {
  readonly id: string
  readonly displayName: string
  readonly plan: Plan
  readonly logRetentionDays: number
  readonly installPaths: InstallPath[]
  websiteCount: number
  logStreamCount: number
  /** With its install paths; null until all of them are read. */
  finished: Organization | null
  /** As it was in force, where its own object does not count; null for all others. */
  readonly held: Organization | null
}

export interface WebsiteDraft {
  readonly organization: OrganizationDraft
  readonly core: WebsiteCore
  /** As many of its own as there is room for, and the origins of domains and of these. */
  registered: Registered
  readonly destinations: Destination[]
}

export interface Registered {
  readonly pages: readonly Page[]
  readonly origins: ReadonlySet<string>
}

/** What follows from a spec without a problem alone. */
export interface WebsiteCore {
  readonly website: Omit<Website, 'organization' | 'destinations' | 'measurementIds'>
  readonly domains: ReadonlySet<string>
  /** What the latest compilation made of it, with its organisation and destinations. */
  finished: Website | null
}

/** Whether the plan has room for `wanted` of these in all; the refusal is reported. */
export function hasRoom(
  compiler: Compiler,
  object: ObjectId,
  plan: Plan,
  room: { readonly count: PlanCount; readonly wanted: number; readonly field: string },
): boolean {
  const refusal = refuseByPlan(plan, room.count, room.wanted)
  if (refusal === null) return true
  compiler.report(object, refusal.code === 'plan_limit' ? 'PlanLimit' : 'PlanRequired', room.field, refusal.message)
  return false
}

/** Whether the catalog has no room for it, which is reported. */
export function isLeftOut(compiler: Compiler, object: ObjectId): boolean {
  const why = compiler.withoutRoom.get(object.key)
  if (why !== undefined) compiler.report(object, 'TooLarge', '', why)
  return why !== undefined
}

export function compiledFrom({
  namespace,
  name: objectName,
  spec: { allowedNamespaces },
}: Resource<'Organization'> | Resource<'Website'>): CompiledFrom {
  return { namespace, objectName, ...(allowedNamespaces === undefined ? {} : { allowedNamespaces }) }
}

/** The name that people see, within the limit even where the object's own name stands in for it; null if refused. */
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

/** The ID that the spec gives, or else the object's name where that can be one; null if refused. */
export function idOf(
  compiler: Reporting,
  object: ObjectId & { readonly spec: { readonly id?: string } },
): string | null {
  const id = object.spec.id ?? object.name
  if (object.spec.id !== undefined || (!id.includes('.') && id.length <= LIMITS.websiteIdChars)) return id
  const message = `is missing, and metadata.name cannot stand in: it has dots or more than ${LIMITS.websiteIdChars} characters`
  compiler.report(object, 'InvalidField', '/spec/id', message)
  return null
}
