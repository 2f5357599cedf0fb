/** Decides where the visitor came from: a new landing, or the one remembered since an earlier page of the same tab. */

import type { ProviderId, Utm } from '../domain/model.ts'
import { IDENTIFIER_CHARS, SOURCE_LIFETIME_MS, UTM_CHARS } from './limits.ts'

/** Which click ID in the URL belongs to which provider. */
const CLICK_IDS = {
  gclid: 'google_ads',
  wbraid: 'google_ads',
  gbraid: 'google_ads',
  fbclid: 'meta',
  ttclid: 'tiktok',
  twclid: 'x',
} as const satisfies Record<string, ProviderId>
export type ClickId = keyof typeof CLICK_IDS

/** How the visitor reached the website. Kept in the tab's session storage, so that the page with the install command knows it too. */
export interface Landing {
  /** Unix ms. */
  readonly at: number
  /** Origin and path of the page before, where there was one. */
  readonly referrer: string | undefined
  readonly utm: Utm
  readonly clicks: { readonly [Id in ClickId]?: string }
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
  const earlier = recall(remembered, page.nowMs)
  if (!earlier) return seen
  const campaign = campaignOf(seen)
  const isNew = campaign === NO_CAMPAIGN ? isForeign(page) : campaign !== campaignOf(earlier)
  return isNew ? seen : earlier
}

/** Origin and path of an address: nothing else of a page's or referrer's URL leaves the browser. Undefined for anything but http(s). */
export function originAndPath(url: string): string | undefined {
  return /^https?:\/\/[^?#]+/.exec(url)?.[0]
}

function observe(page: PageView, adProviders: readonly string[]): Landing {
  const query = new URL(page.url).searchParams
  // Over-long values are left out, never cut: the service refuses them, and a cut one would name something else.
  const take = (names: readonly string[], prefix: string, maxChars: number) =>
    Object.fromEntries(
      names
        .map((name) => [name, query.get(prefix + name) ?? ''] as const)
        .filter(([, { length }]) => length && length <= maxChars),
    )
  const clickIds = Object.entries(CLICK_IDS).flatMap(([id, provider]) => (adProviders.includes(provider) ? id : []))
  return {
    at: page.nowMs,
    referrer: originAndPath(page.referrer),
    utm: take(['source', 'medium', 'campaign', 'term', 'content', 'id'], 'utm_', UTM_CHARS),
    clicks: take(clickIds, '', IDENTIFIER_CHARS),
  }
}

function recall(remembered: string | null | undefined, nowMs: number): Landing | undefined {
  try {
    const landing = JSON.parse(remembered ?? '') as Landing
    return nowMs - landing.at < SOURCE_LIFETIME_MS && landing.utm && landing.clicks ? landing : undefined
  } catch {
    return undefined
  }
}

const campaignOf = ({ utm, clicks }: Landing) => JSON.stringify([utm, clicks])
const NO_CAMPAIGN = '[{},{}]'

/**
 * True where the page before lies on another website. Hosts that share their last two labels count as one: coming back from one's
 * own documentation is no new landing, and where that errs (shared hosting, co.uk) the earlier source is merely kept.
 */
function isForeign({ url, referrer }: PageView): boolean {
  const siteOf = (address: string) => new URL(address).hostname.split('.').slice(-2).join()
  return !!originAndPath(referrer) && siteOf(referrer) !== siteOf(url)
}
