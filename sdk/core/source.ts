/** Decides where the visitor came from: a new landing, or the one remembered from an earlier page of the same tab. */

import type { Landing } from './landing.ts'
import { CLICK_ID_CHARS, SOURCE_LIFETIME_MS, UTM_CHARS } from './limits.ts'

/** Parameters that advertising networks put on a link: identifiers of one click, and what Google adds to them. */
const CLICK_PARAMETER = /^(\w+clid|[gw]braid|gad_\w+)$/
const UTM_PARAMETER = /^utm_(source|medium|campaign|term|content|id)$/

/** The pattern's first group; undefined if it does not match. */
export const firstGroup = (pattern: RegExp, text = ''): string | undefined => pattern.exec(text)?.[1]

/** The page as the browser shows it. `url` and `referrer` are complete; only parts of them leave this file. */
export interface PageView {
  readonly url: string
  readonly referrer: string
  readonly nowMs: number
}

/**
 * `gpc`: the browser sends Global Privacy Control, so nothing of an advertising click is read. `recall` returns what
 * the tab remembers, as JSON; it may throw, as blocked storage does.
 */
export function landingOf(page: PageView, gpc: boolean, recall: () => string | null): Landing {
  const seen = readLanding(page, gpc)
  const campaign = campaignOf(seen)
  try {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
    const earlier = JSON.parse(recall() ?? '') as Landing
    const isSame =
      campaign === NO_CAMPAIGN
        ? siteOf(page.referrer || page.url) === siteOf(page.url)
        : campaign === campaignOf(earlier)
    if (isSame && page.nowMs - earlier.landed_at < SOURCE_LIFETIME_MS) return earlier
  } catch {
    // Nothing is remembered, or nothing readable.
  }
  return seen
}

/** Origin and path of an address: nothing else of a page's or referrer's URL leaves the browser. Undefined for anything but http(s). */
export function originAndPath(url: string): string | undefined {
  return firstGroup(/^(https?:\/\/[^?#]+)/, url)
}

function readLanding({ url, referrer, nowMs }: PageView, gpc: boolean): Landing {
  const utm: Record<string, string> = {}
  const clicks: Record<string, string> = {}
  for (const [name, value] of new URL(url).searchParams) {
    // Over-long values are left out, never truncated: the service refuses them, and a truncated one would mean
    // something else.
    const keep = (values: Record<string, string>, pattern: RegExp, maxChars: number) => {
      const key = firstGroup(pattern, name)
      if (key && value && value.length <= maxChars) values[key] = value
    }
    keep(utm, UTM_PARAMETER, UTM_CHARS)
    if (!gpc) keep(clicks, CLICK_PARAMETER, CLICK_ID_CHARS)
  }
  return { landed_at: nowMs, referrer: originAndPath(referrer) ?? '', utm, page: originAndPath(url), clicks }
}

/** What distinguishes campaigns, in the words of the address. */
const campaignOf = ({ utm, clicks }: Landing) => JSON.stringify([utm, clicks])
const NO_CAMPAIGN = '[{},{}]'

/**
 * The last two labels of an address's host. Hosts that share them count as one website: returning from one's own
 * documentation is no new landing. If that is wrong (shared hosting, co.uk), the earlier source is merely kept.
 */
export const siteOf = (address: string) => new URL(address).hostname.split('.').slice(-2).join()
