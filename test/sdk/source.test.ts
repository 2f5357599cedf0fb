import { expect } from 'chai'
import fc from 'fast-check'
import { LIMITS } from '../../domain/limits.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import { landingOf, originAndPath } from '../../sdk/core/source.ts'

const NOW = 1_790_000_000_000

const page = (url: string, referrer = '', nowMs = NOW) => ({ url, referrer, nowMs })
const land = (url: string, referrer = '', remembered: object | null = null, nowMs = NOW) =>
  landingOf(page(url, referrer, nowMs), false, () => remembered && JSON.stringify(remembered))

const EARLIER = land('https://acme.dev/?utm_source=news&gclid=old', 'https://search.example/q', null, NOW - 60_000)

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

    it('keeps nothing of a click under Global Privacy Control', () => {
      const { clicks, utm } = landingOf(page('https://acme.dev/?gclid=a&gad_source=1&utm_source=s'), true, () => null)
      expect(clicks).to.deep.equal({})
      expect(utm).to.deep.equal({ source: 's' })
    })

    it('leaves out a click ID that could not be sent', () => {
      expect(land(`https://acme.dev/?fbclid=${'x'.repeat(LIMITS.identifierChars)}`).clicks).to.deep.equal({})
    })

    it('is not misled by parameters named like members of every object', () => {
      expect(land('https://acme.dev/?constructor=1&__proto__=2&toString=3').clicks).to.deep.equal({})
    })
  })

  describe('the landing that the tab remembers', () => {
    it('stays on the next page of the website', () => {
      expect(land('https://acme.dev/install', 'https://acme.dev/', EARLIER)).to.deep.equal(EARLIER)
    })

    it('stays on a page that was opened without a referrer', () => {
      expect(land('https://acme.dev/install', '', EARLIER)).to.deep.equal(EARLIER)
    })

    it('stays when the visitor comes back from a sibling host of the website', () => {
      expect(land('https://www.acme.dev/install', 'https://docs.acme.dev/start', EARLIER)).to.deep.equal(EARLIER)
    })

    it('stays when the landing page is loaded again', () => {
      expect(land('https://acme.dev/?utm_source=news&gclid=old', 'https://search.example/q', EARLIER)).to.deep.equal(
        EARLIER,
      )
    })

    it('gives way to another campaign', () => {
      expect(land('https://acme.dev/?utm_source=mail', '', EARLIER).utm).to.deep.equal({ source: 'mail' })
      expect(land('https://acme.dev/?utm_source=news&gclid=new', '', EARLIER).clicks).to.deep.equal({ gclid: 'new' })
    })

    it('gives way to a visitor who comes from another website', () => {
      const landing = land('https://acme.dev/install', 'https://other.example/list', EARLIER)
      expect(landing).to.deep.include({ landed_at: NOW, referrer: 'https://other.example/list', utm: {} })
    })

    it('is forgotten after 30 days', () => {
      const last = EARLIER.landed_at + LIMITS.receiptLifetimeMs
      expect(land('https://acme.dev/', '', EARLIER, last - 1)).to.deep.equal(EARLIER)
      expect(land('https://acme.dev/', '', EARLIER, last).landed_at).to.equal(last)
    })

    it('does not keep a page from landing if it is broken', () => {
      for (const broken of ['', '{', 'null', '[]', '7', '"x"', '{"landed_at":"x"}']) {
        expect(landingOf(page('https://acme.dev/'), false, () => broken).landed_at).to.equal(NOW)
      }
    })

    it('does not keep a page from landing if the browser blocks storage', () => {
      const blocked = () => {
        throw new Error('blocked')
      }
      expect(landingOf(page('https://acme.dev/?utm_source=s'), false, blocked).utm).to.deep.equal({ source: 's' })
    })
  })

  it('never throws on any query string or referrer', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (query, referrer, remembered) => {
        const landing = landingOf(
          page(`https://acme.dev/?${encodeURI(query.toWellFormed())}`, referrer),
          false,
          () => remembered,
        )
        expect(landing.landed_at).to.equal(NOW)
      }),
    )
  })
})
