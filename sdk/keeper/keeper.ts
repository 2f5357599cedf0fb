/**
 * The part of the SDK that keeps what later page views and installers need: the marker, and the landing across the website's
 * origins.
 */

import type { PageArrival } from '../core/landing.ts'
import { markerName } from '../core/marker-name.ts'
import { onPageChange } from '../core/page-change.ts'
import { EXTRAS } from '../core/places.ts'
import { hasGpc, safely } from '../core/page.ts'
import { firstGroup } from '../core/source.ts'
import type { Keeper, Page, Scope, ServiceAnswer, VisitDraft } from '../core/types.ts'
import { encodeCarried } from './carried-form.ts'
import { attendLinks, leadsElsewhere } from './links.ts'
import { mayKeepMarkers, removeMarkers, writeMarker } from './marker.ts'
import { keepAddressPlain } from './own-address.ts'
import type { SiteOrigins } from './placing.ts'
import { addressWith, mayCarry } from './placing.ts'
import { settledArrival } from './settled-arrival.ts'
import { readSharedCookie, writeSharedCookie } from './domain-cookie.ts'

/** By website ID. */
const sites = new Map<string, SiteOrigins>()
/** What is asked for, or here; one whose answer did not come is asked for again. */
const askedSites = new Map<string, Promise<ServiceAnswer>>()
/** How the document was arrived at, and when that was decided, in Unix ms. */
const settled = new Map<Scope, { readonly arrival: PageArrival; readonly atMs: number }>()
/** Of the website, as far as its visits may use them: whose identifiers the visit has looked for. */
const providers = new Map<Scope, readonly string[]>()
let attended: Page | undefined

export const keeper: Keeper = {
  attend: (page) => {
    attended = page
    page.resume()
    onPageChange(() => {
      page.resume()
      // The extras watch the page themselves.
      return EXTRAS.loading
    })
    page.linkFor = (scope, url) => {
      void askOrigins(scope)
      return carriedTo(page, [scope], url) ?? url
    }
    keepAddressPlain(page.view.url)
    attendLinks({
      carriedTo: (address) => carriedTo(page, page.scopes.values(), address),
      prepare: () => prepare(page),
    })
  },
  askExtras: (page, call) => page.ask(EXTRAS, call),
  settle,
  keep: async (scope, { identities = {} }, marker) => {
    providers.set(scope, Object.keys(identities))
    const share = attended?.tagAttributes.share
    if (share) safely(() => writeSharedCookie(scope.project, share, textFor(scope) ?? ''))
    // A visit without a marker is never activated: only a token can link an install to it. That is all that some want.
    if (attended?.tagAttributes.markers !== 'off' && (await mayKeepMarkers())) {
      await writeMarker(markerName(scope.project, marker.url_id), marker)
      await scope.send('v1/visits/activate', { project: scope.project, receipt: marker.receipt })
    }
    if (attended && leadsElsewhere()) prepare(attended)
  },
  forget: async ({ tagAttributes: { share } }, scope) => {
    settled.delete(scope)
    if (share) safely(() => writeSharedCookie(scope.project, share, ''))
    await removeMarkers()
  },
}

/** Asks for the origins before the visitor uses a link. A page that leads nowhere else does not need them. */
function prepare(page: Page): void {
  for (const scope of page.scopes.values()) void askOrigins(scope)
}

/** Undefined if the service does not answer, or if consent was withdrawn meanwhile. */
async function askOrigins(scope: Scope): Promise<SiteOrigins | undefined> {
  const { project } = scope
  let asking = askedSites.get(project)
  if (!asking) askedSites.set(project, (asking = scope.send(`v1/projects/${project}/origins`)))
  const answer = await asking
  if ('origins' in answer) {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the service's answer; what is missing in it throws
    sites.set(project, answer as unknown as SiteOrigins)
  } else askedSites.delete(project)
  return sites.get(project)
}

async function settle(page: Page, scope: Scope, begun: VisitDraft): Promise<void> {
  const { view } = page
  const { seen_at } = begun.landing
  // The mark of a test, from the dashboard; without one the member is left out of the JSON.
  begun.body.test = firstGroup(/#_whence_test=(.+)/, view.url)
  const isFirst = seen_at === view.nowMs
  if (isFirst && !settled.has(scope))
    settled.set(scope, { arrival: await firstArrival(page, scope, begun), atMs: Date.now() })
  const known = settled.get(scope)
  if (!known) return
  if (isFirst) putRight(begun, known.arrival)
  // A route that was shown before that was known: what its first moment remembered is out of date.
  else if (seen_at <= known.atMs) putRight(begun, { ...known.arrival, seen_at, carried: true, entry: false })
}

/** How the document was arrived at. What the origin remembers is put right, too. */
async function firstArrival(page: Page, scope: Scope, { landing, body }: VisitDraft): Promise<PageArrival> {
  const { view, tagAttributes } = page
  const site = await askOrigins(scope)
  if (!site) return landing
  const key = scope.memoryKey
  const recalled = safely(() => localStorage.getItem(key) ?? '')
  const shared = tagAttributes.share ? readSharedCookie(scope.project) : ''
  const arrival = settledArrival({ view, gpc: body.gpc, recalled: recalled ?? '', shared }, site)
  // A browser that blocks storage names no sitting.
  if (recalled === undefined)
    return arrival ? { ...arrival, sitting: undefined, entry: arrival.entry && undefined } : landing
  safely(() => localStorage.setItem(key, JSON.stringify(arrival ?? landing)))
  return arrival ?? landing
}

/** Members that an arrival may lack. */
const NO_MEMBERS = { ref: undefined, click: undefined, carried: undefined }

function putRight({ body, landing }: VisitDraft, arrival: PageArrival): void {
  Object.assign(landing, { ...NO_MEMBERS, ...arrival })
  const { clicks: _, seen_at: __, sitting, entry, ...source } = landing
  Object.assign(body, { source, sitting, entry })
}

/** Undefined for an address that carries nothing. */
function carriedTo(page: Page, scopes: Iterable<Scope>, address: string): string | undefined {
  if (!page.isAllowed) return undefined
  const url = new URL(address, location.href)
  for (const scope of scopes) {
    const site = sites.get(scope.project)
    const text = site && mayCarry(url, location.origin, site) && textFor(scope)
    if (text) return addressWith(url.href, text, page.tagAttributes.carry === 'query')
  }
  return undefined
}

/** What the origin remembers, as a link says it. */
function textFor(scope: Scope): string | undefined {
  const recalled = localStorage.getItem(scope.memoryKey)
  if (!recalled) return undefined
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the SDK wrote it; a broken one throws here or there
  const memory = JSON.parse(recalled) as PageArrival
  return encodeCarried(memory, Date.now(), hasGpc() ? [] : (providers.get(scope) ?? []))
}
