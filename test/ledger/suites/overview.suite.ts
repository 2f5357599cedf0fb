/** The page Overview against the book: totals, steps, panels, and the period that they are compared with. */

import { expect } from 'chai'

import type { Words } from '../service/asking.ts'
import { keepBook, totalOf, type Book, type Period } from '../world/book.ts'
import { daysBefore, dateOf, lastDays, stepNameOf } from '../world/calendar.ts'
import { choiceText, chosen, CHOICES, isOfVisits, type Choice } from '../world/choice.ts'
import {
  PANELS,
  PANELS_OF_VISITS,
  panelOf,
  panelShown,
  shown,
  sideOf,
  type Overview,
  type Panel,
} from '../service/overview.ts'
import { ALL, START_MS, type Ledger, wordsOf } from '../service/stage.ts'
import { counts, INSTALLS, objectIn, type Row } from '../service/surfaces.ts'
import { DAY, HOUR } from '../world/world.ts'

/** A way to ask for a period, what it is, and what it is compared with; null: with nothing. */
export interface Asked {
  readonly words: Words
  readonly period: Period
  readonly before: Period | null
}

const day = (place: number): number => START_MS + place * DAY
const days = (first: number, last: number): Period => ({ since: day(first), until: day(last + 1) })
const datesOf = ({ since, until }: Period) => ({ from: dateOf(since), to: dateOf(until - 1) })

/** By its name in a test. */
export function asking(now: number): Readonly<Record<string, Asked>> {
  const week = lastDays(7, now)
  const yesterday = days(7, 7)
  const night = { since: day(3) + 20 * HOUR, until: day(4) + 7 * HOUR }
  return {
    'the last seven days': { words: { period: 'Last7Days' }, period: week, before: daysBefore(week) },
    'no period that is named': { words: {}, period: week, before: daysBefore(week) },
    yesterday: { words: { period: 'Yesterday' }, period: yesterday, before: days(6, 6) },
    'dates in hours': {
      words: { ...datesOf(days(3, 4)), bucket: 'hour' },
      period: days(3, 4),
      before: days(1, 2),
    },
    'dates in weeks': { words: { ...datesOf(days(4, 7)), bucket: 'week' }, period: days(4, 7), before: days(0, 3) },
    'a night': { words: wordsOf(night), period: night, before: { since: night.since - 11 * HOUR, until: night.since } },
    'all of it, compared with nothing': { words: { ...wordsOf(ALL), compare: 'off' }, period: ALL, before: null },
  }
}

