import { expect } from 'chai'
import fc from 'fast-check'
import { LIMITS } from '../../domain/limits.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import { arrivalOf, originAndPath } from '../../sdk/core/source.ts'

const NOW = 1_790_000_000_000

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const view = (url: string, referrer = '', nowMs = NOW) => ({ url, referrer, nowMs })
const arrive = (url: string, referrer = '', remembered: object | null = null, nowMs = NOW) =>
  arrivalOf(view(url, referrer, nowMs), false, remembered ? JSON.stringify(remembered) : '')
/** How it landed as it is kept, without the sitting. */
const land = (...asked: Parameters<typeof arrive>) => {
  const { sitting: _, entry: __, seen_at: ___, ...landing } = arrive(...asked)
  return JSON.parse(JSON.stringify(landing)) as typeof landing
}

const EARLIER = arrive('https://acme.dev/?utm_source=news&gclid=old', 'https://search.example/q', null, NOW - MINUTE_MS)
/** What a later page view sends of it. */
const { sitting: SITTING } = EARLIER
const LANDED = land('https://acme.dev/?utm_source=news&gclid=old', 'https://search.example/q', null, NOW - MINUTE_MS)
const CARRIED = { ...LANDED, carried: true }

describe('sdk/source', () => {
  describe('origin and path', () => {
    it('drops query, fragment and everything that is no web address', () => {
      expect(originAndPath('https://a.example/p/q?secret=1#x')).to.equal('https://a.example/p/q')
      expect(originAndPath('http://localhost:8080/')).to.equal('http://localhost:8080/')
      expect(originAndPath('android-app://com.example/')).to.equal(undefined)
      expect(originAndPath('')).to.equal(undefined)
    })
  })

  describe('a new landing', () => {
    it('says that there was no referrer, so that the referrer of a later page does not count instead', () => {
      expect(land('https://acme.dev/?utm_source=s').referrer).to.equal('')
      expect(land('https://acme.dev/', 'android-app://com.example/').referrer).to.equal('')
    })

    it('holds referrer, campaign and time', () => {
      expect(
        land(
          'https://acme.dev/?utm_source=s&utm_medium=m&utm_campaign=c&utm_term=t&utm_content=o&utm_id=7',
          'https://b.example/p?q',
        ),
      ).to.deep.equal({
        landed_at: NOW,
        referrer: 'https://b.example/p',
        utm: { source: 's', medium: 'm', campaign: 'c', term: 't', content: 'o', id: '7' },
        page: 'https://acme.dev/',
        clicks: {},
      })
    })

    it('holds the click IDs of every provider, under the parameters that its descriptor names', () => {
      const names = Object.values(PROVIDER_DESCRIPTORS).flatMap(({ clickParameters }) => clickParameters)
      expect(names).to.include.members(['gclid', 'ttclid'])
      const { clicks } = land(`https://acme.dev/?${names.map((name) => `${name}=of-${name}`).join('&')}`)
      expect(clicks).to.deep.equal(Object.fromEntries(names.map((name) => [name, `of-${name}`])))
    })

    it('leaves out a campaign value above 150 characters and keeps one of exactly 150', () => {
      const fitting = 'x'.repeat(LIMITS.utmChars)
      expect(land(`https://acme.dev/?utm_source=${fitting}&utm_medium=${fitting}y`).utm).to.deep.equal({
        source: fitting,
      })
    })

    it('leaves out empty campaign values and names that are none of the six', () => {
      expect(land('https://acme.dev/?utm_source=&utm_other=1&xutm_id=2').utm).to.deep.equal({})
    })

    it('keeps the parameters of every click, because which providers the website uses is not known yet', () => {
      const url =
        'https://acme.dev/?gclid=a&wbraid=b&gbraid=c&fbclid=d&ttclid=e&twclid=f&gad_source=1&clid=7&email=a@b.c'
      expect(land(url).clicks).to.deep.equal({
        gclid: 'a',
        wbraid: 'b',
        gbraid: 'c',
        fbclid: 'd',
        ttclid: 'e',
        twclid: 'f',
        gad_source: '1',
      })
    })

    it('keeps nothing of a click under Global Privacy Control but the name of its parameter', () => {
      const url = 'https://acme.dev/?gad_source=1&gclid=a&utm_source=s'
      const { clicks, utm, click } = arrivalOf(view(url), true, '')
      expect({ clicks, utm, click }).to.deep.equal({ clicks: {}, utm: { source: 's' }, click: 'gclid' })
    })

    it('names the click of any network, and the first of ref and source', () => {
      for (const name of ['gclid', 'gbraid', 'msclkid', 'dclid', 'li_fat_id', 'rdt_cid', 'ScCid', 'epik', 'yclid'])
        expect(land(`https://acme.dev/?gad_source=5&${name}=x`).click).to.equal(name)
      expect(land('https://acme.dev/?clid=x&gad_source=5').click).to.equal(undefined)
      expect(land('https://acme.dev/?ref=&source=newsletter&ref=later').ref).to.equal('newsletter')
      expect(land(`https://acme.dev/?ref=${'x'.repeat(151)}&xref=y`).ref).to.equal(undefined)
    })

    it('leaves out a click ID that could not be sent', () => {
      expect(land(`https://acme.dev/?fbclid=${'x'.repeat(LIMITS.identifierChars)}`).clicks).to.deep.equal({})
    })

    it('is not misled by parameters named like members of every object', () => {
      expect(land('https://acme.dev/?constructor=1&__proto__=2&toString=3').clicks).to.deep.equal({})
    })
  })

  describe('the landing that the origin remembers', () => {
    for (const [when, url, referrer] of [
      ['on the next page of the website', 'https://acme.dev/install', 'https://acme.dev/'],
      ['on a page that was opened without a referrer', 'https://acme.dev/install', ''],
      [
        'when the visitor comes back from a sibling host',
        'https://www.acme.dev/install',
        'https://docs.acme.dev/start',
      ],
    ] as const)
      it(`stays ${when}, also days later`, () => {
        expect(land(url, referrer, EARLIER)).to.deep.equal(CARRIED)
        expect(land(url, referrer, EARLIER, NOW + 20 * DAY_MS)).to.deep.equal(CARRIED)
      })

    it('stays when the landing page is loaded again, as its own', () => {
      expect(land('https://acme.dev/?utm_source=news&gclid=old', 'https://search.example/q', EARLIER)).to.deep.equal({
        ...LANDED,
        carried: false,
      })
    })

    it('gives way to another campaign', () => {
      expect(land('https://acme.dev/?utm_source=mail', '', EARLIER).utm).to.deep.equal({ source: 'mail' })
      expect(land('https://acme.dev/?utm_source=news&gclid=new', '', EARLIER).clicks).to.deep.equal({ gclid: 'new' })
      expect(land('https://acme.dev/?ref=producthunt', '', EARLIER)).to.deep.include({ ref: 'producthunt', utm: {} })
    })

    it('gives way to a visitor who comes from another website', () => {
      const landing = land('https://acme.dev/install', 'https://other.example/list', EARLIER)
      expect(landing).to.deep.include({ landed_at: NOW, referrer: 'https://other.example/list', utm: {} })
      expect(landing).to.not.have.property('carried')
    })

    it('is forgotten after 30 days', () => {
      const last = EARLIER.landed_at + LIMITS.receiptLifetimeMs
      expect(land('https://acme.dev/', '', EARLIER, last - 1)).to.deep.equal(CARRIED)
      expect(land('https://acme.dev/', '', EARLIER, last).landed_at).to.equal(last)
    })

    it('is that of the sitting if nothing led to it, and no longer', () => {
      const direct = arrive('https://acme.dev/', '', null, NOW - MINUTE_MS)
      expect(land('https://acme.dev/install', 'https://acme.dev/', direct)).to.deep.include({
        page: 'https://acme.dev/',
        carried: true,
      })
      expect(land('https://acme.dev/install', '', direct, NOW + DAY_MS)).to.deep.include({
        page: 'https://acme.dev/install',
        landed_at: NOW + DAY_MS,
      })
    })

    it('loses its clicks under Global Privacy Control', () => {
      const { clicks, utm, click } = arrivalOf(view('https://acme.dev/install'), true, JSON.stringify(EARLIER))
      expect({ clicks, utm, click }).to.deep.equal({ clicks: {}, utm: { source: 'news' }, click: 'gclid' })
    })

    it('does not keep a page from landing if it is broken', () => {
      for (const broken of ['', '{', 'null', '[]', '7', '"x"', '{"landed_at":"x"}']) {
        expect(arrivalOf(view('https://acme.dev/'), false, broken).landed_at).to.equal(NOW)
      }
    })
  })

  describe('a sitting', () => {
    it('has a random name of 22 characters, and the first page view begins it', () => {
      const names = Array.from({ length: 50 }, () => arrive('https://acme.dev/'))
      expect(new Set(names.map(({ sitting }) => sitting)).size).to.equal(50)
      for (const { sitting, entry } of names) {
        expect(sitting).to.match(/^[A-Za-z0-9_-]{22}$/)
        expect(entry).to.equal(true)
      }
    })

    it('needs no function of browsers newer than the build', () => {
      Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true })
      try {
        expect(arrive('https://acme.dev/').sitting).to.match(/^[A-Za-z0-9_-]{22}$/)
      } finally {
        Reflect.deleteProperty(crypto, 'randomUUID')
      }
    })

    it('goes on with the next page view within half an hour, which begins none', () => {
      for (const nowMs of [NOW, EARLIER.seen_at + 30 * MINUTE_MS - 1])
        expect(arrive('https://acme.dev/install', 'https://acme.dev/', EARLIER, nowMs)).to.deep.include({
          sitting: SITTING,
          entry: false,
          seen_at: nowMs,
        })
      expect(arrive('https://acme.dev/?utm_source=news&gclid=old', '', EARLIER).sitting).to.equal(SITTING)
    })

    it('ends after half an hour without a page view, and with another source', () => {
      const others = [
        arrive('https://acme.dev/install', '', EARLIER, EARLIER.seen_at + 30 * MINUTE_MS),
        arrive('https://acme.dev/?utm_source=mail', '', EARLIER),
        arrive('https://acme.dev/', 'https://other.example/', EARLIER),
      ]
      for (const { sitting, entry } of others) {
        expect(sitting).to.not.equal(SITTING)
        expect(entry).to.equal(true)
      }
      // The landing is remembered longer than a sitting lasts.
      expect(others[0]?.utm).to.deep.equal({ source: 'news' })
    })
  })

  it('never throws on any query string or referrer', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (query, referrer, remembered) => {
        const landing = arrivalOf(
          view(`https://acme.dev/?${encodeURI(query.toWellFormed())}`, referrer),
          false,
          remembered,
        )
        expect(landing.landed_at).to.equal(NOW)
      }),
    )
  })
})
