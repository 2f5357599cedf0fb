/** Reads what the website's providers know the visitor by, from the cookies of their own tags and from the landing's click IDs. */

import type { Identities } from '../domain/model.ts'
import type { ReadCookie } from './cookies.ts'
import { IDENTIFIER_CHARS, MEASUREMENT_IDS } from './limits.ts'
import type { Landing } from './source.ts'

/** The answer of `browser-config`. */
export interface BrowserConfig {
  readonly measurementIds: readonly string[]
  readonly providers: readonly string[]
}

/** Reads GA4 for each measurement ID, and each advertising provider only where `providers` names it. */
export function readIdentities(
  { measurementIds, providers }: BrowserConfig,
  cookie: ReadCookie,
  landing: Landing,
): Identities {
  const identities: Record<string, object> = { ga4: readGa4(measurementIds, cookie) }
  for (const [provider, read] of Object.entries(AD_READERS)) {
    if (!providers.includes(provider)) continue
    // Over-long identifiers are left out: the service would refuse the whole visit. Session attributes have a limit of their own.
    const fields = Object.entries(read(cookie, landing)).filter(
      ([name, value]) => value && (name === 'session_attributes' || `${value}`.length <= IDENTIFIER_CHARS),
    )
    identities[provider] = Object.fromEntries(fields)
  }
  return identities
}

/** True once the providers' tags, which load beside the SDK, have written the cookies that a visit should carry. */
export function areTagsReady({ measurementIds, providers }: BrowserConfig, cookie: ReadCookie): boolean {
  return (
    measurementIds.every((id) => cookie(sessionCookie(id))) &&
    (!providers.includes('meta') || !!cookie('_fbp')) &&
    (!providers.includes('tiktok') || !!cookie('_ttp'))
  )
}

const sessionCookie = (measurementId: string) => measurementId.replace('G-', '_ga_')

function readGa4(measurementIds: readonly string[], cookie: ReadCookie): object {
  // `_ga` ends in the client ID: two numbers joined by a dot.
  const client_id = /\d+\.\d+$/.exec(cookie('_ga') ?? '')?.[0]
  if (!client_id) return {}
  return Object.fromEntries(
    measurementIds.slice(0, MEASUREMENT_IDS).map((id) => {
      // GS1.1.<session>.<...> until 2025, since then GS2.1.s<session>$o<...>$..., with fields in any order.
      const session_id = /^GS(?:1\.\d+\.|2\.\d+\.(?:.*\$)?s)(\d+)/.exec(cookie(sessionCookie(id)) ?? '')?.[1]
      return [id, { client_id, session_id }]
    }),
  )
}

type Fields = Record<string, string | number | undefined>

const AD_READERS: Record<string, (cookie: ReadCookie, landing: Landing) => Fields> = {
  google_ads: (cookie, { clicks, google }) => ({
    gclid: clicks.gclid ?? googleId(cookie('_gcl_aw') ?? cookie('FPGCLAW')),
    wbraid: clicks.wbraid ?? googleId(cookie('_gcl_gb') ?? cookie('FPGCLGB')),
    gbraid: clicks.gbraid ?? googleId(cookie('_gcl_ag') ?? cookie('FPGCLAG')),
    gcl_aw: cookie('_gcl_aw'),
    session_attributes: google,
  }),
  meta: (cookie, { clicks: { fbclid }, at }) => {
    const fbc = cookie('_fbc')
    return {
      fbp: cookie('_fbp'),
      // The pixel's cookie wins, unless it still tells of an earlier click.
      fbc: fbclid && !fbc?.includes(fbclid) ? `fb.1.${at}.${fbclid}` : fbc,
      fbclid,
    }
  },
  tiktok: (cookie, { clicks: { ttclid }, at }) => ({
    ttp: cookie('_ttp'),
    ttclid: ttclid ?? cookie('ttclid'),
    ttclid_at: ttclid && at,
  }),
  x: (cookie, { clicks: { twclid }, at }) => ({
    // X's tag has stored both the bare ID and a JSON object around it.
    twclid: twclid ?? /^(?:.*"twclid":")?([\w-]+)/.exec(cookie('_twclid') ?? '')?.[1],
    twclid_at: twclid && at,
  }),
}

/** GCL.<seconds>.<ID>, or in the newer layout the field between `.k` and `$`. */
const googleId = (cookie = '') => /^(?:GCL\.\d+\.|.*\.k)([^$]+)/.exec(cookie)?.[1]
