/** Visits of figures are sittings: what a visitor did on several pages, over some hours, counts once, in the hour in which it began. */

import { expect } from 'chai'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { erase } from '../../delivery/tools/erase.ts'
import type { Dimension } from '../../domain/figures/cells.ts'
import type { LogRecord, VisitRecord } from '../../domain/records.ts'
import { activationRecord, handoffRecord, installRecord, unique, visitRecord } from '../contract/fact-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { createBatchWriter } from './support/batch-writer.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Half a day, long over. */
const FROM_MS = Math.floor(Date.now() / HOUR_MS - 300) * HOUR_MS
const HOURS = 12
const SOURCES = ['news', 'forum', ''] as const
const PAGES = ['https://acme.dev/', 'https://acme.dev/docs', 'https://acme.dev/install'] as const

let serial = 0
const idAt = (ms: number): string =>
  `0a${ms.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`
const nameOfSitting = (): string => `sitting-${String(serial++).padStart(14, '0')}`

/** Numbers below a bound, the same for the same seed. */
function diceOf(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * bound)
  }
}

describe('visits of figures', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let website = ''
  const writeInto = createBatchWriter('writer-one')
  before(async () => {
    facts = await openTestFacts()
  })
  beforeEach(() => {
    website = unique('site')
  })
  after(async () => {
    await facts?.close()
  })

  const write = (records: readonly LogRecord[]): Promise<void> => writeInto(facts, records)
  const roll = (): Promise<void> => rollUp({ facts, nowMs: Date.now })
  const view = (atMs: number, changes: Partial<VisitRecord['visit']> = {}): VisitRecord =>
    visitRecord({ website, visitId: idAt(atMs), issuedAtMs: atMs, pageUrl: PAGES[0], ...changes })
  const copyOf = ({ visit: { visitId, issuedAtMs } }: VisitRecord): LogRecord =>
    handoffRecord({ website, visitId, issuedAtMs, isCopied: true })
  const activationOf = ({ visit: { visitId, issuedAtMs } }: VisitRecord): LogRecord =>
    activationRecord({ website, visitId, issuedAtMs })
  const installOf = ({ visit }: VisitRecord, afterMs: number): LogRecord =>
    installRecord({
      website,
      eventId: unique('event'),
      installationId: unique('machine'),
      eventType: 'install_completed',
      receivedAtMs: visit.issuedAtMs + afterMs,
      resolution: 'matched',
      selectionPolicy: 'handoff',
      visitId: visit.visitId,
      visitIssuedAtMs: visit.issuedAtMs,
    })
  const asked = (hours: number, until: number) => ({
    organizations: ['acme'],
    websites: [website],
    since_ms: FROM_MS + hours * HOUR_MS,
    until_ms: FROM_MS + until * HOUR_MS,
  })
  const cellsOf = (rows: readonly { readonly value: string; readonly counts: readonly number[] }[]) =>
    Object.fromEntries(rows.map(({ value, counts }) => [value, counts]))
  const rolled = async (column: Dimension, since = 0, until = HOURS) =>
    cellsOf(await facts.run('rolledCells', { ...asked(since, until), column }))
  /** Straight from the facts, as for hours that have not ended. */
  const raw = async (column: Dimension, since = 0, until = HOURS) => {
    const rows = await facts.run('funnelCells', { ...asked(since, until), key_ids: [10] })
    return cellsOf(rows.filter(({ dimension }) => dimension === column))
  }
  const inList = async (filters: object, since = 0, until = HOURS) => {
    const { since_ms, until_ms } = asked(since, until)
    const window = { organization: 'acme', websites: [website], since_ms, until_ms, ...filters }
    const [within] = await facts.run('visitsWithin', window)
    const found = { ...window, key_ids: within?.key_ids ?? [] }
    const lines = await facts.run('visitLines', { ...found, limit: 1_000 })
    const [counts] = await facts.run('visitCounts', found)
    expect(lines).to.have.length(counts?.visits ?? -1)
    expect(within?.wanted ?? 0).to.be.at.least(lines.length > 0 ? 1 : 0)
    return { lines, counts }
  }

  it('are sittings: of their first page view, with what any of them reached', async () => {
    const sitting = nameOfSitting()
    const first = view(FROM_MS, {
      sitting,
      isEntry: true,
      traffic: { source: 'news', medium: '', channel: 'Referral', campaign: 'launch' },
    })
    const second = view(FROM_MS + 5 * MINUTE_MS, { sitting, isEntry: false, pageUrl: PAGES[1] })
    const third = view(FROM_MS + 9 * MINUTE_MS, { sitting, isEntry: false, pageUrl: PAGES[2] })
    const again = view(FROM_MS + 11 * MINUTE_MS, { sitting, isEntry: false, pageUrl: PAGES[2] })
    await write([third, first, again, second, activationOf(second), copyOf(third), installOf(third, HOUR_MS)])
    await roll()
    const reached = [1, 1, 1, 0, 1, 0, 1]
    for (const read of [rolled, raw]) {
      expect(await read('visits')).to.deep.equal({ '': reached })
      expect(await read('campaign')).to.deep.equal({ launch: reached })
      expect(await read('page')).to.deep.equal(Object.fromEntries(PAGES.map((page) => [page, reached])))
      expect(await read('pages_seen')).to.deep.equal({ '': reached.map((count) => count * 3) })
    }
    const { lines } = await inList({ source_is: ['news'], page_is: [PAGES[2]], step: 'copied' })
    expect(lines.map(({ visit_id: id, page_url: url }) => [id, url])).to.deep.equal([[first.visit.visitId, PAGES[0]]])
    expect((await inList({ source_is: ['forum'] })).lines).to.deep.equal([])
  })

  it('begin with the first page view that is known, whatever the pages said', async () => {
    const lost = nameOfSitting()
    const twice = nameOfSitting()
    await write([
      view(FROM_MS + 7 * MINUTE_MS, { sitting: lost, isEntry: false }),
      view(FROM_MS + 9 * MINUTE_MS, { sitting: lost, isEntry: false }),
      view(FROM_MS + 58 * MINUTE_MS, { sitting: twice, isEntry: true }),
      view(FROM_MS + 61 * MINUTE_MS, { sitting: twice, isEntry: true }),
    ])
    await roll()
    for (const read of [rolled, raw]) {
      expect((await read('visits', 0, 1))['']?.[0]).to.equal(2)
      expect(await read('visits', 1, 2)).to.deep.equal({})
    }
  })

  it('count without a name as the page says', async () => {
    await write([view(FROM_MS, { isEntry: true }), view(FROM_MS, { isEntry: null }), view(FROM_MS, { isEntry: false })])
    await roll()
    expect((await rolled('visits'))['']?.[0]).to.equal(2)
  })

  it('are those of people alone', async () => {
    const sitting = nameOfSitting()
    const of = (atMs: number, kind: string) =>
      view(FROM_MS + atMs, { sitting, isEntry: false, visitor: { platform: '', kind } })
    await write([of(0, 'bot'), of(59 * MINUTE_MS, 'automation'), of(62 * MINUTE_MS, '')])
    await roll()
    expect(await rolled('visits', 0, 1)).to.deep.equal({})
    expect((await rolled('visits', 1, 2))['']?.[0]).to.equal(1)
  })

  it('reach steps in later hours, even many hours later, and until the hour is counted by itself', async () => {
    const sitting = nameOfSitting()
    const views = Array.from({ length: 13 }, (_, place) =>
      view(FROM_MS + 50 * MINUTE_MS + place * 25 * MINUTE_MS, {
        sitting,
        isEntry: place === 0,
        pageUrl: place === 12 ? PAGES[2] : PAGES[0],
      }),
    )
    const last = views[12] ?? expect.fail()
    await write(views)
    await roll()
    expect(await rolled('visits')).to.deep.equal({ '': [1, 0, 0, 0, 0, 0, 0] })
    await write([activationOf(last), copyOf(last), installOf(last, 3 * 24 * HOUR_MS)])
    await roll()
    expect(await rolled('visits')).to.deep.equal({ '': [1, 1, 1, 0, 1, 0, 1] })
    expect(await rolled('visits', 1)).to.deep.equal({})
    expect(await raw('page', 0, 1)).to.deep.equal({
      [PAGES[0]]: [1, 1, 1, 0, 1, 0, 1],
      [PAGES[2]]: [1, 1, 1, 0, 1, 0, 1],
    })
    expect((await inList({ page_is: [PAGES[2]] }, 0, 1)).counts).to.include({ visits: 1, copied: 1 })
    expect((await inList({}, 1, HOURS)).lines).to.deep.equal([])
  })

  it('move to an earlier hour if their first page view comes late', async () => {
    const sitting = nameOfSitting()
    const views = [10, 35, 62, 88, 115, 130].map((minutes) => view(FROM_MS + minutes * MINUTE_MS, { sitting }))
    const [first, second, ...others] = views
    await write([...others, copyOf(others.at(-1) ?? expect.fail())])
    await roll()
    expect(await rolled('visits', 1, 2)).to.deep.equal({ '': [1, 0, 1, 0, 0, 0, 0] })
    await write([second ?? expect.fail(), first ?? expect.fail()])
    await roll()
    expect(await rolled('visits')).to.deep.equal({ '': [1, 0, 1, 0, 0, 0, 0] })
    expect(await rolled('visits', 1)).to.deep.equal({})
  })

  it('lose what is erased: a page view takes its steps along, and the next one begins the visit', async () => {
    const sitting = nameOfSitting()
    const of = (minutes: number, pageUrl: string) =>
      view(FROM_MS + minutes * MINUTE_MS, { sitting, pageUrl, isEntry: minutes === 50, utm: {} })
    const [first, second, third] = [of(50, PAGES[0]), of(65, 'https://acme.dev/secret'), of(75, PAGES[2])] as const
    await write([first, second, third, copyOf(second), activationOf(third)])
    await roll()
    expect(await rolled('visits', 0, 1)).to.deep.equal({ '': [1, 1, 1, 0, 0, 0, 0] })
    const eventLog = { append: () => Promise.resolve(), progress: () => expect.fail('no writer runs') }
    const eraseView = ({ visit: { visitId } }: VisitRecord) =>
      erase(
        { facts, eventLog, nowMs: Date.now, isWriterRunning: false },
        { organization: 'acme', website, installationIds: [], visitIds: [visitId] },
      )
    await eraseView(second)
    await roll()
    expect(await rolled('visits', 0, 1)).to.deep.equal({ '': [1, 1, 0, 0, 0, 0, 0] })
    const versions = await facts.connection.query('SELECT pages FROM visit_hours LIMIT 10000', {}, { turn: 'report' })
    expect(JSON.stringify(versions)).to.contain('/install').and.not.contain('secret')
    await eraseView(first)
    await roll()
    expect(await rolled('visits', 0, 1)).to.deep.equal({})
    expect(await rolled('visits', 1, 2)).to.deep.equal({ '': [1, 1, 0, 0, 0, 0, 0] })
  })

  it('are counted anew only as long as something changes', async () => {
    const sitting = nameOfSitting()
    await write([50, 70, 95, 125].map((minutes) => view(FROM_MS + minutes * MINUTE_MS, { sitting })))
    await roll()
    const marked = async () => (await facts.run('dirtyHours', { until_ms: Date.now(), limit: 100 })).length
    await roll()
    expect(await marked()).to.equal(0)
  })

  it('are the same whether their hours are counted one by one or together, also with pauses and without an end', async () => {
    const sittingsOf = (dice: (bound: number) => number): readonly LogRecord[] => {
      const sitting = nameOfSitting()
      let atMs = FROM_MS + dice(20 * 60) * MINUTE_MS
      // One in six goes on for a day and longer, which no visit does; others pause for hours, which the SDK takes for two sittings.
      const isEndless = dice(6) === 0
      return Array.from({ length: isEndless ? 65 : 1 + dice(9) }, () => {
        atMs += 1 + (dice(5) === 0 && !isEndless ? dice(200 * MINUTE_MS) : dice(50 * MINUTE_MS))
        const own = view(atMs, { sitting, pageUrl: PAGES[dice(3)] ?? '' })
        const copied = dice(6) === 0 ? [copyOf(own)] : []
        return [own, ...copied, ...(dice(9) === 0 ? [installOf(own, dice(30) * HOUR_MS)] : [])]
      }).flat()
    }
    const rowsOf = (columns: string, table: string) =>
      facts.connection.query(
        `SELECT ${columns} FROM ${table} FINAL WHERE website = {website:String} ORDER BY ALL LIMIT 100000`,
        { website },
        { turn: 'report' },
      )
    const countedWith = async (factsAtOnce: number) => {
      website = unique('site')
      const dice = diceOf(11)
      for (let batch = 0; batch < 2; batch += 1) {
        await write(Array.from({ length: 8 }, () => sittingsOf(dice)).flat())
        await rollUp({ facts, nowMs: Date.now }, { factsAtOnce })
      }
      return {
        hours: await rowsOf(
          'hour, arraySort(visits), arraySort(source), arraySort(page), page_views, events',
          'website_hours',
        ),
        later: await rowsOf(
          'began, hour, is_gone, pages, is_activated, is_copied, is_started, installed_at',
          'visit_hours',
        ),
      }
    }
    const apart = await countedWith(1)
    expect(apart.later.length).to.be.greaterThan(50)
    expect(await countedWith(300)).to.deep.equal(apart)
    expect(await countedWith(5_000)).to.deep.equal(apart)
  })

  it('equal a count of our own, by hour, source and page, rolled up, raw, cut within hours, and as a list', async () => {
    const dice = diceOf(7)
    const records: LogRecord[] = []
    const visits = Array.from({ length: 80 }, () => {
      const sitting = nameOfSitting()
      let atMs = FROM_MS + dice((HOURS - 4) * 60) * MINUTE_MS + dice(MINUTE_MS)
      const source = SOURCES[dice(3)] ?? ''
      const traffic = { source, medium: '', channel: '', campaign: '' }
      const views = Array.from({ length: 1 + dice(9) }, (_, place) => {
        if (place > 0) atMs += 1 + dice(28 * MINUTE_MS)
        return view(atMs, {
          sitting,
          isEntry: place === 0,
          pageUrl: PAGES[dice(3)] ?? '',
          traffic: place === 0 ? traffic : { ...traffic, source: `${source} later` },
        })
      })
      const one = (): VisitRecord => views[dice(views.length)] ?? expect.fail()
      const copied = dice(3) === 0 ? [copyOf(one())] : []
      const installed = dice(4) === 0 ? [installOf(one(), dice(9 * 24) * HOUR_MS)] : []
      records.push(...views, ...copied, ...installed)
      return { views, source, isCopied: copied.length > 0, isInstalled: installed.length > 0 }
    })
    await write(records)
    await roll()
    const wanted = (sinceMs: number, untilMs: number) =>
      visits.filter(({ views: [first] }) => {
        const at = (first ?? expect.fail()).visit.issuedAtMs
        return at >= sinceMs && at < untilMs
      })
    const sums = (of: readonly (typeof visits)[number][]) => [
      of.length,
      of.filter(({ isCopied }) => isCopied).length,
      of.filter(({ isInstalled }) => isInstalled).length,
    ]
    const shown = (cells: Record<string, readonly number[]>, value: string) => {
      const counts = cells[value] ?? [0, 0, 0, 0, 0, 0, 0]
      return [counts[0], counts[2], counts[4]]
    }
    const steps = async (query: 'rolledSteps' | 'visitSteps') => {
      const rows = await facts.run(query, { ...asked(0, HOURS), column: 'visits', key_ids: [10] })
      const byHour = Map.groupBy(rows, ({ at_ms: ms }) => Math.floor((ms - FROM_MS) / HOUR_MS))
      return [...byHour].flatMap(([hour, own]) =>
        own.map(({ counts }) => ({ hour, counts: [counts[0] ?? 0, counts[2] ?? 0, counts[4] ?? 0] })),
      )
    }
    const rolledUp = await steps('rolledSteps')
    const byQuarter = await steps('visitSteps')
    for (let hour = 0; hour < HOURS; hour += 1) {
      const own = sums(wanted(FROM_MS + hour * HOUR_MS, FROM_MS + (hour + 1) * HOUR_MS))
      for (const found of [rolledUp, byQuarter]) {
        const those = found.filter((step) => step.hour === hour)
        const all = [0, 1, 2].map((place) => those.reduce((sum, { counts }) => sum + (counts[place] ?? 0), 0))
        expect(all, `hour ${hour}`).to.deep.equal(own)
      }
    }
    for (const [since, until] of [
      [0, HOURS],
      [2.25, 7.75],
      [5, 5.25],
    ] as const) {
      const own = wanted(FROM_MS + since * HOUR_MS, FROM_MS + until * HOUR_MS)
      const sources = await raw('source', since, until)
      const pages = await raw('page', since, until)
      for (const source of SOURCES) {
        const those = own.filter((visit) => visit.source === source)
        expect(shown(sources, source), `${source} ${since}`).to.deep.equal(sums(those))
        expect((await inList({ source_is: [source] }, since, until)).lines).to.have.length(those.length)
        for (const page of PAGES) {
          const both = those.filter(({ views }) => views.some(({ visit }) => visit.pageUrl === page))
          const { counts } = await inList({ source_is: [source], page_is: [page] }, since, until)
          expect([counts?.visits, counts?.copied, counts?.installed], `${source} ${page}`).to.deep.equal(sums(both))
        }
      }
      for (const page of PAGES) {
        const those = own.filter(({ views }) => views.some(({ visit }) => visit.pageUrl === page))
        expect(shown(pages, page), page).to.deep.equal(sums(those))
        expect((await inList({ page_is: [page] }, since, until)).lines).to.have.length(those.length)
      }
    }
  })
})
