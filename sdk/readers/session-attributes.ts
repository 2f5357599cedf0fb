/** Builds Google's session attributes: the landing of an ad click, as unpadded base64url of JSON. */

import { base64UrlOf } from '../core/base64url.ts'
import type { Landing } from '../core/landing.ts'
import { SESSION_ATTRIBUTES_CHARS } from '../core/limits.ts'

/** Above this length the attributes omit referrer and user agent, which Google treats as optional. */
const LEAN_ABOVE_CHARS = 4_000

/** Google's parameters among those of a landing. */
const GOOGLE_AD = /^(gad_|gclid|[gw]braid)/

/** Undefined if no Google ad led to the landing, or if the result would be too long. */
export function sessionAttributes(landing: Landing, userAgent: string): string | undefined {
  const { clicks, utm } = landing
  const ad = Object.entries(clicks).filter(([name]) => GOOGLE_AD.test(name))
  if (!ad.length) return undefined
  const campaign = Object.entries(utm).map(([name, value]): [string, string] => [`utm_${name}`, value])
  const lean = {
    gad_source: clicks['gad_source'],
    gad_campaignid: clicks['gad_campaignid'],
    landing_page_url: `${landing.page ?? ''}?${String(new URLSearchParams([...campaign, ...ad]))}`,
    // Google requires microseconds, as a string.
    session_start_time_usec: `${landing.landed_at}000`,
  }
  const full = encode({
    ...lean,
    landing_page_referrer: landing.referrer || undefined,
    landing_page_user_agent: userAgent,
  })
  const text = full.length > LEAN_ABOVE_CHARS ? encode(lean) : full
  return text.length > SESSION_ATTRIBUTES_CHARS ? undefined : text
}

const encode = (attributes: object): string => base64UrlOf(JSON.stringify(attributes))
