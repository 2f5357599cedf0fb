import { expect } from 'chai'
import { sessionAttributes } from '../../delivery/providers/google-session.ts'
import type { Visit } from '../../domain/collection/visit-fields.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Identities } from '../../domain/model.ts'
import { visitOf } from '../../fixtures/delivery/builders.ts'

const LANDED_AT_MS = 1_790_000_000_000
type GoogleIds = NonNullable<Identities['google_ads']>

/** Of a visitor who came by a Google ad a while before the visit. */
const landed = (google_ads: GoogleIds, more: Partial<Visit> = {}): Visit =>
  visitOf({
    identities: { google_ads },
    click: 'gclid',
    landedAtMs: LANDED_AT_MS,
    landingPage: 'https://acme.dev/start',
    sourceReferrer: 'https://www.google.com/search',
    utm: {},
    ...more,
  })
const decode = (text: string | null): any => JSON.parse(Buffer.from(text ?? '', 'base64url').toString())

describe("Google's session attributes", () => {
  it('describe the landing in unpadded base64url', () => {
    const text = sessionAttributes(
      landed({ gclid: 'abc', gad_source: '1', gad_campaignid: '77' }, { utm: { campaign: 'Größe' } }),
    )
    expect(text).to.match(/^[\w-]+$/)
    expect(decode(text)).to.deep.equal({
      gad_source: '1',
      gad_campaignid: '77',
      landing_page_url: 'https://acme.dev/start?utm_campaign=Gr%C3%B6%C3%9Fe&gad_source=1&gad_campaignid=77&gclid=abc',
      session_start_time_usec: `${LANDED_AT_MS}000`,
      landing_page_referrer: 'https://www.google.com/search',
    })
  })

  it('are those that the visit brought along, if they are base64', () => {
    const session_attributes = 'eyJnYWRfc291cmNlIjoiMSJ9'
    expect(sessionAttributes(landed({ gclid: 'a', session_attributes }))).to.equal(session_attributes)
    expect(decode(sessionAttributes(landed({ gclid: 'a', session_attributes: '{}' })))).to.include.keys(
      'landing_page_url',
    )
  })

  it('name no referrer if there was none', () => {
    expect(decode(sessionAttributes(landed({ gclid: 'a' }, { sourceReferrer: '' })))).to.have.all.keys(
      'landing_page_url',
      'session_start_time_usec',
    )
  })

  it('are there for a click ID alone, and for what Google adds to an address alone', () => {
    for (const click of ['gclid', 'gbraid', 'wbraid'])
      expect(decode(sessionAttributes(landed({ [click]: 'x' }, { click }))).landing_page_url).to.equal(
        `https://acme.dev/start?${click}=x`,
      )
    expect(decode(sessionAttributes(landed({ gad_source: '5' }, { click: '' }))).gad_source).to.equal('5')
  })

  it('are absent if no Google ad led to the landing, or if nobody knows when it was', () => {
    // The click of an earlier day, from Google's own cookie.
    expect(sessionAttributes(landed({ gclid: 'a', gcl_aw: 'GCL.1.a' }, { click: '' }))).to.equal(null)
    expect(sessionAttributes(landed({ gclid: 'a' }, { click: 'fbclid' }))).to.equal(null)
    expect(sessionAttributes(landed({ gclid: 'a' }, { landedAtMs: null }))).to.equal(null)
  })

  it('leave out the referrer if they would grow long, and are absent if even that is too long for Google', () => {
    const page = (chars: number) => ({ landingPage: `https://acme.dev/${'a'.repeat(chars)}` })
    const long = sessionAttributes(landed({ gclid: 'a' }, page(4_000)))
    expect(decode(long)).to.have.all.keys('landing_page_url', 'session_start_time_usec')
    expect(long?.length).to.be.at.most(LIMITS.sessionAttributesChars)
    expect(sessionAttributes(landed({ gclid: 'a' }, page(LIMITS.sessionAttributesChars)))).to.equal(null)
  })
})
