/** The cost of checking made-up receipts, counted in MACs. */

import { expect } from 'chai'
import { cleanerOf, readEventToken, readReceipts } from '../../api/collection/receipts.ts'
import type { Website } from '../../domain/catalog.ts'
import { issueReceipt, issueToken } from '../../domain/receipt.ts'
import { KEYS } from './support/keys.ts'

const NOW_MS = Date.UTC(2040, 10, 22)
const RECEIPTS = 64

/** `inOrganization` websites of one organisation among `others` of other organisations. */
function catalogOf(inOrganization: number, others: number): ReadonlyMap<string, Website> {
  const site = (id: string, organization: string) => ({ id, organization: { id: organization } }) as Website
  const strangers = Array.from({ length: others }, (_, index) => site(`s-${index}`, `o-${index}`))
  const siblings = Array.from({ length: inOrganization }, (_, index) => site(`site-${index}`, 'acme'))
  return new Map([...strangers, ...siblings].map((website) => [website.id, website]))
}

function issue(website: string, index: number, organization = 'acme'): string {
  return issued(website, index, organization).text
}

function issued(website: string, index: number, organization: string) {
  const random = Uint8Array.from([index, 2, 3, 4, 5])
  const flags = { isHandoffOnly: false, isUnrecorded: false, gpc: false }
  return issueReceipt(KEYS, {
    organization,
    website,
    origin: 'https://acme.dev',
    issuedAtMs: NOW_MS - index,
    random,
    ...flags,
  })
}

/** What a forger who knows everything except the keys would send: a key ID in use, a possible time, a wrong MAC. */
function forge(index: number): string {
  const genuine = issue('site-0', index)
  return `${genuine.slice(0, 30)}${genuine[30] === 'A' ? 'B' : 'A'}${genuine.slice(31)}`
}

function tokenOf(website: string, organization: string): string {
  return issueToken(KEYS, { organization, website }, issued(website, 1, organization).claims, false)
}

/** Reads receipts for `site-0` and counts the MACs. */
function read(texts: readonly string[], websites: ReadonlyMap<string, Website>) {
  let macs = 0
  const keys = { ...KEYS, mac: (...args: Parameters<typeof KEYS.mac>) => (macs++, KEYS.mac(...args)) }
  const catalog = { version: '', number: 0, organizations: new Map(), websites, origins: new Set<string>() }
  const receipts = readReceipts(texts, websites.get('site-0')!, { keys, catalog: () => catalog }, NOW_MS)
  return { macs, receipts }
}

describe('receipts of an install event', () => {
  const forged = Array.from({ length: RECEIPTS }, (_, index) => forge(index))

  it('cost the same number of MACs in an installation of ten websites and of ten thousand', () => {
    const small = read(forged, catalogOf(10, 0))
    const large = read(forged, catalogOf(25, 10_000))
    expect(small.receipts.every(({ claims, isForeign }) => claims === null && !isForeign)).to.equal(true)
    expect(large.macs).to.be.at.most(small.macs)
    expect(large.macs).to.be.at.most(RECEIPTS + 25)
  })

  it('cost one MAC each if they contain no key or no time of this service', () => {
    const implausible = [forge(1).replace(/^./, (first) => (first === 'z' ? 'y' : 'z')), 'A'.repeat(43), '-'.repeat(43)]
    const late = issue('site-1', -3_600_000)
    const { macs, receipts } = read([late, ...implausible], catalogOf(25, 0))
    expect(macs).to.be.at.most(4)
    expect(receipts).to.deep.equal(Array(4).fill({ claims: null, isForeign: false }))
  })

  it('cost one MAC for each other website of the organisation that could have signed them, and no more for its own', () => {
    expect(read([forge(1)], catalogOf(1, 0)).macs).to.equal(1)
    expect(read([forge(1)], catalogOf(4, 0)).macs).to.equal(4)
    expect(read([issue('site-0', 1)], catalogOf(25, 0)).macs).to.equal(1)
  })

  it('are cleaned out of texts, those of the other websites of the organisation too, and of no others', () => {
    const websites = catalogOf(3, 2)
    const catalog = { version: '', number: 0, organizations: new Map(), websites, origins: new Set<string>() }
    const clean = cleanerOf(websites.get('site-0')!, { keys: KEYS, catalog: () => catalog }, NOW_MS)
    const own = issue('site-0', 1)
    const sibling = issue('site-2', 2)
    const strange = issue('s-1', 3)
    const cleaned = clean(`a ${own} b ${sibling} c ${strange} d`)
    expect(cleaned).not.to.contain(own).and.not.to.contain(sibling)
    expect(cleaned).to.contain(`c ${strange} d`)
  })

  it('are still distinguished if another website of the organisation signed them', () => {
    const foreign = Array.from({ length: RECEIPTS }, (_, index) => issue('site-24', index))
    const { receipts, macs } = read(foreign, catalogOf(25, 0))
    expect(receipts.every(({ claims, isForeign }) => claims === null && isForeign)).to.equal(true)
    expect(macs).to.be.at.most(2 * RECEIPTS + 25)
    expect(read([issue('site-7', 1)], catalogOf(25, 10_000)).receipts).to.deep.equal([
      { claims: null, isForeign: true },
    ])
    expect(read([issue('s-3', 1)], catalogOf(25, 10)).receipts).to.deep.equal([{ claims: null, isForeign: false }])
  })

  it('are distinguished too if another organisation signed them, as far as the bound reaches', () => {
    expect(read([issue('s-3', 1, 'o-3')], catalogOf(4, 10)).receipts).to.deep.equal([{ claims: null, isForeign: true }])
    const { receipts, macs } = read([issue('s-9999', 1, 'o-9999')], catalogOf(4, 10_000))
    expect(receipts).to.deep.equal([{ claims: null, isForeign: false }])
    expect(macs).to.be.at.most(1 + 25)
  })
})

describe('the handoff token of an install event', () => {
  it('is of another website if a sibling or another organisation issued it, and forged if nobody did', () => {
    const websites = catalogOf(3, 5)
    const catalog = { version: '', number: 0, organizations: new Map(), websites, origins: new Set<string>() }
    const read = (token: string) =>
      readEventToken(token, websites.get('site-0')!, { keys: KEYS, catalog: () => catalog }, NOW_MS)
    expect(read(tokenOf('site-0', 'acme')).claims?.visitId).to.be.a('string')
    expect(read(tokenOf('site-2', 'acme'))).to.deep.equal({ claims: null, isForeign: true })
    expect(read(tokenOf('s-3', 'o-3'))).to.deep.equal({ claims: null, isForeign: true })
    for (const none of [tokenOf('site-2', 'o-3'), issue('site-2', 1), `wht_${issue('site-2', 1)}`, 'wht_', 'x'])
      expect(read(none), none).to.deep.equal({ claims: null, isForeign: false })
  })
})
