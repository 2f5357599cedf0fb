/** Which identities of a visit become facts. */

import { expect } from 'chai'
import fc from 'fast-check'
import { keepClient } from '../../domain/collection/client-hints.ts'
import { LAST_MOMENT_MS } from '../../domain/durations.ts'
import { advertisingValues, keepIdentities, toMoment } from '../../domain/privacy/identities.ts'
import { hashAdvertising, hashAdvertisingByName } from '../../domain/privacy/redact-gpc.ts'
import {
  ADVERTISING_PROVIDERS,
  PROVIDER_DESCRIPTORS,
  PROVIDER_IDS,
  type ProviderId,
} from '../../domain/providers/index.ts'
import { createKeyring } from '../../runtime/keyring.ts'

const ALL = new Set<ProviderId>(PROVIDER_IDS)
const clean = (text: string): string => text.toWellFormed()
const keep = (sent: Record<string, unknown>, providers: ReadonlySet<ProviderId> = ALL, gpc = false) =>
  keepIdentities(sent, { providers, gpc, clean })

const SENT = {
  ga4: { 'G-1': { client_id: '1.2', session_id: 17 } },
  google_ads: { gclid: 'a', wbraid: 'b', gbraid: 'c', gcl_aw: 'd', session_attributes: 'e' },
  meta: { fbp: 'f', fbc: 'g', fbclid: 'h' },
  tiktok: { ttp: 'i', ttclid: 'j', ttclid_at: '2026-11-21T00:00:00Z' },
  x: { twclid: 'k', twclid_at: 1_795_251_875_123 },
  custom: { crm: { lead: 'l', score: 1, known: false } },
}

describe('identities', () => {
  it('are kept by the names of the contract, numbers as text and dates as Unix ms', () => {
    expect(keep(SENT)).to.deep.equal({
      ...SENT,
      ga4: { 'G-1': { client_id: '1.2', session_id: '17' } },
      tiktok: { ttp: 'i', ttclid: 'j', ttclid_at: Date.UTC(2026, 10, 21) },
    })
  })

  it('of providers that the website does not use are dropped, but never those of GA4 and of custom adapters', () => {
    for (const provider of ['google_ads', 'meta', 'tiktok', 'x'] as const) {
      expect(Object.keys(keep(SENT, new Set([provider])))).to.deep.equal(['ga4', provider, 'custom'])
    }
    expect(Object.keys(keep(SENT, new Set()))).to.deep.equal(['ga4', 'custom'])
  })

  it('of advertising and of custom adapters are dropped under GPC', () => {
    expect(Object.keys(keep(SENT, ALL, true))).to.deep.equal(['ga4'])
  })

  it('that are empty leave nothing behind', () => {
    expect(keep({ ga4: {}, meta: { fbp: '' }, x: {}, custom: {} })).to.deep.equal({})
    expect(keep({ ga4: { 'G-1': {}, 'G-2': { client_id: '' } } })).to.deep.equal({})
  })

  it('keep no name that the contract does not have', () => {
    const fields = fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true })
    const sent = fc.record({
      ga4: fc.constant({}),
      google_ads: fields,
      meta: fields,
      tiktok: fields,
      x: fields,
      other: fields,
    })
    fc.assert(
      fc.property(sent, (drawn) => {
        const kept = keep(drawn)
        expect(Object.keys(kept).every((name) => PROVIDER_IDS.includes(name as ProviderId))).to.equal(true)
        const known = Object.values(SENT).flatMap((fieldsOf) => Object.keys(fieldsOf))
        const names = Object.values(kept).flatMap((fieldsOf) => Object.keys(fieldsOf ?? {}))
        expect(names.filter((name) => !known.includes(name))).to.deep.equal([])
      }),
    )
  })

  it('that must not be legible under GPC are those of advertising and the click IDs in addresses', () => {
    const values = advertisingValues({
      identities: SENT,
      page_url: 'https://a.example/?gclid=m&other=n&ttclid=%6f',
      referrer: 'https://a.example/?fbclid=p',
      source: { referrer: 'https://a.example/?msclkid=q' },
    })
    expect(values).to.include.members([...'abcdefghijkmopq'])
    expect(values).to.not.include('1.2').and.not.include('l').and.not.include('n')
  })
})

describe('under Global Privacy Control', () => {
  const { logHash } = createKeyring(['a-master-secret-that-is-only-for-these-tests'])

  it('there are advertising providers at all', () => {
    expect(ADVERTISING_PROVIDERS).to.deep.equal(PROVIDER_IDS.filter((id) => id !== 'ga4'))
  })

  for (const id of ADVERTISING_PROVIDERS) {
    const { identifiers, clickParameters, accounts } = PROVIDER_DESCRIPTORS[id]
    const fields = Object.fromEntries(
      Object.entries(identifiers).map(([name, kind], index) => [
        name,
        kind === 'moment' ? 1_795_251_875_100 + index : `canary-${name}`,
      ]),
    )
    const values = Object.values(fields).map(String)

    it(`no identifier of ${id} becomes a fact, and each does otherwise`, () => {
      const sent = { [id]: accounts === undefined ? fields : { account: fields } }
      expect(keep(sent, ALL, true)).to.deep.equal({})
      const kept = JSON.stringify(keep(sent))
      for (const value of values) expect(kept).to.contain(value)
    })

    it(`no identifier and no click ID of ${id} is legible in a request log, whether the body parses or not`, () => {
      const query = clickParameters.map((name) => `${name}=canary-click-${name}`).join('&')
      const identities = { [id]: accounts === undefined ? fields : { account: fields } }
      const text = JSON.stringify({ identities, page_url: `https://a.example/?${query}`, gpc: true })
      for (const clean of [
        hashAdvertising(text, JSON.parse(text), logHash),
        hashAdvertisingByName(`${text},`, logHash),
      ]) {
        expect(clean).to.not.contain('canary')
        for (const value of values) expect(clean).to.not.contain(value)
      }
    })
  }
})

describe('a moment', () => {
  it('is Unix ms or an ISO 8601 date between 1970 and 2100', () => {
    expect(toMoment(0)).to.equal(0)
    expect(toMoment(LAST_MOMENT_MS)).to.equal(Date.UTC(2100, 0, 1) - 1)
    expect(toMoment('2026-11-21')).to.equal(Date.UTC(2026, 10, 21))
    expect(toMoment('2026-11-21T01:00:00+01:00')).to.equal(Date.UTC(2026, 10, 21))
    const none = [
      -1,
      LAST_MOMENT_MS + 1,
      NaN,
      Infinity,
      '',
      '1',
      'now',
      '2026',
      '2026-13-01',
      '2026-11-21 01:00',
      '2100-01-01',
      '1969-12-31',
      true,
      {},
      [],
      undefined,
    ]
    for (const value of none) expect(toMoment(value), JSON.stringify(value)).to.equal(null)
  })
})

describe('client hints', () => {
  it('are kept by name, and whatever else was sent is not', () => {
    const sent = {
      brands: [{ brand: 'x', version: '1' }],
      mobile: true,
      timezone: 'UTC',
      canvas: 'fingerprint',
      fonts: ['x'],
    }
    expect(keepClient(sent, clean)).to.deep.equal({
      brands: [{ brand: 'x', version: '1' }],
      mobile: true,
      timezone: 'UTC',
    })
  })
})
