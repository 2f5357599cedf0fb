/** What ads cost, on the page Spend, against the book. */

import { expect } from 'chai'

import { keepBook, type Book } from '../world/book.ts'
import { FILES, fileText, isJoined, spendRows, type SpendBy, type SpendRow } from '../world/spend.ts'
import { ALL, PERIODS, START_MS, wordsOf, type Ledger } from '../service/stage.ts'
import { DAY } from '../world/world.ts'

interface ShownRow extends SpendRow {
  readonly perVisit: number | null
  readonly perInstall: number | null
}

interface Spend {
  readonly rows: readonly ShownRow[]
  readonly notJoined: readonly Omit<SpendRow, 'visits' | 'installs'>[]
  readonly currencies: readonly { readonly currency: string; readonly amount: number }[]
}

const ROOT = '/api/organizations/acme'
const keyOf = ({ source, campaign, currency }: Omit<SpendRow, 'visits' | 'installs'>): string =>
  [source, campaign, currency].join('/')

/** Imports the files of the world's ad account in their order, and then takes back what was a mistake. */
export async function importSpend({ ask }: Ledger): Promise<void> {
  const mistakes: string[] = []
  for (const file of FILES) {
    const answer = await ask(`${ROOT}/websites/acme-dev/spend?file=${file.name}`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/csv; charset=utf-8' },
      body: fileText(file, START_MS),
    })
    const { id } = (await answer.json()) as { readonly id: string }
    if (file.isRemoved) mistakes.push(id)
  }
  for (const id of mistakes) await ask(`${ROOT}/spend/imports/${id}`, { method: 'DELETE' })
}

export function spendSuite(ledgerOf: () => Ledger): void {
  let book: Book
  before(() => {
    book = keepBook(ledgerOf().world)
  })
  const periods = {
    ...PERIODS,
    'days and parts of days': { since: START_MS + DAY / 2, until: START_MS + 5.5 * DAY },
  }

  for (const by of ['campaign', 'source'] satisfies SpendBy[]) {
    it(`has what a visit and an install cost by ${by}, and what joined nothing`, async () => {
      for (const [name, period] of Object.entries(periods)) {
        const { rows, notJoined, currencies } = (await ledgerOf().read('spend', {
          by,
          ...wordsOf(period),
        })) as Spend
        const mustBe = spendRows(book, by, { period, startAt: START_MS })
        const joined = mustBe.filter(isJoined)
        expect(Object.fromEntries(rows.map((row) => [keyOf(row), row])), name).to.deep.equal(
          Object.fromEntries(
            joined.map((row) => [
              keyOf(row),
              {
                ...row,
                perVisit: row.visits === 0 ? null : row.amount / row.visits,
                perInstall: row.installs === 0 ? null : row.amount / row.installs,
              },
            ]),
          ),
        )
        const others = mustBe.filter((row) => !isJoined(row))
        expect(Object.fromEntries(notJoined.map((row) => [keyOf(row), row.amount])), name).to.deep.equal(
          Object.fromEntries(others.map((row) => [keyOf(row), row.amount])),
        )
        const sums = Map.groupBy(mustBe, ({ currency }) => currency)
        const sumOf = (own: readonly SpendRow[]): number => own.reduce((sum, { amount }) => sum + amount, 0)
        expect(Object.fromEntries(currencies.map(({ currency, amount }) => [currency, amount])), name).to.deep.equal(
          Object.fromEntries([...sums].map(([currency, own]) => [currency, sumOf(own)])),
        )
      }
    })
  }

  it('has some of everything, or it would prove nothing', () => {
    const rows = spendRows(book, 'campaign', { period: ALL, startAt: START_MS })
    expect(rows.some(isJoined) && rows.some((row) => !isJoined(row))).to.equal(true)
    expect(rows.map(({ campaign }) => campaign)).to.include('lunch')
    expect(rows.some(({ amount }) => amount >= 99_999)).to.equal(false)
  })
}
