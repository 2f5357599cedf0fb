/** Admits a visit: which page it was, what is kept of it, and its receipt and marker. */

import { ownedWebsite, type Website } from '../catalog.ts'
import { refuse, refuseField, type Refusal } from '../errors.ts'
import { keepIdentities, MOMENT_IDENTIFIERS, toMoment } from '../privacy/identities.ts'
import { LIMITS } from '../limits.ts'
import type { OwnedWebsite } from '../model.ts'
import { addressChars, parsePageUrl, urlId, withoutUserInfo, type PageAddress, type Sha256Hex } from '../origin.ts'
import { expiresAtMs, isFromOrigin, issueReceipt, readReceipt, type ReceiptClaims } from '../receipt.ts'
import { factCleaner, type RedactKeys } from '../privacy/redact.ts'
import { objectOf, textOf, type JsonObject } from '../strict-json.ts'
import { pageFieldsOf, trafficOf, type Visit } from './visit-fields.ts'
import type { Visitor } from './visitor.ts'

/** Where a visit was, as its request says. */
interface VisitPlace {
  readonly website: Website
  /** The request's origin, already checked to be registered. */
  readonly origin: string
}

interface VisitedSite extends VisitPlace {
  readonly page: VisitPage
  /** The organisation's other websites, whose receipts must not become facts either. */
  readonly siblings?: readonly OwnedWebsite[]
}

/** What the receipt of a visit says beside whose it is. */
interface VisitMarks {
  readonly gpc: boolean
  readonly isHandoffOnly: boolean
  /** The organisation has used up its quota: the receipt says so and nothing is stored. */
  readonly isUnrecorded: boolean
  readonly isTest: boolean
}

interface VisitContext {
  readonly site: VisitedSite
  readonly marks: VisitMarks
  readonly keys: RedactKeys
  /** Exactly 5 random bytes. */
  readonly random: Uint8Array
  readonly nowMs: number
  readonly visitor: Visitor
}

export interface AdmittedVisit {
  readonly kind: 'admitted'
  readonly visit: Visit
  readonly receipt: string
  readonly claims: ReceiptClaims
  readonly previous: ReceiptClaims | null
}

interface Marker {
  readonly format: 'opfs-install-attribution'
  readonly version: 1
  readonly project: string
  readonly url_id: string
  readonly origin: string
  readonly receipt: string
  readonly created_at: number
  readonly expires_at: number
}

/** The page of a visit, checked to be the website's. */
export interface VisitPage {
  readonly kind: 'page'
  readonly address: PageAddress
  readonly urlId: string
}

/** Checks of a visit's fields beyond the schema, which `body` has passed. */
export function checkVisitFields(body: JsonObject): Refusal | null {
  if (!URL.canParse(textOf(body['page_url']))) return refuseField('/page_url', 'must be the address of a page')
  const longAddress = findLongAddress(body)
  if (longAddress !== null)
    return refuseField(longAddress, `must have at most ${LIMITS.urlChars} characters without query and fragment`)
  const badMoment = findBadMoment(body)
  return badMoment === null ? null : refuseField(badMoment, 'must be Unix time in milliseconds or an ISO 8601 date')
}

/** Checks that a visit's page is the website's: before limits, quota and receipts, so that a refusal costs nothing. */
export function checkPage(
  body: JsonObject,
  { website, origin }: VisitPlace,
  sha256Hex: Sha256Hex,
): Refusal | VisitPage {
  // A page opened with a user name and password is the same page; nothing of them is kept.
  const page = parsePageUrl(withoutUserInfo(textOf(body['page_url'])))
  if (!page.ok || page.value.origin !== origin) return refuse('origin_not_allowed')
  const sent = textOf(body['url_id'])
  const isKnown = sent === urlId(page.value, sha256Hex) || website.pages.some(({ id }) => id === sent)
  if (!isKnown)
    return refuseField('/url_id', "must be the hash of the page's origin and path, or a registered page's ID")
  return { kind: 'page', address: page.value, urlId: sent }
}

/** `body` has passed its schema and `checkVisitFields`. */
export function admitVisit(body: JsonObject, context: VisitContext): AdmittedVisit {
  const { site, marks, keys, nowMs } = context
  const { website, page, origin } = site
  const owned = ownedWebsite(website)
  const { text: receipt, claims } = issueReceipt(keys, {
    ...owned,
    ...marks,
    origin,
    issuedAtMs: nowMs,
    random: context.random,
  })
  const clean = factCleaner(keys, owned, nowMs, site.siblings)
  const previous = marks.isHandoffOnly ? null : previousReceipt(body['previous_receipt'], site, keys)
  const fields = pageFieldsOf(body, clean)
  const visit: Visit = {
    ...owned,
    visitId: claims.visitId,
    issuedAtMs: nowMs,
    urlId: page.urlId,
    origin,
    pageUrl: clean(page.address.origin + page.address.path),
    ...fields,
    traffic: trafficOf(fields, website),
    visitor: context.visitor,
    identities: keepIdentities(objectOf(body['identities']), { providers: website.providers, gpc: marks.gpc, clean }),
    gpc: marks.gpc,
    isHandoffOnly: marks.isHandoffOnly,
    isTest: marks.isTest,
    previousVisitId: previous?.visitId ?? null,
  }
  return { kind: 'admitted', visit, receipt, claims, previous }
}

export function markerOf(visit: Visit, receipt: string): Marker {
  return {
    format: 'opfs-install-attribution',
    version: 1,
    project: visit.website,
    url_id: visit.urlId,
    origin: visit.origin,
    receipt,
    created_at: visit.issuedAtMs,
    expires_at: expiresAtMs(visit.issuedAtMs),
  }
}

/** A previous receipt counts if it is of this website under this owner and came from this origin; otherwise it is ignored. */
function previousReceipt(sent: unknown, { website, origin }: VisitPlace, keys: RedactKeys): ReceiptClaims | null {
  if (typeof sent !== 'string') return null
  const owned = ownedWebsite(website)
  const claims = readReceipt(keys, owned, sent)
  const isBrowserReceipt = claims !== null && !claims.isHandoffOnly && !claims.isUnrecorded
  const isOurs = isBrowserReceipt && isFromOrigin(keys, owned, claims, origin)
  return isOurs ? claims : null
}

function findLongAddress(body: JsonObject): string | null {
  const addresses: readonly (readonly [string, unknown])[] = [
    ['/page_url', body['page_url']],
    ['/referrer', body['referrer']],
    ['/source/referrer', objectOf(body['source'])['referrer']],
    ['/source/page', objectOf(body['source'])['page']],
  ]
  const long = addresses.find(([, value]) => addressChars(textOf(value)) > LIMITS.urlChars)
  return long === undefined ? null : long[0]
}

function findBadMoment(body: JsonObject): string | null {
  const identities = objectOf(body['identities'])
  const moments: readonly (readonly [string, unknown])[] = [
    ['/source/landed_at', objectOf(body['source'])['landed_at']],
    ...MOMENT_IDENTIFIERS.map(
      ([provider, name]) => [`/identities/${provider}/${name}`, objectOf(identities[provider])[name]] as const,
    ),
  ]
  const bad = moments.find(([, value]) => value !== undefined && toMoment(value) === null)
  return bad === undefined ? null : bad[0]
}
