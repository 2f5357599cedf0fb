/** Ad spend in the real engine: which rows count, whatever order the entries of the log come in and however often. */

import { expect } from 'chai'

import { DAY_MS } from '../../domain/durations.ts'
import type { LogRecord } from '../../domain/records.ts'
import { SAMPLE_MS, store, unique } from '../contract/fact-samples.ts'
import { spendId, spendRecords, spendRemoval, type SampleImport } from '../contract/spend-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'

const dayAgo = (days: number): string => new Date(SAMPLE_MS - days * DAY_MS).toISOString().slice(0, 10)
const MONDAY = dayAgo(3)
const TUESDAY = dayAgo(2)

describe('stored ad spend', function () {
  this.timeout(60_000)
  let facts: TestFacts
  before(async () => {
    facts = await openTestFacts()
  })
  after(() => facts?.close())

  /** An import of the website on two days, and one of an hour later. */
  const twoImports = (organization = unique('organization')) => {
    const own = { organization, website: unique('site') }
    const first: SampleImport = {
      ...own,
      atMs: SAMPLE_MS,
      rows: [
        [MONDAY, 'google', 'launch', 100],
        [MONDAY, 'google', 'gone', 7],
        [MONDAY, 'x', 'launch', 20],
        [TUESDAY, 'google', 'launch', 300],
      ],
    }
    const second: SampleImport = {
      ...own,
      atMs: SAMPLE_MS + 3_600_000,
      rows: [
        [MONDAY, 'google', 'launch', 111],
        [MONDAY, 'google', 'launch', 1],
        [MONDAY, 'google', 'launch', 5, 'USD'],
      ],
    }
    return { own, first, second }
  }
  const asked = ({ organization, website }: { organization: string; website: string }) => ({
    organization,
    websites: [website],
    since_ms: Date.parse(MONDAY),
    until_ms: Date.parse(TUESDAY) + DAY_MS,
  })
  const spendOf = async (own: { organization: string; website: string }): Promise<readonly string[]> => {
    const rows = await facts.run('spendByCampaign', asked(own))
    return rows
      .map(({ source, campaign, amount, currency }) => `${source}/${campaign} ${amount} ${currency}`)
      .toSorted()
  }

  const AFTER_FIRST = ['google/gone 7 EUR', 'google/launch 400 EUR', 'x/launch 20 EUR']
  /** Monday of google is replaced whole; its Tuesday and the other source stay. */
  const AFTER_BOTH = ['google/launch 412 EUR', 'google/launch 5 USD', 'x/launch 20 EUR']

  it('replaces each day and source of a file whole: a campaign that it no longer names is gone', async () => {
    const { own, first, second } = twoImports()
    await store(facts, spendRecords(first))
    expect(await spendOf(own)).to.deep.equal(AFTER_FIRST)
    await store(facts, spendRecords(second))
    expect(await spendOf(own)).to.deep.equal(AFTER_BOTH)
    expect(await facts.run('spendByCurrency', asked(own))).to.deep.equal([
      { currency: 'EUR', amount: 432 },
      { currency: 'USD', amount: 5 },
    ])
    const bySource = await facts.run('spendBySource', asked(own))
    expect(bySource.map(({ source, currency, amount }) => [source, currency, amount])).to.deep.equal([
      ['google', 'EUR', 412],
      ['x', 'EUR', 20],
      ['google', 'USD', 5],
    ])
  })

  it('counts only the days that are asked for', async () => {
    const { own, first } = twoImports()
    await store(facts, spendRecords(first))
    const rows = await facts.run('spendByCurrency', { ...asked(own), since_ms: Date.parse(TUESDAY) })
    expect(rows).to.deep.equal([{ currency: 'EUR', amount: 300 }])
  })

  it('is the same whatever the order of the entries, and however often they come', async () => {
    const orders: readonly ((a: readonly LogRecord[], b: readonly LogRecord[]) => readonly LogRecord[])[] = [
      (a, b) => [...b, ...a],
      (a, b) => [...a, ...b, ...a, ...a, ...b],
      (a, b) => [...a, ...b].toReversed(),
    ]
    for (const order of orders) {
      const { own, first, second } = twoImports()
      const records = order(spendRecords(first), spendRecords(second))
      for (const [offset, record] of records.entries()) await store(facts, [record], offset)
      expect(await spendOf(own)).to.deep.equal(AFTER_BOTH)
    }
  })

  it('does not count before its import is there, and then as a whole', async () => {
    const { own, first, second } = twoImports()
    await store(facts, spendRecords(first))
    const [rows, whole] = spendRecords(second)
    await store(facts, rows === undefined ? [] : [rows])
    expect(await spendOf(own)).to.deep.equal(AFTER_FIRST)
    await store(facts, whole === undefined ? [] : [whole])
    expect(await spendOf(own)).to.deep.equal(AFTER_BOTH)
  })

  it('shows what an import had replaced once that is removed, and stays so when its entries come again', async () => {
    const { own, first, second } = twoImports()
    const { organization, website } = own
    await store(facts, [...spendRecords(first), ...spendRecords(second), spendRemoval(second)])
    expect(await spendOf(own)).to.deep.equal(AFTER_FIRST)
    await store(facts, spendRecords(second), 99)
    expect(await spendOf(own)).to.deep.equal(AFTER_FIRST)
    const list = await facts.run('spendImports', { organization, websites: [website], limit: 10 })
    expect(list.map(({ id, rows }) => [id, rows])).to.deep.equal([[spendId(first.atMs), 4]])
    await store(facts, [spendRemoval(first)])
    expect(await spendOf(own)).to.deep.equal([])
  })

  it('is removed also if the removal is stored before the import', async () => {
    const { own, first } = twoImports()
    await store(facts, [spendRemoval(first)])
    await store(facts, spendRecords(first), 5)
    expect(await spendOf(own)).to.deep.equal([])
  })

  it('belongs to an organisation: another one with a website of the same ID has its own, and an erasure takes one alone', async () => {
    const { own, first } = twoImports()
    const other = { ...first, organization: unique('other') }
    await store(facts, [...spendRecords(first), ...spendRecords(other)])
    await facts.eraseOrganization(own.organization)
    expect(await spendOf(own)).to.deep.equal([])
    expect(await spendOf(other)).to.deep.equal(AFTER_FIRST)
    const left = await facts.countOrganization(own.organization)
    expect([left.spend_rows, left.spend_imports]).to.deep.equal([0, 0])
  })

  it('is hidden where the website keeps less than it did', async () => {
    const { own, first } = twoImports()
    await store(facts, spendRecords(first))
    const kept = [{ website: own.website, sinceMs: Date.parse(TUESDAY) }]
    const rows = await facts.run('spendByCurrency', asked(own), { kept })
    expect(rows).to.deep.equal([{ currency: 'EUR', amount: 300 }])
  })
})
