/** Where a visit came from: source, medium, channel and campaign. */

import { expect } from 'chai'

import { knownSite } from '../../domain/collection/known-sites.ts'
import { CHANNELS, trafficSourceOf, type LandingSource, type Utm } from '../../domain/collection/traffic-source.ts'

const ORIGINS = new Set(['https://acme.dev', 'https://docs.acme.dev:8443', 'http://localhost:3000'])
const UNSOURCED = { origins: ORIGINS, ignoredReferrers: ['accounts.google.com', 'login.example.org'] }
const from = (landing: Partial<LandingSource>) =>
  trafficSourceOf({ utm: {}, ref: '', click: '', referrer: '', ...landing }, UNSOURCED)

describe('the source of a visit', () => {
  const rows: readonly (readonly [name: string, landing: Partial<LandingSource>, expected: string])[] = [
    ['nothing', {}, ' /  / Direct / '],
    [
      'utm_source before all',
      { utm: { source: 'n', medium: 'email' }, ref: 'r', click: 'gclid' },
      'n / email / Email / ',
    ],
    ['utm_source as it is written', { utm: { source: 'HN', campaign: 'Show HN' } }, 'HN /  / Organic Social / Show HN'],
    ['ref', { ref: 'producthunt', referrer: 'https://github.com/x' }, 'producthunt / referral / Referral / '],
    ['utm_medium beside ref', { ref: 'partner', utm: { medium: 'affiliate' } }, 'partner / affiliate / Affiliates / '],
    ['a click of Google Ads', { click: 'gclid' }, 'google / cpc / Paid Search / (Google Ads, auto-tagged)'],
    ['its other names', { click: 'WBRAID' }, 'google / cpc / Paid Search / (Google Ads, auto-tagged)'],
    ['a click of a social network', { click: 'twclid' }, 'x / cpc / Paid Social / (X Ads, auto-tagged)'],
    [
      'a click before the referrer',
      { click: 'msclkid', referrer: 'https://github.com/' },
      'bing / cpc / Paid Search / (Microsoft Ads, auto-tagged)',
    ],
    ['a link in a post on Facebook', { click: 'fbclid' }, 'facebook / social / Organic Social / (Meta, auto-tagged)'],
    [
      'a click with a campaign of its own',
      { click: 'gclid', utm: { campaign: 'launch' } },
      'google / cpc / Paid Search / launch',
    ],
    ['a tagged click without a medium', { click: 'gclid', utm: { source: 'google' } }, 'google / cpc / Paid Search / '],
    [
      'a tagged link that was posted on Facebook',
      { click: 'fbclid', utm: { source: 'news' } },
      'news /  / Unassigned / ',
    ],
    [
      'a click of a network that is not listed',
      { click: 'xyzclid', referrer: 'https://a.example/' },
      'a.example / referral / Referral / ',
    ],
    ['a search engine', { referrer: 'https://www.google.co.uk/' }, 'google / organic / Organic Search / '],
    [
      'a site by its name',
      { referrer: 'https://news.ycombinator.com/item' },
      'hackernews / referral / Organic Social / ',
    ],
    ['a site without a category', { referrer: 'https://github.com/acme' }, 'github / referral / Referral / '],
    [
      'a site that is not listed',
      { referrer: 'https://www.blog.example/post' },
      'blog.example / referral / Referral / ',
    ],
    ['a program', { referrer: 'android-app://com.slack/' }, 'com.slack / referral / Referral / '],
    ['the website itself', { referrer: 'https://acme.dev/pricing' }, ' /  / Direct / '],
    ['another origin of the website', { referrer: 'https://docs.acme.dev:8443/' }, ' /  / Direct / '],
    ['the website before it redirected to https', { referrer: 'http://acme.dev/' }, ' /  / Direct / '],
    ['a website below it', { referrer: 'https://blog.acme.dev/' }, 'blog.acme.dev / referral / Referral / '],
    ['a sign-in that the website ignores', { referrer: 'https://accounts.google.com/signin' }, ' /  / Direct / '],
    [
      'a host below an ignored one',
      { referrer: 'https://eu.login.example.org/' },
      'eu.login.example.org / referral / Referral / ',
    ],
    [
      'a click that came through an ignored host',
      { click: 'msclkid', referrer: 'https://login.example.org/' },
      'bing / cpc / Paid Search / (Microsoft Ads, auto-tagged)',
    ],
    ['no address', { referrer: 'hmac:0123' }, ' /  / Direct / '],
    ['a campaign alone', { utm: { campaign: 'launch' } }, ' /  / Direct / launch'],
  ]
  for (const [name, landing, expected] of rows) {
    it(`is judged by ${name}`, () => {
      const { source, medium, channel, campaign } = from(landing)
      expect([source, medium, channel, campaign].join(' / ')).to.equal(expected)
    })
  }
})

