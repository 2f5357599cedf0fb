/** Reads the visitor's identifiers at advertising providers, from the cookies of their own tags and from click IDs. */

import type { ReadCookie } from '../core/cookies.ts'
import { firstGroup } from '../core/cookies.ts'
import type { BrowserConfig } from '../core/identities.ts'
import type { Landing } from '../core/landing.ts'
import type { ProviderId } from '../../domain/providers/index.ts'
import { sessionAttributes } from './session-attributes.ts'

/** By provider, for those that the website uses. Unknown values are undefined, and vanish in JSON. */
export function advertisingIdentities(
  { providers }: BrowserConfig,
  cookie: ReadCookie,
  landing: Landing,
): Readonly<Record<string, object>> {
  const readers = Object.entries(readersOf(cookie, landing))
  return Object.fromEntries(
    readers.flatMap(([provider, read]) => (providers.includes(provider) ? [[provider, read()]] : [])),
  )
}

/** True once the tags that load in parallel with the SDK have written the cookies that a visit should carry. */
export const areAdTagsReady = ({ providers }: BrowserConfig, cookie: ReadCookie): boolean =>
  providers.every((provider) => !TAG_COOKIES[provider] || cookie(TAG_COOKIES[provider]))

/** Cookies that the tags of providers write once they are loaded, of those that do. */
const TAG_COOKIES: Readonly<Record<string, string>> = { meta: '_fbp', tiktok: '_ttp' }

/** One for each provider but GA4, which the core reads. */
type Readers = { readonly [P in Exclude<ProviderId, 'ga4'>]: () => object }

function readersOf(cookie: ReadCookie, landing: Landing): Readers {
  const { landed_at, clicks } = landing
  const { gclid, wbraid, gbraid, fbclid, ttclid, twclid } = clicks
  return {
    google_ads: () => ({
      gclid: gclid ?? googleId(cookie('_gcl_aw') ?? cookie('FPGCLAW')),
      wbraid: wbraid ?? googleId(cookie('_gcl_gb') ?? cookie('FPGCLGB')),
      gbraid: gbraid ?? googleId(cookie('_gcl_ag') ?? cookie('FPGCLAG')),
      gcl_aw: cookie('_gcl_aw'),
      session_attributes: sessionAttributes(landing, navigator.userAgent),
    }),
    meta: () => ({
      fbp: cookie('_fbp'),
      // The pixel's cookie wins, unless it still holds an earlier click.
      fbc: fbclid && !cookie('_fbc')?.includes(fbclid) ? `fb.1.${landed_at}.${fbclid}` : cookie('_fbc'),
      fbclid,
    }),
    tiktok: () => ({ ttp: cookie('_ttp'), ttclid: ttclid ?? cookie('ttclid'), ttclid_at: ttclid && landed_at }),
    x: () => ({
      // X's tag has stored both the bare ID and a JSON object around it.
      twclid: twclid ?? firstGroup(/^(?:.*"twclid":")?([\w-]+)/, cookie('_twclid')),
      twclid_at: twclid && landed_at,
    }),
  }
}

/** GCL.<seconds>.<ID>, or in the newer layout the field between `.k` and `$`. */
const googleId = (cookie: string | undefined) => firstGroup(/^(?:GCL\.\d+\.|.*\.k)([^$]+)/, cookie)
