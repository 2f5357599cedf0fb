/** The page Sources, and the visits that are counted one by one, against the book. */

import { expect } from 'chai'

import type { Words } from '../service/asking.ts'
import {
  DIMENSIONS,
  keepBook,
  keepBookOfAll,
  rowsBy,
  totalOf,
  type Book,
  type Counts,
  type Period,
  type Rows,
} from '../world/book.ts'
import { choiceText, chosen, CHOICES, isOfVisits, type Choice } from '../world/choice.ts'
import { stepNameOf, stepsIn } from '../world/calendar.ts'
import { USUAL, wordsOf, type Ledger, type Spans } from '../service/stage.ts'
import { answeredByApi, counts, INSTALLS, VISITS, type Answered, type Row } from '../service/surfaces.ts'

const isSome = (counts: Counts): boolean => Object.values(counts).some((count) => count > 0)
/** Of rows that count any. */
const visitsOf = (rows: Rows) =>
  Object.fromEntries(
    [...rows].flatMap(([row, { visits }]) => (visits !== null && isSome(visits) ? [[row, visits]] : [])),
  )

export function sourcesSuite(ledgerOf: () => Ledger, { periods }: Spans = USUAL): void {
  let book: Book
  /** With installs from CI, containers and tests. */
  let whole: Book
  before(() => {
    book = keepBook(ledgerOf().world)
    whole = keepBookOfAll(ledgerOf().world)
  })

  async function asked(by: string, period: Period, words: Words = {}): Promise<Answered> {
    const body = await ledgerOf().read('sources', { by, ...wordsOf(period), ...words })
    return answeredByApi(body as Parameters<typeof answeredByApi>[0])
  }

  /** Visits by several dimensions at once, which are counted piece by piece. */
  async function counted(choices: readonly Choice[], period: Period): Promise<Counts> {
    const sums: Record<string, number> = {}
    for (let cursor: string | null = ''; cursor !== null;) {
      const more: Readonly<Record<string, string>> = cursor === '' ? {} : { cursor }
      const body = (await ledgerOf().read('visits/counts', {
        ...wordsOf(period),
        filter: choices.map(choiceText),
        ...more,
      })) as {
        readonly counts: Counts
        readonly next: string | null
      }
      for (const name of VISITS) sums[name] = (sums[name] ?? 0) + (body.counts[name] ?? 0)
      cursor = body.next
    }
    return sums
  }

  for (const [name, period] of Object.entries(periods)) {
    it(`has the totals of the pages, over ${name}`, async () => {
      expect((await asked('source', period)).total).to.deep.equal(totalOf(book, period))
    })
  }

  for (const dimension of DIMENSIONS) {
    it(`has every row of the page Sources by ${dimension}, and they add up`, async () => {
      for (const [name, period] of Object.entries(periods)) {
        const { rows, total } = await asked(dimension, period)
        const kept = rowsBy(book, dimension, period)
        expect(Object.fromEntries(rows), name).to.deep.equal(Object.fromEntries(kept))
        const sum = [...rows.values()].reduce((all, { installs }) => all + (installs['installs'] ?? 0), 0)
        expect(sum, name).to.equal(total.installs['installs'])
      }
    })
  }

  for (const choices of CHOICES) {
    const filter = choices.map(choiceText)
    it(`has the visits and installs of ${filter.join(' and ')}`, async () => {
      const kept = chosen(book, choices)
      for (const [name, period] of Object.entries(periods)) {
        const { rows, total } = await asked('medium', period, { filter })
        const mustBe = totalOf(kept, period)
        expect(total.installs, name).to.deep.equal(mustBe.installs)
        if (isOfVisits(choices)) {
          expect(total.visits, name).to.deep.equal(mustBe.visits)
          expect(await counted(choices, period), name).to.deep.equal(mustBe.visits)
          expect(visitsOf(rows), name).to.deep.equal(visitsOf(rowsBy(kept, 'medium', period)))
        }
        const installs = [...rowsBy(kept, 'medium', period)].map(([row, each]) => [row, each.installs] as const)
        const shown = [...rows].map(([row, each]) => [row, each.installs] as const)
        const isAny = ([, counts]: readonly [string, Counts]): boolean => isSome(counts)
        expect(Object.fromEntries(shown.filter(isAny)), name).to.deep.equal(Object.fromEntries(installs.filter(isAny)))
      }
    })

    it(`has the totals of Match rate and the steps of Funnel of ${filter.join(' and ')}`, async () => {
      const kept = chosen(book, choices)
      for (const [name, period] of Object.entries(periods)) {
        const match = (await ledgerOf().read('match', { ...wordsOf(period), filter })) as { readonly total: Row }
        expect(counts(match.total, INSTALLS), name).to.deep.equal(totalOf(kept, period).installs)
        const funnel = (await ledgerOf().read('funnel', { ...wordsOf(period), filter })) as {
          readonly visitsLeftOut: string | null
          readonly total: Row | null
          readonly steps: readonly Row[]
        }
        if (isOfVisits(choices)) {
          expect(counts(funnel.total ?? {}, VISITS), name).to.deep.equal(totalOf(kept, period).visits)
          const steps = stepsIn(stepNameOf(period), period)
          expect(funnel.steps.map((step) => counts(step, ['at', 'until', ...VISITS]))).to.deep.equal(
            steps.map((step) => ({ at: step.since, until: step.until, ...totalOf(kept, step).visits })),
          )
        } else expect([funnel.visitsLeftOut, funnel.total, funnel.steps]).to.deep.equal(['install_filter', null, []])
      }
    })
  }

  it('has the installs of CI, containers and tests beside the others if they are asked for, and the same visits', async () => {
    for (const [name, period] of Object.entries(periods)) {
      for (const dimension of ['source', 'page', 'country'] as const) {
        const body = await ledgerOf().read('sources', { by: dimension, ...wordsOf(period), leftOut: 'include' })
        const { rows, total } = answeredByApi(body as Parameters<typeof answeredByApi>[0])
        expect(total.installs, name).to.deep.equal(totalOf(whole, period).installs)
        expect(total.visits, name).to.deep.equal(totalOf(book, period).visits)
        const left = Number(total.installs['installs']) - Number(totalOf(book, period).installs['installs'])
        expect((body as { readonly leftOut: number }).leftOut, name).to.equal(left)
        const installs = [...rows].map(([row, each]) => [row, each.installs])
        const kept = [...rowsBy(whole, dimension, period)].map(([row, each]) => [row, each.installs])
        expect(Object.fromEntries(installs), `${name}, ${dimension}`).to.deep.equal(Object.fromEntries(kept))
        expect(visitsOf(rows), `${name}, ${dimension}`).to.deep.equal(visitsOf(rowsBy(book, dimension, period)))
      }
    }
  })
}
