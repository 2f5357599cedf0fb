/**
 * Reads the visitor's identifiers at the website's providers, from the cookies of their own tags and from the landing's
 * click IDs.
 */

import type { ProviderId } from '../../domain/providers/index.ts'
import type { ReadCookie } from './cookies.ts'
import { firstGroup } from './cookies.ts'
import type { Landing } from './landing.ts'
import { MEASUREMENT_IDS } from './limits.ts'

/** The answer of `browser-config`. */
export interface BrowserConfig {
  readonly measurementIds: readonly string[]
  /** Emptied under Global Privacy Control. */
  providers: readonly string[]
}

/** What only the extras can read. */
export interface Added {
  /** Google's session attributes, after a click on one of its ads. */
  readonly google: string | undefined
  /** What the website's own adapters read. */
  readonly custom: object | undefined
}

/**
 * Reads GA4 for each measurement ID, and other providers only if `providers` lists them. Unknown values are undefined,
 * and vanish in JSON.
 */
export function readIdentities(
  config: BrowserConfig,
  cookie: ReadCookie,
  landing: Landing,
  added?: Added,
): Record<string, object | undefined> {
  const identities: Record<string, object | undefined> = { custom: added?.custom }
  for (const provider of ['ga4', ...config.providers])
    identities[provider] = (READERS as Readonly<Record<string, IdentityReader>>)[provider]?.(
      cookie,
      landing,
      config,
      added,
    )
  return identities
}

/**
 * True once the providers' tags, which load in parallel with the SDK, have written the cookies that a visit should
 * carry.
 */
export function areTagsReady({ measurementIds, providers }: BrowserConfig, cookie: ReadCookie): boolean {
  const named = measurementIds.map(sessionCookie)
  return [...named, ...providers.map((provider) => TAG_COOKIES[provider])].every((name) => !name || cookie(name))
}

/** Parameters that advertising networks put on a link: identifiers of one click, and what Google adds to them. */
export const CLICK_PARAMETER = /^(\w+clid|[gw]braid|gad_\w+)$/

/** Cookies that the tags of providers write once they are loaded, of those that do. */
const TAG_COOKIES: Readonly<Record<string, string>> = { meta: '_fbp', tiktok: '_ttp' }

const sessionCookie = (measurementId: string) => measurementId.replace('G-', '_ga_')

type IdentityReader = (cookie: ReadCookie, landing: Landing, config: BrowserConfig, added?: Added) => object | undefined
/** One for each provider. */
const READERS: { readonly [P in ProviderId]: IdentityReader } = {
  ga4: (cookie, _, { measurementIds }) => {
    // `_ga` ends in the client ID: two numbers joined by a dot.
    const client_id = firstGroup(/(\d+\.\d+)$/, cookie('_ga'))
    const entries = measurementIds.slice(0, MEASUREMENT_IDS).map((id) => {
      // GS1.1.<session>.<...> until 2025, since then GS2.1.s<session>$o<...>$...
      const session_id = firstGroup(/^GS\d\.\d+\.s?(\d+)/, cookie(sessionCookie(id)))
      return [id, { client_id, session_id }]
    })
    return client_id ? (Object.fromEntries(entries) as object) : undefined
  },
  google_ads: (cookie, { clicks: { gclid, wbraid, gbraid } }, _, added) => ({
    gclid: gclid ?? googleId(cookie('_gcl_aw') ?? cookie('FPGCLAW')),
    wbraid: wbraid ?? googleId(cookie('_gcl_gb') ?? cookie('FPGCLGB')),
    gbraid: gbraid ?? googleId(cookie('_gcl_ag') ?? cookie('FPGCLAG')),
    gcl_aw: cookie('_gcl_aw'),
    session_attributes: added?.google,
  }),
  meta: (cookie, { clicks: { fbclid }, landed_at }) => ({
    fbp: cookie('_fbp'),
    // The pixel's cookie wins, unless it still holds an earlier click.
    fbc: fbclid && !cookie('_fbc')?.includes(fbclid) ? `fb.1.${landed_at}.${fbclid}` : cookie('_fbc'),
    fbclid,
  }),
  tiktok: (cookie, { clicks: { ttclid }, landed_at }) => ({
    ttp: cookie('_ttp'),
    ttclid: ttclid ?? cookie('ttclid'),
    ttclid_at: ttclid && landed_at,
  }),
  x: (cookie, { clicks: { twclid }, landed_at }) => ({
    // X's tag has stored both the bare ID and a JSON object around it.
    twclid: twclid ?? firstGroup(/^(?:.*"twclid":")?([\w-]+)/, cookie('_twclid')),
    twclid_at: twclid && landed_at,
  }),
}

/** GCL.<seconds>.<ID>, or in the newer layout the field between `.k` and `$`. */
const googleId = (cookie: string | undefined) => firstGroup(/^(?:GCL\.\d+\.|.*\.k)([^$]+)/, cookie)