export function overviewSuite(ledgerOf: () => Ledger): void {
  let book: Book
  before(() => {
    book = keepBook(ledgerOf().world)
  })

  const read = async (words: Words) => (await ledgerOf().read('overview', words)) as Overview
  const each = async (check: (asked: Asked, name: string) => Promise<void>): Promise<void> => {
    for (const [name, asked] of Object.entries(asking(ledgerOf().now))) await check(asked, name)
  }

  it('has the total and every hour, day or week of Overview, and of what it is compared with', () =>
    each(async ({ words, period, before }, name) => {
      const body = await read(words)
      expect([body.since, body.until], name).to.deep.equal([period.since, period.until])
      const steps = words['bucket'] === undefined ? stepNameOf(period) : body.step
      expect(body.step, name).to.equal(words['bucket'] ?? steps)
      const side = { book, steps, now: ledgerOf().now, hasVisits: true }
      expect(shown(body), name).to.deep.equal(sideOf(side, period))
      expect(body.before === null ? null : shown(body.before), name).to.deep.equal(
        before === null ? null : sideOf(side, before),
      )
      expect(body.comparison, name).to.deep.equal(
        before === null ? null : { by: 'before', ...before, notCompared: null },
      )
    }))

  it('has every row of every panel of Overview, with what it had before, and the largest change', () =>
    each(async ({ words, period, before }, name) => {
      const { panels, largestChange, reasons, total } = await read(words)
      expect(panels.map(({ by }) => by)).to.deep.equal(PANELS)
      for (const { by, rows } of panels)
        expect(panelShown(rows), `${name}, ${by}`).to.deep.equal(panelOf({ book, by }, period, before))
      const unmatched = Number(objectIn(total['installs'])?.['unmatched'])
      expect(reasons.reduce((sum, { installs }) => sum + installs, 0)).to.equal(unmatched)
      expectLargest(largestChange, { book, period, before, name })
    }))

  for (const choices of CHOICES) {
    const filter = choices.map(choiceText)
    it(`has the numbers of Overview of ${filter.join(' and ')}`, async () => {
      const kept = chosen(book, choices)
      for (const asked of [asking(ledgerOf().now)['dates in hours'], asking(ledgerOf().now)['the last seven days']]) {
        if (asked !== undefined) await expectChosen({ kept, choices }, asked)
      }
    })
  }

  async function expectChosen(
    { kept, choices }: { readonly kept: Book; readonly choices: readonly Choice[] },
    { words, period, before }: Asked,
  ): Promise<void> {
    const body = await read({ ...words, filter: choices.map(choiceText) })
    const hasVisits = isOfVisits(choices)
    const side = { book: kept, steps: body.step, now: ledgerOf().now, hasVisits }
    expect(body.visitsLeftOut).to.equal(hasVisits ? null : 'install_filter')
    expect(shown(body)).to.deep.equal(sideOf(side, period))
    expect(body.before === null ? null : shown(body.before)).to.deep.equal(
      before === null ? null : sideOf(side, before),
    )
    expect(counts(body.unfiltered, INSTALLS)).to.deep.equal(totalOf(book, period).installs)
    for (const { by, rows } of body.panels)
      expect(installsOf(panelShown(rows)), by).to.deep.equal(installsOf(panelOf({ book: kept, by }, period, before)))
  }

  it('says why Overview is compared with nothing', async () => {
    const of = async (words: Words) => {
      const { comparison, before, largestChange, panels } = await read(words)
      expect(before).to.equal(null)
      expect(largestChange).to.equal(null)
      for (const { rows } of panels) for (const row of rows) expect(row['before']).to.equal(null)
      return [comparison?.['by'], comparison?.['notCompared']]
    }
    // The world began after those days.
    expect(await of({ period: 'Last7Days', compare: 'year_before' })).to.deep.equal(['year_before', 'nothing_yet'])
    expect(await of({ period: 'Last28Days' })).to.deep.equal(['before', 'nothing_yet'])
    expect(await of(datesOf(days(0, 2)))).to.deep.equal(['before', 'nothing_yet'])
    // Thirteen months are kept.
    expect(await of({ period: 'Last90Days', compare: 'year_before' })).to.deep.equal(['year_before', 'not_kept'])
  })
}

function installsOf(panel: Panel) {
  const rows = Object.entries(panel).map(([name, { installs, before }]) => [name, { installs, before }] as const)
  return Object.fromEntries(rows.filter(([, { installs, before }]) => installs > 0 || (before ?? 0) > 0))
}

interface ComparedBook {
  /** Of the question. */
  readonly name: string
  readonly book: Book
  readonly period: Period
  readonly before: Period | null
}

/** Of several changes that are as large, any. */
function expectLargest(largest: Row | null, { name, book, period, before }: ComparedBook): void {
  if (before === null) {
    expect(largest, name).to.equal(null)
    return
  }
  const changes = PANELS_OF_VISITS.flatMap((by) =>
    Object.entries(panelOf({ book, by }, period, before)).flatMap(([row, { installs, before: earlier }]) =>
      row.startsWith('value ') ? [{ by, value: row.slice('value '.length), installs, before: earlier ?? 0 }] : [],
    ),
  )
  const most = Math.max(...changes.map((change) => Math.abs(change.installs - change.before)))
  const possible = changes.filter((change) => Math.abs(change.installs - change.before) === most)
  expect(possible, name).to.deep.include(largest)
}
