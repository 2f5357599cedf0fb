/** What links carry to another origin: its form, its place in an address, and how the other origin takes it. */

import { expect } from 'chai'
import fc from 'fast-check'
import { LIMITS } from '../../domain/limits.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import { withoutCarried } from '../../sdk/core/carried.ts'
import type { OriginMemory } from '../../sdk/core/landing.ts'
import { arrivalOf } from '../../sdk/core/source.ts'
import { decodeCarried, encodeCarried } from '../../sdk/keeper/carried-form.ts'
import { addressWith, carriedIn, mayCarry } from '../../sdk/keeper/placing.ts'
import { settledArrival } from '../../sdk/keeper/settled-arrival.ts'

const NOW = 1_790_000_000_000
const MINUTE_MS = 60_000
const SITE = {
  origins: ['https://acme.dev', 'https://acme-docs.io'],
  ignoredReferrers: ['accounts.google.com'],
  crossOrigin: 'Carry',
} as const
const FULL: OriginMemory = {
  landed_at: NOW - 86_400_000,
  seen_at: NOW - MINUTE_MS,
  referrer: 'https://news.example/item',
  utm: { source: 'news', medium: 'email', campaign: 'launch', term: 't', content: 'c', id: '7' },
  page: 'https://acme.dev/start',
  ref: 'hn',
  click: 'gclid',
  clicks: { gclid: 'g1', fbclid: 'f1' },
  sitting: '0123456789012345678901',
}
const PROVIDERS = ['google_ads', 'meta']
const encode = (memory: OriginMemory, providers: readonly string[] = PROVIDERS) =>
  encodeCarried(memory, NOW, providers) ?? ''
const decode = (text: string, nowMs = NOW) => decodeCarried(text, nowMs, LIMITS.carriedLifetimeMs)
const base64Url = (value: unknown) => `1${Buffer.from(JSON.stringify(value)).toString('base64url')}`

