/**
 * Decides where the visitor came from, and which sitting a page view belongs to: by what the page shows, and by what its
 * origin remembers.
 */

import type { PageArrival, Landing, OriginMemory } from './landing.ts'
import { CLICK_ID_CHARS, SITTING_CHARS, SITTING_PAUSE_MS, SOURCE_LIFETIME_MS, UTM_CHARS } from './limits.ts'

/** Parameters that advertising networks put on a link: identifiers of one click, and what Google adds to them. */
const CLICK_PARAMETER = /^(\w{1,20}clk?id|[gw]braid|gad_\w+|li_fat_id|rdt_cid|sccid|epik)$/i
const UTM_PARAMETER = /^utm_(source|medium|campaign|term|content|id)$/

/** The pattern's first group; undefined if it does not match. */
export type FirstGroup = (pattern: RegExp, text?: string) => string | undefined

export const firstGroup: FirstGroup = (pattern, text = '') => pattern.exec(text)?.[1]

/** The page as the browser shows it. `url` and `referrer` are complete; only parts of them leave this file. */
export interface PageView {
  readonly url: string
  readonly referrer: string
  readonly nowMs: number
  /** Where it came from can only be said once the origins of the website are known. */
  isOpen?: boolean
}

/**
 * A page view without a source of its own has the last landing with one. `gpc`: the browser sends Global Privacy Control, so nothing of
 * an advertising click is read, or kept, but the name of its network's parameter. `recalled` is what the origin remembers, as JSON.
 */
export function arrivalOf(view: PageView, gpc: boolean, recalled: string): PageArrival {
  const { nowMs: seen_at } = view
  let landing = readLanding(view, gpc)
  const own = sourceIn(landing)
  let sitting: string | undefined
  try {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
    const earlier = JSON.parse(recalled) as OriginMemory
    const source = sourceIn(earlier)
    const isSitting = seen_at - earlier.seen_at < SITTING_PAUSE_MS
    // A page that is loaded again shows its source again.
    const isKept = own
      ? isSitting && own === source
      : isSitting || (source && seen_at - earlier.landed_at < SOURCE_LIFETIME_MS)
    if (isKept) landing = { ...earlier, clicks: gpc ? {} : earlier.clicks, carried: !own }
    if (isKept && isSitting) sitting = earlier.sitting
  } catch {
    // Nothing is remembered, or nothing readable.
  }
  // A name need not be secret: 52 random bits tell a website's sittings apart.
  const name = sitting ?? Math.random().toFixed(SITTING_CHARS).slice(2)
  return { ...landing, seen_at, entry: !sitting, sitting: name }
}

/** Origin and path of an address: nothing else of a page's or referrer's URL leaves the browser. Undefined for anything but http(s). */
export function originAndPath(url: string): string | undefined {
  return firstGroup(/^(https?:\/\/[^?#]+)/, url)
}

function readLanding({ url, referrer, nowMs }: PageView, gpc: boolean): Landing {
  const utm: Record<string, string> = {}
  const clicks: Record<string, string> = {}
  let ref: string | undefined
  let click: string | undefined
  for (const [name, value] of new URL(url).searchParams) {
    // Over-long values are left out, never truncated: the service refuses them, and a truncated one would mean
    // something else.
    const keep = (values: Record<string, string>, key: string | undefined, maxChars: number) =>
      key && value && value.length <= maxChars && (values[key] = value)
    keep(utm, firstGroup(UTM_PARAMETER, name), UTM_CHARS)
    if (/^(ref|source)$/.test(name) && value.length <= UTM_CHARS) ref ||= value
    const parameter = firstGroup(CLICK_PARAMETER, name)
    if (keep(gpc ? {} : clicks, parameter, CLICK_ID_CHARS) && !/^gad/.test(name)) click ??= parameter
  }
  return {
    landed_at: nowMs,
    referrer: originAndPath(referrer) ?? '',
    utm,
    page: originAndPath(url),
    clicks,
    ref,
    click,
  }
}

/** What distinguishes sources, in the words of the address, or else the referrer. Empty if a landing has none. */
export function sourceIn({ utm, clicks, ref, click, referrer, page }: Landing): string {
  const said = JSON.stringify([utm, clicks, ref, click])
  if (said !== NO_SOURCE) return said
  return isOwnPage(referrer, page) ? '' : referrer
}
/** Whether a landing of its own has no other source than the page before it. */
export const isReferred = (landing: Landing) =>
  !landing.carried && landing.referrer && sourceIn(landing) === landing.referrer
const NO_SOURCE = '[{},{},null,null]'

/** Whether the visitor comes from another page of the website; empty if there is no previous page. */
export const isOwnPage = (referrer: string, page = '') => referrer && siteOf(referrer) === siteOf(page)

/**
 * The last two labels of an address's host. Hosts that share them count as one website: returning from one's own
 * documentation is no new landing. If that is wrong (shared hosting, co.uk), the earlier source is merely kept.
 */
export const siteOf = (address: string) => new URL(address).hostname.split('.').slice(-2).join()
