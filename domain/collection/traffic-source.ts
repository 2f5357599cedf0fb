/**
 * Where a visit came from, in the words of a marketer: source, medium, channel and campaign. Figures count by these four; what the landing said
 * itself stays beside them.
 */

import type { AdNetwork, SiteCategory } from '../providers/descriptor.ts'
import { PROVIDER_DESCRIPTORS } from '../providers/index.ts'
import { knownSite } from './known-sites.ts'

export const UTM_NAMES = ['source', 'medium', 'campaign', 'term', 'content', 'id'] as const
export type Utm = { readonly [N in (typeof UTM_NAMES)[number]]?: string }

/** What a landing says of its source. */
export interface LandingSource {
  readonly utm: Utm
  /** `ref` or `source` of the landing's address; empty if it has none. */
  readonly ref: string
  /** Name of the click parameter that an advertising network added; empty if none did. */
  readonly click: string
  /** Address of the page before the landing; empty if there was none. */
  readonly referrer: string
}

interface SourceAndMedium {
  /** Empty: Direct. */
  readonly source: string
  /** Empty if there is none. */
  readonly medium: string
}

interface TaggedSource extends SourceAndMedium {
  /** Empty if there is none. */
  readonly campaign: string
}

export interface TrafficSource extends TaggedSource {
  /** One of `CHANNELS`. */
  readonly channel: string
}

/**
 * The channels of the default channel group of Google Analytics, in its words.
 * @internal
 */
export const CHANNELS = [
  'Direct',
  'Cross-network',
  'Paid Shopping',
  'Paid Search',
  'Paid Social',
  'Paid Video',
  'Display',
  'Paid Other',
  'Organic Shopping',
  'Organic Social',
  'Organic Video',
  'Organic Search',
  'Email',
  'Affiliates',
  'Referral',
  'Audio',
  'SMS',
  'Mobile Push Notifications',
  'Unassigned',
] as const
type DefaultChannel = (typeof CHANNELS)[number]

const DIRECT: SourceAndMedium = { source: '', medium: '' }

interface ClickSource extends AdNetwork {
  readonly source: string
}

const GOOGLE_DISPLAY: ClickSource = { source: 'google', medium: 'display', name: 'Display & Video 360' }
/** Networks that are no providers, by click parameter in lower case; and a parameter of one that is of another of its networks. */
const OTHER_NETWORKS: readonly (readonly [parameter: string, ClickSource])[] = [
  ['dclid', GOOGLE_DISPLAY],
  ['msclkid', { source: 'bing', medium: 'cpc', name: 'Microsoft Ads' }],
  ['li_fat_id', { source: 'linkedin', medium: 'cpc', name: 'LinkedIn Ads' }],
  ['rdt_cid', { source: 'reddit', medium: 'cpc', name: 'Reddit Ads' }],
  ['sccid', { source: 'snapchat', medium: 'cpc', name: 'Snapchat Ads' }],
  ['epik', { source: 'pinterest', medium: 'cpc', name: 'Pinterest Ads' }],
  ['yclid', { source: 'yandex', medium: 'cpc', name: 'Yandex Direct' }],
]

const CLICK_SOURCES: ReadonlyMap<string, ClickSource> = new Map([...networksOfProviders(), ...OTHER_NETWORKS])

function networksOfProviders(): readonly (readonly [parameter: string, ClickSource])[] {
  return Object.values(PROVIDER_DESCRIPTORS).flatMap(({ clickParameters, site }) => {
    if (site === undefined) return []
    const click = { ...site.ads, source: site.source }
    return clickParameters.map((parameter) => [parameter, click] as const)
  })
}

/** Referrers that are no source. */
export interface UnsourcedReferrers {
  /** Of the website itself. */
  readonly origins: ReadonlySet<string>
  /** Hosts that the website names, such as those of sign-in and payment. */
  readonly ignoredReferrers: readonly string[]
}

export function trafficSourceOf(landing: LandingSource, unsourced: UnsourcedReferrers): TrafficSource {
  const { utm } = landing
  const network = CLICK_SOURCES.get(landing.click.toLowerCase()) ?? null
  const found = namedSource(landing, network, unsourced)
  const { source } = found
  const medium = utm.medium ?? found.medium
  const isTagged = utm.source !== undefined || utm.medium !== undefined || utm.campaign !== undefined
  const campaign = utm.campaign ?? (isTagged || network === null ? '' : `(${network.name}, auto-tagged)`)
  return { source, medium, campaign, channel: channelOf({ source, medium, campaign }) }
}