describe('sdk, what a link carries', () => {
  describe('its form', () => {
    it('begins with its version, needs no escape in an address, and says everything again', () => {
      const text = encode(FULL)
      expect(text).to.match(/^1[\w-]+$/)
      expect(decode(text)).to.deep.equal({
        ...FULL,
        seen_at: NOW,
        referrer: 'https://news.example/',
        clicks: { gclid: 'g1' },
      })
    })

    it('takes one click identifier, of a provider that the website uses', () => {
      expect(decode(encode(FULL, ['meta']))?.clicks).to.deep.equal({ fbclid: 'f1' })
      expect(decode(encode(FULL, []))?.clicks).to.deep.equal({})
      expect(decode(encode({ ...FULL, clicks: { msclkid: 'm1' } }))?.clicks).to.deep.equal({})
    })

    it('knows the click identifiers of every provider', () => {
      for (const { id, clickParameters } of Object.values(PROVIDER_DESCRIPTORS))
        for (const parameter of clickParameters) {
          const clicks = { [parameter]: 'c1' }
          expect(decode(encode({ ...FULL, clicks }, [id]))?.clicks).to.deep.equal(clicks)
        }
    })

    it('has at most 400 bytes with its name, and leaves out what comes last; no value is shortened', () => {
      const long = 'ü'.repeat(LIMITS.utmChars)
      const most = { ...FULL, utm: { ...FULL.utm, term: long, content: long } }
      const text = encode(most)
      expect(`_whence=${text}`).to.have.length.at.most(LIMITS.carriedBytes)
      expect(decode(text)?.utm).to.deep.equal({ source: 'news', medium: 'email', campaign: 'launch', id: '7' })
      const longCampaign = decode(encode({ ...FULL, utm: { campaign: long, source: 'news' } }))
      expect(longCampaign).to.deep.include({ sitting: FULL.sitting, utm: { source: 'news' } })
    })

    it('never has more than 400 bytes, and never says anything else, whatever a landing says', () => {
      const word = fc.string({ unit: 'binary', maxLength: 200 })
      fc.assert(
        fc.property(word, word, word, word, (source, campaign, ref, id) => {
          const memory = { ...FULL, utm: { source, campaign }, ref, clicks: { gclid: id } }
          const text = encode(memory)
          expect(`_whence=${text}`).to.have.length.at.most(LIMITS.carriedBytes)
          const told = decode(text)
          for (const [name, value] of Object.entries(told?.utm ?? {}))
            expect([source, campaign].map((each) => each.toWellFormed())[name === 'source' ? 0 : 1]).to.equal(value)
        }),
      )
    })

    it('carries no sitting that is over, and nothing of a landing that is', () => {
      expect(decode(encode({ ...FULL, seen_at: NOW - LIMITS.sittingPauseMs }))?.sitting).to.equal(undefined)
      expect(encodeCarried({ ...FULL, landed_at: NOW - LIMITS.receiptLifetimeMs }, NOW, [])).to.equal(undefined)
    })
  })

  describe('is not believed', () => {
    const good = encode(FULL)
    const rows: readonly (readonly [name: string, text: string, nowMs?: number])[] = [
      ['after two minutes', good, NOW + LIMITS.carriedLifetimeMs + 1],
      ['from the future', good, NOW - 1],
      ['in another version', `2${good.slice(1)}`],
      ['without a version', good.slice(1)],
      ['with more than 400 bytes', `${good}${'A'.repeat(LIMITS.carriedBytes)}`],
      ['if it is cut off', good.slice(0, -7)],
      ['if it is empty', ''],
      ['if it is no base64', '1%7B%22'],
      ['if a server has decoded it', '1{"a":1}'],
      ['if it is no UTF-8', `1${Buffer.from([0x5b, 0xff, 0xfe, 0x5d]).toString('base64url')}`],
      ['if it is no list', base64Url({ seen_at: NOW, landed_at: NOW })],
      ['if it is null', base64Url(null)],
      ['without times', base64Url([])],
      ['with times as texts', base64Url([String(NOW), String(NOW)])],
      ['with a landing after itself', base64Url([NOW - 1, NOW])],
    ]
    for (const [name, text, nowMs = NOW] of rows)
      it(name, () => {
        expect(decode(text, nowMs)).to.equal(undefined)
      })

    it('in any single value that a visit could not send', () => {
      const values = ['short', 'c'.repeat(151), 7, null, 'no click', [], 'nothing=', 'file:///etc', 'a b']
      expect(decode(base64Url([NOW, NOW, ...values]))).to.deep.equal({
        seen_at: NOW,
        landed_at: NOW,
        referrer: '',
        utm: {},
        page: undefined,
        ref: undefined,
        click: undefined,
        clicks: {},
        sitting: undefined,
      })
      const { clicks } = decode(base64Url([NOW, NOW, '', '', '', '', '', '', '__proto__=1'])) ?? {}
      expect(clicks).to.deep.equal({})
    })

    it('and never throws, whatever it is', () => {
      fc.assert(fc.property(fc.string(), (text) => void [decode(text), decode(`1${text}`)]))
      fc.assert(fc.property(fc.jsonValue(), (value) => void decode(base64Url([NOW, NOW, value, value, value]))))
    })
  })

  describe('its place', () => {
    const put = (address: string, inQuery = false) => addressWith(address, '1A-_', inQuery)

    it('is the fragment if there is none, else the query', () => {
      expect(put('https://b.dev/x?a=1')).to.equal('https://b.dev/x?a=1#_whence=1A-_')
      expect(put('https://b.dev/x#y')).to.equal('https://b.dev/x?_whence=1A-_#y')
      expect(put('https://b.dev/x?a=1#/route?b=2')).to.equal('https://b.dev/x?a=1&_whence=1A-_#/route?b=2')
      expect(put('https://b.dev/x#:~:text=install')).to.equal('https://b.dev/x?_whence=1A-_#:~:text=install')
      expect(put('https://b.dev/x#')).to.equal('https://b.dev/x?_whence=1A-_#')
      expect(put('https://b.dev/x', true)).to.equal('https://b.dev/x?_whence=1A-_')
    })

    it('leaves every other byte of the address as it was', () => {
      const part = fc.stringMatching(/^[\w%+./:@!$'()*,;=&?~-]{0,12}$/)
      fc.assert(
        fc.property(part, part, fc.option(part), fc.boolean(), (path, query, fragment, inQuery) => {
          const address = `https://b.dev/${path}${query && `?${query}`}${fragment === null ? '' : `#${fragment}#`}`
          fc.pre(carriedIn(address) === undefined)
          const carried = put(address, inQuery)
          expect(carriedIn(carried)).to.equal('1A-_')
          expect(withoutCarried(carried)).to.equal(address)
        }),
      )
    })

    it('is found behind what a server has added, and taken out from between', () => {
      for (const [shown, plain] of [
        ['https://b.dev/?_whence=1A&lang=en#y', 'https://b.dev/?lang=en#y'],
        ['https://b.dev/?a&_whence=1A&b', 'https://b.dev/?a&b'],
        ['https://b.dev/#_whence=1A&x', 'https://b.dev/#x'],
        ['https://b.dev/?_whence=', 'https://b.dev/'],
        ['https://b.dev/#/_whence=1A', 'https://b.dev/'],
        ['https://b.dev/?x_whence=1', 'https://b.dev/?x_whence=1'],
        ['https://b.dev/#_whence_test=t1.a', 'https://b.dev/#_whence_test=t1.a'],
      ] as const)
        expect(withoutCarried(shown)).to.equal(plain)
    })
  })

  describe('which links carry it', () => {
    const may = (address: string, site: Parameters<typeof mayCarry>[2] = SITE) =>
      mayCarry(new URL(address), 'https://acme.dev', site)

    it('those to pages of another origin of the website', () => {
      for (const path of ['', 'install', 'a/b.html', 'docs/v1.2', 'x.php?token_count=2', '?q=signal#y'])
        expect(may(`https://acme-docs.io/${path}`), path).to.equal(true)
    })

    it('not those to its own origin, elsewhere, or by another scheme', () => {
      for (const address of [
        'https://acme.dev/x',
        'https://other.example/',
        'https://acme-docs.io.evil.example/',
        'http://acme-docs.io/',
        'https://acme-docs.io:8443/',
        'mailto:a@acme-docs.io',
        'https://user@acme-docs.io/',
      ])
        expect(may(address), address).to.equal(false)
    })

    it('not those to files', () => {
      for (const file of ['a.zip', 'acme_1.0_linux.tar.gz', 'install.sh', 'x.7z', 'feed.xml', 'logo.svg?x#y'])
        expect(may(`https://acme-docs.io/${file}`), file).to.equal(false)
    })

    it('not addresses that somebody has signed', () => {
      for (const name of [
        'X-Amz-Signature',
        'X-Goog-Signature',
        'sig',
        'Signature',
        'token',
        'access_token',
        'accessToken',
        'hmac',
        'x-oss-signature',
        'hash',
      ])
        for (const sign of ['?', '#', '?a=1&'])
          expect(may(`https://acme-docs.io/x${sign}${name}=abc`), sign + name).to.equal(false)
    })

    it('none that carries it already, and none at all if the website does not want it', () => {
      expect(may('https://acme-docs.io/?_whence=1A')).to.equal(false)
      expect(may('https://acme-docs.io/', { ...SITE, crossOrigin: 'Disabled' })).to.equal(false)
    })
  })
})

describe('sdk, an arrival with what a link has carried', () => {
  const CARRIED = encode(FULL)
  const at = `https://acme-docs.io/install#_whence=${CARRIED}`
  const settle = (
    { url = at, referrer = 'https://acme.dev/', recalled = '', shared = '', gpc = false },
    site: Parameters<typeof settledArrival>[1] = SITE,
  ) => settledArrival({ view: { url, referrer, nowMs: NOW + 1_000 }, gpc, recalled, shared }, site)
  const remembered = (url: string, referrer = '', nowMs = NOW - MINUTE_MS) =>
    JSON.stringify(arrivalOf({ url, referrer, nowMs }, false, ''))

  it('has its landing, carried, and goes on with its sitting', () => {
    for (const referrer of ['https://acme.dev/', ''])
      expect(settle({ referrer })).to.deep.include({
        utm: FULL.utm,
        ref: 'hn',
        click: 'gclid',
        clicks: { gclid: 'g1' },
        landed_at: FULL.landed_at,
        page: FULL.page,
        carried: true,
        sitting: FULL.sitting,
        entry: false,
      })
  })

  it('believes no foreign referrer, no other version, and nothing if the website does not want it', () => {
    expect(settle({ referrer: 'https://evil.example/' })).to.equal(undefined)
    expect(settle({ referrer: 'https://acme.dev.evil.example/' })).to.equal(undefined)
    expect(settle({ referrer: '', url: at.replace('=1', '=2') })).to.equal(undefined)
    expect(settle({ referrer: '' }, { ...SITE, crossOrigin: 'Disabled' })).to.equal(undefined)
  })

  it('keeps a source of the page itself, in a sitting of its own', () => {
    const url = at.replace('#', '?utm_source=mail#')
    const arrival = settle({ url })
    expect(arrival).to.deep.include({ utm: { source: 'mail' }, entry: true, landed_at: NOW + 1_000 })
    expect(arrival?.sitting).to.not.equal(FULL.sitting)
    expect(arrival?.carried).to.not.equal(true)
  })

  it('keeps what this origin remembers if the other had no source, in the sitting of the other', () => {
    const direct = { ...FULL, utm: {}, ref: undefined, click: undefined, clicks: {}, referrer: '' }
    const url = `https://acme-docs.io/install#_whence=${encode(direct)}`
    const recalled = remembered('https://acme-docs.io/?utm_source=podcast')
    expect(settle({ url, recalled })).to.deep.include({
      utm: { source: 'podcast' },
      sitting: FULL.sitting,
      carried: true,
      entry: false,
    })
    expect(settle({ url })).to.deep.include({ page: FULL.page, carried: true })
  })

  it('keeps all that this origin remembers of the same landing', () => {
    const own = { ...FULL, clicks: { gclid: 'g1', gad_source: '1' } }
    expect(settle({ recalled: JSON.stringify(own) })).to.deep.include({ referrer: FULL.referrer, clicks: own.clicks })
  })

  it('has no click under Global Privacy Control', () => {
    expect(settle({ gpc: true })).to.deep.include({ clicks: {}, click: 'gclid', utm: FULL.utm })
  })

  it('has the landing of the shared cookie if its address carries none', () => {
    const url = 'https://acme-docs.io/install'
    expect(settle({ url, referrer: '', shared: CARRIED })).to.deep.include({
      utm: FULL.utm,
      carried: true,
      sitting: FULL.sitting,
    })
    expect(settle({ url: `${url}?utm_source=mail`, referrer: '', shared: CARRIED })?.utm).to.deep.equal({
      source: 'mail',
    })
    expect(settle({ url, referrer: 'https://news.example/', shared: CARRIED })).to.deep.include({
      referrer: 'https://news.example/',
      entry: true,
    })
  })

  describe('by a referrer alone', () => {
    const url = 'https://acme-docs.io/install'
    const recalled = remembered('https://acme-docs.io/?utm_source=podcast')

    it('is what is remembered if the visitor was only signing in, or on another origin of the website', () => {
      for (const referrer of ['https://accounts.google.com/signin', 'https://acme.dev/'])
        expect(settle({ url, referrer, recalled })).to.deep.include({
          utm: { source: 'podcast' },
          carried: true,
          entry: false,
        })
    })

    it('is that referrer for any other host, which then replaces what is remembered', () => {
      for (const referrer of ['https://news.example/', 'https://x.accounts.google.com/'])
        expect(settle({ url, referrer, recalled })).to.equal(undefined)
    })

    it('stays as it is where the first moment could decide it', () => {
      const view = { url, referrer: 'https://acme-docs.io/', nowMs: NOW + 1_000 }
      const kept = JSON.stringify(arrivalOf(view, false, recalled))
      expect(settle({ url, referrer: view.referrer, recalled: kept })).to.equal(undefined)
    })
  })
})
