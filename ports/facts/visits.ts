/** The table of visits: its columns, the row of a visit, and the visit of a row. A new field needs all three. */

import { parsedAs } from '../../domain/guards.ts'
import { isObject } from '../../domain/strict-json.ts'
import type { OriginDimension } from '../../domain/figures/installs.ts'
import type { Utm } from '../../domain/collection/traffic-source.ts'
import type { Visit } from '../../domain/collection/visit-fields.ts'
import type { Identities } from '../../domain/model.ts'
import type { InsertRow, ReadRow } from './column-types.ts'

export const VISIT_COLUMNS = {
  website: 'text',
  visit_id: 'text',
  organization: 'text',
  issued_at: 'time',
  url_id: 'text',
  origin: 'text',
  page_url: 'text',
  referrer: 'text',
  source_referrer: 'text',
  landed_at: 'nullable time',
  utm_source: 'text',
  utm_medium: 'text',
  utm_campaign: 'text',
  utm_term: 'text',
  utm_content: 'text',
  utm_id: 'text',
  landing_page: 'text',
  ref: 'text',
  click: 'text',
  is_carried: 'flag',
  sitting: 'text',
  is_entry: 'nullable flag',
  /** JSON of `Identities`. */
  identities: 'text',
  /** JSON of `Visit.client`. */
  client: 'text',
  gpc: 'flag',
  is_handoff_only: 'flag',
  is_test: 'flag',
  previous_visit_id: 'text',
  source: 'text',
  medium: 'text',
  channel: 'text',
  campaign: 'text',
  visitor_platform: 'text',
  visitor_kind: 'text',
} as const

/** Longer addresses of pages are counted together if they begin alike. */
const PAGE_CHARS = 300

/**
 * Page views that visits of figures are made of: of people, no test, and not what follows another page view in a browser that keeps nothing.
 * Crawlers, agents and automated browsers are counted apart.
 */
export const IS_PERSONS_VIEW = "visitor_kind = '' AND NOT is_test AND (sitting != '' OR ifNull(is_entry, true))"

/** The dimensions by which visits are counted and filtered: an expression over their columns for each. */
export const COUNTED_BY = {
  source: 'source',
  medium: 'medium',
  channel: 'channel',
  campaign: 'campaign',
  term: 'utm_term',
  content: 'utm_content',
  referrer: 'domain(source_referrer)',
  landing_page: `leftUTF8(landing_page, ${PAGE_CHARS})`,
  page: `leftUTF8(concat(origin, path(page_url)), ${PAGE_CHARS})`,
  visitor_platform: 'visitor_platform',
} as const satisfies Readonly<Record<OriginDimension, string>>

/** Both together, with which ad spend is compared (`domain/spend/joined-spend.ts`). */
export const SOURCE_CAMPAIGN = "concat(source, '\\t', campaign)"

/** Absent fields become empty text. */
export function visitColumns(visit: Visit): InsertRow<typeof VISIT_COLUMNS> {
  const { utm } = visit
  return {
    website: visit.website,
    visit_id: visit.visitId,
    organization: visit.organization,
    issued_at: visit.issuedAtMs,
    url_id: visit.urlId,
    origin: visit.origin,
    page_url: visit.pageUrl,
    referrer: visit.referrer,
    source_referrer: visit.sourceReferrer,
    landed_at: visit.landedAtMs,
    utm_source: utm.source ?? '',
    utm_medium: utm.medium ?? '',
    utm_campaign: utm.campaign ?? '',
    utm_term: utm.term ?? '',
    utm_content: utm.content ?? '',
    utm_id: utm.id ?? '',
    landing_page: visit.landingPage,
    ref: visit.ref,
    click: visit.click,
    is_carried: visit.isCarried,
    sitting: visit.sitting,
    is_entry: visit.isEntry,
    identities: JSON.stringify(visit.identities),
    client: JSON.stringify(visit.client),
    gpc: visit.gpc,
    is_handoff_only: visit.isHandoffOnly,
    is_test: visit.isTest,
    previous_visit_id: visit.previousVisitId ?? '',
    source: visit.traffic.source,
    medium: visit.traffic.medium,
    channel: visit.traffic.channel,
    campaign: visit.traffic.campaign,
    visitor_platform: visit.visitor.platform,
    visitor_kind: visit.visitor.kind,
  }
}

/** As `domain/collection/visit.ts` wrote them: each provider has an object, whose identifiers are checked by whoever sends them. */
function areIdentities(value: unknown): value is Identities {
  return isObject(value) && Object.values(value).every(isObject)
}

/** The visit of a row; null if a JSON column is damaged. */
export function visitOfRow(row: ReadRow<typeof VISIT_COLUMNS>): Visit | null {
  const identities = parsedAs(areIdentities, row.identities)
  const client = parsedAs(isObject, row.client)
  if (identities === null || client === null) return null
  return {
    website: row.website,
    visitId: row.visit_id,
    organization: row.organization,
    issuedAtMs: row.issued_at_ms,
    urlId: row.url_id,
    origin: row.origin,
    pageUrl: row.page_url,
    referrer: row.referrer,
    sourceReferrer: row.source_referrer,
    landedAtMs: row.landed_at_ms,
    utm: readUtm(row),
    landingPage: row.landing_page,
    ref: row.ref,
    click: row.click,
    isCarried: row.is_carried,
    sitting: row.sitting,
    isEntry: row.is_entry,
    identities,
    client,
    gpc: row.gpc,
    isHandoffOnly: row.is_handoff_only,
    isTest: row.is_test,
    previousVisitId: row.previous_visit_id === '' ? null : row.previous_visit_id,
    traffic: { source: row.source, medium: row.medium, channel: row.channel, campaign: row.campaign },
    visitor: { platform: row.visitor_platform, kind: row.visitor_kind },
  }
}

function readUtm(row: ReadRow<typeof VISIT_COLUMNS>): Utm {
  const values = {
    source: row.utm_source,
    medium: row.utm_medium,
    campaign: row.utm_campaign,
    term: row.utm_term,
    content: row.utm_content,
    id: row.utm_id,
  }
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}
