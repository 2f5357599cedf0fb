/**
 * Keeps parts of the catalog in force whose objects cannot be read, or must not take effect for now.
 *
 * They are placed before anything else is compiled, so they keep their IDs, their origins and their room in the plan.
 */

import type {
  Credentials,
  Destination,
  Organization,
  Website,
  CatalogOrganizations,
  CatalogWebsites,
} from '../catalog.ts'
import { destinationKey } from '../catalog.ts'
import { objectKey } from './objects.ts'
import type { Compiler, OrganizationDraft } from './compiler.ts'
import { claimantOf, noteTenant } from './compiler.ts'
import { own } from './compile-website.ts'

/** What was in force, and which parts stay in force whatever their objects contain. */
export interface HeldForms {
  readonly catalog: CatalogOrganizations & CatalogWebsites
  /** By `destinationKey`. */
  readonly credentials: Credentials
  /** Everything from these namespaces stays: their objects cannot be read. */
  readonly namespaces: ReadonlySet<string>
  /** `objectKey` of Websites, Destinations, LogStreams and Webhooks that stay although their objects are refused, or do not take effect for now. */
  readonly objects: ReadonlySet<string>
}

export const NOTHING_HELD: HeldForms = {
  catalog: { organizations: new Map(), websites: new Map() },
  credentials: new Map(),
  namespaces: new Set(),
  objects: new Set(),
}

function organizationKey({
  namespace,
  objectName,
}: {
  readonly namespace: string
  readonly objectName: string
}): string {
  return objectKey('Organization', namespace, objectName)
}

export function websiteKey({
  namespace,
  objectName,
}: {
  readonly namespace: string
  readonly objectName: string
}): string {
  return objectKey('Website', namespace, objectName)
}

/** From namespaces that cannot be read; runs before the readable objects. */
export function holdOrganizations(compiler: Compiler, { catalog, namespaces }: HeldForms): void {
  for (const organization of catalog.organizations.values()) {
    if (namespaces.has(organization.namespace)) holdOrganization(compiler, organization)
  }
}

/** Runs after organisations and install paths, and before the readable websites. */
export function holdWebsites(compiler: Compiler, held: HeldForms): void {
  for (const website of held.catalog.websites.values()) {
    const key = websiteKey(website)
    if (!held.namespaces.has(website.namespace) && !held.objects.has(key)) continue
    const organization = organizationFor(compiler, website)
    organization.websiteCount += 1
    compiler.made.websiteIds.add(website.id)
    noteTenant(compiler.ownership, key, website.tenant)
    for (const origin of website.origins) own(compiler, origin, claimantOf(website))
    if (website.allowedNamespaces !== undefined) compiler.ownership.allowed.set(key, website.allowedNamespaces)
    const { organization: _organization, destinations: _destinations, measurementIds: _ids, ...core } = website
    compiler.made.websites.set(key, {
      organization,
      core: { website: core, domains: website.origins, finished: website },
      registered: website,
      destinations: [],
    })
  }
}

/**
 * Runs after the readable destinations, whose objects take precedence. A destination whose object was deleted does not come back.
 */
export function holdDestinations(compiler: Compiler, held: HeldForms): void {
  for (const website of held.catalog.websites.values()) {
    const draft = compiler.made.websites.get(websiteKey(website))
    if (draft?.core.website.id !== website.id) continue
    const isHeld = held.objects.has(websiteKey(website))
    for (const destination of website.destinations) {
      const key = objectKey('Destination', destination.namespace, destination.id)
      const isRefused = isHeld && compiler.objects.seen.has(key)
      if (!held.namespaces.has(destination.namespace) && !isRefused && !held.objects.has(key)) continue
      if (!draft.destinations.some(({ id }) => id === destination.id))
        hold(compiler, held, draft.destinations, destination)
    }
  }
}

function hold(compiler: Compiler, held: HeldForms, destinations: Destination[], destination: Destination): void {
  const key = destinationKey(destination, destination.id)
  const credentials = held.credentials.get(key)
  // Without credentials it could only fail.
  if (credentials === undefined) return
  compiler.made.credentials.set(key, credentials)
  destinations.push(destination)
}

/** The organisation that was read, otherwise the one that was in force with the website. */
function organizationFor(compiler: Compiler, { organization }: Website): OrganizationDraft {
  return compiler.made.organizations.get(organizationKey(organization)) ?? holdOrganization(compiler, organization)
}

function holdOrganization(compiler: Compiler, organization: Organization): OrganizationDraft {
  const { id, displayName, plan, logRetentionDays, timeZone, alertRules, installPaths, allowedNamespaces } =
    organization
  const key = organizationKey(organization)
  const draft: OrganizationDraft = {
    id,
    plan,
    said: { displayName, logRetentionDays, timeZone, alertRules },
    parts: { installPaths: [...installPaths], logStreams: [], webhooks: [] },
    websiteCount: 0,
    result: { finished: null, held: organization },
  }
  compiler.made.organizations.set(key, draft)
  noteTenant(compiler.ownership, key, organization.tenant)
  if (allowedNamespaces !== undefined) compiler.ownership.allowed.set(key, allowedNamespaces)
  return draft
}
