import { expect } from 'chai'
import type { Landing } from '../../sdk/core/landing.ts'
import { firstGroup } from '../../sdk/core/source.ts'
import { ga4 as ga4Of } from '../../sdk/readers/ga4.ts'
import { findIdentities } from '../../sdk/readers/identities.ts'
import { READERS } from '../../sdk/readers/index.ts'

const ALL = ['ga4', 'google_ads', 'meta', 'tiktok', 'x']
const LANDED_AT = 1_790_000_000_000

const landing = (clicks: Record<string, string> = {}): Landing => ({
  landed_at: LANDED_AT,
  referrer: '',
  utm: {},
  page: 'https://acme.dev/',
  clicks,
})

interface Tags {
  readonly measurementIds: string[]
  readonly providers?: string[]
  readonly prefix?: string
}

/** What travels: undefined fields vanish as they do on the wire. */
function read(cookies: string, from = landing(), tags?: Tags): any {
  return JSON.parse(JSON.stringify(find(cookies, tags, from)[0]))
}

function find(
  cookies: string,
  { measurementIds, providers = ALL, prefix }: Tags = { measurementIds: ['G-ABC123'] },
  from = landing(),
) {
  const readers = Object.fromEntries(Object.entries(READERS).filter(([provider]) => providers.includes(provider)))
  const page = { documentValue: () => cookies, firstGroup }
  return findIdentities({ ga4: ga4Of(measurementIds, prefix), ...readers }, from, page)
}

const areTagsReady = (cookies: string, tags: Tags) => find(cookies, tags)[1]

