/** Compiles one Website: its origins and pages, its place in the plan, and its ID among all others. */

import type { Destination, Organization, RegisteredPage, Website } from '../catalog.ts'
import type { Resource } from './objects.ts'
import { organizationOf } from './compile-references.ts'
import type { ProblemReason } from '../resources/problems.ts'
import type { Compiler, Registered, Reporting, WebsiteCore } from './compiler.ts'
import { claimantOf, compiledFrom, displayNameOf, hasRoom, websiteIdOf, isLeftOut } from './compiler.ts'
import { LIMITS } from '../limits.ts'
import type { Plan } from '../model.ts'
import { isLoopbackHost, parseOrigin, parsePageUrl } from '../origin.ts'
import { refuseByPlan } from '../plan.ts'
import { isSameList } from '../published/parts.ts'

/** Adds the website's draft, or reports why it is left out. */
export function compileWebsite(compiler: Compiler, resource: Resource<'Website'>): void {
  // Held in force as it was.
  if (compiler.made.websites.has(resource.key)) return
  const organization = organizationOf(compiler, resource)
  const core = websiteCore(compiler, resource)
  if (organization === null || core === null) return
  const { website, domains } = core
  if (!isFree(compiler, resource, { id: website.id, domains, claimant: claimantOf(website) })) return
  if (isLeftOut(compiler, resource)) return
  const { plan } = organization
  const domainRoom = { count: 'domainsPerWebsite', wanted: domains.size, field: '/spec/additionalDomains' } as const
  const websiteRoom = { count: 'websites', wanted: organization.websiteCount + 1, field: '' } as const
  if (!hasRoom(compiler, resource, plan, domainRoom) || !hasRoom(compiler, resource, plan, websiteRoom)) return
  organization.websiteCount += 1
  compiler.made.websiteIds.add(website.id)
  for (const origin of domains) own(compiler, origin, claimantOf(website))
  compiler.made.websites.set(resource.key, { organization, core, registered: core.website, destinations: [] })
}

/**
 * Gives the website's pages their origins, after all websites have their domains. The origin of a page counts like a
 * domain: it belongs to one namespace, and takes up room in the plan. If a page cannot have its origin, only that page is
 * left out.
 */
export function registerPages(compiler: Compiler, resource: Resource<'Website'>): void {
  const draft = compiler.made.websites.get(resource.key)
  if (draft === undefined || draft.core.website.pages.length === 0 || draft.registered !== draft.core.website) return
  const { pages } = draft.core.website
  const origins = new Set(draft.core.domains)
  const room = { pages: 0 }
  const kept = pages.filter((page, index) => {
    const why = refusedPage(compiler, claimantOf(draft.core.website), {
      page,
      origins,
      plan: draft.organization.plan,
      room,
    })
    if (why !== null) compiler.warn(resource, why.reason, `/spec/pages/${index}/url`, `${why.message}; left out`)
    else own(compiler, page.origin, claimantOf(draft.core.website))
    if (why === null) origins.add(page.origin)
    return why === null
  })
  draft.registered = kept.length === pages.length ? draft.core.website : { pages: kept, origins }
}

interface PageClaim {
  readonly page: RegisteredPage
  readonly origins: ReadonlySet<string>
  readonly plan: Plan
  /** Characters of the pages accepted so far. */
  readonly room: { pages: number }
}

function refusedPage(
  { made: { originOwners } }: Compiler,
  claimant: string,
  { page, origins, plan, room }: PageClaim,
): { readonly reason: ProblemReason; readonly message: string } | null {
  const chars = page.id.length + page.origin.length + page.path.length
  if (room.pages + chars > LIMITS.pageListChars) {
    return { reason: 'TooLarge', message: `all pages of a website may have ${LIMITS.pageListChars} characters` }
  }
  if (!origins.has(page.origin)) {
    if ((originOwners.get(page.origin) ?? claimant) !== claimant) return { reason: 'OriginTaken', message: TAKEN }
    const refusal = refuseByPlan(plan, 'domainsPerWebsite', origins.size + 1)
    if (refusal !== null)
      return { reason: 'PlanLimit', message: `${refusal.message}, and its origin would be one more` }
  }
  room.pages += chars
  return null
}

