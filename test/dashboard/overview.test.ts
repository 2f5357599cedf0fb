/** The overview over real facts: it adds up, equals the other pages, and says what it leaves out. */

import { expect } from 'chai'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { middayClock } from '../../fixtures/clocks.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { OF, unmatchedAt, visitOf } from './support/sourced.ts'
import { organizationOf, startStage, type Stage, websiteOf } from './support/stage.ts'

/** No day ends while this runs. */
const clock = middayClock()
const NOW_MS = clock()
const ago = (days: number): number => NOW_MS - days * DAY_MS - 2 * HOUR_MS
const CAMPAIGNS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']

/** As people read a row, with its installs. */
type Row = { readonly row: string; readonly value: string; readonly installs: number; readonly visits: number | null }
const named = ({ row, value }: Row): string => (row === 'value' ? value : `(${row})`)

describe('the overview', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: Stage
  let cookies: string
  before(async () => {
    facts = await openTestFacts()
    const members = { 'anna@acme.dev': 'Viewer' }
    const manifests =
      organizationOf('acme', { members }) +
      websiteOf(OF.website, 'acme') +
      `---\n${organizationOf('fresh', { members })}` +
      websiteOf('fresh-site', 'fresh')
    stage = await startStage({ manifests, facts, clock })
    cookies = await stage.signIn('anna@acme.dev')
    const records = [
      ...visitOf({ atMs: ago(1), source: 'news', campaign: 'launch', installs: 3 }),
      ...visitOf({ atMs: ago(1), source: 'news', campaign: 'launch' }),
      ...visitOf({ atMs: ago(2), source: 'forum', campaign: 'launch', installs: 1, version: '2.0.0' }),
      ...visitOf({ atMs: ago(3) }),
      ...visitOf({ atMs: NOW_MS - HOUR_MS / 2, source: 'news', campaign: 'launch', installs: 1 }),
      unmatchedAt(ago(2), '2.0.0'),
      unmatchedAt(ago(4)),
      ...visitOf({ atMs: ago(9), source: 'news', campaign: 'launch', installs: 1 }),
      ...visitOf({ atMs: ago(10), source: 'gone', campaign: 'past', installs: 2 }),
      unmatchedAt(ago(11)),
      // A quiet week in between, so that weeks have what is above alone.
      ...CAMPAIGNS.flatMap((campaign, place) =>
        visitOf({ atMs: ago(40), source: 'ads', campaign, installs: CAMPAIGNS.length - place }),
      ),
    ]
    await storeCounted(facts, records, clock)
    await rollUp({ facts, nowMs: clock })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const read = async (page: string) => {
    const { status, body, text } = await stage.ask('GET', `/api/organizations/acme/${page}`, { cookies })
    expect(status, text).to.equal(200)
    return body
  }
  const panelOf = (body: Record<string, any>, by: string): readonly Row[] =>
    body['panels'].find((panel: { by: string }) => panel.by === by).rows

  it('counts what Sources, Match rate and Funnel count, and so does each panel in sum', async () => {
    const body = await read('overview')
    const { total, before } = body
    expect(total.installs).to.include({ installs: 7, matched: 5, unmatched: 2, known_source: 5 })
    expect(total.visits).to.include({ visits: 5, converted: 3 })
    expect(before.total.installs).to.include({ installs: 4, matched: 3 })
    expect(before.total.visits).to.include({ visits: 2, converted: 2 })
    const match = await read('match')
    const funnel = await read('funnel')
    expect(total.installs).to.deep.equal(match['total'])
    expect(total.visits).to.deep.equal(funnel['total'])
    for (const { by, rows } of body['panels'] as readonly { by: string; rows: readonly Row[] }[]) {
      expect(
        rows.reduce((sum, { installs }) => sum + installs, 0),
        by,
      ).to.equal(7)
      const sources = await read(`sources?by=${by}`)
      const counted = (sources['rows'] as readonly Row[]).map((row) => [named(row), row.installs])
      expect(
        rows.filter(({ installs }) => installs > 0).map((row) => [named(row), row.installs]),
        by,
      ).to.deep.equal(counted.filter(([, installs]) => installs !== 0))
    }
  })

  it('has a step for each day, or for each hour of two days, which add up in both periods', async () => {
    for (const [days, step] of [
      [7, 'day'],
      [2, 'hour'],
    ] as const) {
      const body = await read(`overview?since=${NOW_MS - days * DAY_MS}&until=${NOW_MS}`)
      expect(body['step']).to.equal(step)
      for (const side of [body, body['before']] as Record<string, any>[]) {
        const sum = (of: (step: any) => number): number =>
          side['steps'].reduce((all: number, each: any) => all + of(each), 0)
        expect(sum(({ installs }) => installs.installs)).to.equal(side['total'].installs.installs)
        expect(sum(({ visits }) => visits.visits)).to.equal(side['total'].visits.visits)
      }
    }
  })

  it('marks days whose visits may still convert, and counts the others apart', async () => {
    const { total, steps } = await read(`overview?since=${NOW_MS - 14 * DAY_MS}`)
    expect(total.visits).to.include({ visits: 7, converted: 5 })
    expect(total.ripe).to.include({ visits: 2, converted: 2 })
    for (const { until, isRipe } of steps) expect(isRipe).to.equal(until <= NOW_MS - 7 * DAY_MS)
    const week = await read('overview')
    expect(week['total'].ripe).to.include({ visits: 0, converted: 0 })
    expect(week['before'].total.ripe).to.include({ visits: 2, converted: 2 })
  })

  it('counts the visits of a value that visits are counted by, in the present hour too', async () => {
    const body = await read('overview?source=news')
    expect(body['visitsLeftOut']).to.equal(null)
    expect(body['total'].installs).to.include({ installs: 4, matched: 4 })
    expect(body['total'].visits).to.include({ visits: 3, converted: 2 })
    expect(body['before'].total.visits).to.include({ visits: 1, converted: 1 })
    expect(body['unfiltered']).to.include({ installs: 7, unmatched: 2 })
    const byDay = body['steps'].filter(({ visits }: any) => visits.visits > 0)
    expect(byDay.map(({ visits }: any) => visits.visits)).to.deep.equal([2, 1])
    const sources = await read('sources?by=source')
    const { visits } = sources['rows'].find(({ value }: Row) => value === 'news')
    expect(body['total'].visits).to.deep.equal(visits)
    expect(panelOf(body, 'source').map((row) => [named(row), row.installs])).to.deep.equal([['news', 4]])
    const direct = await read('overview?source=')
    expect(direct['total'].visits).to.include({ visits: 1, converted: 0 })
    expect(direct['total'].installs).to.include({ installs: 0 })
  })

  it('shows installs alone under a filter on installs or several on visits, and says why', async () => {
    const byVersion = await read('overview?version=2.0.0')
    expect(byVersion['visitsLeftOut']).to.equal('install_filter')
    expect(byVersion['total']).to.deep.include({ visits: null, ripe: null })
    expect(byVersion['total'].installs).to.include({ installs: 2, matched: 1 })
    for (const { visits } of panelOf(byVersion, 'campaign')) expect(visits).to.equal(null)
    const both = await read('overview?source=news&campaign=launch')
    expect(both['visitsLeftOut']).to.equal('several_filters')
    expect(both['total'].installs).to.include({ installs: 4 })
    expect(both['steps'].every(({ visits }: any) => visits === null)).to.equal(true)
  })

  it('puts what goes beyond the first rows into one, with its visits, and keeps what was there before', async () => {
    const month = `since=${ago(41)}&until=${ago(39)}`
    const body = await read(`overview?${month}`)
    const rows = panelOf(body, 'campaign')
    expect(rows.map((row) => [named(row), row.installs, row.visits])).to.deep.equal([
      ['one', 8, 1],
      ['two', 7, 1],
      ['three', 6, 1],
      ['four', 5, 1],
      ['five', 4, 1],
      ['six', 3, 1],
      ['(other)', 3, 2],
    ])
    const week = panelOf(await read('overview'), 'campaign')
    expect(week.find(({ value }) => value === 'past')).to.deep.include({ installs: 0, before: 2 })
    expect(week.find(({ value }) => value === 'launch')).to.deep.include({ installs: 5, before: 1 })
  })

  it('lists installs that are few before filters, under the filters, and no more once they are many', async () => {
    const listed = async (query: string) => {
      const { installs } = await read(`overview${query}`)
      return installs === null ? null : (installs as readonly { install: { version: string } }[])
    }
    expect(await listed('')).to.have.lengthOf(7)
    expect(await listed('?version=2.0.0')).to.have.lengthOf(2)
    expect(await listed('?campaign=nothing')).to.have.lengthOf(0)
    const many = `?since=${ago(41)}&until=${ago(39)}`
    expect(await listed(many)).to.equal(null)
    expect(await listed(`${many}&campaign=eight`)).to.equal(null)
    expect((await read('overview'))['checklist']).to.equal(null)
  })

  it('says why installs have no visit, and which value changed most', async () => {
    const body = await read('overview')
    expect(body['reasons']).to.deep.equal((await read('match'))['reason'])
    expect(body['largestChange']).to.deep.equal({ by: 'campaign', value: 'launch', installs: 5, before: 1 })
  })

  it('has the checklist of an organisation that has no install, and no list', async () => {
    const { body } = await stage.ask('GET', '/api/organizations/fresh/overview', { cookies })
    const { body: checklist } = await stage.ask('GET', '/api/organizations/fresh/checklist', { cookies })
    expect(body['checklist']).to.deep.equal(checklist)
    expect(body['installs']).to.equal(null)
    expect(body['largestChange']).to.equal(null)
  })
})
