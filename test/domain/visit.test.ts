/** What is kept of a visit, and the marker that proves it. */

import { createHash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Website } from '../../domain/catalog.ts'
import { LIMITS } from '../../domain/limits.ts'
import { issueReceipt, issueToken, readReceipt } from '../../domain/receipt.ts'
import { admitVisit, checkPage, checkVisitFields, markerOf, type VisitPage } from '../../domain/collection/visit.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { compile, organization, website as websiteManifest } from '../../fixtures/service/manifests.ts'

const ORIGIN = 'https://site.example'
const NOW_MS = Date.UTC(2026, 10, 21)
const keys = createKeyring(['a-master-secret-that-is-only-for-these-tests'])
const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex')
const urlIdOf = (text: string): string => `url_${sha256Hex(text).slice(0, 16)}`
const pages = [{ id: 'start', url: `${ORIGIN}/start` }]
const site: Website = compile(
  organization('acme'),
  websiteManifest('site', { pages, providers: ['ga4', 'meta'] }),
).catalog.websites.get('site')!

const place = { website: site, origin: ORIGIN }
const bodyOf = (more: Record<string, unknown> = {}) => ({
  project: 'site',
  page_url: `${ORIGIN}/install?x=1#y`,
  url_id: urlIdOf(`${ORIGIN}/install`),
  ...more,
})
const pageOf = (body: Record<string, unknown>): VisitPage => {
  const page = checkPage(body, place, sha256Hex)
  if (page.kind === 'refused') throw new Error(page.code)
  return page
}
const admit = (
  more: Record<string, unknown> = {},
  flags = { gpc: false, isHandoffOnly: false, isUnrecorded: false, isTest: false },
) => {
  const body = bodyOf(more)
  const random = Uint8Array.from([1, 2, 3, 4, 5])
  const visited = { ...place, page: pageOf(body) }
  return admitVisit(body, {
    site: visited,
    marks: flags,
    keys,
    random,
    nowMs: NOW_MS,
    visitor: { platform: '', kind: '' },
  })
}

