/** Makes up sittings: page views of one visitor, the markers that they leave, and the command that is copied. */

import { pageFieldsOf, plainVisit, type Visit } from '../../domain/collection/visit-fields.ts'
import type { Utm } from '../../domain/collection/traffic-source.ts'
import { visitorOf } from '../../domain/collection/visitor.ts'
import { DAY_MS, SECOND_MS } from '../../domain/durations.ts'
import { EXAMPLE_DATA } from '../../domain/figures/example-data.ts'
import type { Identities, VisitId } from '../../domain/model.ts'
import type { LogRecord } from '../../domain/records.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import { wholeBetween, MADE_UP, momentOn, pickWeighted, requestAt, type Pen, type Weighted } from './day.ts'

/** What the address and the referrer of a landing say. */
interface MadeUpLanding {
  readonly utm?: Utm
  readonly ref?: string
  readonly click?: string
  readonly referrer?: string
}

/** Paid campaigns are those of the made-up spend. */
const LANDINGS: Weighted<MadeUpLanding> = [
  [26, {}],
  [18, { referrer: 'https://www.google.com/' }],
  [5, { referrer: 'https://duckduckgo.com/' }],
  [9, { referrer: 'https://github.com/' }],
  [6, { referrer: 'https://news.ycombinator.com/' }],
  [4, { referrer: 'https://chatgpt.com/' }],
  [3, { referrer: 'https://blog.made-up-partner.example/' }],
  [10, { utm: { source: 'newsletter', medium: 'email', campaign: 'product-news', content: 'button' } }],
  [5, { utm: { source: 'youtube', medium: 'video', campaign: 'tutorials' }, referrer: 'https://www.youtube.com/' }],
  [3, { ref: 'producthunt', referrer: 'https://www.producthunt.com/' }],
  [
    9,
    {
      utm: { source: 'google', medium: 'cpc', campaign: 'brand-search', term: 'acme cli' },
      click: 'gclid',
      referrer: 'https://www.google.com/',
    },
  ],
  [3, { click: 'gclid', referrer: 'https://www.google.com/' }],
  [5, { utm: { source: 'linkedin', medium: 'paid_social', campaign: 'platform-teams' }, click: 'li_fat_id' }],
]
const PAGES: Weighted<string> = [
  [5, '/'],
  [3, '/install'],
  [2, '/docs/quickstart'],
  [1, '/pricing'],
]
/** The page with the command asks for a token in advance. */
const INSTALL_PAGE = '/install'

interface MadeUpBrowser {
  readonly platform: string
  /** It keeps a marker; others send the page view and never activateView it. */
  readonly hasMarkers: boolean
  /** It keeps what names a sitting and the landing. */
  readonly hasStorage: boolean
}
const browser = (platform: string, hasMarkers = true, hasStorage = true): MadeUpBrowser => {
  return { platform, hasMarkers, hasStorage }
}
const BROWSERS: Weighted<MadeUpBrowser> = [
  [34, browser('macOS')],
  [26, browser('Linux')],
  [16, browser('Windows')],
  [10, browser('macOS', false)],
  [5, browser('iOS', false)],
  [5, browser('Android')],
  [4, browser('Linux', false, false)],
]

