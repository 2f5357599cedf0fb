/** What programs read with a key, as JSON and as CSV, against the book. */

import { expect } from 'chai'

import type { Words } from '../service/asking.ts'
import { keepBook, rowsBy, totalOf, type Book, type Counts, type Period } from '../world/book.ts'
import { dateOf, hourOf, stepsIn, type StepName } from '../world/calendar.ts'
import { choiceText, chosen, CHOICES, isOfVisits } from '../world/choice.ts'
import { ALL, PERIODS, type Ledger } from '../service/stage.ts'
import { cellsOf, counts, type Row } from '../service/surfaces.ts'

const METRICS = ['installs', 'visits', 'copied', 'matched']
const metrics = METRICS.join(',')
/** What people read where there is no name. */
const CALLED: Readonly<Record<string, string>> = {
  direct: 'Direct',
  no_campaign: 'No campaign',
  none: 'None',
  no_visit: 'No visit found',
  not_looked_up: 'Not looked up',
}

interface Told {
  readonly rows: readonly Row[]
  readonly total: Row
}

/** As moments, of which the last is not included. */
const momentsOf = ({ since, until }: Period): Words => ({
  from: new Date(since).toISOString(),
  to: new Date(until).toISOString(),
})

type Sums = { readonly installs: Counts; readonly visits: Counts | null }

function measured({ installs, visits }: Sums): Readonly<Record<string, number | null>> {
  const visit = (name: string): number | null => (visits === null ? null : (visits[name] ?? 0))
  return {
    installs: installs['installs'] ?? 0,
    visits: visit('visits'),
    copied: visit('copied'),
    matched: installs['matched'] ?? 0,
  }
}

export function keyedSuite(ledgerOf: () => Ledger): void {
  let book: Book
  before(() => {
    book = keepBook(ledgerOf().world)
  })

  const figures = async (words: Words): Promise<Told> =>
    (await (await ledgerOf().readByKey('figures', { metrics, ...words })).json()) as Told

  for (const [bucket, nameOf] of Object.entries({ hour: hourOf, day: dateOf, week: dateOf } as const)) {
    it(`has every ${bucket} that programs read, and their sum`, async () => {
      for (const [name, period] of Object.entries(PERIODS)) {
        const { rows, total } = await figures({ ...momentsOf(period), bucket })
        const steps = stepsIn(bucket as StepName, period)
        expect(rows, name).to.deep.equal(
          steps.map((step) => ({
            value: null,
            row: null,
            bucket: nameOf(step.since),
            ...measured(totalOf(book, step)),
          })),
        )
        expect(total, name).to.deep.equal(measured(totalOf(book, period)))
      }
    })
  }

  for (const by of ['campaign', 'source', 'page', 'country', 'version']) {
    it(`has every day and ${by} that programs read, as JSON and as CSV`, async () => {
      const words = { from: dateOf(ALL.since), to: dateOf(ALL.until - 1), bucket: 'day', by, metrics }
      const kept = stepsIn('day', ALL).flatMap((day) =>
        [...rowsBy(book, by, day)].map(([row, each]) => lineOf(row, { day: dateOf(day.since), ...measured(each) })),
      )
      const { rows, total } = await figures(words)
      const lines = rows.map(({ row, value, bucket, ...own }) =>
        lineOf(`${String(row)} ${row === 'value' ? String(value) : ''}`, { day: bucket, ...own }),
      )
      expect(lines.toSorted()).to.deep.equal(kept.toSorted())
      for (const { row, value } of rows) if (row !== 'value') expect(value).to.equal(CALLED[String(row)])
      expect(total).to.deep.equal(measured(totalOf(book, ALL)))
      expect(await csvOf(words)).to.deep.equal(rows.map((row) => cellsOfRow(['value', 'row', 'bucket'], row)))
    })
  }

  /** Lines below the names. */
  async function csvOf(words: Words): Promise<readonly (readonly string[])[]> {
    const text = await (await ledgerOf().readByKey('figures', words, 'text/csv')).text()
    const [head = '', ...lines] = text.trimEnd().split('\r\n')
    expect(cellsOf(head)).to.deep.equal(['value', 'row', 'bucket', ...METRICS])
    return lines.map(cellsOf)
  }

  for (const choices of CHOICES) {
    const filter = choices.map(choiceText)
    it(`has what programs read of ${filter.join(' and ')}`, async () => {
      const kept = chosen(book, choices)
      for (const [name, period] of Object.entries(PERIODS)) {
        const { installs, visits } = totalOf(kept, period)
        const { total } = await figures({ ...momentsOf(period), filter })
        const mustBe = measured({ installs, visits: isOfVisits(choices) ? visits : null })
        expect(total, name).to.deep.equal(mustBe)
        const listed = await listOf({ ...momentsOf(period), filter: ['kind:is:install', ...filter] })
        expect(listed.length, name).to.equal(installs['installs'])
      }
    })
  }

  /** Page by page: on a slow machine a page ends early. */
  const listOf = async (words: Words): Promise<readonly Row[]> => {
    const rows: Row[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const asked = cursor === '' ? words : { ...words, cursor }
      const { installs, next } = (await (await ledgerOf().readByKey('installs', asked)).json()) as {
        readonly installs: readonly Row[]
        readonly next: string | null
      }
      rows.push(...installs)
      cursor = next
    }
    return rows
  }

  it('has each install, upgrade and reinstall that programs list, with what is known of it and of its visit', async () => {
    for (const kind of ['install', 'upgrade', 'reinstall'] as const) {
      const listed = await listOf({ ...momentsOf(ALL), filter: `kind:is:${kind}` })
      const kept = book.entries.filter((entry) => entry.kind === kind).toSorted((a, b) => b.at - a.at)
      expect(listed.map((row) => row['event_id'])).to.have.members(kept.map(({ id }) => id))
      const rows = new Map(listed.map((row) => [row['event_id'], row]))
      for (const { id, at, machine, version } of kept) {
        expect(rows.get(id), id).to.include({
          received_at: new Date(at).toISOString(),
          install_path: machine.method,
          platform: machine.system,
          agent: machine.agent,
          product_version: version,
          place: machine.place,
          country: machine.zone.called,
        })
      }
    }
  })

  it('lists every event once, those that count and those that do not, the newest first', async () => {
    const listed = await listOf(momentsOf(ALL))
    const events = ledgerOf().world.machines.flatMap((machine) => machine.events.map((event) => ({ machine, event })))
    expect(listed.map((row) => row['event_id'])).to.have.members(events.map(({ event }) => event.id))
    const times = listed.map((row) => String(row['received_at']))
    expect(times).to.deep.equal(times.toSorted().toReversed())
    const flagsOf = (rows: readonly Row[]) => counts(flagSums(rows), ['ci', 'container', 'test'])
    expect(flagsOf(listed)).to.deep.equal(
      flagsOf(
        events.map(({ machine: { isCi, isContainer, isTest } }) => ({
          ci: isCi,
          container: isContainer,
          test: isTest,
        })),
      ),
    )
  })
}

function flagSums(rows: readonly Row[]): Row {
  const sum = (name: string): number => rows.filter((row) => row[name] === true).length
  return { ci: sum('ci'), container: sum('container'), test: sum('test') }
}

/** Something that sorts. */
function lineOf(row: string, numbers: Row): string {
  return `${row.trim()} ${JSON.stringify(numbers)}`
}

function cellsOfRow(names: readonly string[], row: Row): readonly string[] {
  return [...names, ...METRICS].map((name) => {
    const cell = row[name]
    return typeof cell === 'string' || typeof cell === 'number' ? String(cell) : ''
  })
}