describe('the channel of a visit', () => {
  /** For each channel, what Google's table of manual traffic names, in its order. */
  const examples: readonly (readonly [
    channel: string,
    ...tags: (readonly [source: string, medium: string, campaign?: string])[],
  ])[] = [
    ['Direct', ['(direct)', '(none)'], ['(direct)', '(not set)']],
    ['Cross-network', ['google', 'cpc', 'summer cross-network']],
    ['Paid Shopping', ['amazon', 'cpc'], ['partner', 'paid', 'spring shop'], ['partner', 'ppc', 'shopping-ads']],
    ['Paid Search', ['google', 'cpc'], ['bing', 'ppc'], ['duckduckgo.com', 'paidsearch'], ['Google', 'CPC']],
    ['Paid Social', ['facebook', 'paid_social'], ['t.co', 'cpm'], ['linkedin', 'retargeting']],
    ['Paid Video', ['youtube', 'cpv'], ['vimeo.com', 'paid']],
    [
      'Display',
      ['partner', 'display'],
      ['partner', 'banner'],
      ['partner', 'expandable'],
      ['partner', 'interstitial'],
      ['partner', 'cpm'],
    ],
    ['Paid Other', ['partner', 'cpc'], ['newsletter', 'paid-placement'], ['partner', 'retargeting']],
    ['Organic Shopping', ['etsy.com', 'referral'], ['partner', 'link', 'our shop']],
    [
      'Organic Social',
      ['reddit', 'referral'],
      ['partner', 'social-media'],
      ['partner', 'sm'],
      ['stackoverflow.com', 'referral'],
    ],
    ['Organic Video', ['youtube.com', 'referral'], ['partner', 'video']],
    ['Organic Search', ['partner', 'organic'], ['ecosia', 'referral']],
    ['Email', ['newsletter', 'email'], ['e-mail', 'x'], ['partner', 'e_mail'], ['partner', 'e mail']],
    ['Affiliates', ['partner', 'affiliate']],
    ['Referral', ['github', 'referral'], ['partner', 'app'], ['partner', 'link']],
    ['Audio', ['podcast', 'audio']],
    ['SMS', ['sms', 'x'], ['partner', 'sms']],
    [
      'Mobile Push Notifications',
      ['partner', 'web push'],
      ['partner', 'mobile-app'],
      ['partner', 'notification'],
      ['firebase', 'x'],
    ],
    ['Unassigned', ['partner', 'print'], ['partner', '']],
  ]

  it('has an example of each', () => {
    expect(examples.map(([channel]) => channel)).to.deep.equal(CHANNELS)
  })

  for (const [channel, ...tags] of examples) {
    it(`${channel}: ${tags.map((tag) => tag.join(' / ')).join(', ')}`, () => {
      const channels = tags.map(([source, medium, campaign]) => {
        const utm: Utm = { source, medium, ...(campaign === undefined ? {} : { campaign }) }
        return from({ utm }).channel
      })
      expect(new Set(channels)).to.deep.equal(new Set([channel]))
    })
  }

  it('takes no campaign for one of a shop that only ends like it', () => {
    const channels = ['eshop', 'workshop', 'bishop'].map(
      (campaign) => from({ utm: { source: 'partner', medium: 'link', campaign } }).channel,
    )
    expect(channels).to.deep.equal(['Organic Shopping', 'Referral', 'Referral'])
  })
})

describe('a known site', () => {
  it('is found by the longest host that is listed', () => {
    const names = [
      'google.de',
      'maps.google.co.uk',
      'news.google.com',
      'groups.google.com',
      'gist.github.com',
      'acme.github.io',
    ]
    expect(names.map((name) => knownSite(name)?.name)).to.deep.equal([
      'google',
      'google',
      'google-news',
      'google-groups',
      'github',
      'github',
    ])
    expect(knownSite('HN')).to.deep.equal({ name: 'hackernews', category: 'social' })
  })

  it('is none that only looks like one', () => {
    for (const host of ['google.evil.example', 'notgoogle.com', 'com', '', 'x', 'box.com', 'ask.example', 'google.'])
      expect(knownSite(host)?.name ?? '', host).to.equal(host === 'x' ? 'x' : '')
  })
})
