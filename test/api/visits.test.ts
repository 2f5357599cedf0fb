/** `POST /v1/visits`: what is recorded about a visit, and the marker that proves it. */

import { expect } from 'chai'
import { LIMITS } from '../../domain/limits.ts'
import type { Reply } from '../../fixtures/service/requests.ts'
import { newId, urlIdOf } from '../../fixtures/service/requests.ts'
import { logsOf, startApi, TEST_ORIGIN, visitBody, type Api } from './support/api.ts'
import { claimsOf } from './support/keys.ts'

const DAY_MS = 86_400_000
const letters = (count: number): string => 'a'.repeat(count)
const times = <T>(count: number, make: (index: number) => readonly [string, T]): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => make(index)))

describe('POST /v1/visits', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  /** The visit as a fact, once it is there. */
  const factOf = async (reply: Reply) => {
    expect(reply.status, reply.text).to.equal(200)
    await api.service.drain('facts-writer')
    const { visitId } = claimsOf(reply.body['marker'].receipt)
    const [row, ...more] = await api.service.facts.run('visitsByIds', {
      organizations: ['acme'],
      websites: ['acme-dev'],
      visit_ids: [visitId],
    })
    expect(more).to.deep.equal([])
    return row!
  }

  describe('200', () => {
    it('answers with the marker and nothing else', async () => {
      const beforeMs = api.service.nowMs()
      const { body, headers } = await api.visit()
      expect(Object.keys(body)).to.deep.equal(['marker'])
      const { marker } = body
      expect(marker).to.deep.include({
        format: 'opfs-install-attribution',
        version: 1,
        project: 'acme-dev',
        url_id: urlIdOf(`${TEST_ORIGIN}/install`),
        origin: TEST_ORIGIN,
      })
      expect(marker.receipt).to.match(/^[A-Za-z0-9_-]{43}$/)
      expect(marker.created_at).to.be.within(beforeMs, api.service.nowMs())
      expect(marker.expires_at - marker.created_at).to.equal(30 * DAY_MS)
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8')
      expect(headers.get('cache-control')).to.equal('no-store')
    })

    it('puts the time of the visit into its receipt', async () => {
      const { marker } = (await api.visit()).body
      expect(claimsOf(marker.receipt)).to.deep.include({
        issuedAtMs: marker.created_at,
        isHandoffOnly: false,
        isUnrecorded: false,
      })
    })

    it('gives every visit a receipt of its own', async () => {
      const replies = await Promise.all(Array.from({ length: 50 }, () => api.visit()))
      expect(new Set(replies.map(({ body }) => body['marker'].receipt)).size).to.equal(50)
    })

    it('stores origin and path of page and referrers, and no query or fragment', async () => {
      const page = `${TEST_ORIGIN}/docs/a%20b?gclid=secret1#secret2`
      const source = { referrer: 'https://user:secret3@b.example:8443/x/y?secret4#secret5' }
      const fact = await factOf(await api.visit({ page_url: page, referrer: 'https://a.example/p?secret6', source }))
      expect(fact).to.deep.include({
        page_url: `${TEST_ORIGIN}/docs/a%20b`,
        referrer: 'https://a.example/p',
        source_referrer: 'https://b.example:8443/x/y',
        url_id: urlIdOf(`${TEST_ORIGIN}/docs/a%20b`),
        origin: TEST_ORIGIN,
      })
      expect(JSON.stringify(fact)).to.not.match(/secret\d/)
    })

    it('stores no user name and no password of an address, in the fact or in Logs', async () => {
      const mark = newId()
      const secret = `u${mark}:p${mark}`
      const sent = {
        page_url: `https://${secret}@acme.dev/install?x#y`,
        url_id: urlIdOf('https://acme.dev/install'),
        referrer: `https://${secret}@a.example/p`,
        source: { referrer: `https://${secret}@b.example/p` },
        landing: `https://${secret}@c.example/p`,
        note: mark,
      }
      const fact = await factOf(await api.visit(sent))
      expect(fact).to.include({
        page_url: 'https://acme.dev/install',
        referrer: 'https://a.example/p',
        source_referrer: 'https://b.example/p',
      })
      const [line] = await logsOf(api, ({ body }) => body.includes(mark))
      expect(line?.body).to.not.include(`p${mark}`)
      expect(line?.body).to.include('https://***@c.example/p')
    })

    it('keeps nothing of a referrer that is not the address of a host', async () => {
      for (const referrer of [
        '',
        'about:blank',
        'not an address',
        'javascript:alert(1)',
        'data:text/html,x',
        '\ud800',
      ]) {
        expect((await factOf(await api.visit({ referrer }))).referrer).to.equal('')
      }
      expect((await factOf(await api.visit({ referrer: 'android-app://com.example/path' }))).referrer).to.equal(
        'android-app://com.example/path',
      )
    })

    it('accepts the ID of a registered page as url_id', async () => {
      const reply = await api.visit({ url_id: 'install-page' })
      expect(reply.body['marker'].url_id).to.equal('install-page')
      expect((await factOf(reply)).url_id).to.equal('install-page')
    })

    it('stores where it came from, and who visited', async () => {
      const headers = { 'user-agent': 'Mozilla/5.0 (Linux; Android 16) Chrome/150 compatible; Claude-User/1.0' }
      const source = { referrer: 'https://www.google.com/' }
      expect(await factOf(await api.visit({ source }, { headers }))).to.include({
        source: 'google',
        medium: 'organic',
        channel: 'Organic Search',
        campaign: '',
        visitor_platform: 'android',
        visitor_kind: 'Claude-User',
      })
      const inside = { source: {}, referrer: 'https://acme.dev/pricing', client: { automation: true } }
      const expected = { source: '', medium: '', channel: 'Direct', campaign: '', visitor_kind: 'automation' }
      expect(await factOf(await api.visit(inside))).to.include(expected)
    })

    it('stores UTM values, landing time and hints, and nothing that the contract does not name', async () => {
      const utm = { source: 's', medium: 'm', campaign: 'c', term: 't', content: 'o', id: 'i', other: 'unknown1' }
      const client = {
        timezone: 'Europe/Berlin',
        brave: false,
        brands: [{ brand: 'Chromium', version: '140' }],
        email: 'unknown2',
      }
      const fact = await factOf(
        await api.visit({
          source: { utm, landed_at: 1_795_251_875_123, more: 'unknown3' },
          client,
          email: 'unknown4',
          identities: { ga4: {}, other: { id: 'unknown5' } },
        }),
      )
      expect(fact).to.deep.include({
        utm_source: 's',
        utm_medium: 'm',
        utm_campaign: 'c',
        utm_term: 't',
        utm_content: 'o',
        utm_id: 'i',
        landed_at_ms: 1_795_251_875_123,
      })
      expect(JSON.parse(fact.client)).to.deep.equal({
        timezone: 'Europe/Berlin',
        brave: false,
        brands: [{ brand: 'Chromium', version: '140' }],
      })
      expect(JSON.stringify(fact)).to.not.match(/unknown\d/)
    })

    it('counts null in a list of hints as absent', async () => {
      const fact = await factOf(await api.visit({ client: { brands: [{ brand: 'Chromium', version: null }] } }))
      expect(JSON.parse(fact.client)).to.deep.equal({ brands: [{ brand: 'Chromium' }] })
    })

    it('also accepts a landing time as a date', async () => {
      const fact = await factOf(await api.visit({ source: { landed_at: '2026-11-21T09:04:35.123Z' } }))
      expect(fact.landed_at_ms).to.equal(Date.UTC(2026, 10, 21, 9, 4, 35, 123))
    })

    it('drops identities of providers that the website does not use, and keeps GA4 whenever sent', async () => {
      const identities = {
        ga4: { 'G-OTHER00001': { client_id: '1.2', session_id: 3, more: 'x' } },
        google_ads: { gclid: 'g', other: 'x' },
        meta: { fbp: 'fb.1.2.3' },
        tiktok: { ttp: 't' },
        x: { twclid: 'x' },
        custom: { crm: { lead: 'l', score: 7, known: true } },
      }
      const fact = await factOf(await api.visit({ identities }))
      expect(JSON.parse(fact.identities)).to.deep.equal({
        ga4: { 'G-OTHER00001': { client_id: '1.2', session_id: '3' } },
        google_ads: { gclid: 'g' },
        meta: { fbp: 'fb.1.2.3' },
        custom: { crm: { lead: 'l', score: 7, known: true } },
      })
    })

    it('stores text well-formed and leaves Logs the body as it came', async () => {
      const body =
        '{"project":"acme-dev","url_id":"install-page","page_url":"https://acme.dev/install","source":{"utm":{"source":"a\\ud800b"}},"client":{"language":"\\udfff"},"identities":{"custom":{"k\\ud800":{"f\\udc00":"v\\ud83d"}},"ga4":{"G-1":{"client_id":"\\ud800"}}}}'
      const fact = await factOf(await api.post('/v1/visits', body))
      expect(fact.utm_source).to.equal('a\ufffdb')
      expect(JSON.parse(fact.client)).to.deep.equal({ language: '\ufffd' })
      expect(JSON.parse(fact.identities)).to.deep.equal({
        ga4: { 'G-1': { client_id: '\ufffd' } },
        custom: { 'k\ufffd': { 'f\ufffd': 'v\ufffd' } },
      })
      const [row] = await logsOf(api, (log) => log.body === body)
      expect(row?.status).to.equal(200)
    })

    it('accepts every field at its limit', async () => {
      const reply = await api.visit({
        identities: {
          ga4: times(LIMITS.measurementIdsPerVisit, (index) => [`G-ID${index}`, { client_id: '1.2' }]),
          google_ads: { session_attributes: letters(LIMITS.sessionAttributesChars) },
          custom: times(LIMITS.customAdapters, (index) => [
            `adapter${index}`,
            times(index === 0 ? LIMITS.customFields : 1, (field) => [
              `field${field}`,
              letters(LIMITS.customValueChars),
            ]),
          ]),
        },
        source: { utm: { source: letters(LIMITS.utmChars) }, landed_at: 0 },
      })
      expect(reply.status, reply.text).to.equal(200)
    })

    it('counts an emoji as one character of a limit', async () => {
      expect((await api.visit({ source: { utm: { source: '🚀'.repeat(LIMITS.utmChars) } } })).status).to.equal(200)
    })
  })

  describe('400 invalid_field', () => {
    const custom = (fields: unknown): Record<string, unknown> => ({ identities: { custom: { crm: fields } } })
    const ga4 = (value: unknown): Record<string, unknown> => ({ identities: { ga4: value } })
    const rows: readonly (readonly [string, Record<string, unknown>, string])[] = [
      ['eleven measurement IDs', ga4(times(11, (index) => [`G-ID${index}`, {}])), '/identities/ga4'],
      ['a measurement ID of another form', ga4({ 'UA-1': {} }), '/identities/ga4'],
      ['GA4 identities as a list', ga4([]), '/identities/ga4'],
      ['a GA4 identity as text', ga4({ 'G-1': 'x' }), '/identities/ga4/*'],
      ['a session ID that lost digits', ga4({ 'G-1': { session_id: 2 ** 53 } }), '/identities/ga4/*/session_id'],
      ['a session ID with a fraction', ga4({ 'G-1': { session_id: 1.5 } }), '/identities/ga4/*/session_id'],
      [
        'eleven custom adapters',
        { identities: { custom: times(11, (index) => [`a${index}`, {}]) } },
        '/identities/custom',
      ],
      ['eleven fields of an adapter', custom(times(11, (index) => [`f${index}`, 'x'])), '/identities/custom/*'],
      ['257 characters of a custom value', custom({ f: letters(257) }), '/identities/custom/*/*'],
      ['a custom value that is an object', custom({ f: {} }), '/identities/custom/*/*'],
      ['151 characters of a UTM value', { source: { utm: { term: letters(151) } } }, '/source/utm/term'],
      ['a UTM value that is a number', { source: { utm: { id: 7 } } }, '/source/utm/id'],
      [
        '6,001 characters of session attributes',
        { identities: { google_ads: { session_attributes: letters(6_001) } } },
        '/identities/google_ads/session_attributes',
      ],
      [
        'too much for a provider that the website does not use',
        { identities: { tiktok: { ttp: letters(1_025) } } },
        '/identities/tiktok/ttp',
      ],
      ['a click time that is no time', { identities: { x: { twclid_at: 'soon' } } }, '/identities/x/twclid_at'],
      ['a landing page that is no text', { source: { page: 7 } }, '/source/page'],
      ['151 characters of a ref', { source: { ref: letters(151) } }, '/source/ref'],
      ['33 characters of the name of a click', { source: { click: letters(33) } }, '/source/click'],
      ['a landing that is perhaps carried', { source: { carried: 'yes' } }, '/source/carried'],
      ['21 characters of a sitting', { sitting: letters(21) }, '/sitting'],
      ['23 characters of a sitting', { sitting: letters(23) }, '/sitting'],
      ['a sitting with a space', { sitting: `${letters(21)} ` }, '/sitting'],
      ['an entry that is no flag', { entry: 1 }, '/entry'],
      ['a landing time before 1970', { source: { landed_at: -1 } }, '/source/landed_at'],
      ['a landing time after 2100', { source: { landed_at: 4_102_444_800_000 } }, '/source/landed_at'],
      ['a landing date after 2100', { source: { landed_at: '2100-01-01' } }, '/source/landed_at'],
      ['a landing date that only a browser would guess', { source: { landed_at: 'March 7' } }, '/source/landed_at'],
      ['a landing time that is true', { source: { landed_at: true } }, '/source/landed_at'],
      ['identities as a list', { identities: [] }, '/identities'],
      ['gpc as a text', { gpc: 'true' }, '/gpc'],
      ['a hint that is too long', { client: { language: letters(257) } }, '/client/language'],
      ['client as a list', { client: [] }, '/client'],
      ['a previous receipt that is a number', { previous_receipt: 7 }, '/previous_receipt'],
      ['a page address of 8,193 characters', { page_url: `${TEST_ORIGIN}/${letters(8_193)}` }, '/page_url'],
      ['a page that is no address', { page_url: 'install' }, '/page_url'],
      ['an empty page address', { page_url: '' }, '/page_url'],
      ["another page's hash", { url_id: urlIdOf(`${TEST_ORIGIN}/other`) }, '/url_id'],
      ['a page ID that is not registered', { url_id: 'other-page' }, '/url_id'],
      ['a hash in capitals', { url_id: urlIdOf(`${TEST_ORIGIN}/install`).toUpperCase() }, '/url_id'],
    ]
    for (const [name, more, field] of rows) {
      it(`answers ${name} with the pointer ${field}`, async () => {
        const reply = await api.visit(more)
        expect(reply.status, reply.text).to.equal(400)
        expect(reply.body).to.deep.include({ error: 'invalid_field', field })
      })
    }

    it('answers numbers beyond all bounds', async () => {
      for (const [place, field] of [
        ['"identities":{"custom":{"crm":{"f":1e400}}}', '/identities/custom/*/*'],
        ['"identities":{"ga4":{"G-1":{"session_id":1e999}}}', '/identities/ga4/*/session_id'],
        ['"source":{"landed_at":-1e999}', '/source/landed_at'],
      ]) {
        const reply = await api.post(
          '/v1/visits',
          `${JSON.stringify(visitBody({ identities: undefined, source: undefined })).slice(0, -1)},${place}}`,
        )
        expect(reply.body, place).to.deep.include({ error: 'invalid_field', field })
      }
    })

    it('comes before the check of the website if it does not depend on the website', async () => {
      for (const more of [{ page_url: 'install' }, { source: { landed_at: 'soon' } }]) {
        expect((await api.visit({ project: 'nobody', ...more })).body['error']).to.equal('invalid_field')
      }
    })

    it('shows in the Logs of the website that the body names', async () => {
      const body = JSON.stringify({ project: 'acme-dev', url_id: 'x', page_url: 'a page of the unlucky website' })
      await api.post('/v1/visits', body)
      const [row] = await logsOf(api, (log) => log.body === body)
      expect(row).to.deep.include({ website: 'acme-dev', organization: 'acme', status: 400, code: 'invalid_field' })
    })
  })

  describe('403 origin_not_allowed', () => {
    it('answers a page that is not on the origin of the request', async () => {
      for (const page of [
        'https://docs.acme.dev/install',
        'http://acme.dev/install',
        'https://acme.dev:444/install',
        'https://acme.dev.evil.example/',
        'https://acme.dev@evil.example/',
        'https://acme.dev:p@evil.example/install',
        'https:\\\\acme.dev\\install',
        'ftp://acme.dev/install',
        'data:text/html,x',
        ' https://acme.dev/install',
      ]) {
        const reply = await api.visit({ page_url: page })
        expect(reply.status, page).to.equal(403)
        expect(reply.body).to.deep.equal({ error: 'origin_not_allowed' })
      }
    })

    it('answers a request without an origin', async () => {
      expect((await api.visit({}, { origin: null })).body).to.deep.equal({ error: 'origin_not_allowed' })
    })

    it('lets a browser of a registered origin read the refusal', async () => {
      const reply = await api.visit({ page_url: 'https://docs.acme.dev/install' })
      expect(reply.headers.get('access-control-allow-origin')).to.equal(TEST_ORIGIN)
    })

    it('comes before the page ID', async () => {
      expect((await api.visit({ page_url: 'https://evil.example/', url_id: 'x' })).status).to.equal(403)
    })
  })

  describe('previous_receipt', () => {
    const matches = async (receipt: string): Promise<boolean> =>
      (await api.event({ receipts: [receipt] })).body['resolution'] === 'matched'
    /** Activates a visit that names `previous`. */
    const replace = async (previous: unknown, origin = TEST_ORIGIN): Promise<Reply> => {
      const visit = await api.visit({ previous_receipt: previous, page_url: `${origin}/install` }, { origin })
      expect(visit.status, visit.text).to.equal(200)
      await api.activate(visit.body['marker'].receipt, {}, { origin })
      return visit
    }

    it('is revoked when the newer receipt is activated, not before', async () => {
      const first = await api.activeReceipt()
      const visit = await api.visit({ previous_receipt: first })
      expect(await matches(first)).to.equal(true)
      await api.activate(visit.body['marker'].receipt)
      expect(await matches(first)).to.equal(false)
      expect(await matches(visit.body['marker'].receipt)).to.equal(true)
    })

    it('is revoked even if it was not yet active', async () => {
      const first = (await api.visit()).body['marker'].receipt
      await replace(first)
      expect((await api.activate(first)).body).to.deep.equal({ error: 'receipt_revoked' })
    })

    it('is in the fact of the newer visit', async () => {
      const first = await api.activeReceipt()
      expect((await factOf(await replace(first))).previous_visit_id).to.equal(claimsOf(first).visitId)
    })

    it('is ignored if it is forged, of another kind, or of another origin', async () => {
      const elsewhere = await api.activeReceipt({ page_url: 'https://docs.acme.dev/x' }, 'https://docs.acme.dev')
      const handoffOnly = (await api.handoff({ url_id: 'install-page', page_url: `${TEST_ORIGIN}/install` })).body[
        'receipt'
      ]
      for (const previous of ['', 'x', letters(43), handoffOnly, elsewhere, letters(9_000), '\u0000']) {
        expect((await factOf(await replace(previous))).previous_visit_id, previous.slice(0, 43)).to.equal('')
      }
      expect(await matches(elsewhere)).to.equal(true)
    })
  })
})
