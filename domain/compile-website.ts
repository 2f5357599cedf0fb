/** Compiles one Website: its origins and pages, its place in the plan, and its ID among all others. */

import type { Destination, Organization, Page, Website } from './catalog.ts'
import type { Resource } from './catalog-objects.ts'
import { organizationOf } from './compile-references.ts'
import type { Compiler, Reporting, WebsiteCore } from './compiler.ts'
import { displayNameOf, hasRoom, idOf } from './compiler.ts'
import { isLoopbackHost, parseOrigin, parsePageUrl } from './origin.ts'
import { isSameList } from './unchanged.ts'

/** Adds the website's draft, or reports why it is left out. */
export function compileWebsite(compiler: Compiler, resource: Resource<'Website'>): void {
  const organization = organizationOf(compiler, resource)
  const core = coreOf(compiler, resource)
  if (organization === null || core === null) return
  const { website, domains, owned } = core
  if (!isFree(compiler, resource, { id: website.id, domains })) return
  const { plan } = organization
  const domainRoom = { count: 'domainsPerWebsite', wanted: domains.size, field: '/spec/additionalDomains' } as const
  const websiteRoom = { count: 'websites', wanted: organization.websiteCount + 1, field: '' } as const
  if (!hasRoom(compiler, resource, plan, domainRoom) || !hasRoom(compiler, resource, plan, websiteRoom)) return
  organization.websiteCount += 1
  compiler.websiteIds.add(website.id)
  for (const origin of owned) compiler.originOwners.set(origin, resource.namespace)
  compiler.websites.set(resource.key, { organization, core, destinations: [] })
}

/** What follows from its spec alone; null after problems have been reported. Parsing addresses takes most of the time. */
export function coreOf(compiler: Reporting, resource: Resource<'Website'>): WebsiteCore | null {
  if (resource.memo !== null) return resource.memo as WebsiteCore
  const { spec } = resource
  const id = idOf(compiler, resource)
  const displayName = displayNameOf(compiler, resource)
  const domains = domainsOf(compiler, resource)
  const pages = pagesOf(compiler, resource)
  if (id === null || displayName === null || domains === null || pages === null) return null
  const website = {
    id,
    displayName,
    primaryOrigin: [...domains][0] ?? '',
    origins: new Set([...domains, ...pages.map((page) => page.origin)]),
    pages,
    providers: new Set(spec.providers),
    retentionDays: spec.retentionDays,
    hookScan: spec.hook.scan,
  }
  const owned = [...domains].filter((origin) => !isEverybodys(origin))
  const core: WebsiteCore = { website: Object.freeze(website), domains, owned, finished: null }
  resource.memo = core
  return core
}

/** The one of the compilation before where organisation and destinations are those of then. */
export function finishedWebsite(
  core: WebsiteCore,
  organization: Organization,
  destinations: readonly Destination[],
): Website {
  const before = core.finished
  if (before?.organization === organization && isSameList(before.destinations, destinations)) return before
  const measurementIds = destinations
    .filter((destination) => destination.provider === 'ga4')
    .map((destination) => String(destination.settings['measurementId']))
  core.finished = Object.freeze({
    ...core.website,
    organization,
    destinations,
    measurementIds: [...new Set(measurementIds)],
  })
  return core.finished
}

/**
 * Whether no older website has the ID or, in another namespace, one of the origins. Websites of one namespace may share an
 * origin; those of two may not, whatever organisation they belong to: the browsers of one would serve the other.
 */
function isFree(
  compiler: Compiler,
  resource: Resource<'Website'>,
  claim: { readonly id: string; readonly domains: ReadonlySet<string> },
): boolean {
  const { id, domains } = claim
  if (compiler.websiteIds.has(id)) {
    compiler.report(resource, 'IdTaken', '/spec/id', 'an older website of this installation has this ID')
    return false
  }
  const { namespace } = resource
  let field = '/spec/primaryOrigin'
  for (const origin of domains) {
    if ((compiler.originOwners.get(origin) ?? namespace) !== namespace) {
      compiler.report(resource, 'OriginTaken', field, 'a website of another namespace registered this origin before')
      return false
    }
    field = '/spec/additionalDomains'
  }
  return true
}

/** Every developer's own machine. */
function isEverybodys(origin: string): boolean {
  return isLoopbackHost(new URL(origin).hostname)
}

/** Normalised and without repeats, the primary one first; null after problems have been reported. */
function domainsOf(compiler: Reporting, resource: Resource<'Website'>): ReadonlySet<string> | null {
  const { primaryOrigin, additionalDomains } = resource.spec
  const texts = [
    { field: '/spec/primaryOrigin', text: primaryOrigin },
    ...additionalDomains.map((text, index) => ({ field: `/spec/additionalDomains/${index}`, text })),
  ]
  const domains = new Set<string>()
  let isSound = true
  for (const { field, text } of texts) {
    const parsed = parseOrigin(text)
    if (parsed.ok) {
      domains.add(parsed.value)
    } else {
      compiler.report(resource, 'InvalidField', field, parsed.why)
      isSound = false
    }
  }
  return isSound ? domains : null
}

function pagesOf(compiler: Reporting, resource: Resource<'Website'>): readonly Page[] | null {
  const pages = new Map<string, Page>()
  let isSound = true
  const refuse = (field: string, message: string) => {
    compiler.report(resource, 'InvalidField', field, message)
    isSound = false
  }
  resource.spec.pages.forEach(({ id, url }, index) => {
    const field = `/spec/pages/${index}`
    const parsed = parsePageUrl(url)
    if (!parsed.ok) refuse(`${field}/url`, parsed.why)
    else if (/[?#]/.test(url)) refuse(`${field}/url`, 'has a query or fragment; a page is its origin and path')
    else if (pages.has(id)) refuse(`${field}/id`, 'is the ID of another page of this website')
    else pages.set(id, Object.freeze({ id, ...parsed.value }))
  })
  return isSound ? [...pages.values()] : null
}
