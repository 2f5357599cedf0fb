/**
 * Google's session attributes, as unpadded base64url of JSON: those that a visit brought along, or made from the landing of an ad
 * click [A, see `google-ads.ts`].
 */

import { landingOf, type Visit } from '../../domain/collection/visit-fields.ts'
import { LIMITS } from '../../domain/limits.ts'

/** Above this length they omit the referrer, which Google treats as optional. */
const LEAN_ABOVE_CHARS = 4_000

/** Null if no Google ad led to the landing, or if the result would be too long. */
export function sessionAttributes(visit: Visit): string | null {
  const sent = visit.identities.google_ads?.session_attributes ?? ''
  // With or without padding and in either alphabet; anything else is left out.
  return /^[A-Za-z0-9+/_-]{4,6000}={0,2}$/.test(sent) ? sent : ofLanding(visit)
}

type Parameter = [name: string, value: string]

function ofLanding(visit: Visit): string | null {
  const { identities, click } = visit
  const { page, referrer, landedAtMs, utm } = landingOf(visit)
  const { gad_source, gad_campaignid, gclid, wbraid, gbraid } = identities.google_ads ?? {}
  const clickId = new Map(Object.entries({ gclid, wbraid, gbraid })).get(click)
  const ad = Object.entries({ gad_source, gad_campaignid, [click]: clickId }).flatMap(([name, value]): Parameter[] =>
    value === undefined ? [] : [[name, value]],
  )
  if (ad.length === 0 || landedAtMs === null) return null
  const campaign = Object.entries(utm).map(([name, value]): Parameter => [`utm_${name}`, value])
  const lean = {
    gad_source,
    gad_campaignid,
    landing_page_url: `${page}?${String(new URLSearchParams([...campaign, ...ad]))}`,
    // Google requires microseconds, as a string.
    session_start_time_usec: `${landedAtMs}000`,
  }
  const full = encode({ ...lean, landing_page_referrer: referrer === '' ? undefined : referrer })
  const text = full.length > LEAN_ABOVE_CHARS ? encode(lean) : full
  return text.length > LIMITS.sessionAttributesChars ? null : text
}

const encode = (attributes: object): string => Buffer.from(JSON.stringify(attributes)).toString('base64url')
