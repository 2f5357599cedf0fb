/** Makes the address of an advertisement or a post: a landing page, with what says where its visitors come from. */

import { trafficSourceOf } from '../collection/traffic-source.ts'
import { LIMITS } from '../limits.ts'

/**
 * What a link may say, in the order in which it stands there.
 * @internal
 */
export const LINK_PARTS = ['source', 'medium', 'campaign', 'term', 'content'] as const
export type LinkPart = (typeof LINK_PARTS)[number]
/** As typed; empty texts are left out of the link. */
export type CampaignParts = { readonly [P in LinkPart]: string }

export type CampaignLink =
  | { readonly kind: 'link'; readonly url: string; readonly channel: string }
  /** `page`: no address of a page; a part: longer than the service takes. */
  | { readonly kind: 'unusable'; readonly because: 'page' | LinkPart }

/** Other parameters of the page and its fragment stay byte for byte; what it said of these parts is replaced. */
export function campaignLink(page: string, typed: CampaignParts): CampaignLink {
  const address = page.trim()
  const url = /^https?:\/\//i.test(address) ? URL.parse(address) : null
  if (url === null) return { kind: 'unusable', because: 'page' }
  const parts = LINK_PARTS.map((part) => [part, typed[part].trim()] as const).filter(([, value]) => value !== '')
  // A longer one is left out by the script, so the visit would have none.
  const tooLong = parts.find(([, value]) => [...value].length > LIMITS.utmChars)
  if (tooLong !== undefined) return { kind: 'unusable', because: tooLong[0] }
  const kept = url.search
    .replace(/^\?/, '')
    .split('&')
    .filter((each) => each !== '' && !isLinkPart(each))
  const own = parts.map(([part, value]) => `utm_${part}=${encodeURIComponent(value)}`)
  const query = [...kept, ...own].join('&')
  return {
    kind: 'link',
    url: `${url.origin}${url.pathname}${query === '' ? '' : `?${query}`}${url.hash}`,
    channel: channelOfLink(typed),
  }
}

function isLinkPart(parameter: string): boolean {
  return LINK_PARTS.some((part) => parameter.toLowerCase().startsWith(`utm_${part}=`))
}

/** Under which its visits will count. */
function channelOfLink({ source, medium, campaign }: CampaignParts): string {
  const utm = {
    ...(source.trim() === '' ? {} : { source: source.trim() }),
    ...(medium.trim() === '' ? {} : { medium: medium.trim() }),
    ...(campaign.trim() === '' ? {} : { campaign: campaign.trim() }),
  }
  const landing = { utm, ref: '', click: '', referrer: '' }
  return trafficSourceOf(landing, { origins: new Set(), ignoredReferrers: [] }).channel
}