describe('sdk/identities', () => {
  describe('ga4', () => {
    const CLIENT = '_ga=GA1.1.1234567890.1790000000'

    it('reads client and session from the older layout of the session cookie', () => {
      const { ga4 } = read(`${CLIENT}; _ga_ABC123=GS1.1.1790000100.3.1.1790000200.0.0.0`)
      expect(ga4).to.deep.equal({ 'G-ABC123': { client_id: '1234567890.1790000000', session_id: '1790000100' } })
    })

    it('reads client and session from the newer layout of the session cookie', () => {
      const { ga4 } = read(`${CLIENT}; _ga_ABC123=GS2.1.s1790000100$o28$g0$t1790000152$j60$l0$h69286059`)
      expect(ga4).to.deep.equal({ 'G-ABC123': { client_id: '1234567890.1790000000', session_id: '1790000100' } })
    })

    it('reads the newer layout if a tag has percent-encoded it', () => {
      const { ga4 } = read(`${CLIENT}; _ga_ABC123=GS2.1.s1790000100%24o28%24g0`)
      expect(ga4['G-ABC123'].session_id).to.equal('1790000100')
    })

    it('keeps the sessions of several measurement IDs apart', () => {
      const config = { measurementIds: ['G-A1', 'G-B2', 'G-C3'], providers: ['ga4'] }
      const { ga4 } = read(`${CLIENT}; _ga_A1=GS1.1.11.1; _ga_B2=GS2.1.s22$o1`, landing(), config)
      expect(ga4['G-A1'].session_id).to.equal('11')
      expect(ga4['G-B2'].session_id).to.equal('22')
      expect(ga4['G-C3']).to.deep.equal({ client_id: '1234567890.1790000000' })
    })

    it('takes the client from cookies set for deeper domains and with paths', () => {
      for (const prefix of ['GA1.2', 'GA1.3', 'GA1.1-2']) {
        expect(read(`_ga=${prefix}.42.1790000000`).ga4['G-ABC123'].client_id).to.equal('42.1790000000')
      }
    })

    it('takes a client ID that the website has given its tag', () => {
      for (const id of ['550e8400-e29b-41d4-a716-446655440000', 'amp-Xy_0-AbCdEfGhIjKlMnOpQ', 'user.7.1790000000']) {
        for (const prefix of ['GA1.1', 'GA1.2', 'GA1.1-2', 'GA2.1'])
          expect(read(`_ga=${prefix}.${id}`).ga4['G-ABC123'].client_id).to.equal(id)
      }
    })

    it('reads cookies with the prefix that the website has given its tag, and no others', () => {
      for (const prefix of ['acme', 'my.site_', 'a+b(']) {
        const config = { measurementIds: ['G-A1'], providers: [], prefix }
        const own = `${prefix}_ga=GA1.1.5.6; ${prefix}_ga_A1=GS2.1-2.s77$o1`
        const { ga4 } = read(`_ga=GA1.1.1.2; _ga_A1=GS1.1.8.1; ${own}`, landing(), config)
        expect(ga4).to.deep.equal({ 'G-A1': { client_id: '5.6', session_id: '77' } })
        expect(read('_ga=GA1.1.1.2', landing(), config)).not.to.have.property('ga4')
        expect(areTagsReady('_ga_A1=GS1.1.8.1', config)).to.equal(false)
        expect(areTagsReady(own, config)).to.equal(true)
      }
    })

    it('sends nothing without a client ID, and no session if the cookie is none', () => {
      expect(read('_ga_ABC123=GS1.1.1790000100.3')).not.to.have.property('ga4')
      expect(read('_ga=denied')).not.to.have.property('ga4')
      expect(read(`${CLIENT}; _ga_ABC123=nonsense`).ga4['G-ABC123']).to.deep.equal({
        client_id: '1234567890.1790000000',
      })
    })

    it('is read whatever the providers setting says', () => {
      const { ga4 } = read(CLIENT, landing(), { measurementIds: ['G-ABC123'], providers: [] })
      expect(ga4).to.have.property('G-ABC123')
    })
  })

  describe('google_ads', () => {
    it('takes the ID behind the second dot of the older cookies, dots included', () => {
      const { google_ads } = read('_gcl_aw=GCL.1790000000.Cj0KCQ.x-y_z; _gcl_gb=GCL.1790000001.wb')
      expect(google_ads).to.deep.equal({ gclid: 'Cj0KCQ.x-y_z', wbraid: 'wb', gcl_aw: 'GCL.1790000000.Cj0KCQ.x-y_z' })
    })

    it('takes the field between .k and $ of the newer and the server-side cookies', () => {
      const { google_ads } = read(
        '_gcl_ag=2.1.kGB-1$i1790000000; FPGCLAW=2.1.kAW_2$i1790000000$u1; FPGCLGB=2.1.kWB3$i1',
      )
      expect(google_ads).to.deep.equal({ gclid: 'AW_2', wbraid: 'WB3', gbraid: 'GB-1' })
    })

    it('prefers the click ID of the landing to an older click in a cookie', () => {
      const clicks = landing({ gclid: 'new', wbraid: 'w', gbraid: 'g' })
      const { google_ads } = read('_gcl_aw=GCL.1.old', clicks)
      expect(google_ads).to.deep.equal({ gclid: 'new', wbraid: 'w', gbraid: 'g', gcl_aw: 'GCL.1.old' })
    })

    it('takes what Google adds to the address of an ad, of which the service makes session attributes', () => {
      const { google_ads } = read('', landing({ gclid: 'g', gad_source: '1', gad_campaignid: '77', gad_other: 'o' }))
      expect(google_ads).to.deep.equal({ gclid: 'g', gad_source: '1', gad_campaignid: '77' })
    })
  })

  describe('meta', () => {
    it('reads the cookies of the pixel', () => {
      const { meta } = read('_fbp=fb.1.1789990000000.123456789; _fbc=fb.1.1790000000000.IwAR.abc')
      expect(meta).to.deep.equal({ fbp: 'fb.1.1789990000000.123456789', fbc: 'fb.1.1790000000000.IwAR.abc' })
    })

    it('keeps the cookie of the same click unaltered, with what Meta appends to it', () => {
      const { meta } = read('_fbc=fb.1.1789999999999.IwAR1.AQQ', landing({ fbclid: 'IwAR1' }))
      expect(meta).to.deep.equal({ fbc: 'fb.1.1789999999999.IwAR1.AQQ', fbclid: 'IwAR1' })
    })

    it('builds fbc from a click that no cookie holds, with the time of the landing', () => {
      const { meta } = read('_fbc=fb.1.1.Earlier', landing({ fbclid: 'IwAR2' }))
      expect(meta).to.deep.equal({ fbc: `fb.1.${LANDED_AT}.IwAR2`, fbclid: 'IwAR2' })
    })
  })

  it('reads TikTok from cookies and from the click, whose time it knows', () => {
    expect(read('_ttp=01J.tt; ttclid=E.C.P.old').tiktok).to.deep.equal({ ttp: '01J.tt', ttclid: 'E.C.P.old' })
    expect(read('ttclid=old', landing({ ttclid: 'E.C.P.new' })).tiktok).to.deep.equal({
      ttclid: 'E.C.P.new',
      ttclid_at: LANDED_AT,
    })
  })

  it('reads X from the click, from a bare cookie and from the JSON of its tag', () => {
    expect(read('', landing({ twclid: '2-new' })).x).to.deep.equal({ twclid: '2-new', twclid_at: LANDED_AT })
    expect(read('_twclid=2-bare').x).to.deep.equal({ twclid: '2-bare' })
    const json = encodeURIComponent(JSON.stringify({ pixelVersion: '1', timestamp: 1, twclid: '2-json' }))
    expect(read(`_twclid=${json}`).x).to.deep.equal({ twclid: '2-json' })
  })

  describe('a click that was remembered', () => {
    const clicks = { gclid: 'kept', fbclid: 'kept', ttclid: 'kept', twclid: 'kept' }
    const remembered = { ...landing(clicks), carried: true }
    const LANDED_AT_S = LANDED_AT / 1000

    it('gives way to a cookie that was written later, and to one that does not say when', () => {
      const { google_ads, meta, tiktok, x } = read(
        `_gcl_aw=GCL.${LANDED_AT_S + 1}.new; _fbc=fb.1.${LANDED_AT + 1}.new; ttclid=new; _twclid=new`,
        remembered,
      )
      expect(google_ads).to.include({ gclid: 'new' })
      expect(meta).to.deep.equal({ fbc: `fb.1.${LANDED_AT + 1}.new` })
      expect(tiktok).to.deep.equal({ ttclid: 'new' })
      expect(x).to.deep.equal({ twclid: 'new' })
      expect(read(`_gcl_aw=2.1.knew$i${LANDED_AT_S + 1}$u1`, remembered).google_ads.gclid).to.equal('new')
    })

    it('counts before a cookie that was written earlier, and without one', () => {
      const { google_ads, meta } = read(
        `_gcl_aw=GCL.${LANDED_AT_S - 1}.old; _fbc=fb.1.${LANDED_AT - 1}.old`,
        remembered,
      )
      expect(google_ads).to.include({ gclid: 'kept' })
      expect(meta).to.deep.equal({ fbc: `fb.1.${LANDED_AT}.kept`, fbclid: 'kept' })
      expect(read(`_gcl_aw=2.1.kold$i${LANDED_AT_S - 1}$u1`, remembered).google_ads.gclid).to.equal('kept')
      expect(read('', remembered)).to.deep.include({
        tiktok: { ttclid: 'kept', ttclid_at: LANDED_AT },
        x: { twclid: 'kept', twclid_at: LANDED_AT },
      })
    })

    it('counts in any case on the page that it led to', () => {
      const { google_ads, tiktok } = read(`_gcl_aw=GCL.${LANDED_AT_S + 9}.other; ttclid=other`, landing(clicks))
      expect(google_ads).to.include({ gclid: 'kept' })
      expect(tiktok).to.include({ ttclid: 'kept' })
    })
  })

  it('reads no advertising identity of a provider that the website does not use', () => {
    const cookies = '_gcl_aw=GCL.1.a; _fbp=fb.1.1.1; _ttp=t; _twclid=x; _ga=GA1.1.1.1'
    expect(Object.keys(read(cookies, landing(), { measurementIds: ['G-A'], providers: ['ga4'] }))).to.deep.equal([
      'ga4',
    ])
    expect(Object.keys(read(cookies, landing(), { measurementIds: [], providers: ['x'] }))).to.deep.equal(['ga4', 'x'])
  })

  it('waits for the cookies of the tags that the website uses, and for no others', () => {
    const ready = (cookies: string, measurementIds: string[], providers: string[]) =>
      areTagsReady(cookies, { measurementIds, providers })
    expect(ready('', [], ['ga4', 'google_ads', 'x'])).to.equal(true)
    expect(ready('_ga_A=1', ['G-A', 'G-B'], [])).to.equal(false)
    expect(ready('_ga_A=1; _ga_B=1', ['G-A', 'G-B'], [])).to.equal(true)
    expect(ready('_fbp=1', [], ['meta', 'tiktok'])).to.equal(false)
    expect(ready('_fbp=1; _ttp=1', [], ['meta', 'tiktok'])).to.equal(true)
  })
})
