/** What the command line reports, against the book. */

import { expect } from 'chai'

import { DIMENSIONS, keepBook, keepBookOfAll, rowsBy, totalOf, type Book, type Counts } from '../world/book.ts'
import { dateOf, stepsIn } from '../world/calendar.ts'
import { USUAL, type Ledger, type Spans } from '../service/stage.ts'
import { reported, rowsOfCsv, rowsOfReport } from '../service/surfaces.ts'

export function reportSuite(ledgerOf: () => Ledger, { all }: Spans = USUAL): void {
  let book: Book
  let whole: Book
  before(() => {
    book = keepBook(ledgerOf().world)
    whole = keepBookOfAll(ledgerOf().world)
  })

  it('has what the command line reports with them', async () => {
    const { report } = ledgerOf()
    const said = await report(all, '--by', 'path', '--json', '--include-left-out')
    const lines = rowsOfReport(said, 'path')
    for (const [row, { installs }] of rowsBy(whole, 'path', all)) {
      const { is, mustBe } = reported({ installs, visits: null }, lines.get(row))
      expect(is, row).to.deep.equal(mustBe)
    }
    const text = await report(all, '--by', 'path')
    const { installs } = totalOf(book, all).installs
    const left = Number(totalOf(whole, all).installs['installs']) - Number(installs)
    expect(text.stderr).to.include(`Not counted: ${left} installs from CI, containers and tests. --include-left-out`)
  })

  it('has what the command line reports, as JSON and as CSV', async () => {
    const { report } = ledgerOf()
    for (const dimension of DIMENSIONS) {
      const asJson = rowsOfReport(await report(all, '--by', dimension, '--json'), dimension)
      const asCsv = rowsOfCsv(await report(all, '--by', dimension, '--csv'))
      const kept = new Map([...rowsBy(book, dimension, all), ['total ', totalOf(book, all)]])
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
    const days = rowsOfReport(await report(all, '--by', 'day', '--json'), 'day')
    for (const day of stepsIn('day', all)) {
      const kept = totalOf(book, day)
      const line = days.get(`value ${dateOf(day.since)}`)
      // A day without anything has no line.
      if (line === undefined) expect({ ...kept.installs, ...kept.visits }, dateOf(day.since)).to.satisfy(isNothing)
      else {
        const { is, mustBe } = reported(kept, line)
        expect(is, dateOf(day.since)).to.deep.equal(mustBe)
      }
    }
  })
}

function isNothing(counts: Counts): boolean {
  return Object.values(counts).every((count) => count === 0)
}
