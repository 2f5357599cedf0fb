/** Under Global Privacy Control no advertising identity is in what the request logs keep. */

import { expect } from 'chai'
import fc from 'fast-check'
import { hashAdvertising, hashAdvertisingByName, mentionsGpc } from '../../domain/privacy/redact-gpc.ts'
import { createKeyring } from '../../runtime/keyring.ts'

const { logHash } = createKeyring(['a-master-secret-that-is-only-for-these-tests'])
const clean = (text: string): string => hashAdvertising(text, JSON.parse(text), logHash)
const mark = (value: string): string => `hmac:${logHash(value)}`

describe('advertising identities in a body that was sent under Global Privacy Control', () => {
  it('are hashed in their own fields and the rest stays as it came', () => {
    const text =
      '{ "project":"acme-dev",\t"identities":{"meta":{"fbp":"fb.1.17.23"},"ga4":{"G-1":{"client_id":"1.2"}}}, "gpc":true }'
    expect(clean(text)).to.equal(text.replace('fb.1.17.23', mark('fb.1.17.23')))
  })

  it('are hashed however many unknown members stand before them', () => {
    const unknown = Object.fromEntries(Array.from({ length: 400 }, (_, place) => [`u${place}`, `unknown-${place}`]))
    const known = { meta: { ...unknown, fbp: 'fb.1.17.23' }, x: { twclid: 'tw-value-1', twclid_at: 1795251875123 } }
    const source = { landed_at: 1795251875123, utm: { term: '<fb.1.17.23> and <tw-value-1>' } }
    const identities = { google_ads: { ...unknown, deeper: [unknown] }, ...known }
    const cleaned = JSON.parse(clean(JSON.stringify({ identities, source, page_url: 'https://a.example/?gclid=abc' })))
    expect(cleaned.identities.meta.fbp).to.equal(mark('fb.1.17.23'))
    expect(cleaned.identities.x).to.deep.equal({ twclid: mark('tw-value-1'), twclid_at: mark('1795251875123') })
    expect(cleaned.source.utm.term).to.equal(`<${mark('fb.1.17.23')}> and <${mark('tw-value-1')}>`)
    expect(cleaned.source.landed_at).to.equal(mark('1795251875123'))
    expect(JSON.stringify(cleaned.identities)).to.not.include('unknown-')
  })

  it('are found behind escapes', () => {
    expect(clean('{"identities":{"x":{"twclid":"tw\\u002dvalue\\/1"}}}')).to.equal(
      `{"identities":{"x":{"twclid":"${mark('tw-value/1')}"}}}`,
    )
  })

  it('are found in every spelling inside addresses, cookies and unknown fields', () => {
    const value = 'Cj0KCQ/iA "x" é'
    const page = `https://a.example/?q=${encodeURIComponent(value)}&r=${encodeURIComponent(value).replaceAll('%20', '+')}`
    const body = {
      identities: { google_ads: { gclid: value, gcl_aw: `GCL.17.${value}` } },
      page_url: page,
      client: { model: `<${value}>` },
      more: { note: `<${value}>` },
    }
    const cleaned = clean(JSON.stringify(body))
    expect(cleaned).to.not.include('Cj0KCQ')
    expect(cleaned).to.include(`https://a.example/?q=${mark(value)}&r=${mark(value)}`)
    expect(cleaned).to.include(`<${mark(value)}>`)
  })

  it('are hashed as parameters of addresses, however name and value are encoded', () => {
    const page = 'https://a.example/?a=1&gclid=%61bc&%66bclid=xyz#ttclid=q&other=abc'
    expect(JSON.parse(clean(JSON.stringify({ page_url: page }))).page_url).to.equal(
      `https://a.example/?a=1&gclid=${mark('abc')}&%66bclid=${mark('xyz')}#ttclid=${mark('q')}&other=abc`,
    )
  })

  it('are hashed with whatever stands in custom adapters, unknown providers and members that the contract does not have', () => {
    const known = {
      project: 'acme-dev',
      page_url: 'https://a.example/',
      source: { utm: { id: 'utm' }, landed_at: 17 },
      client: { brands: [{ brand: 'b', version: '1' }], formFactors: ['Desktop'], touch: 5, platform: 'Linux' },
      identities: { ga4: { 'G-1': { client_id: '1.2', session_id: 17 } } },
      event_id: 'an-event-id',
      browsers: ['chrome'],
    }
    const canary = {
      a: 'canary-a',
      list: ['canary-b', { deep: 'canary-c' }],
      number: 1795251875999,
      'canary"d"': 'canary-d',
    }
    const text = JSON.stringify({
      ...known,
      identities: {
        ga4: { 'G-1': { ...known.identities.ga4['G-1'], gclid: 'canary-e' }, 'G-2': 'canary-f' },
        custom: { crm: { lead: 'canary-g', score: 1795251875999, plan: 'b' } },
        linkedin: { li_fat_id: 'canary-h' },
        meta: { unknown: 'canary-i' },
        other: ['canary-j'],
      },
      source: { ...known.source, gclid: 'canary-k', utm: { id: 'utm', more: 'canary-l', term: 'from canary-g' } },
      client: { ...known.client, fbp: 'canary-m', canvas: canary },
      extra: canary,
      user: 'canary-n',
      receipts: [{ x: 'canary-o' }],
      gpc: { x: 'canary-p' },
    })
    const cut = text.slice(0, text.indexOf('canary-p') + 4)
    for (const cleaned of [
      clean(text),
      hashAdvertisingByName(`${text},`, logHash),
      hashAdvertisingByName(cut, logHash),
    ]) {
      expect(cleaned.replaceAll('"canary\\"d\\""', '').replace('from canary-g', '')).to.not.include('cana')
      expect(cleaned).to.not.include('1795251875999')
    }
    const cleaned = JSON.parse(clean(text))
    expect(cleaned).to.deep.include({ project: 'acme-dev', page_url: known.page_url, event_id: 'an-event-id' })
    expect(cleaned.browsers).to.deep.equal(known.browsers)
    expect(cleaned.client).to.deep.include(known.client)
    expect(cleaned.source).to.deep.include({ landed_at: 17 })
    expect(cleaned.source.utm).to.deep.include({ id: 'utm', term: `from ${mark('canary-g')}` })
    expect(cleaned.identities.ga4['G-1']).to.deep.include(known.identities.ga4['G-1'])
    expect(cleaned.identities.custom.crm).to.deep.equal({
      lead: mark('canary-g'),
      score: mark('1795251875999'),
      plan: mark('b'),
    })
  })

  it('are hashed if they are numbers', () => {
    expect(
      clean('{"identities":{"tiktok":{"ttclid_at":1795251875123}},"source":{"landed_at":1795251875123.0}}'),
    ).to.equal(
      `{"identities":{"tiktok":{"ttclid_at":"${mark('1795251875123')}"}},"source":{"landed_at":"${mark('1795251875123')}"}}`,
    )
  })

  it('do not replace letters in other words when they are short', () => {
    const text = '{"identities":{"google_ads":{"gclid":"a","wbraid":"1"}},"language":"a language","n":"1"}'
    const cleaned = JSON.parse(clean(text))
    expect(cleaned.language).to.equal('a language')
    expect(cleaned.identities.google_ads).to.deep.equal({ gclid: mark('a'), wbraid: mark('1') })
  })

  it('cannot make a body grow without end', () => {
    const letters = [...'0123456789abcdefhm:']
    const page = `https://a.example/?${letters.map((letter) => `gclid=${letter}&gclid=${letter.repeat(7)}`).join('&')}`
    const text = JSON.stringify({ page_url: page, x: letters.map((letter) => letter.repeat(600)) })
    expect(clean(text).length).to.be.below(text.length * 8)
  })

  it('leaves text that is JSON as JSON, and holds no identity of six letters or more', () => {
    const value = fc.string({ minLength: 6, maxLength: 40, unit: 'binary' }).filter((text) => text.trim().length >= 6)
    fc.assert(
      fc.property(value, fc.jsonValue({ maxDepth: 3 }), (fbp, rest) => {
        const text = JSON.stringify({ rest, around: `x${fbp}y`, identities: { meta: { fbp } } })
        const cleaned = JSON.parse(clean(text))
        expect(cleaned.identities.meta.fbp).to.equal(mark(fbp))
        expect(cleaned.around).to.not.include(fbp)
      }),
      { numRuns: 500 },
    )
  })

  it('are hashed by the names of their fields if the body did not parse', () => {
    const text =
      '{"gpc" : true,"identities":{"meta":{"fbp": "fb.1.2"},"tiktok":{"ttclid_at":17}},"page_url":"https://a/?gclid=z'
    expect(mentionsGpc(text)).to.equal(true)
    expect(hashAdvertisingByName(text, logHash)).to.equal(
      `{"gpc" : true,"identities":{"meta":{"fbp": "${mark('fb.1.2')}"},"tiktok":{"ttclid_at":"${mark('17')}"}},"page_url":"https://a/?gclid=${mark('z')}`,
    )
  })
})
