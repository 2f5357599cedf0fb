/**
 * Reads the visitor's identifiers at GA4, and the landing's click IDs of Google Ads. Whatever else advertising providers
 * know is read by the extras.
 */

import type { ReadCookie } from './cookies.ts'
import { firstGroup } from './cookies.ts'
import type { Landing } from './landing.ts'
import { MEASUREMENT_IDS } from './limits.ts'

/** The answer of `browser-config`. */
export interface BrowserConfig {
  readonly measurementIds: readonly string[]
  /** Emptied under Global Privacy Control. */
  providers: readonly string[]
  /** Of GA4's cookies; set by the page. */
  cookiePrefix?: string | undefined
}

/**
 * Reads GA4 for each measurement ID, and Google's click IDs if the website uses its ads. Unknown values are
 * undefined, and vanish in JSON.
 */
export function readIdentities(
  { measurementIds, providers, cookiePrefix = '' }: BrowserConfig,
  cookie: ReadCookie,
  { clicks }: Landing,
): Record<string, object | undefined> {
  // GA<version>.<depth of domain and path>.<client ID>
  const client_id = firstGroup(/^GA\d\.[\d-]+\.(.+)/, cookie(`${cookiePrefix}_ga`))
  const sessions = measurementIds.slice(0, MEASUREMENT_IDS).map((id) => {
    // GS1.1.<session>.<...> until 2025, since then GS2.1.s<session>$o<...>$...
    const session_id = firstGroup(/^GS\d\.[\d-]+\.s?(\d+)/, cookie(sessionCookie(id, cookiePrefix)))
    return [id, { client_id, session_id }] as const
  })
  const { gclid, wbraid, gbraid } = clicks
  return {
    ga4: client_id ? Object.fromEntries(sessions) : undefined,
    google_ads: providers.includes('google_ads') ? { gclid, wbraid, gbraid } : undefined,
  }
}

/** True once GA4's tag, which loads in parallel with the SDK, has written the cookies that a visit should carry. */
export const isGa4Ready = ({ measurementIds, cookiePrefix = '' }: BrowserConfig, cookie: ReadCookie): boolean =>
  measurementIds.every((id) => cookie(sessionCookie(id, cookiePrefix)))

/** Parameters that advertising networks put on a link: identifiers of one click, and what Google adds to them. */
export const CLICK_PARAMETER = /^(\w+clid|[gw]braid|gad_\w+)$/

const sessionCookie = (measurementId: string, prefix: string) => measurementId.replace('G-', `${prefix}_ga_`)
