/** Where things came late, were decided later, were erased and expired: the numbers of what is kept, on every kind of surface, against the book. */

import { expect } from 'chai'

import type { Words } from '../service/asking.ts'
import { keepBook, rowsBy, totalOf, trackedIn, type Book, type Period } from '../world/book.ts'
import { daysBefore, dateOf, lastDays, startOf, startOfUtcDay, stepsIn } from '../world/calendar.ts'
import { choiceText, chosen, type Choice } from '../world/choice.ts'
import { readWeeklyMail, weeklyLetter, type PostOffice } from '../service/letters.ts'
import { panelOf, panelShown, shown, sideOf, type Overview } from '../service/overview.ts'
import { START_MS, type OpenLedger, type Spans } from '../service/stage.ts'
import { counts, INSTALLS, type Row } from '../service/surfaces.ts'
import { DAY, HOUR } from '../world/world.ts'

/** How long it goes on. */
export const LATE_DAYS = 40
const END_MS = START_MS + LATE_DAYS * DAY
const KEPT: Period = { since: END_MS - 28 * DAY, until: END_MS }

export const LATE_SPANS: Spans = {
  all: KEPT,
  periods: {
    'four weeks': KEPT,
    'a week that is long over': { since: END_MS - 21 * DAY, until: END_MS - 14 * DAY },
    'some hours': { since: END_MS - 9 * DAY + 5 * HOUR, until: END_MS - 9 * DAY + 16 * HOUR },
  },
}

/** Who wants the weekly mail, once everything has happened. */
const READER = `
apiVersion: whence.dev/v1alpha1
kind: Member
metadata: { name: reader }
spec: { organizationRef: { name: acme }, email: reader@acme.dev, role: Viewer, mail: { weekly: true } }
`

const USAGE = '/api/organizations/acme/usage'

const TWO: readonly Choice[] = [
  { by: 'source', how: 'is_not', words: ['hn'] },
  { by: 'landing_page', how: 'contains', words: ['install', 'cli'] },
]

export function lateSuite(ledgerOf: () => OpenLedger, officeOf: () => PostOffice): void {
  let book: Book
  before(() => {
    book = keepBook(ledgerOf().world)
  })

  it('has some of every trouble, or it would prove nothing', () => {
    const { world } = ledgerOf()
    const events = world.machines.flatMap((machine) => machine.events)
    expect(events.filter(({ heldFor }) => heldFor > 0).length).to.be.greaterThan(5)
    expect(events.filter(({ unclearFor }) => unclearFor > 0).length).to.be.greaterThan(5)
    expect(world.visitors.filter(({ heldFor }) => heldFor > 0).length).to.be.greaterThan(5)
    for (const { machines, visitors } of world.erasures) expect(machines.length + visitors.length).to.be.greaterThan(2)
    // Without what is kept of a machine these would be installs.
    expect(book.entries.some(({ version, kind }) => version === '3.0.0' && kind === 'upgrade')).to.equal(true)
    expect(book.entries.some(({ version, kind }) => version === '3.1.0' && kind === 'install')).to.equal(true)
  })

  async function overview(words: Words, period: Period, choices: readonly Choice[] = []): Promise<Overview> {
    const kept = chosen(book, choices)
    const body = (await ledgerOf().read('overview', { ...words, filter: choices.map(choiceText) })) as Overview
    const side = { book: kept, steps: body.step, now: ledgerOf().now, hasVisits: true }
    expect([body.since, body.until]).to.deep.equal([period.since, period.until])
    expect(shown(body)).to.deep.equal(sideOf(side, period))
    const before = body.before === null ? null : daysBefore(period)
    if (body.before !== null && before !== null) expect(shown(body.before)).to.deep.equal(sideOf(side, before))
    for (const { by, rows } of choices.length === 0 ? body.panels : [])
      expect(panelShown(rows), by).to.deep.equal(panelOf({ book: kept, by }, period, before))
    return body
  }

  it('has the Overview of a week and the week before, with all panels, and under two filters', async () => {
    const week = lastDays(7, ledgerOf().now)
    const { comparison } = await overview({ period: 'Last7Days' }, week)
    expect(comparison?.['notCompared']).to.equal(null)
    await overview({ period: 'Last7Days' }, week, TWO)
  })

  it('has the Overview of four weeks, and compares it with nothing, as the time before is not kept', async () => {
    const { comparison } = await overview({ period: 'Last28Days' }, lastDays(28, ledgerOf().now))
    expect(comparison?.['notCompared']).to.equal('not_kept')
  })

  it('has every day that programs read, by campaign', async () => {
    const answer = await ledgerOf().readByKey('figures', {
      from: dateOf(KEPT.since),
      to: dateOf(KEPT.until - 1),
      bucket: 'day',
      by: 'campaign',
      metrics: 'installs,visits,copied,matched',
    })
    const { rows } = (await answer.json()) as { readonly rows: readonly Row[] }
    const lines = rows.map(({ row, value, bucket, installs, visits, copied, matched }) =>
      JSON.stringify([
        bucket,
        `${String(row)} ${row === 'value' ? String(value) : ''}`,
        installs,
        visits,
        copied,
        matched,
      ]),
    )
    const kept = stepsIn('day', KEPT).flatMap((day) =>
      [...rowsBy(book, 'campaign', day)].map(([row, { installs, visits }]) =>
        JSON.stringify([
          dateOf(day.since),
          row,
          installs['installs'],
          visits?.['visits'],
          visits?.['copied'],
          installs['matched'],
        ]),
      ),
    )
    expect(lines.toSorted()).to.deep.equal(kept.toSorted())
  })

  it('has the page views, events and installs of each day of Usage that is kept', async () => {
    const { days } = (await (await ledgerOf().ask(USAGE)).json()) as { readonly days: readonly Row[] }
    const first = startOfUtcDay(KEPT.since) + DAY
    for (const shownDay of days.filter(({ at }) => Number(at) >= first)) {
      const at = Number(shownDay['at'])
      const day = { since: at, until: at + DAY }
      const { installs } = totalOf(book, day).installs
      expect(shownDay, dateOf(at)).to.deep.equal({ at, ...trackedIn(ledgerOf().world, day), installs })
    }
  })

  it('has every number of the weekly mail', async () => {
    const monday = startOf('week', ledgerOf().now - 10 * HOUR)
    const week = { since: monday - 7 * DAY, until: monday }
    const { apply, at } = ledgerOf()
    await apply({ 'weekly.yaml': READER })
    const letter = await at(monday + 10 * HOUR, () => weeklyLetter(officeOf()))
    const { now, before } = readWeeklyMail(letter)
    expect(now).to.deep.equal(mailed(week))
    for (const [name, number] of Object.entries(before))
      expect(number, name).to.equal(mailed({ since: week.since - 7 * DAY, until: week.since })[name])
  })

  /** Numbers as the mail spells them. */
  function mailed(period: Period): Readonly<Record<string, string>> {
    const { installs, visits } = totalOf(book, period)
    const { installs: all = 0, matched = 0, unmatched = 0, known_source = 0 } = counts(installs, INSTALLS)
    const { visits: came = 0, converted = 0 } = visits
    return {
      Installs: String(all),
      'Match rate': `${matched} of ${matched + unmatched}`,
      'With a known source': String(known_source),
      Visits: String(came),
      Conversion: `${converted} of ${came}`,
    }
  }
}
