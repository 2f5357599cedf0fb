/** Decides where the visitor came from: a new landing, or the one remembered since an earlier page of the same tab. */

import type { ProviderId } from '../domain/model.ts'
import { firstGroup } from './cookies.ts'
import { CLICK_ID_CHARS, SOURCE_LIFETIME_MS, UTM_CHARS } from './limits.ts'

/** Which click ID in the URL belongs to which provider. */
const CLICK_IDS: Readonly<Record<string, ProviderId>> = {
  gclid: 'google_ads',
  wbraid: 'google_ads',
  gbraid: 'google_ads',
  fbclid: 'meta',
  ttclid: 'tiktok',
  twclid: 'x',
}
const UTM_PARAMETER = /^utm_(source|medium|campaign|term|content|id)$/

/** How the visitor reached the website, with the names of the wire where there are any. Kept in the tab's session storage, so that the page with the install command knows it too. */
export interface Landing {
  /** Unix ms. */
  readonly landed_at: number
  /** Origin and path of the page before, where there was one. */
  readonly referrer: string | undefined
  readonly utm: Readonly<Record<string, string>>
  /** By the parameter's name. */
  readonly clicks: Readonly<Record<string, string>>
  /** Google's session attributes; added by the extras after an ad click. */
  google?: string | undefined
}

/** The page as the browser shows it. `url` and `referrer` are whole; what leaves this file is not. */
export interface PageView {
  readonly url: string
  readonly referrer: string
  readonly nowMs: number
}

/** `adProviders` are those whose click IDs may be read: none under Global Privacy Control. `remembered` is JSON. */
export function landingOf(
  page: PageView,
  adProviders: readonly string[],
  remembered: string | null | undefined,
): Landing {
  const seen = observe(page, adProviders)
  const campaign = campaignOf(seen)
  try {
    const earlier = JSON.parse(remembered ?? '') as Landing
    const isSame =
      campaign === NO_CAMPAIGN
        ? siteOf(page.referrer || page.url) === siteOf(page.url)
        : campaign === campaignOf(earlier)
    if (isSame && page.nowMs - earlier.landed_at < SOURCE_LIFETIME_MS) return earlier
  } catch {
    // Nothing remembered, or nothing that can be read.
  }
  return seen
}

/** Origin and path of an address: nothing else of a page's or referrer's URL leaves the browser. Undefined for anything but http(s). */
export function originAndPath(url: string): string | undefined {
  return firstGroup(/^(https?:\/\/[^?#]+)/, url)
}

function observe({ url, referrer, nowMs }: PageView, adProviders: readonly string[]): Landing {
  const utm: Record<string, string> = {}
  const clicks: Record<string, string> = {}
  // Over-long values are left out, never cut: the service refuses them, and a cut one would name something else.
  for (const [name, value] of new URL(url).searchParams) {
    const utmKey = firstGroup(UTM_PARAMETER, name)
    if (utmKey && value && value.length <= UTM_CHARS) utm[utmKey] = value
    if (adProviders.includes(CLICK_IDS[name] ?? '') && value && value.length <= CLICK_ID_CHARS) clicks[name] = value
  }
  return { landed_at: nowMs, referrer: originAndPath(referrer), utm, clicks }
}

const campaignOf = ({ utm, clicks }: Landing) => JSON.stringify([utm, clicks])
const NO_CAMPAIGN = '[{},{}]'

/**
 * The last two labels of an address's host. Hosts that share them count as one website: coming back from one's own documentation
 * is no new landing, and where that errs (shared hosting, co.uk) the earlier source is merely kept.
 */
const siteOf = (address: string) => new URL(address).hostname.split('.').slice(-2).join()
