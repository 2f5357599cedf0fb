/**
 * The fields of a visit: how a page sends them, and what becomes a fact. Add a new field of a page here; the compiler then
 * asks for its column in `ports/facts/visits.ts`.
 */

import { LIMITS } from '../limits.ts'
import type { Identities, VisitId, WebsiteId } from '../model.ts'
import { stripReferrer } from '../origin.ts'
import { toMoment } from '../privacy/identities.ts'
import { objectOf, textOf, type JsonObject } from '../strict-json.ts'
import { CLIENT_SCHEMA, keepClient } from './client-hints.ts'
import { trafficSourceOf, UTM_NAMES, type TrafficSource, type UnsourcedReferrers, type Utm } from './traffic-source.ts'
import { visitorOf, type Visitor } from './visitor.ts'
import { moment, object, text, url } from './schema-parts.ts'

/** A visit as a fact: what is stored and what a delivery may use. */
export interface Visit extends PageFields {
  readonly website: WebsiteId
  readonly visitId: VisitId
  readonly organization: string
  /** Unix ms; also contained in the receipt. */
  readonly issuedAtMs: number
  readonly urlId: string
  readonly origin: string
  /** Origin and path, never a query. */
  readonly pageUrl: string
  readonly identities: Identities
  readonly gpc: boolean
  readonly isHandoffOnly: boolean
  /** The page view carried the mark of a test. */
  readonly isTest: boolean
  readonly previousVisitId: VisitId | null
  readonly traffic: TrafficSource
  readonly visitor: Visitor
}

/** Fields that the page reports and that the service itself does not depend on. */
interface PageFields {
  readonly referrer: string
  readonly sourceReferrer: string
  readonly landedAtMs: number | null
  readonly utm: Utm
  /** Origin and path of the page of the landing; empty if it is not known. */
  readonly landingPage: string
  /** `ref` or `source` of the landing's address; empty if it has none. */
  readonly ref: string
  /** Name of the click parameter of an advertising network, never its value; empty if there was none. */
  readonly click: string
  /** The landing was on an earlier page view, which the page remembered or was told of. */
  readonly isCarried: boolean
  /** Names the page views of one sitting; empty if the page has no memory. Figures do not group page views by it. */
  readonly sitting: string
  /** Whether this page view began its sitting; null if the page did not say. */
  readonly isEntry: boolean | null
  readonly client: Readonly<Record<string, unknown>>
}

/** Their form in the body of a request. */
export const PAGE_PROPERTIES = {
  referrer: url,
  source: object({
    referrer: url,
    utm: object(Object.fromEntries(UTM_NAMES.map((name) => [name, text(LIMITS.utmChars)]))),
    landed_at: moment,
    page: url,
    ref: text(LIMITS.utmChars),
    click: text(LIMITS.clickNameChars),
    carried: { type: 'boolean' },
  }),
  sitting: {
    type: 'string',
    minLength: LIMITS.sittingChars,
    maxLength: LIMITS.sittingChars,
    pattern: '^[A-Za-z0-9_-]+$',
  },
  entry: { type: 'boolean' },
  client: CLIENT_SCHEMA,
} as const

/** `body` has passed its schema; `clean` makes a text fit to be a fact. */
export function pageFieldsOf(body: JsonObject, clean: (text: string) => string): PageFields {
  const source = objectOf(body['source'])
  return {
    referrer: clean(referrerOf(body['referrer'])),
    // A landing that says nothing of a referrer had that of the visit; an empty one says that there was none.
    sourceReferrer: clean(referrerOf(source['referrer'] ?? body['referrer'])),
    landedAtMs: toMoment(source['landed_at']),
    utm: sentUtm(objectOf(source['utm']), clean),
    landingPage: clean(referrerOf(source['page'] ?? ownLanding(body))),
    ref: clean(textOf(source['ref'])),
    click: clean(textOf(source['click'])),
    isCarried: source['carried'] === true,
    sitting: textOf(body['sitting']),
    isEntry: typeof body['entry'] === 'boolean' ? body['entry'] : null,
    client: keepClient(objectOf(body['client']), clean),
  }
}

/** A visit that says nothing of an earlier landing landed where it was. */
function ownLanding(body: JsonObject): unknown {
  return objectOf(body['source'])['landed_at'] === undefined ? body['page_url'] : undefined
}

/** The landing of a visit, for providers that are told of it. Addresses without query, empty if they are not known. */
export function landingOf({ landingPage: page, sourceReferrer: referrer, landedAtMs, utm }: PageFields) {
  return { page, referrer, landedAtMs, utm }
}

const NO_PAGE_FIELDS: PageFields = {
  referrer: '',
  sourceReferrer: '',
  landedAtMs: null,
  utm: {},
  landingPage: '',
  ref: '',
  click: '',
  isCarried: false,
  sitting: '',
  isEntry: null,
  client: {},
}

type GivenField = 'website' | 'visitId' | 'organization' | 'issuedAtMs' | 'origin' | 'pageUrl'

/** A visit with only the given fields, its own landing unless the time of one is given, for tests of destinations and of the service. */
export function plainVisit(given: Pick<Visit, GivenField> & Partial<Visit>): Visit {
  const rest = { urlId: '', identities: {}, gpc: false, isHandoffOnly: false, isTest: false, previousVisitId: null }
  const landing = given.landedAtMs === undefined ? { sourceReferrer: given.referrer ?? '' } : {}
  const visit = { ...NO_PAGE_FIELDS, ...rest, ...landing, ...given }
  return {
    traffic: trafficOf(visit, { origins: new Set([visit.origin]), ignoredReferrers: [] }),
    visitor: visitorOf({ userAgent: '', client: visit.client }),
    ...visit,
  }
}

export function trafficOf(
  { utm, sourceReferrer, ref, click }: PageFields,
  unsourced: UnsourcedReferrers,
): TrafficSource {
  return trafficSourceOf({ utm, referrer: sourceReferrer, ref, click }, unsourced)
}

function sentUtm(sent: JsonObject, clean: (text: string) => string): Utm {
  const kept: Record<string, string> = {}
  for (const name of UTM_NAMES) {
    const value = sent[name]
    if (typeof value === 'string' && value !== '') kept[name] = clean(value)
  }
  return kept
}

function referrerOf(sent: unknown): string {
  return typeof sent === 'string' ? stripReferrer(sent) : ''
}
