/** Usage, the downloads, share links, `kubectl whence report` and the views in ClickHouse, against the book. */

import { expect } from 'chai'

import { keepBook, rowsBy, totalOf, trackedIn, type Book, type Period } from '../world/book.ts'
import { dateOf, startOfUtcDay, stepsIn } from '../world/calendar.ts'
import { choiceText, chosen, CHOICES, isOfVisits, type Choice } from '../world/choice.ts'
import { asking } from './overview.suite.ts'
import { panelOf, panelShown, shown, sideOf, type Overview } from '../service/overview.ts'
import { LINKS } from '../service/links.ts'
import { ALL, PERIODS, wordsOf, type OpenLedger } from '../service/stage.ts'
import { cellsOf, counts, reported, rowsOfReport, type Row } from '../service/surfaces.ts'
import { DAY, HOUR } from '../world/world.ts'

export function besideSuite(ledgerOf: () => OpenLedger): void {
  let book: Book
  before(() => {
    book = keepBook(ledgerOf().world)
  })

  it('has the page views, events and installs of each day of Usage, and of the month before', async () => {
    const { now, world, ask } = ledgerOf()
    const body = (await (await ask('/api/organizations/acme/usage')).json()) as {
      readonly used: number
      readonly days: readonly Row[]
      readonly before: { readonly since: number; readonly until: number; readonly used: number }
    }
    const month = new Date(now)
    const since = Date.UTC(month.getUTCFullYear(), month.getUTCMonth())
    const days: Row[] = []
    for (let at = since; at < now; at = startOfUtcDay(at) + DAY) {
      const day = { since: at, until: at + DAY }
      const tracked = trackedIn(world, day)
      if (tracked.pageViews + tracked.events > 0)
        days.push({ at, ...tracked, installs: totalOf(book, day).installs['installs'] })
    }
    const sumOf = ({ pageViews, events }: { readonly pageViews: number; readonly events: number }): number =>
      pageViews + events
    expect(body.days).to.deep.equal(days)
    expect(body.used).to.equal(sumOf(trackedIn(world, { since, until: now + HOUR })))
    expect(body.before.used).to.equal(sumOf(trackedIn(world, body.before)))
  })

  for (const [name, { path, words, choices }] of Object.entries(LINKS)) {
    it(`has every number behind the share link "${name}"`, async () => {
      const asked = asking(ledgerOf().now)[words]
      if (asked === undefined) throw new Error(`nobody asks for ${words}`)
      const { figures } = (await (await ledgerOf().ask(`${path}/figures`)).json()) as { readonly figures: Overview }
      const { period, before } = asked
      const side = {
        book: chosen(book, choices),
        steps: figures.step,
        now: ledgerOf().now,
        hasVisits: isOfVisits(choices),
      }
      expect([figures.since, figures.until]).to.deep.equal([period.since, period.until])
      expect(shown(figures)).to.deep.equal(sideOf(side, period))
      expect(figures.before === null ? null : shown(figures.before)).to.deep.equal(
        before === null ? null : sideOf(side, before),
      )
      if (!isOfVisits(choices)) return
      for (const { by, rows } of figures.panels)
        expect(panelShown(rows), by).to.deep.equal(panelOf({ book: side.book, by }, period, before))
    })
  }

  /** Below the names of the columns, by these. */
  async function downloaded(page: string, period: Period, filter: readonly string[]): Promise<readonly Row[]> {
    const query = new URLSearchParams({ website: 'acme-dev', kind: 'install', ...wordsOf(period) })
    for (const text of filter) query.append('filter', text)
    const text = await (await ledgerOf().ask(`/api/organizations/acme/${page}/export?${query.toString()}`)).text()
    const [head = '', ...lines] = text.trimEnd().split('\r\n')
    expect(lines.pop(), 'a last line says how many there are').to.match(/^"?# /).and.to.include(String(lines.length))
    const names = cellsOf(head)
    return lines.map((line) => Object.fromEntries(cellsOf(line).map((cell, place) => [names[place] ?? '', cell])))
  }

  const asked: readonly (readonly Choice[])[] = [[], ...CHOICES]
  for (const choices of asked) {
    const filter = choices.map(choiceText)
    it(`has the rows of the download of installs of ${filter.join(' and ') || 'all'}`, async () => {
      const kept = chosen(book, choices)
      for (const [name, period] of Object.entries(PERIODS)) {
        const rows = await downloaded('installs', period, filter)
        const installs = kept.entries.filter(
          ({ kind, at }) => kind === 'install' && at >= period.since && at < period.until,
        )
        expect(
          rows.map((row) => row['event_id']),
          name,
        ).to.have.members(installs.map(({ id }) => id))
        const byId = new Map(rows.map((row) => [row['event_id'], row]))
        for (const { id, machine, version, at } of installs)
          expect(byId.get(id), id).to.include({
            received_at: new Date(at).toISOString(),
            installation_id: machine.id,
            install_path: machine.method,
            product_version: version,
            country: machine.zone.called,
          })
      }
    })
  }

  it('has what the plugin of kubectl reports, which is what the command line does', async () => {
    const said = rowsOfReport(await ledgerOf().reportByKubectl(ALL, '--by', 'campaign', '--json'), 'campaign')
    for (const [row, mustBe] of rowsBy(book, 'campaign', ALL)) {
      const { is, mustBe: kept } = reported(mustBe, said.get(row))
      expect(is, row).to.deep.equal(kept)
    }
  })

  // Last: the service is stopped for it.
  it('has what the views in ClickHouse show, by day and hour and by each name', async () => {
    const rowsOf = await ledgerOf().openViews()
    const days = await rowsOf(`SELECT toString(day) AS day, installs, matched, looked_up, known_source
      FROM whence_acme.installs_by_day ORDER BY day`)
    expect(days.map((row) => [row['day'], counts(row, DAY_COLUMNS)])).to.deep.equal(
      stepsIn('day', ALL)
        .map((day) => {
          const { installs = 0, matched = 0, unmatched = 0, known_source = 0 } = totalOf(book, day).installs
          return [dateOf(day.since), { installs, matched, looked_up: matched + unmatched, known_source }] as const
        })
        .filter(([, { installs }]) => installs > 0),
    )
    const hours = await rowsOf(`SELECT toUnixTimestamp(hour) AS hour, visits, copied, installed, converted
      FROM whence_acme.visits WHERE counted_by = 'all' AND visits > 0 ORDER BY hour`)
    expect(hours.map((row) => [Number(row['hour']) * 1_000, counts(row, HOUR_COLUMNS)])).to.deep.equal(
      hoursOfUtc()
        .map((hour) => [hour.since, counts(totalOf(book, hour).visits, HOUR_COLUMNS)] as const)
        .filter(([, { visits = 0 }]) => visits > 0),
    )
    for (const by of ['source', 'medium', 'campaign', 'landing_page']) {
      const kept = [...rowsBy(book, by, ALL)].map(([row, each]) => [labelOf(row), each] as const)
      const installs = await rowsOf(`SELECT ${by} AS value, count() AS n FROM whence_acme.installs GROUP BY value`)
      expect(numbersOf(installs), by).to.deep.equal(
        some(kept.map(([label, each]) => [label, each.installs['installs'] ?? 0])),
      )
      const visits = await rowsOf(
        `SELECT value, sum(visits) AS n FROM whence_acme.visits WHERE counted_by = '${by}' GROUP BY value`,
      )
      expect(numbersOf(visits), by).to.deep.equal(
        some(kept.map(([label, each]) => [label, each.visits?.['visits'] ?? 0])),
      )
    }
  })
}

const DAY_COLUMNS = ['installs', 'matched', 'looked_up', 'known_source']
const HOUR_COLUMNS = ['visits', 'copied', 'installed', 'converted']

function hoursOfUtc(): readonly Period[] {
  const hours: Period[] = []
  for (let at = Math.floor(ALL.since / HOUR) * HOUR; at < ALL.until; at += HOUR)
    hours.push({ since: at, until: at + HOUR })
  return hours
}

const LABELS: Readonly<Record<string, string>> = {
  'direct ': 'Direct',
  'no_campaign ': 'No campaign',
  'none ': 'None',
  'no_visit ': 'No visit found',
  'not_looked_up ': 'Not looked up',
}

function labelOf(row: string): string {
  return LABELS[row] ?? row.slice('value '.length)
}

type Numbers = Readonly<Record<string, number>>

function numbersOf(rows: readonly Row[]): Numbers {
  return some(rows.map((row) => [String(row['value']), Number(row['n'])]))
}

function some(all: readonly (readonly [string, number])[]): Numbers {
  return Object.fromEntries(all.filter(([, count]) => count > 0))
}