const TAKEN = 'a website of another namespace or tenant has this origin'

/** Gives the origin to its claimant, unless it is a loopback origin, which all may share. */
export function own({ made: { originOwners } }: Compiler, origin: string, claimant: string): void {
  if (!isEverybodys(origin)) originOwners.set(origin, claimant)
}

/**
 * The parts that depend on its spec alone; null after problems have been reported. Parsing addresses takes most of the time.
 */
export function websiteCore(compiler: Reporting, resource: Resource<'Website'>): WebsiteCore | null {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- what this step has noted
  if (resource.memo !== null) return resource.memo as WebsiteCore
  const { spec } = resource
  const id = websiteIdOf(compiler, resource)
  const displayName = displayNameOf(compiler, resource)
  const domains = domainsOf(compiler, resource)
  const pages = pagesOf(compiler, resource)
  if (id === null || displayName === null || domains === null || pages === null) return null
  const website = {
    id,
    ...compiledFrom(resource),
    displayName,
    primaryOrigin: [...domains][0] ?? '',
    origins: new Set([...domains, ...pages.map((page) => page.origin)]),
    pages,
    providers: new Set(spec.providers),
    retentionDays: spec.retentionDays,
    hookScan: spec.hook.scan,
    crossOrigin: spec.crossOrigin,
    ignoredReferrers: spec.ignoredReferrers,
    selectionPolicy: spec.selectionPolicy,
    installationsPerVisitWarning: spec.warnings.installationsPerVisit,
  }
  const core: WebsiteCore = { website: Object.freeze(website), domains, finished: null }
  resource.memo = core
  return core
}

interface FinishedParts {
  readonly registered: Registered
  readonly destinations: readonly Destination[]
}

/** The website of the previous compilation if its organisation, pages and destinations are still the same. */
export function finishedWebsite(
  core: WebsiteCore,
  organization: Organization,
  { registered, destinations }: FinishedParts,
): Website {
  const { pages, origins } = registered
  const before = core.finished
  if (
    before?.organization === organization &&
    isSameList(before.pages, pages) &&
    isSameList(before.destinations, destinations)
  ) {
    return before
  }
  const measurementIds = destinations
    .filter((destination) => destination.provider === 'ga4')
    .map((destination) => String(destination.settings['measurementId']))
  core.finished = Object.freeze({
    ...core.website,
    organization,
    pages,
    origins,
    destinations,
    measurementIds: [...new Set(measurementIds)],
  })
  return core.finished
}

/**
 * Whether no older website has the ID or, in another namespace, one of the origins. Websites of one namespace and tenant
 * may share an origin; others may not, even in one organisation: the browsers of one would serve the other.
 */
function isFree(
  compiler: Compiler,
  resource: Resource<'Website'>,
  claim: { readonly id: string; readonly domains: ReadonlySet<string>; readonly claimant: string },
): boolean {
  const { id, domains, claimant } = claim
  if (compiler.made.websiteIds.has(id)) {
    compiler.report(resource, 'IdTaken', '/spec/id', 'an older website of this installation has this ID')
    return false
  }
  let field = '/spec/primaryOrigin'
  for (const origin of domains) {
    if ((compiler.made.originOwners.get(origin) ?? claimant) !== claimant) {
      compiler.report(resource, 'OriginTaken', field, TAKEN)
      return false
    }
    field = '/spec/additionalDomains'
  }
  return true
}

/** A loopback address is every developer's own machine. */
function isEverybodys(origin: string): boolean {
  return isLoopbackHost(new URL(origin).hostname)
}

/** Normalised, without repeats, the primary origin first; null after problems have been reported. */
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

function pagesOf(compiler: Reporting, resource: Resource<'Website'>): readonly RegisteredPage[] | null {
  const pages = new Map<string, RegisteredPage>()
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
