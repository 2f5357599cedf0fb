/** Reads the visitor's identifiers at the website's providers, from the cookies of their own tags and from click IDs. */

import type { BrowserConfig } from '../core/types.ts'
import type { Landing } from '../core/landing.ts'
import { MEASUREMENT_IDS } from '../core/limits.ts'
import { firstGroup } from '../core/source.ts'
import type { ProviderId } from '../../domain/providers/index.ts'
import type { ReadCookie } from './cookies.ts'
import { sessionAttributes } from './session-attributes.ts'

/** What is read. */
export interface IdentitySources extends BrowserConfig {
  readonly cookie: ReadCookie
  /** Of GA4's cookies, as given to its tag. */
  readonly cookiePrefix: string
  readonly landing: Landing
}

/** One for each provider. Undefined if it does not know the visitor. */
type ReaderOfProvider = { readonly [P in ProviderId]: () => object | undefined }

/** By provider, for those that the website uses. Unknown values are undefined, and vanish in JSON. */
export function identitiesIn(sources: IdentitySources): Readonly<Record<string, object | undefined>> {
  const known: Record<string, object | undefined> = {}
  for (const [provider, read] of Object.entries(readersOf(sources)))
    // GA4's are the only ones under Global Privacy Control, which empties the list.
    if (provider === 'ga4' || sources.providers.includes(provider)) known[provider] = read()
  return known
}

function readersOf({ measurementIds, cookie, cookiePrefix, landing }: IdentitySources): ReaderOfProvider {
  const { landed_at, clicks, carried } = landing
  /**
   * The click of the landing, unless the provider's cookie counts: of one that was only remembered and the cookie the newer does,
   * and the cookie if it does not say when it was written.
   */
  const clickOf = (parameter: string, own: string | undefined, writtenAtMs?: string) =>
    carried && own && !(Number(writtenAtMs) < landed_at) ? undefined : clicks[parameter]
  const google = (parameter: string, value: string | undefined) => {
    const own = googleId(value)
    const writtenAtS = firstGroup(/(?:^GCL\.|\$i)(\d+)/, value)
    return clickOf(parameter, own, writtenAtS && `${writtenAtS}000`) ?? own
  }
  const fbc = cookie('_fbc')
  const fbclid = clickOf('fbclid', fbc, firstGroup(/^fb\.\d+\.(\d+)/, fbc))
  const ttclid = clickOf('ttclid', cookie('ttclid'))
  const twclid = clickOf('twclid', cookie('_twclid'))
  return {
    ga4: () => {
      // GA<version>.<depth of domain and path>.<client ID>
      const client_id = firstGroup(/^GA\d\.[\d-]+\.(.+)/, cookie(`${cookiePrefix}_ga`))
      const sessions = measurementIds.slice(0, MEASUREMENT_IDS).map((id) => {
        // GS1.1.<session>.<...> until 2025, since then GS2.1.s<session>$o<...>$...
        const session_id = firstGroup(/^GS\d\.[\d-]+\.s?(\d+)/, cookie(sessionCookie(id, cookiePrefix)))
        return [id, { client_id, session_id }] as const
      })
      return client_id ? Object.fromEntries(sessions) : undefined
    },
    google_ads: () => ({
      gclid: google('gclid', cookie('_gcl_aw') ?? cookie('FPGCLAW')),
      wbraid: google('wbraid', cookie('_gcl_gb') ?? cookie('FPGCLGB')),
      gbraid: google('gbraid', cookie('_gcl_ag') ?? cookie('FPGCLAG')),
      gcl_aw: cookie('_gcl_aw'),
      session_attributes: sessionAttributes(landing, navigator.userAgent),
    }),
    meta: () => ({
      fbp: cookie('_fbp'),
      // The pixel's cookie wins, unless it still holds an earlier click.
      fbc: fbclid && !fbc?.includes(fbclid) ? `fb.1.${landed_at}.${fbclid}` : fbc,
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

/** True once the tags that load in parallel with the SDK have written the cookies that a visit should carry. */
export const areTagsReady = ({ measurementIds, providers, cookie, cookiePrefix }: IdentitySources): boolean =>
  measurementIds.every((id) => cookie(sessionCookie(id, cookiePrefix))) &&
  providers.every((provider) => !TAG_COOKIES[provider] || cookie(TAG_COOKIES[provider]))

/** Cookies that the tags of advertising providers write once they are loaded, of those that do. */
const TAG_COOKIES: Readonly<Record<string, string>> = { meta: '_fbp', tiktok: '_ttp' }

const sessionCookie = (measurementId: string, prefix: string) => measurementId.replace('G-', `${prefix}_ga_`)

/** GCL.<seconds>.<ID>, or in the newer layout the field between `.k` and `$`. */
const googleId = (cookie: string | undefined) => firstGroup(/^(?:GCL\.\d+\.|.*\.k)([^$]+)/, cookie)