/** Who looks that is no person, by User-Agent; an empty one is of a browser that a script drives. */
const PROGRAMS: Weighted<string> = [
  [6, 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'],
  [3, 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)'],
  [2, 'Mozilla/5.0 (compatible; ChatGPT-User/1.0)'],
  [2, 'Mozilla/5.0 (compatible; Claude-User/1.0)'],
  [1, 'Mozilla/5.0 (compatible; Perplexity-User/1.0)'],
  [2, ''],
]

/** A page view with what became of its receipt. */
export interface MadeUpView {
  readonly visit: Visit
  readonly state: 'issued' | 'active' | 'revoked'
}

export interface Sitting {
  /** In order of time. */
  readonly views: readonly MadeUpView[]
  /** The page view from which the command was copied; null if it was not. */
  readonly copied: Visit | null
  /** When the last thing happened. */
  readonly endMs: number
  readonly records: readonly LogRecord[]
}

/** One page view of a crawler, of an agent that reads for somebody, or of an automated browser. */
export function programView(pen: Pen): readonly LogRecord[] {
  const userAgent = pickWeighted(PROGRAMS, pen.random)
  const client = userAgent === '' ? { automation: true, platform: 'Linux' } : {}
  const atMs = momentOn(pen)
  const visit = madeUpView(pen, atMs, { client, visitor: visitorOf({ userAgent, client }) })
  return [{ ...MADE_UP, kind: 'visit', request: requestAt(pen, '/v1/visits', atMs), visit }]
}

/** A command is asked for where nothing else may be recorded: the visit exists for its token alone. */
export function handoffOnlySitting(pen: Pen): Sitting {
  const atMs = momentOn(pen)
  const visit = madeUpView(pen, atMs, { isHandoffOnly: true, pageUrl: EXAMPLE_DATA.origin + INSTALL_PAGE })
  return {
    views: [{ visit, state: 'issued' }],
    copied: visit,
    endMs: atMs,
    records: [madeUpHandoff(pen, { visit, askedAtMs: atMs, isCopied: true })],
  }
}

/** Page views of one person, minutes apart at most. `isTest`: they carry the mark of a test. */
export function personSitting(pen: Pen, isTest: boolean): Sitting {
  const { random } = pen
  const kept = pickWeighted(BROWSERS, random)
  const shared = sharedFields(pen, kept, isTest)
  const views: MadeUpView[] = []
  const records: LogRecord[] = []
  let atMs = shared.startMs
  for (let left = 1 + Math.floor(random() ** 2 * 4); left > 0; left -= 1) {
    const visit = nextView(pen, { shared, kept, views, atMs })
    records.push({ ...MADE_UP, kind: 'visit', request: requestAt(pen, '/v1/visits', atMs), visit })
    if (kept.hasMarkers && random() < 0.96) records.push(activateView(pen, visit, views))
    else views.push({ visit, state: 'issued' })
    if (visit.pageUrl.endsWith(INSTALL_PAGE))
      records.push(madeUpHandoff(pen, { visit, askedAtMs: atMs + SECOND_MS, isCopied: false }))
    atMs += wholeBetween(15, 90, random) * SECOND_MS
  }
  const last = views.at(-1)?.visit
  const copied = last !== undefined && random() < 0.3 ? last : null
  if (copied !== null) records.push(madeUpHandoff(pen, { visit: copied, askedAtMs: atMs, isCopied: true }))
  return { views, copied, endMs: atMs, records }
}

/** Adds the page view; the receipt that the page's marker held before is revoked. */
function activateView(pen: Pen, visit: Visit, views: MadeUpView[]): LogRecord {
  const place = views.findIndex(({ visit: { visitId } }) => visitId === visit.previousVisitId)
  const replaced = views[place]?.visit ?? null
  if (replaced !== null) views[place] = { visit: replaced, state: 'revoked' }
  views.push({ visit, state: 'active' })
  return madeUpActivation(pen, visit, replaced)
}

interface SharedFields {
  readonly startMs: number
  readonly landing: MadeUpLanding
  /** When and where it landed. */
  readonly landedAtMs: number
  readonly landingPage: string
  readonly isReturning: boolean
  readonly sitting: string
  readonly fields: Partial<Visit>
}

function sharedFields(pen: Pen, { hasStorage }: MadeUpBrowser, isTest: boolean): SharedFields {
  const { random } = pen
  const startMs = momentOn(pen)
  const landing = pickWeighted(LANDINGS, random)
  const isSourced = Object.keys(landing).length > 0
  const isReturning = hasStorage && isSourced && random() < 0.12
  const gpc = random() < 0.06
  return {
    startMs,
    landing,
    landedAtMs: isReturning ? startMs - wholeBetween(1, 20, random) * DAY_MS : startMs,
    landingPage: EXAMPLE_DATA.origin + pickWeighted(PAGES, random),
    isReturning,
    sitting: hasStorage ? sittingName(pen) : '',
    fields: {
      gpc,
      isTest,
      identities: identitiesOf(pen, { landing, gpc }),
    },
  }
}

/** The form of 22 characters. */
function sittingName({ day, nextNumber }: Pen): string {
  return `${day.seed}-${day.dayMs / DAY_MS}-${nextNumber()}`.padEnd(22, '_')
}

/** Under GPC nothing of an advertising provider is kept. Some have no identifier, since a blocker keeps the provider's tag away. */
function identitiesOf(
  { day, random, nextNumber }: Pen,
  { landing, gpc }: { readonly landing: MadeUpLanding; readonly gpc: boolean },
): Identities {
  const id = `${wholeBetween(100_000_000, 999_999_999, random)}.${Math.floor(day.dayMs / 1_000) + nextNumber()}`
  const ga4 = random() < 0.88 ? { ga4: { 'G-EXAMPLE001': { client_id: id } } } : {}
  return landing.click === 'gclid' && !gpc ? { ...ga4, google_ads: { gclid: `made-up-${id}` } } : ga4
}

interface NextView {
  readonly shared: SharedFields
  readonly kept: MadeUpBrowser
  readonly views: readonly MadeUpView[]
  readonly atMs: number
}

/** The first one landed from outside, unless the landing was days before; the others carry that landing. */
function nextView(pen: Pen, { shared, kept, views, atMs }: NextView): Visit {
  const isEntry = views.length === 0
  const isLanding = isEntry && !shared.isReturning
  const pageUrl = isLanding ? shared.landingPage : EXAMPLE_DATA.origin + pickWeighted(PAGES, pen.random)
  const { referrer: outside = '' } = shared.landing
  const before = pageBefore(views.at(-1))
  const isRemembered = !isLanding && kept.hasStorage && Object.keys(shared.landing).length > 0
  const fields = pageFieldsOf(
    {
      page_url: pageUrl,
      referrer: isLanding ? outside : before,
      ...(isLanding || isRemembered ? { source: landingBody(shared, isRemembered) } : {}),
      sitting: shared.sitting,
      ...(kept.hasStorage || !isEntry ? { entry: isEntry } : {}),
      client: { platform: kept.platform },
    },
    (text) => text,
  )
  return madeUpView(pen, atMs, {
    ...shared.fields,
    ...fields,
    landedAtMs: fields.landedAtMs ?? atMs,
    visitor: visitorOf({ userAgent: '', client: fields.client }),
    pageUrl,
    previousVisitId: receiptOfPage(views, pageUrl),
  })
}

/** As a page sends it. */
function landingBody({ landing, landedAtMs, landingPage }: SharedFields, isCarried: boolean): JsonObject {
  const { referrer = '', utm = {}, ref = '', click = '' } = landing
  return { referrer, utm, landed_at: landedAtMs, page: landingPage, ref, click, carried: isCarried }
}

function pageBefore(view: MadeUpView | undefined): string {
  return view?.visit.pageUrl ?? ''
}

/** What the marker of the page holds. */
function receiptOfPage(views: readonly MadeUpView[], pageUrl: string): VisitId | null {
  const active = views.findLast(({ visit, state }) => state === 'active' && visit.pageUrl === pageUrl)
  return active?.visit.visitId ?? null
}

function madeUpView(pen: Pen, issuedAtMs: number, fields: Partial<Visit>): Visit {
  const { website, organization } = pen.day
  const { isHandoffOnly = false, previousVisitId = null } = fields
  return plainVisit({
    website,
    organization,
    visitId: madeUpVisitId(pen, { issuedAtMs, isHandoffOnly, hasPredecessor: previousVisitId !== null }),
    issuedAtMs,
    origin: EXAMPLE_DATA.origin,
    pageUrl: `${EXAMPLE_DATA.origin}/`,
    landingPage: `${EXAMPLE_DATA.origin}/`,
    ...fields,
  })
}

interface VisitIdParts {
  readonly issuedAtMs: number
  readonly isHandoffOnly: boolean
  readonly hasPredecessor: boolean
}

const HANDOFF_ONLY_BIT = 0x40
const PREDECESSOR_BIT = 2 ** 39

/** The form of visit IDs in receipts: flags and key ID, time, and a distinguishing part whose highest bit says that there was a receipt before. */
function madeUpVisitId({ day, nextNumber }: Pen, { issuedAtMs, isHandoffOnly, hasPredecessor }: VisitIdParts): VisitId {
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')
  const first = day.keyId + (isHandoffOnly ? HANDOFF_ONLY_BIT : 0)
  const seed = (day.seed % PREDECESSOR_BIT) + (hasPredecessor ? PREDECESSOR_BIT : 0)
  return hex(first, 2) + hex(issuedAtMs, 12) + hex(seed, 10) + hex(nextNumber(), 8)
}

function madeUpActivation(pen: Pen, visit: Visit, revoked: Visit | null): LogRecord {
  const { website, organization, visitId, issuedAtMs } = visit
  const activatedAtMs = issuedAtMs + 400
  return {
    ...MADE_UP,
    kind: 'activation',
    request: requestAt(pen, '/v1/visits/activate', activatedAtMs),
    website,
    organization,
    visitId,
    issuedAtMs,
    activatedAtMs,
    revokedVisitId: revoked?.visitId ?? null,
    revokedIssuedAtMs: revoked?.issuedAtMs ?? null,
    isPredecessorUnknown: false,
  }
}

interface AskedHandoff {
  readonly visit: Visit
  readonly askedAtMs: number
  readonly isCopied: boolean
}

function madeUpHandoff(pen: Pen, { visit, askedAtMs, isCopied }: AskedHandoff): LogRecord {
  const { website, organization, visitId, issuedAtMs, gpc, isHandoffOnly } = visit
  return {
    ...MADE_UP,
    kind: 'handoff',
    request: requestAt(pen, '/v1/handoffs', askedAtMs),
    website,
    organization,
    visitId,
    issuedAtMs,
    askedAtMs,
    gpc,
    isCopied,
    isHandoffOnly,
    visit: isHandoffOnly ? visit : null,
  }
}