function namedSource(
  landing: LandingSource,
  network: ClickSource | null,
  unsourced: UnsourcedReferrers,
): SourceAndMedium {
  const { utm, ref, referrer } = landing
  // A link that names no medium was an advertisement if a click of one came along.
  if (utm.source !== undefined) return { source: utm.source, medium: mediumOfClick(network) }
  if (ref !== '') return { source: ref, medium: 'referral' }
  return network ?? referringSite(referrer, unsourced)
}

function mediumOfClick(network: ClickSource | null): string {
  return network === null || network.marksUnpaidLinks === true ? '' : network.medium
}

function referringSite(referrer: string, { origins, ignoredReferrers }: UnsourcedReferrers): SourceAndMedium {
  const url = URL.parse(referrer)
  if (url === null || url.host === '' || origins.has(url.origin) || origins.has(`https://${url.host}`)) return DIRECT
  if (ignoredReferrers.includes(url.hostname)) return DIRECT
  const host = url.hostname.replace(/^www\./, '')
  const site = knownSite(host)
  if (site === null) return { source: host, medium: 'referral' }
  return { source: site.name, medium: site.category === 'search' ? 'organic' : 'referral' }
}

const PAID = /^(?:.*cp.*|ppc|retargeting|paid.*)$/
const SHOPPING_CAMPAIGN = /^.*(?:(?:[^a-df-z]|^)shop|shopping).*$/
const DISPLAY_MEDIUMS = ['display', 'banner', 'expandable', 'interstitial', 'cpm']
const SOCIAL_MEDIUMS = ['social', 'social-network', 'social-media', 'sm', 'social network', 'social media']
const EMAIL = ['email', 'e-mail', 'e_mail', 'e mail']
const REFERRAL_MEDIUMS = ['referral', 'app', 'link']

interface ChannelInputs extends TaggedSource {
  readonly category: SiteCategory
  readonly isPaid: boolean
  readonly isShopping: boolean
}

/** In Google's order: the first that holds decides. https://support.google.com/analytics/answer/9756891, manual traffic. */
const CHANNEL_RULES: readonly (readonly [DefaultChannel, (of: ChannelInputs) => boolean])[] = [
  ['Direct', ({ source, medium }) => isNone(source, '(direct)') && isNone(medium, '(none)', '(not set)')],
  ['Cross-network', ({ campaign }) => campaign.includes('cross-network')],
  ['Paid Shopping', ({ isPaid, isShopping }) => isPaid && isShopping],
  ['Paid Search', ({ isPaid, category }) => isPaid && category === 'search'],
  ['Paid Social', ({ isPaid, category }) => isPaid && category === 'social'],
  ['Paid Video', ({ isPaid, category }) => isPaid && category === 'video'],
  ['Display', ({ medium }) => DISPLAY_MEDIUMS.includes(medium)],
  ['Paid Other', ({ isPaid }) => isPaid],
  ['Organic Shopping', ({ isShopping }) => isShopping],
  ['Organic Social', ({ category, medium }) => category === 'social' || SOCIAL_MEDIUMS.includes(medium)],
  ['Organic Video', ({ category, medium }) => category === 'video' || medium.includes('video')],
  ['Organic Search', ({ category, medium }) => category === 'search' || medium === 'organic'],
  ['Email', ({ source, medium }) => EMAIL.includes(source) || EMAIL.includes(medium)],
  ['Affiliates', ({ medium }) => medium === 'affiliate'],
  ['Referral', ({ medium }) => REFERRAL_MEDIUMS.includes(medium)],
  ['Audio', ({ medium }) => medium === 'audio'],
  ['SMS', ({ source, medium }) => source === 'sms' || medium === 'sms'],
  ['Mobile Push Notifications', ({ source, medium }) => source === 'firebase' || isPush(medium)],
]

function isNone(text: string, ...words: readonly string[]): boolean {
  return text === '' || words.includes(text)
}

function isPush(medium: string): boolean {
  return medium.endsWith('push') || medium.includes('mobile') || medium.includes('notification')
}

function channelOf(traffic: TaggedSource): DefaultChannel {
  const source = traffic.source.toLowerCase()
  const medium = traffic.medium.toLowerCase()
  const campaign = traffic.campaign.toLowerCase()
  const category = knownSite(source)?.category ?? 'other'
  const isShopping = category === 'shopping' || SHOPPING_CAMPAIGN.test(campaign)
  const inputs: ChannelInputs = { source, medium, campaign, category, isPaid: PAID.test(medium), isShopping }
  return CHANNEL_RULES.find(([, holds]) => holds(inputs))?.[0] ?? 'Unassigned'
}
