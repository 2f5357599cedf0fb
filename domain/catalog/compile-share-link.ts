/** Checks one ShareLink: its filters and its end, its place among those of its website, and that no older one has the same token. */

import type { ShareLink } from '../people/share-link.ts'
import { sharedFilterTexts } from '../people/share-link.ts'
import { mayOpen, type PassesBefore } from './compile-pass.ts'
import { referredWebsite } from './compile-references.ts'
import { displayNameOf, hasRoom, type Compiler, type WebsiteDraft } from './compiler.ts'
import type { Resource } from './objects.ts'

interface LinksBefore extends PassesBefore<ShareLink> {
  /** Links so far, by the ID of their website. */
  readonly counts: Map<string, number>
}

/** The links that open something, by the hash of their token, the oldest first. Only the dashboard reads this; it is not part of the catalog. */
export function compileShareLinks(compiler: Compiler, nowMs: number): ReadonlyMap<string, ShareLink> {
  const made = new Map<string, ShareLink>()
  const around: LinksBefore = { nowMs, made, counts: new Map() }
  for (const resource of compiler.objects.resources.ShareLink) {
    const link = compileShareLink(compiler, resource, around)
    if (link !== null) made.set(link.hash, link)
  }
  return made
}

function compileShareLink(compiler: Compiler, resource: Resource<'ShareLink'>, around: LinksBefore): ShareLink | null {
  const website = referredWebsite(compiler, resource)
  if (website === null) return null
  const link = readLink(compiler, resource, website)
  if (link === null || !mayOpen(compiler, resource, link, around)) return null
  const count = (around.counts.get(link.report.website) ?? 0) + 1
  const room = { count: 'shareLinksPerWebsite', wanted: count, field: '' } as const
  if (!hasRoom(compiler, resource, website.organization.plan, room)) return null
  around.counts.set(link.report.website, count)
  return link
}

function readLink(
  compiler: Compiler,
  resource: Resource<'ShareLink'>,
  { core, organization }: WebsiteDraft,
): ShareLink | null {
  const title = displayNameOf(compiler, resource)
  if (title === null) return null
  const { namespace, name, spec } = resource
  const filter = sharedFilterTexts(spec.filters)
  if ('code' in filter) {
    compiler.report(resource, 'InvalidField', '/spec/filters', String(filter.extra?.['message']))
    return null
  }
  return {
    namespace,
    name,
    organization: organization.id,
    expiresAtMs: Date.parse(spec.expiresAt),
    hash: spec.tokenHash,
    report: { title, website: core.website.id, period: spec.period, filter },
  }
}
