/** Builds Google's session attributes: what the landing of an ad click looked like, as unpadded base64url of JSON. */

import type { PageView } from './source.ts'
import { originAndPath } from './source.ts'
import { SESSION_ATTRIBUTES_CHARS } from './limits.ts'

/** Above this length the attributes travel without referrer and user agent, which Google treats as optional. */
const LEAN_ABOVE_CHARS = 4_000
/** The query parameters of the landing page that may leave the page: Google's own and the campaign's. */
const AD_PARAMETER = /^(gad_|utm_|[gw]braid$|gclid$)/

/** Undefined where the page's URL shows no Google ad click, or where the result would be too long. */
export function sessionAttributes(view: PageView, userAgent: string): string | undefined {
  const { origin, pathname, searchParams } = new URL(view.url)
  const kept = [...searchParams].filter(([name]) => AD_PARAMETER.test(name))
  if (!kept.some(([name]) => !name.startsWith('utm_'))) return undefined
  const lean = {
    gad_source: searchParams.get('gad_source') ?? undefined,
    gad_campaignid: searchParams.get('gad_campaignid') ?? undefined,
    landing_page_url: `${origin}${pathname}?${new URLSearchParams(kept).toString()}`,
    // Google wants microseconds, as a string.
    session_start_time_usec: `${view.nowMs}000`,
  }
  const full = encode({
    ...lean,
    landing_page_referrer: originAndPath(view.referrer),
    landing_page_user_agent: userAgent,
  })
  const text = full.length > LEAN_ABOVE_CHARS ? encode(lean) : full
  return text.length > SESSION_ATTRIBUTES_CHARS ? undefined : text
}

function encode(attributes: object): string {
  const bytes = new TextEncoder().encode(JSON.stringify(attributes))
  return btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (c) => (c === '+' ? '-' : c === '/' ? '_' : ''))
}
