/** What the command line reports, against the book. */

import { expect } from 'chai'

import { DIMENSIONS, keepBook, keepBookOfAll, rowsBy, totalOf, type Book } from './book.ts'
import { dateOf, stepsIn } from './calendar.ts'
import { ALL, type Ledger } from './stage.ts'
import { reported, rowsOfCsv, rowsOfReport } from './surfaces.ts'

export function reportSuite(ledgerOf: () => Ledger): void {
  let book: Book
  let whole: Book
  before(() => {
    book = keepBook(ledgerOf().world)
    whole = keepBookOfAll(ledgerOf().world)
  })

  it('has what the command line reports with them', async () => {
    const { report } = ledgerOf()
    const said = await report(ALL, '--by', 'path', '--json', '--include-left-out')
    const lines = rowsOfReport(said, 'path')
    for (const [row, { installs }] of rowsBy(whole, 'path', ALL)) {
      const { is, mustBe } = reported({ installs, visits: null }, lines.get(row))
      expect(is, row).to.deep.equal(mustBe)
    }
    const text = await report(ALL, '--by', 'path')
    const { installs } = totalOf(book, ALL).installs
    const left = Number(totalOf(whole, ALL).installs['installs']) - Number(installs)
    expect(text.stderr).to.include(`Not counted: ${left} installs from CI, containers and tests. --include-left-out`)
  })

  it('has what the command line reports, as JSON and as CSV', async () => {
    const { report } = ledgerOf()
    for (const dimension of DIMENSIONS) {
      const asJson = rowsOfReport(await report(ALL, '--by', dimension, '--json'), dimension)
      const asCsv = rowsOfCsv(await report(ALL, '--by', dimension, '--csv'))
      const kept = new Map([...rowsBy(book, dimension, ALL), ['total ', totalOf(book, ALL)]])
      expect([...asJson.keys()].sort(), dimension).to.deep.equal([...kept.keys()].sort())
      for (const [row, counts] of kept) {
        for (const line of [asJson.get(row), asCsv.get(row)]) {
          const { is, mustBe } = reported(counts, line)
          expect(is, `${dimension}: ${row}`).to.deep.equal(mustBe)
        }
      }
    }
  })

  it('has every day of the report', async () => {
    const { report } = ledgerOf()
    const days = rowsOfReport(await report(ALL, '--by', 'day', '--json'), 'day')
    for (const day of stepsIn('day', ALL)) {
      const { is, mustBe } = reported(totalOf(book, day), days.get(`value ${dateOf(day.since)}`))
      expect(is, dateOf(day.since)).to.deep.equal(mustBe)
    }
  })
}
