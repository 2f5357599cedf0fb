/** Currencies by ISO 4217, whole days of a period, the entries of an import, and what joins what. */

import { expect } from 'chai'

import { LIMITS } from '../../../domain/limits.ts'
import { decodeRecord } from '../../../domain/records.ts'
import { decimalAmount, isCurrency, placesOf } from '../../../domain/spend/currencies.ts'
import { joinSpend } from '../../../domain/spend/joined-spend.ts'
import { SpendEntries } from '../../../domain/spend/spend-import.ts'
import type { SpendImportRecord, SpendRowsRecord } from '../../../domain/spend/spend-records.ts'
import { wholeDays } from '../../../domain/spend/whole-days.ts'
import { timeZone } from '../../../domain/time-zones.ts'

describe('a currency', () => {
  it('has the decimal places of ISO 4217, where everyday use has fewer too', () => {
    const places = ['EUR', 'HUF', 'JPY', 'IQD', 'KWD', 'CLF', 'COP', 'LBP'].map(placesOf)
    expect(places).to.deep.equal([2, 2, 0, 3, 3, 4, 2, 2])
  })

  it('never has fewer places than everyday use gives it', () => {
    const everyday = (currency: string): number =>
      new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 0
    const lacking = Intl.supportedValuesOf('currency').filter((code) => placesOf(code) < everyday(code))
    expect(lacking).to.deep.equal([])
  })

  it('is a code in capitals that exists', () => {
    expect(['EUR', 'USD', 'eur', 'EURO', 'ZZZ', ''].map(isCurrency)).to.deep.equal([
      true,
      true,
      false,
      false,
      false,
      false,
    ])
  })

  it('shows an amount with all its places', () => {
    expect([
      decimalAmount(5, 'EUR'),
      decimalAmount(1_250, 'EUR'),
      decimalAmount(7, 'JPY'),
      decimalAmount(12_345, 'KWD'),
    ]).to.deep.equal(['0.05', '12.50', '7', '12.345'])
  })
})

describe('the whole days of a period', () => {
  const berlin = timeZone('Europe/Berlin')
  const at = (text: string): number => Date.parse(text)

  it('leave out a day of which the period has only a part', () => {
    const period = { at: at('2026-11-01T12:00+01:00'), until: at('2026-11-04T09:00+01:00') }
    expect(wholeDays(berlin, period)).to.deep.equal({
      period: { at: at('2026-11-02T00:00+01:00'), until: at('2026-11-04T00:00+01:00') },
      stored: { at: at('2026-11-02'), until: at('2026-11-04') },
      first: '2026-11-02',
      last: '2026-11-03',
    })
  })

  it('are the days of the clocks, also where one has 25 hours', () => {
    const period = { at: at('2026-10-25T00:00+02:00'), until: at('2026-10-26T00:00+01:00') }
    expect(wholeDays(berlin, period)).to.deep.include({ period, first: '2026-10-25', last: '2026-10-25' })
  })

  it('are none if the period is shorter than a day, or has parts of two', () => {
    expect(wholeDays(berlin, { at: at('2026-11-01T00:00+01:00'), until: at('2026-11-01T23:00+01:00') })).to.equal(null)
    expect(wholeDays(berlin, { at: at('2026-11-01T01:00+01:00'), until: at('2026-11-02T23:00+01:00') })).to.equal(null)
  })
})

describe('the entries of an import', () => {
  const OWN = {
    id: '0'.repeat(28),
    organization: 'acme',
    website: 'acme-dev',
    importedAtMs: 7,
    importedBy: 'p_0123456789abcdef',
    fileName: 'november.csv',
    retentionDays: 395,
  }

  it('have one key, bounded sizes, all rows in order, and the import as the last one', () => {
    const entries = new SpendEntries(OWN)
    const rows = Array.from({ length: 2_000 }, (_, index) => ({
      line: index + 2,
      dayMs: index * 86_400_000,
      source: 'ü'.repeat(LIMITS.utmChars),
      campaign: 'b',
      currency: index % 2 === 0 ? 'EUR' : 'USD',
      amount: 2,
    }))
    for (const row of rows) entries.add(row)
    const { record, entries: all } = entries.finish()
    expect(new Set(all.map(({ key }) => key))).to.deep.equal(new Set([`acme/acme-dev:${OWN.id}`]))
    expect(all.length).to.be.greaterThan(3)
    for (const { value } of all) expect(Buffer.byteLength(value)).to.be.lessThan(512 * 1024)
    const read = all.map(({ value }) => decodeRecord<SpendRowsRecord | SpendImportRecord>(value))
    expect(read.at(-1)).to.deep.equal(record)
    const parts = read.slice(0, -1).flatMap((part) => (part.holds === 'rows' ? part.rows : []))
    expect(parts.map(([line]) => line)).to.deep.equal(rows.map(({ line }) => line))
    expect(record).to.deep.include({
      rows: 2_000,
      firstDayMs: 0,
      lastDayMs: 1_999 * 86_400_000,
      isRemoved: false,
      totals: [
        { currency: 'EUR', amount: 2_000 },
        { currency: 'USD', amount: 2_000 },
      ],
    })
  })
})

describe('ad spend', () => {
  const visits = new Map([
    ['google\tlaunch', 40],
    ['google\tLaunch', 1],
  ])
  const installs = new Map([
    ['google\tlaunch', 4],
    ['x\t', 2],
  ])
  const own = (source: string, campaign: string, amount: number, currency = 'EUR') => ({
    source,
    campaign,
    amount,
    currency,
  })

  it('joins exactly its source and campaign, or nothing, and divides by no zero', () => {
    const spend = [
      own('google', 'launch', 1_000),
      own('x', '', 500),
      own('Google', 'launch', 70),
      own('google', 'lunch', 30),
    ]
    const figures = joinSpend(spend, [{ currency: 'EUR', amount: 1_700 }], { visits, installs })
    expect(figures.rows).to.deep.equal([
      { ...own('google', 'launch', 1_000), visits: 40, installs: 4, perVisit: 25, perInstall: 250 },
      { ...own('x', '', 500), visits: 0, installs: 2, perVisit: null, perInstall: 250 },
    ])
    expect(figures.notJoined).to.deep.equal([own('Google', 'launch', 70), own('google', 'lunch', 30)])
    expect(figures.currencies).to.deep.equal([
      { currency: 'EUR', amount: 1_700, joined: 1_500, notJoined: 100, other: 100 },
    ])
  })

  it('is not added up across currencies', () => {
    const spend = [own('google', 'launch', 1_000), own('google', 'launch', 900, 'USD')]
    const totals = [
      { currency: 'EUR', amount: 1_000 },
      { currency: 'USD', amount: 900 },
    ]
    const { currencies, rows } = joinSpend(spend, totals, { visits, installs })
    expect(rows.map(({ currency, amount, visits: count }) => [currency, amount, count])).to.deep.equal([
      ['EUR', 1_000, 40],
      ['USD', 900, 40],
    ])
    expect(currencies.map(({ joined }) => joined)).to.deep.equal([1_000, 900])
  })
})