describe('a visit', () => {
  describe("'s page", () => {
    const answers = (more: Record<string, unknown>, origin = ORIGIN): string => {
      const page = checkPage(bodyOf(more), { ...place, origin }, sha256Hex)
      if (page.kind === 'page') return page.urlId
      const field = page.extra?.['field']
      return typeof field === 'string' ? `${page.code} ${field}` : page.code
    }

    it('is known by the hash of origin and path, without query and fragment', () => {
      expect(answers({})).to.equal(urlIdOf(`${ORIGIN}/install`))
      expect(answers({ page_url: `${ORIGIN}/install/` })).to.equal('invalid_field /url_id')
      expect(answers({ page_url: `${ORIGIN}:443/a/../install?a=b` })).to.equal(urlIdOf(`${ORIGIN}/install`))
    })

    it("is known by a registered page's ID as well", () => {
      expect(answers({ url_id: 'start' })).to.equal('start')
      expect(answers({ url_id: 'end' })).to.equal('invalid_field /url_id')
    })

    it('must lie on the origin of the request', () => {
      for (const page_url of [
        'https://other.example/install',
        'http://site.example/install',
        'https://site.example@other.example/',
        'https://u:p@x@other.example/install',
      ]) {
        expect(answers({ page_url })).to.equal('origin_not_allowed')
      }
      expect(answers({}, 'https://other.example')).to.equal('origin_not_allowed')
    })

    it('is the same page if it was opened with a user name and password, which are not kept', () => {
      for (const sent of ['u@', 'u:p@', ':p@', 'u:p%40@', 'https:p@x@', '@']) {
        const page_url = `https://${sent}site.example/install?x#y`
        expect(answers({ page_url }), page_url).to.equal(urlIdOf(`${ORIGIN}/install`))
        expect(admit({ page_url }).visit.pageUrl).to.equal(`${ORIGIN}/install`)
      }
    })
  })

  describe("'s fields", () => {
    it('must be a valid address and valid moments', () => {
      expect(checkVisitFields(bodyOf())).to.equal(null)
      expect(checkVisitFields(bodyOf({ page_url: 'install' }))?.extra).to.deep.include({ field: '/page_url' })
      for (const [field, more] of [
        ['/page_url', { page_url: `${ORIGIN}/`.padEnd(8_193, 'a') }],
        ['/referrer', { referrer: `${ORIGIN}/`.padEnd(8_193, 'a') }],
        ['/source/referrer', { source: { referrer: `${ORIGIN}/`.padEnd(8_193, 'a') } }],
        ['/source/page', { source: { page: `${ORIGIN}/`.padEnd(8_193, 'a') } }],
        ['/source/landed_at', { source: { landed_at: 'soon' } }],
        ['/identities/tiktok/ttclid_at', { identities: { tiktok: { ttclid_at: '1' } } }],
        ['/identities/x/twclid_at', { identities: { x: { twclid_at: '2026-13-01' } } }],
      ] as const) {
        expect(checkVisitFields(bodyOf(more))?.extra).to.deep.include({ field })
      }
    })

    it('are not too long by a query or fragment, of which nothing is stored', () => {
      const address = `${`${ORIGIN}/`.padEnd(8_192, 'a')}?${'b'.repeat(4_000)}#${'c'.repeat(4_000)}`
      const sent = bodyOf({ page_url: address, referrer: address, source: { referrer: address } })
      expect(checkVisitFields(sent)).to.equal(null)
      expect(pageOf({ ...sent, url_id: urlIdOf(address.split('?')[0]!) })).to.have.property('kind', 'page')
    })
  })

  describe("'s receipt and marker", () => {
    it('agree about it', () => {
      const { visit, receipt, claims } = admit()
      expect(readReceipt(keys, { organization: 'acme', website: 'site' }, receipt)).to.deep.equal(claims)
      expect(markerOf(visit, receipt)).to.deep.equal({
        format: 'opfs-install-attribution',
        version: 1,
        project: 'site',
        url_id: visit.urlId,
        origin: ORIGIN,
        receipt,
        created_at: NOW_MS,
        expires_at: NOW_MS + LIMITS.receiptLifetimeMs,
      })
    })

    it('carry the flags it was admitted with', () => {
      const { claims, visit } = admit({}, { gpc: true, isHandoffOnly: true, isUnrecorded: true, isTest: false })
      expect(claims).to.deep.include({ gpc: true, isHandoffOnly: true, isUnrecorded: true })
      expect(visit).to.deep.include({ gpc: true, isHandoffOnly: true, isTest: false })
    })

    it('fit the marker file of 1,021 bytes, whatever IDs and origins of common length', () => {
      const host = fc.stringMatching(/^[a-z0-9]{1,60}$/)
      fc.assert(
        fc.property(host, fc.stringMatching(/^[a-z0-9-]{1,63}$/), (name, urlId) => {
          const { visit, receipt } = admit()
          const marker = markerOf(
            { ...visit, website: urlId, urlId, origin: `https://${name}.${name}.example:65535` },
            receipt,
          )
          expect(JSON.stringify(marker).length).to.be.at.most(LIMITS.markerBytes)
        }),
      )
    })
  })

  describe('keeps', () => {
    it('origin and path of addresses', () => {
      const { visit } = admit({ referrer: 'https://u:p@a.example/x?y#z', source: { referrer: 'https://b.example?q' } })
      expect(visit).to.deep.include({
        pageUrl: `${ORIGIN}/install`,
        referrer: 'https://a.example/x',
        sourceReferrer: 'https://b.example/',
      })
    })

    it('where and how the visitor landed, and the sitting that the page view belongs to', () => {
      const sitting = 'aB3-_'.padEnd(22, 'x')
      const source = {
        page: 'https://u:p@acme.dev/blog?x#y',
        ref: 'producthunt',
        click: 'gclid',
        carried: true,
        landed_at: 1,
      }
      const said = admit({ source, sitting, entry: true }).visit
      expect(said).to.deep.include({ landingPage: 'https://acme.dev/blog', ref: 'producthunt', click: 'gclid' })
      expect(said).to.deep.include({ isCarried: true, sitting, isEntry: true })
      expect(said.traffic).to.deep.include({ source: 'producthunt', medium: 'referral' })
      expect(admit({ entry: false }).visit).to.deep.include({ sitting: '', isEntry: false, isCarried: false })
      expect(admit({}).visit).to.deep.include({ sitting: '', isEntry: null, ref: '', click: '' })
    })

    it('its own page as that of the landing, unless it landed earlier', () => {
      expect(admit({}).visit.landingPage).to.equal(`${ORIGIN}/install`)
      expect(admit({ source: { utm: { source: 'hn' } } }).visit.landingPage).to.equal(`${ORIGIN}/install`)
      expect(admit({ source: { landed_at: NOW_MS - 1 } }).visit.landingPage).to.equal('')
    })

    it('its own referrer as that of the landing if the source names none, even an empty one', () => {
      const own = { referrer: 'https://u:p@a.example/x?y#z' }
      expect(admit(own).visit.sourceReferrer).to.equal('https://a.example/x')
      expect(admit({ ...own, source: { utm: { source: 'hn' } } }).visit.sourceReferrer).to.equal('https://a.example/x')
      expect(admit({ ...own, source: { landed_at: NOW_MS } }).visit.sourceReferrer).to.equal('https://a.example/x')
      expect(admit({ ...own, source: { referrer: '' } }).visit.sourceReferrer).to.equal('')
      expect(admit({ ...own, source: { referrer: 'https://b.example/' } }).visit.sourceReferrer).to.equal(
        'https://b.example/',
      )
    })

    it('no previous receipt that is not a recorded browser receipt of this website and origin', () => {
      const issue = (more: Record<string, unknown>): string =>
        issueReceipt(keys, {
          organization: 'acme',
          website: 'site',
          origin: ORIGIN,
          issuedAtMs: NOW_MS - 1,
          random: new Uint8Array(5),
          isHandoffOnly: false,
          isUnrecorded: false,
          gpc: false,
          ...more,
        }).text
      expect(admit({ previous_receipt: issue({}) }).visit.previousVisitId).to.be.a('string')
      const refused = [
        { website: 'other' },
        { origin: 'https://other.example' },
        { isHandoffOnly: true },
        { isUnrecorded: true },
      ].map(issue)
      for (const previous_receipt of ['', 'x', 7, ...refused]) {
        expect(admit({ previous_receipt }).visit.previousVisitId).to.equal(null)
      }
      expect(
        admit({ previous_receipt: issue({}) }, { gpc: false, isHandoffOnly: true, isUnrecorded: false, isTest: false })
          .previous,
      ).to.equal(null)
    })

    it('no genuine receipt or token in any of its texts, and every identifier that merely looks like one', () => {
      const { text, claims } = issueReceipt(keys, {
        organization: 'acme',
        website: 'site',
        origin: ORIGIN,
        issuedAtMs: NOW_MS,
        random: new Uint8Array(5),
        isHandoffOnly: false,
        isUnrecorded: false,
        gpc: false,
      })
      const token = issueToken(keys, { organization: 'acme', website: 'site' }, claims, false)
      const lookalike = `${text.slice(0, -2)}__`
      for (const secret of [text, token]) {
        const body = {
          page_url: `${ORIGIN}/${secret}`,
          url_id: 'start',
          referrer: `https://a.example/${secret}`,
          source: { referrer: `https://a.example/${secret}`, utm: { source: `x${secret}y`, term: secret } },
          client: { language: secret, brands: [{ brand: secret, version: lookalike }] },
          identities: {
            ga4: { 'G-1': { client_id: secret } },
            meta: { fbclid: `IwAR${secret}` },
            custom: { [secret]: { field: secret } },
          },
        }
        const { visit } = admit(body)
        expect(JSON.stringify(visit)).to.not.include(text.slice(0, 30) + text.slice(30))
        expect(JSON.stringify(visit)).to.not.include(token.slice(4))
        expect(JSON.stringify(visit)).to.include(lookalike)
      }
    })

    it('nothing that is not well-formed', () => {
      const odd = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => `\ud800${text}`)
      fc.assert(
        fc.property(odd, (text) => {
          const { visit } = admit({
            referrer: `https://a.example/${text}`,
            source: { utm: { source: text } },
            client: { language: text, formFactors: [text] },
            identities: {
              ga4: { 'G-1': { client_id: text } },
              meta: { fbp: text },
              custom: { [text]: { [text]: text } },
            },
          })
          expect(isWellFormed(visit)).to.equal(true)
        }),
      )
    })
  })
})

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member))
}
