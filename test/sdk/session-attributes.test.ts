import { expect } from 'chai'
import { LIMITS } from '../../domain/limits.ts'
import { sessionAttributes } from '../../sdk/readers/session-attributes.ts'
import { arrivalOf } from '../../sdk/core/source.ts'

const NOW = 1_790_000_000_000
const landed = (url: string, referrer = 'https://www.google.com/search?q=x') =>
  arrivalOf({ url, referrer, nowMs: NOW }, false, '')
const decode = (text: string | undefined): any => JSON.parse(Buffer.from(text ?? '', 'base64url').toString())

describe('sdk/session-attributes', () => {
  it('describe the landing in unpadded base64url', () => {
    const text = sessionAttributes(
      landed('https://acme.dev/start?gad_source=1&gad_campaignid=77&gclid=abc&email=a@b.c#top'),
      'Agent/1',
    )
    expect(text).to.match(/^[\w-]+$/)
    expect(decode(text)).to.deep.equal({
      gad_source: '1',
      gad_campaignid: '77',
      landing_page_url: 'https://acme.dev/start?gad_source=1&gad_campaignid=77&gclid=abc',
      session_start_time_usec: `${NOW}000`,
      landing_page_referrer: 'https://www.google.com/search',
      landing_page_user_agent: 'Agent/1',
    })
  })

  it('name no referrer if there was none', () => {
    const attributes = decode(sessionAttributes(landed('https://acme.dev/?gclid=a', ''), 'A'))
    expect(attributes).to.not.have.property('landing_page_referrer')
  })

  it('are there for a click ID alone', () => {
    for (const name of ['gclid', 'gbraid', 'wbraid']) {
      expect(decode(sessionAttributes(landed(`https://acme.dev/?${name}=x`), 'A'))).not.to.have.property('gad_source')
    }
  })

  it('are absent if no Google ad led to the page', () => {
    expect(sessionAttributes(landed('https://acme.dev/?utm_source=google&xgclid=1'), 'A')).to.equal(undefined)
  })

  it('leave out referrer and user agent if they would grow long', () => {
    const attributes = decode(sessionAttributes(landed('https://acme.dev/?gclid=a'), 'A'.repeat(4_000)))
    expect(attributes).to.have.all.keys('landing_page_url', 'session_start_time_usec')
  })

  it('are absent if even that is longer than the service takes', () => {
    const url = (chars: number) => `https://acme.dev/${'a'.repeat(chars)}?gclid=x`
    expect(sessionAttributes(landed(url(4_000)), 'A')?.length).to.be.at.most(LIMITS.sessionAttributesChars)
    expect(sessionAttributes(landed(url(LIMITS.sessionAttributesChars)), 'A')).to.equal(undefined)
  })

  it('survive letters outside of ASCII', () => {
    expect(
      decode(sessionAttributes(landed('https://acme.dev/?gad_source=ü&utm_campaign=Größe'), 'Ä'))
        .landing_page_user_agent,
    ).to.equal('Ä')
  })
})
