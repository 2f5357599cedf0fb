/** Installs by everything, as the facts-writer and the role `rollup` count them: the given answers of a story told by hand. */

import { expect } from 'chai'

import { figuresBy } from '../../dashboard/figures/pages.ts'
import type { FigureSource } from '../../dashboard/figures/read-figures.ts'
import { installSlices, readInstallFigures, readLeftOut } from '../../dashboard/figures/read-installs.ts'
import { erasedName } from '../../delivery/facts-writer/erasures.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { erase } from '../../delivery/tools/erase.ts'
import { DAY_MS, HOUR_MS, hourOf } from '../../domain/durations.ts'
import type { InstallDimension } from '../../domain/figures/installs.ts'
import type { Install } from '../../domain/model.ts'
import type { InstallRecord, LogRecord } from '../../domain/records.ts'
import { FactsUnavailable } from '../../ports/facts/facts.ts'
import { decisionRecord, installRecord, unique, visitRecord } from '../contract/fact-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { createBatchWriter } from './support/batch-writer.ts'

/** Ten days ago: all of it has ended, and later events still have room. */
const FROM_MS = hourOf(Date.now() - 10 * DAY_MS)
const KEY_ID = 10

let serial = 0
const idAt = (ms: number): string =>
  `0a${ms.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`

