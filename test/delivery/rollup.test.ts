/**
 * Figures by hour against a count of our own over the records, which follows the words: a visit counts in its hour with
 * every step that it ever reached; an install event counts in the hour in which it was received.
 */

import { expect } from 'chai'

import { markHours } from '../../delivery/rollup/mark-hours.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { erase } from '../../delivery/tools/erase.ts'
import type { Dimension } from '../../domain/figures/cells.ts'
import { createBatchWriter } from './support/batch-writer.ts'
import type { LogRecord } from '../../domain/records.ts'
import type { FactsReader, FactsWriter } from '../../ports/facts/facts.ts'
import {
  activationRecord,
  decisionRecord,
  deliveryRecord,
  handoffRecord,
  installRecord,
  unique,
  visitRecord,
} from '../contract/fact-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'

const HOUR_MS = 3_600_000
const DAYS_KEPT = 395
const START_MS = 120_000
/** Three hours, long over. */
const FROM_MS = Math.floor(Date.now() / HOUR_MS - 50) * HOUR_MS
const HOURS = 3

let serial = 0
const idAt = (ms: number): string =>
  `0a${ms.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`

describe('figures by hour', function () {
  this.timeout(START_MS)
  let facts: TestFacts
  let website: string
  before(async () => {
    facts = await openTestFacts()
  })
  beforeEach(() => {
    website = unique('site')
  })
  after(async () => {
    await facts?.close()
  })

  const writeInto = createBatchWriter('writer-one')
  const write = (records: readonly LogRecord[]): Promise<void> => writeInto(facts, records)
  const rolled = async (column: Dimension, hours = HOURS): Promise<Record<string, readonly number[]>> => {
    const period = {
      organizations: ['acme'],
      websites: [website],
      since_ms: FROM_MS,
      until_ms: FROM_MS + hours * HOUR_MS,
    }
    const rows = await facts.run('rolledCells', { ...period, column })
    return Object.fromEntries(rows.map(({ value, counts }) => [value, counts]))
  }
  const roll = (): Promise<void> => rollUp({ facts, nowMs: Date.now })
  const visited = (atMs: number, source: string, page = 'https://acme.dev/install') =>
    visitRecord({ website, visitId: idAt(atMs), issuedAtMs: atMs, utm: { source }, pageUrl: page })
  const installOf = (visit: ReturnType<typeof visited>['visit'], changes: object = {}) =>
    installRecord({
      website,
      eventId: unique('event'),
      receivedAtMs: visit.issuedAtMs + 600_000,
      eventType: 'install_completed',
      resolution: 'matched',
      selectionPolicy: 'latest_visit',
      visitId: visit.visitId,
      visitIssuedAtMs: visit.issuedAtMs,
      ...changes,
    })

  it('equal a count of our own by source, page and total, each step once for a visit, whatever was repeated', async () => {
    const records: LogRecord[] = []
    const expected: Record<string, number[]> = {}
    for (let index = 0; index < 400; index++) {
      const at = FROM_MS + Math.floor((index / 400) * HOURS * HOUR_MS)
      const source = `source-${index % 5}`
      const own = visited(at, source)
      const reached = [
        true,
        index % 2 === 0,
        index % 3 === 0,
        index % 4 === 0,
        index % 8 === 0,
        index % 16 === 0,
        index % 8 === 0,
      ]
      records.push(own)
      const { visitId } = own.visit
      if (reached[1]) records.push(activationRecord({ website, visitId, issuedAtMs: at }))
      // Asking for a token is no copy, before one or without one.
      records.push(handoffRecord({ website, visitId, issuedAtMs: at, isCopied: false }))
      if (reached[2]) records.push(handoffRecord({ website, visitId, issuedAtMs: at, askedAtMs: at + 9_000 }))
      for (const [place, eventType] of (['install_started', 'install_completed', 'first_run'] as const).entries()) {
        // Twice, by two installations: the visit has reached the step all the same only once.
        if (reached[place + 3]) records.push(installOf(own.visit, { eventType }), installOf(own.visit, { eventType }))
      }
      const sum = (expected[source] ??= [0, 0, 0, 0, 0, 0, 0])
      for (const [place, isReached] of reached.entries()) if (isReached) sum[place] = (sum[place] ?? 0) + 1
    }
    await write(records)
    await write(records)
    await roll()
    expect(await rolled('source')).to.deep.equal(expected)
    const total = Object.values(expected).reduce((sum, counts) =>
      sum.map((count, place) => count + (counts[place] ?? 0)),
    )
    expect(await rolled('visits')).to.deep.equal({ '': total })
    expect(await rolled('page')).to.deep.equal({ 'https://acme.dev/install': total })
    const installs = records.filter(({ kind }) => kind === 'install').length
    expect(Object.values(await rolled('events', HOURS + 1))[0]?.[0]).to.equal(installs)
  })

  it('are the same raw as rolled up', async () => {
    const visits = Array.from({ length: 50 }, (_, index) => visited(FROM_MS + index * 1_000, `source-${index % 7}`))
    await write([...visits, ...visits.slice(0, 9).map(({ visit }) => installOf(visit, { agent: 'claude-code' }))])
    await roll()
    const period = { organizations: ['acme'], websites: [website], since_ms: FROM_MS, until_ms: FROM_MS + HOUR_MS }
    const raw = [
      ...(await facts.run('funnelCells', { ...period, key_ids: [10] })),
      ...(await facts.run('trackedCells', { ...period, key_ids: [10] })),
    ]
    for (const column of ['source', 'page', 'page_views', 'events'] as const) {
      const cells = raw.filter(({ dimension }) => dimension === column).map(({ value, counts }) => [value, counts])
      expect(Object.fromEntries(cells), column).to.deep.equal(await rolled(column, 1))
    }
    const page = Object.keys(await rolled('page', 1))
    for (const [column, values] of [
      ['source', ['source-1', 'source-4', 'no-source']],
      ['page', page],
    ] as const) {
      const asked = { ...period, column, values }
      const [sum] = await facts.run('rolledSteps', asked)
      expect(await facts.run('valueSteps', { ...asked, key_ids: [10] }), column).to.deep.equal([sum])
    }
    expect(await rolled('events', 1)).to.deep.equal({ '': [9, 0, 0, 0, 0, 0, 0] })
    expect(await rolled('page_views', 1)).to.deep.equal({ '': [50, 0, 0, 0, 0, 0, 0] })
  })

  it('are the same hour by hour while they are raw, also of installs that were decided later', async () => {
    const first = visited(FROM_MS + 1_000, 'one')
    const second = visited(FROM_MS + HOUR_MS + 1_000, 'two')
    const open = { resolution: 'pending', selectionPolicy: 'none', visitId: null, visitIssuedAtMs: null }
    const pendingOf = ({ visit }: typeof first) => installOf(visit, { ...open, agent: 'claude-code' })
    const one = pendingOf(first)
    const other = pendingOf(first)
    const late = pendingOf(second)
    const matched = installOf(first.visit, { eventType: 'install_started' })
    const decide = (install: typeof one, { visit }: typeof first): LogRecord => {
      const { visitId, issuedAtMs: visitIssuedAtMs } = visit
      return decisionRecord(install, { resolution: 'matched', visitId, visitIssuedAtMs })
    }
    await write([first, second, matched, one, other, late, activationRecord(first.visit), handoffRecord(second.visit)])
    // A record that is not pending keeps its own visit; what was received in the first hour belongs to a visit of the second.
    await write([decide(one, first), decide(other, second), decide(late, second), decide(matched, second)])
    await roll()
    const raw = { organizations: ['acme'], websites: [website], since_ms: FROM_MS, until_ms: FROM_MS + HOURS * HOUR_MS }
    for (const [steps, column] of [
      [await facts.run('visitSteps', { ...raw, key_ids: [10] }), 'visits'],
      [await facts.run('trackedSteps', { ...raw, column: 'events' }), 'events'],
      [await facts.run('trackedSteps', { ...raw, column: 'page_views' }), 'page_views'],
    ] as const)
      expect(steps, column).to.deep.equal(await facts.run('rolledSteps', { ...raw, column }))
    expect(await facts.run('visitSteps', { ...raw, until_ms: FROM_MS + HOUR_MS, key_ids: [10] })).to.deep.equal([
      { at_ms: FROM_MS, counts: [1, 1, 0, 1, 1, 0, 1] },
    ])
    expect(await facts.run('visitSteps', { ...raw, since_ms: FROM_MS + HOUR_MS, key_ids: [10] })).to.deep.equal([
      { at_ms: FROM_MS + HOUR_MS, counts: [1, 0, 1, 0, 1, 0, 1] },
    ])
  })

  it('count people: programs are counted apart, tests nowhere', async () => {
    const of = (kind: string, changes: object = {}) => {
      const atMs = FROM_MS + serial
      return visitRecord({
        website,
        visitId: idAt(atMs),
        issuedAtMs: atMs,
        visitor: { platform: '', kind },
        ...changes,
      })
    }
    const follows = { sitting: '', isEntry: false }
    await write([
      of(''),
      of('bot'),
      of('bot'),
      of('automation'),
      of('Claude-User'),
      of('', { isTest: true }),
      of('', follows),
    ])
    await roll()
    expect((await rolled('visits'))['']?.[0]).to.equal(1)
    // Crawlers are no tracked events.
    expect((await rolled('page_views'))['']?.[0]).to.equal(5)
    const kinds = Object.entries(await rolled('visitor_kind')).map(([kind, [count]]) => [kind, count])
    expect(Object.fromEntries(kinds)).to.deep.equal({ '': 2, bot: 2, automation: 1, 'Claude-User': 1 })
  })

  it('lose a person whose data is erased, in every version of their hours', async () => {
    const gone = visitRecord({
      website,
      visitId: idAt(FROM_MS + 5),
      issuedAtMs: FROM_MS + 5,
      utm: { campaign: 'only-gone' },
    })
    const kept = visitRecord({
      website,
      visitId: idAt(FROM_MS + 6),
      issuedAtMs: FROM_MS + 6,
      utm: { campaign: 'kept' },
    })
    const install = installRecord({ website, visitId: gone.visit.visitId, receivedAtMs: FROM_MS + HOUR_MS + 1 })
    await write([gone, kept, install])
    await roll()
    expect(Object.keys(await rolled('campaign'))).to.include.members(['only-gone', 'kept'])
    const subject = { organization: 'acme', website, installationIds: [install.install.installationId], visitIds: [] }
    const eventLog = { append: () => Promise.resolve(), progress: () => expect.fail('no writer runs') }
    const { plan } = await erase({ facts, eventLog, nowMs: Date.now, isWriterRunning: false }, subject)
    expect(plan.ids.visitIds).to.deep.equal([gone.visit.visitId])
    await roll()
    expect(Object.keys(await rolled('campaign')))
      .to.include('kept')
      .and.not.include('only-gone')
    expect((await rolled('events'))['']).to.equal(undefined)
    const versions = await facts.connection.query('SELECT * FROM website_hours LIMIT 10000', {}, { turn: 'report' })
    expect(JSON.stringify(versions)).to.contain('kept').and.not.contain('only-gone')
  })

  it('lose a value with its only visit, once that is erased', async () => {
    await write([visited(FROM_MS, 'gone'), visited(FROM_MS, 'stays')])
    await roll()
    expect(Object.keys(await rolled('source'))).to.have.members(['gone', 'stays'])
    await facts.connection.command(
      `ALTER TABLE visits DELETE WHERE website = '${website}' AND utm_source = 'gone' SETTINGS mutations_sync = 1`,
    )
    const request = { sinceMs: FROM_MS, untilMs: FROM_MS + HOUR_MS, nowMs: Date.now() }
    expect(await markHours(facts, { ...request, writer: unique('eraser') })).to.be.greaterThan(0)
    await roll()
    expect(Object.keys(await rolled('source'))).to.deep.equal(['stays'])
    await facts.connection.command(`ALTER TABLE visits DELETE WHERE website = '${website}' SETTINGS mutations_sync = 1`)
    await markHours(facts, { ...request, writer: unique('eraser') })
    await roll()
    await facts.connection.command('OPTIMIZE TABLE website_hours FINAL')
    expect(await rolled('source')).to.deep.equal({})
    expect(await rolled('visits')).to.deep.equal({})
  })

  it('move a value across the border of those that are listed', async () => {
    const many = Array.from({ length: 500 }, (_, index) => [
      visited(FROM_MS, `often-${String(index).padStart(3, '0')}`),
      visited(FROM_MS, `often-${String(index).padStart(3, '0')}`),
    ]).flat()
    await write([...many, visited(FROM_MS, 'seldom')])
    await roll()
    const before = await rolled('source')
    expect(Object.keys(before)).to.have.lengthOf(500)
    expect(before['seldom']).to.equal(undefined)
    expect((await rolled('visits'))['']?.[0]).to.equal(1_001)
    await write([visited(FROM_MS, 'seldom'), visited(FROM_MS, 'seldom')])
    await roll()
    const after = await rolled('source')
    expect(after['seldom']?.[0]).to.equal(3)
    expect(after['often-499']).to.equal(undefined)
    expect((await rolled('visits'))['']?.[0]).to.equal(1_003)
  })

  it('count a pending install as it is decided later, in its hour and in that of its visit', async () => {
    const { visit, ...own } = visited(FROM_MS, 'search')
    const pending = installOf(visit, {
      resolution: 'pending',
      visitId: null,
      visitIssuedAtMs: null,
      receivedAtMs: FROM_MS + HOUR_MS,
    })
    await write([{ ...own, visit }, pending])
    await roll()
    expect((await rolled('source'))['search']).to.deep.equal([1, 0, 0, 0, 0, 0, 0])
    expect((await rolled('events'))['']).to.deep.equal([1, 0, 0, 0, 0, 0, 0])
    const outcome = { resolution: 'matched', visitId: visit.visitId, visitIssuedAtMs: FROM_MS } as const
    await write([decisionRecord(pending, outcome)])
    await roll()
    expect((await rolled('source'))['search']).to.deep.equal([1, 0, 0, 0, 1, 0, 1])
  })

  it('count a visit that comes after its install, and an activation that comes late', async () => {
    const late = visited(FROM_MS, 'late')
    await write([installOf(late.visit)])
    await roll()
    expect(await rolled('source')).to.deep.equal({})
    await write([late])
    await roll()
    await write([activationRecord({ website, visitId: late.visit.visitId, issuedAtMs: FROM_MS })])
    await roll()
    expect(await rolled('source')).to.deep.equal({ late: [1, 1, 0, 0, 1, 0, 1] })
  })

  it('are right after a kill between any two steps, and while records come in between', async () => {
    await write([visited(FROM_MS, 'first')])
    for (const step of ['hourFacts', 'hourFunnel', 'hourTracked', 'website_hours'] as const) {
      await write([visited(FROM_MS, step)])
      const die = async (name: string): Promise<void> => {
        if (name === step) throw new Error('killed')
      }
      const dying: FactsReader & FactsWriter = {
        run: async (query, params) => {
          await die(query)
          return facts.run(query, params)
        },
        insert: async (table, rows) => {
          await die(table)
          return facts.insert(table, rows)
        },
      }
      const failed = await rollUp({ facts: dying, nowMs: Date.now }).catch((error: Error) => error.message)
      expect(failed).to.equal('killed')
    }
    // A record that is written after the marks and facts of an hour were read.
    const overtaken: FactsReader & FactsWriter = {
      run: (query, params) => facts.run(query, params),
      insert: async (table, rows) => {
        if (serial < 1_000_000) await write([visited(FROM_MS, 'overtaking')])
        serial += 1_000_000
        return facts.insert(table, rows)
      },
    }
    await rollUp({ facts: overtaken, nowMs: Date.now })
    await roll()
    const found = await rolled('source')
    expect(Object.keys(found)).to.have.members([
      'first',
      'hourFacts',
      'hourFunnel',
      'hourTracked',
      'website_hours',
      'overtaking',
    ])
    expect(Object.values(found).map(([visits]) => visits)).to.deep.equal([1, 1, 1, 1, 1, 1])
    const again = await facts.run('dirtyHours', { until_ms: Date.now(), limit: 100 })
    expect(again.filter((hour) => hour.website === website)).to.deep.equal([])
  })

  it('are those of each website alone if many are counted together, one with many visits and one with the same event among them', async () => {
    const names = ['large', 'small', 'other', 'empty'].map(unique)
    const [large = '', small = '', other = '', empty = ''] = names
    const of = (own: string, atMs: number, source: string) =>
      visitRecord({ website: own, visitId: idAt(atMs), issuedAtMs: atMs, utm: { source } })
    const installIn = (own: string, eventId: string, receivedAtMs: number) =>
      installRecord({ website: own, eventId, receivedAtMs, resolution: 'unmatched', agent: 'codex' })
    const event = unique('event')
    await write(Array.from({ length: 5_100 }, (_, index) => of(large, FROM_MS + index, 'many')))
    await write([
      of(small, FROM_MS, 'search'),
      of(small, FROM_MS + 1, 'search'),
      of(other, FROM_MS, 'mail'),
      // The same event of another website lies in another hour.
      installIn(small, event, FROM_MS + 5),
      installIn(other, event, FROM_MS + HOUR_MS + 5),
    ])
    await markHours(facts, { writer: 'test', sinceMs: FROM_MS, untilMs: FROM_MS + HOUR_MS, nowMs: Date.now() })
    await facts.insert('hour_marks', [
      { organization: 'acme', website: empty, hour: FROM_MS, writer: 'test', made_at: Date.now(), row_version: 1 },
    ])
    let statements = 0
    const counting: FactsReader & FactsWriter = {
      run: async (query, params) => {
        if (query === 'hourFunnel') statements += 1
        return facts.run(query, params)
      },
      insert: (table, rows) => facts.insert(table, rows),
    }
    await rollUp({ facts: counting, nowMs: Date.now })
    expect(statements).to.equal(2)
    const hourOf = async (own: string, column: Dimension, hour = 0): Promise<Record<string, readonly number[]>> => {
      const sinceMs = FROM_MS + hour * HOUR_MS
      const period = { organizations: ['acme'], websites: [own], since_ms: sinceMs, until_ms: sinceMs + HOUR_MS }
      const rows = await facts.run('rolledCells', { ...period, column })
      return Object.fromEntries(rows.map(({ value, counts }) => [value, counts]))
    }
    expect(await hourOf(large, 'source')).to.deep.equal({ many: [5_100, 0, 0, 0, 0, 0, 0] })
    expect(await hourOf(small, 'source')).to.deep.equal({ search: [2, 0, 0, 0, 0, 0, 0] })
    expect(await hourOf(other, 'source')).to.deep.equal({ mail: [1, 0, 0, 0, 0, 0, 0] })
    expect(Object.keys(await hourOf(small, 'events'))).to.deep.equal([''])
    expect(Object.keys(await hourOf(other, 'events'))).to.deep.equal([])
    expect(Object.keys(await hourOf(other, 'events', 1))).to.deep.equal([''])
    const left = await facts.run('dirtyHours', { until_ms: Date.now(), limit: 1_000 })
    expect(left.filter((hour) => names.includes(hour.website))).to.deep.equal([])
  })

  it('are stored for several hours with one insert, also if a later one cannot be counted', async () => {
    const hours = [FROM_MS, FROM_MS + HOUR_MS, FROM_MS + 2 * HOUR_MS]
    await write(hours.map((atMs) => visited(atMs, 'search')))
    let asked = 0
    const inserted: number[] = []
    const failing: FactsReader & FactsWriter = {
      run: async (query, params) => {
        if (query === 'hourFunnel' && (asked += 1) === 3) throw new Error('refused')
        return facts.run(query, params)
      },
      insert: async (table, rows) => {
        inserted.push(rows.length)
        return facts.insert(table, rows)
      },
    }
    const failed = await rollUp({ facts: failing, nowMs: Date.now }, { factsAtOnce: 1 }).catch(
      (error: Error) => error.message,
    )
    expect(failed).to.equal('refused')
    expect(inserted).to.deep.equal([2])
    expect(await rolled('source')).to.deep.equal({ search: [2, 0, 0, 0, 0, 0, 0] })
  })

  it('count deliveries by destination, status and reason as they are last known', async () => {
    const own = visited(FROM_MS, 'search')
    const install = installOf(own.visit)
    const { eventId, receivedAtMs } = install.install
    const about = { website, eventId, destination: 'acme-ga4', installReceivedAtMs: receivedAtMs }
    await write([own, install, deliveryRecord({ ...about, status: 'retrying', atMs: receivedAtMs + 1_000 })])
    await roll()
    await write([deliveryRecord({ ...about, status: 'delivered', atMs: receivedAtMs + 20_000 })])
    await roll()
    const found = Object.entries(await rolled('delivery')).map(([value, [count]]) => [
      value.split('\t').slice(0, 2),
      count,
    ])
    expect(found).to.deep.equal([[['acme-ga4', 'delivered'], 1]])
  })

  it('are kept as long as their facts, and never shorter than the version before', async () => {
    await write([visited(FROM_MS, 'search')])
    await roll()
    const kept = async (): Promise<unknown> =>
      (
        await facts.connection.query(
          'SELECT retention_days FROM website_hours FINAL WHERE website = {website:String} LIMIT 1',
          { website },
          { turn: 'report' },
        )
      )[0]
    expect(await kept()).to.deep.equal({ retention_days: DAYS_KEPT })
  })
})