describe('installs in figures', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let website: string
  const writeInto = createBatchWriter('writer-of-installs')
  before(async () => {
    facts = await openTestFacts()
  })
  beforeEach(() => {
    website = unique('site')
  })
  after(() => facts?.close())

  const write = (records: readonly LogRecord[], into: TestFacts = facts): Promise<void> => writeInto(into, records)
  const source = (): FigureSource => ({
    keyIds: [KEY_ID],
    nowMs: Date.now(),
    reads: {
      websites: [{ id: website }],
      run: (query, params) => facts.run(query, { ...params, organization: 'acme', websites: [website] } as never),
    },
  })
  const PERIOD = { sinceMs: FROM_MS, untilMs: FROM_MS + 9 * DAY_MS }
  const total = async () => (await readInstallFigures(source(), PERIOD, [])).total
  /** Rows as `value` or `(row)` with their installs. */
  const installsBy = async (by: InstallDimension): Promise<Readonly<Record<string, number>>> => {
    const { rows, total: sum } = await figuresBy(source(), PERIOD, by)
    const found = rows.filter(({ installs }) => installs > 0)
    expect(
      found.reduce((all, { installs }) => all + installs, 0),
      `sum of ${by}`,
    ).to.equal(sum.installs)
    return Object.fromEntries(found.map(({ row, value, installs }) => [row === 'value' ? value : `(${row})`, installs]))
  }
  const visited = (atMs: number, utm: object) => visitRecord({ website, visitId: idAt(atMs), issuedAtMs: atMs, utm })
  const install = (installationId: string, changes: Partial<Install> = {}): InstallRecord =>
    installRecord({
      website,
      installationId,
      eventId: unique('event'),
      receivedAtMs: FROM_MS + 600_000,
      resolution: 'unmatched',
      visitId: null,
      visitIssuedAtMs: null,
      ...changes,
    })
  const of = ({ visit }: ReturnType<typeof visited>) =>
    ({
      resolution: 'matched',
      selectionPolicy: 'handoff',
      visitId: visit.visitId,
      visitIssuedAtMs: visit.issuedAtMs,
    }) as const

  it('count five machines for the one visit that led to them, and two that had none', async () => {
    const visit = visited(FROM_MS, { campaign: 'show-hn' })
    const machines = ['one', 'two', 'three', 'four', 'five']
    await write([
      visit,
      ...machines.map((machine) => install(machine, of(visit))),
      install('six'),
      install('seven', { resolution: 'counted' }),
    ])
    const right = { 'show-hn': 5, '(no_visit)': 1, '(not_looked_up)': 1 }
    expect(await installsBy('campaign')).to.deep.equal(right)
    expect(await installsBy('source')).to.deep.equal({ '(direct)': 5, '(no_visit)': 1, '(not_looked_up)': 1 })
    expect(await total()).to.deep.include({ installs: 7, matched: 5, unmatched: 1, counted: 1, known_source: 0 })
    await rollUp({ facts, nowMs: Date.now })
    expect(await installsBy('campaign')).to.deep.equal(right)
    const { rows } = await figuresBy(source(), PERIOD, 'campaign')
    expect(rows[0]?.visits).to.include({ visits: 1, installed: 1, converted: 1 })
  })

  it('take a step from the visit that an install no longer counts for, also if the marks of its hour failed at first', async () => {
    const first = visited(FROM_MS, {})
    const second = visited(FROM_MS + 2 * HOUR_MS, {})
    const late = install('one', { receivedAtMs: FROM_MS + 4 * HOUR_MS, ...of(first) })
    await write([first, second, late])
    await rollUp({ facts, nowMs: Date.now })
    const installedIn = async (hour: number) => {
      const period = { organizations: ['acme'], websites: [website], column: 'visits' as const }
      const at = FROM_MS + hour * HOUR_MS
      const [row] = await facts.run('rolledCells', { ...period, since_ms: at, until_ms: at + HOUR_MS })
      return row?.counts[4]
    }
    expect(await installedIn(0)).to.equal(1)
    let areRowsStored = false
    const failing: TestFacts = {
      ...facts,
      insert: (table, rows) => {
        if (areRowsStored && table === 'hour_marks') return Promise.reject(new FactsUnavailable('away', new Error()))
        areRowsStored ||= table === 'counted_installs'
        return facts.insert(table, rows)
      },
    }
    const earlier = install('one', { receivedAtMs: FROM_MS + 3 * HOUR_MS, ...of(second) })
    let error: unknown
    await write([earlier], failing).catch((reason: unknown) => (error = reason))
    expect(error).to.be.instanceOf(FactsUnavailable)
    await write([earlier])
    await rollUp({ facts, nowMs: Date.now })
    expect([await installedIn(0), await installedIn(2)]).to.deep.equal([0, 1])
  })

  it('leave the rows of somebody alone who is being erased, whatever else the machine reports', async () => {
    const visit = visited(FROM_MS, {})
    const erased = install('one', { receivedAtMs: FROM_MS + 2 * HOUR_MS, ...of(visit) })
    await write([visit, erased])
    const names = [erased.install.eventId, visit.visit.visitId].map((id) =>
      erasedName({ organization: 'acme', website }, id),
    )
    // As `erase` begins: the rows are deleted afterwards.
    await facts.insert(
      'erasures',
      names.map((name) => ({ ...name, erased_at: Date.now(), row_version: 1 })),
    )
    await write([install('one', { receivedAtMs: FROM_MS + HOUR_MS })])
    const rows = await facts.connection.query(
      `SELECT event_id, toUInt32(max(row_version)) AS version FROM counted_installs WHERE website = '${website}' GROUP BY event_id ORDER BY min(received_at)`,
      {},
      { turn: 'report' },
    )
    expect((rows as readonly { readonly version: number }[]).map(({ version }) => version)).to.deep.equal([1, 1])
  })

  it('know nothing of a test on the same machine: what is installed afterwards is the install', async () => {
    const visit = visited(FROM_MS, { campaign: 'tried' })
    await write([
      visit,
      install('mine', { isTest: true, productVersion: '1.0', ...of(visit) }),
      install('mine', { receivedAtMs: FROM_MS + HOUR_MS, productVersion: '2.0' }),
      install('mine', { receivedAtMs: FROM_MS + 2 * HOUR_MS, isTest: true, productVersion: '1.0', ...of(visit) }),
    ])
    expect(await total()).to.include({ installs: 1, upgrades: 0, reinstalls: 0, unmatched: 1 })
    await rollUp({ facts, nowMs: Date.now })
    expect(await total()).to.include({ installs: 1, upgrades: 0, reinstalls: 0, unmatched: 1 })
  })

  it('count by what the machine said, with rows for those that said nothing', async () => {
    await write([
      install('one', {
        productVersion: '1.2',
        place: 'readme',
        timezone: 'Europe/Berlin',
        agent: 'codex',
        platform: 'linux',
      }),
      install('two', { productVersion: '1.3', place: '', timezone: 'Europe/Berlin' }),
    ])
    expect(await installsBy('version')).to.deep.equal({ 1.2: 1, 1.3: 1 })
    expect(await installsBy('place')).to.deep.equal({ readme: 1, '(none)': 1 })
    expect(await installsBy('country')).to.deep.equal({ DE: 2 })
    expect(await installsBy('agent')).to.deep.equal({ codex: 1, '(none)': 1 })
  })

  it('count those alone that have all of some values, and no visits then', async () => {
    const news = visited(FROM_MS, { source: 'news', campaign: 'spring' })
    const other = visited(FROM_MS, { source: 'news', campaign: 'autumn' })
    await write([
      news,
      other,
      install('one', { ...of(news), productVersion: '1' }),
      install('two', { ...of(news), productVersion: '2' }),
      install('three', { ...of(other), productVersion: '2' }),
      install('four', { productVersion: '2' }),
    ])
    const filters = [
      { dimension: 'source', op: 'is', values: ['news'] },
      { dimension: 'version', op: 'is', values: ['2'] },
    ] as const
    const { rows, total: sum } = await figuresBy({ ...source(), filters }, PERIOD, 'campaign')
    expect(rows.map(({ value, installs, visits }) => [value, installs, visits])).to.deep.equal([
      ['autumn', 1, null],
      ['spring', 1, null],
    ])
    expect([sum.installs, sum.visits]).to.deep.equal([2, null])
  })

  it('leave out what came from CI and containers, and tests', async () => {
    await write([
      install('one', { isCi: true }),
      install('two', { isContainer: true }),
      install('three'),
      install('four', { isTest: true }),
    ])
    expect(await total()).to.include({ installs: 1 })
    expect(await readLeftOut(source(), await installSlices(source(), PERIOD))).to.equal(3)
  })

  it('count them with the others, or alone, if they are asked for, and visits as before', async () => {
    const visit = visited(FROM_MS, { source: 'news' })
    await write([
      visit,
      install('one', { ...of(visit), isCi: true }),
      install('two', { isContainer: true }),
      install('three', of(visit)),
      install('four', { isTest: true }),
    ])
    await rollUp({ facts, nowMs: Date.now })
    const bySource = async (leftOut: 'include' | 'only') => {
      const asked = { ...source(), leftOut }
      const { rows, total: sum } = await figuresBy(asked, PERIOD, 'source')
      const all = rows.reduce((added, { installs }) => added + installs, 0)
      expect([all, await readLeftOut(asked, await installSlices(asked, PERIOD))]).to.deep.equal([sum.installs, 3])
      return { rows: rows.map(({ row, value, installs }) => [value || row, installs]), visits: sum.visits }
    }
    const visits = (await figuresBy(source(), PERIOD, 'source')).total.visits
    expect(visits).to.include({ visits: 1, installed: 1, converted: 1 })
    expect(await bySource('include')).to.deep.equal({
      rows: [
        ['news', 2],
        ['no_visit', 2],
      ],
      visits,
    })
    expect(await bySource('only')).to.deep.equal({
      rows: [
        ['news', 1],
        ['no_visit', 2],
      ],
      visits,
    })
  })

  it('keep upgrades and reinstalls apart', async () => {
    const at = (day: number, changes: Partial<Install>) =>
      install('one', { receivedAtMs: FROM_MS + day * DAY_MS, ...changes })
    await write([
      at(0, { eventType: 'install_started', productVersion: '1' }),
      at(0.01, { productVersion: '1' }),
      at(0.02, { eventType: 'first_run', productVersion: '1' }),
      at(2, { productVersion: 'v2' }),
      at(3, { productVersion: '2' }),
    ])
    expect(await total()).to.include({ installs: 1, upgrades: 1, reinstalls: 1 })
  })

  it('say which completed installs ran within seven days', async () => {
    const at = (machine: string, day: number, eventType: Install['eventType']) =>
      install(machine, { eventType, receivedAtMs: FROM_MS + day * DAY_MS })
    await write([
      at('after', 0, 'install_completed'),
      at('after', 6, 'first_run'),
      at('too late', 0, 'install_completed'),
      at('too late', 8, 'first_run'),
      at('before', 0, 'first_run'),
      at('before', 1, 'install_completed'),
      at('only run', 0, 'first_run'),
    ])
    expect(await total()).to.include({ installs: 4, completed: 3, ran: 2 })
  })

  it('put a first event right that comes late, and the step of the visit that had been its install', async () => {
    const later = visited(FROM_MS + HOUR_MS, { campaign: 'later' })
    const first = visited(FROM_MS, { campaign: 'first' })
    const second = install('one', { ...of(later), receivedAtMs: FROM_MS + 2 * HOUR_MS })
    await write([first, later, second])
    await rollUp({ facts, nowMs: Date.now })
    expect(await installsBy('campaign')).to.deep.equal({ later: 1 })
    await write([install('one', of(first))])
    expect(await installsBy('campaign')).to.deep.equal({ first: 1 })
    expect(await total()).to.include({ installs: 1, reinstalls: 1 })
    await rollUp({ facts, nowMs: Date.now })
    const { rows } = await figuresBy(source(), PERIOD, 'campaign')
    const installed = rows.map(({ value, visits }) => [value, visits?.installed])
    expect(installed).to.deep.equal([
      ['first', 1],
      ['later', 0],
    ])
  })

  it('count an install for the visit of the first later event that had one, within seven days', async () => {
    const visit = visited(FROM_MS, { campaign: 'late' })
    const at = (machine: string, day: number, changes: Partial<Install> = {}) =>
      install(machine, { receivedAtMs: FROM_MS + day * DAY_MS, ...changes })
    await write([visit, at('one', 0.1), at('two', 0.1), at('one', 3, { eventType: 'first_run', ...of(visit) })])
    await write([at('two', 7.2, { eventType: 'first_run', ...of(visit) })])
    expect(await installsBy('campaign')).to.deep.equal({ late: 1, '(no_visit)': 1 })
    expect(await total()).to.include({ installs: 2, matched: 1, unmatched: 1 })
  })

  it('follow a decision that comes later, and a visit that comes after its install', async () => {
    const visit = visited(FROM_MS, { campaign: 'slow' })
    const pending = install('one', { resolution: 'pending' })
    await write([pending, install('two', of(visit))])
    expect(await installsBy('campaign')).to.deep.equal({ '(not_known)': 1, '(pending)': 1 })
    await write([decisionRecord(pending, of(visit))])
    await write([visit])
    await rollUp({ facts, nowMs: Date.now })
    expect(await installsBy('campaign')).to.deep.equal({ slow: 2 })
  })

  it('leave nothing to be counted again, also if a visit never comes', async () => {
    await write([
      install('one', of(visited(FROM_MS, {}))),
      install('two'),
      install('two', { receivedAtMs: FROM_MS + HOUR_MS }),
    ])
    await rollUp({ facts, nowMs: Date.now })
    await rollUp({ facts, nowMs: Date.now })
    const dirty = await facts.run('dirtyHours', { until_ms: Date.now(), limit: 1_000 })
    expect(dirty.filter((hour) => hour.website === website)).to.deep.equal([])
    const versions = await facts.connection.query(
      `SELECT max(row_version) AS latest FROM counted_installs WHERE website = '${website}' LIMIT 1`,
      {},
      { turn: 'report' },
    )
    expect(versions).to.deep.equal([{ latest: 1 }])
  })

  it('stay what they were when their visit and the events before have expired', async () => {
    const visit = visited(FROM_MS, { campaign: 'gone' })
    const events = [0, 1, 2].map((day) => install('one', { ...of(visit), receivedAtMs: FROM_MS + day * DAY_MS }))
    const other = install('two', of(visit))
    await write([visit, other, ...events])
    await rollUp({ facts, nowMs: Date.now })
    const first = events[0]?.install.eventId ?? ''
    for (const statement of [
      `ALTER TABLE visits DELETE WHERE website = '${website}' SETTINGS mutations_sync = 1`,
      `ALTER TABLE installs DELETE WHERE event_id = '${first}' SETTINGS mutations_sync = 1`,
      `ALTER TABLE counted_installs DELETE WHERE event_id = '${first}' SETTINGS mutations_sync = 1`,
    ])
      await facts.connection.command(statement)
    await write([install('one', { receivedAtMs: FROM_MS + 3 * DAY_MS })])
    await rollUp({ facts, nowMs: Date.now })
    expect(await total()).to.include({ installs: 1, reinstalls: 3 })
    expect(await installsBy('campaign')).to.deep.equal({ gone: 1 })
  })

  it('count an event once whose earlier record comes later', async () => {
    const eventId = unique('event')
    await write([install('one', { eventId, receivedAtMs: FROM_MS + 3 * HOUR_MS })])
    await write([install('one', { eventId, receivedAtMs: FROM_MS + HOUR_MS })])
    expect(await total()).to.include({ installs: 1, reinstalls: 0 })
  })

  it('come to the same if two writers judged without each other, once the hour is counted', async () => {
    const one = install('one')
    const two = install('one', { receivedAtMs: FROM_MS + 700_000 })
    const blind: TestFacts = {
      ...facts,
      run: (query, ...asked) => (query === 'countedEvents' ? Promise.resolve([]) : facts.run(query, ...asked)),
    }
    for (const record of [one, two]) await write([record], blind)
    expect(await total()).to.include({ installs: 2 })
    await rollUp({ facts, nowMs: Date.now })
    expect(await total()).to.include({ installs: 1, reinstalls: 1 })
  })

  it('lose whom is erased, also where another install counted for their visit', async () => {
    const visit = visited(FROM_MS, { campaign: 'private' })
    const lent = install('other', { receivedAtMs: FROM_MS + 2 * HOUR_MS })
    const run = install('other', { ...of(visit), eventType: 'first_run', receivedAtMs: FROM_MS + 4 * HOUR_MS })
    // What was judged by the install must not be taken for what was there before it.
    const later = install('other', { receivedAtMs: FROM_MS + 2 * DAY_MS })
    await write([visit, lent, run, later, install('gone', of(visit))])
    expect(await installsBy('campaign')).to.deep.equal({ private: 2 })
    const eventLog = { append: () => Promise.resolve(), progress: () => expect.fail('no writer runs') }
    const subject = { organization: 'acme', website, installationIds: ['gone'], visitIds: [visit.visit.visitId] }
    await erase({ facts, eventLog, nowMs: Date.now, isWriterRunning: false }, subject)
    await rollUp({ facts, nowMs: Date.now })
    expect(await installsBy('campaign')).to.deep.equal({ '(no_visit)': 1 })
    expect(await total()).to.include({ installs: 1, reinstalls: 1 })
  })

  it('stay what they were of a machine that reports without an end, and cost no more for it', async () => {
    const at = (index: number) => install('busy', { receivedAtMs: FROM_MS + index * 1_000 })
    const many = Array.from({ length: 1_050 }, (_, index) => at(index))
    await write(many)
    await write([at(2_000)])
    expect(await total()).to.include({ installs: 1, reinstalls: 1_050 })
    await rollUp({ facts, nowMs: Date.now })
    await rollUp({ facts, nowMs: Date.now })
    expect(await total()).to.include({ installs: 1, reinstalls: 1_050 })
    const dirty = await facts.run('dirtyHours', { until_ms: Date.now(), limit: 1_000 })
    expect(dirty.filter((hour) => hour.website === website)).to.deep.equal([])
    const keys = { organizations: ['acme'], websites: [website], installation_ids: ['busy'] }
    expect(await facts.run('countedEvents', keys)).to.have.lengthOf(1_000)
  })

  it('list every value that has an install, and the rest of a flooded hour as others', async () => {
    const flood = Array.from({ length: 2_050 }, (_, index) => install(`machine-${index}`, { place: `place-${index}` }))
    await write([...flood, install('true', { place: 'talk' }), install('again', { place: 'talk' })])
    const by = await installsBy('place')
    expect([by['talk'], by['(other)'], Object.keys(by).length]).to.deep.equal([2, 51, 2_001])
  })
})
