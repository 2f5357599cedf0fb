/** The overview over real facts: it adds up, equals the other pages, and says what it leaves out. */

import { expect } from 'chai'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { middayClock } from '../../fixtures/clocks.ts'
import { activityRecord } from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { OF, unmatchedAt, visitOf } from './support/sourced.ts'
import { organizationOf, startStage, type Stage, websiteOf } from './support/stage.ts'

/** No day ends while this runs. */
const clock = middayClock()
const NOW_MS = clock()
const ago = (days: number): number => NOW_MS - days * DAY_MS - 2 * HOUR_MS
const CAMPAIGNS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']

const DESTINATION = `---
apiVersion: v1
kind: Secret
metadata: { name: ga4 }
stringData: { api-secret: not-a-real-one }
---
apiVersion: whence.dev/v1alpha1
kind: Destination
metadata: { name: acme-ga4 }
spec:
  websiteRef: { name: ${OF.website} }
  displayName: Analytics
  provider: ga4
  mode: Live
  ga4: { measurementId: G-ABC123, apiSecretRef: { name: ga4, key: api-secret } }
`

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
      DESTINATION +
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

  it('has a step for each week, from Monday on, which add up to the same', async () => {
    const body = await read('overview?period=Last28Days&bucket=week')
    expect(body['step']).to.equal('week')
    const steps = body['steps'] as readonly { at: number; isPart: boolean; installs: { installs: number } }[]
    expect(steps.slice(1).map(({ at }) => new Date(at).getUTCDay())).to.deep.equal(steps.slice(1).map(() => 1))
    expect(steps.reduce((sum, { installs }) => sum + installs.installs, 0)).to.equal(body['total'].installs.installs)
    const { status, body: refusal } = await stage.ask(
      'GET',
      '/api/organizations/acme/overview?period=Last28Days&bucket=hour',
      { cookies },
    )
    expect([status, refusal['field']]).to.deep.equal([400, '/bucket'])
  })

  it('compares with what was asked for, and with nothing that is not kept', async () => {
    const dates = (body: Record<string, any>) => [body['since'], body['comparison']?.since, body['comparison']?.until]
    const week = await read('overview')
    expect(dates(week)[0] - dates(week)[1]).to.equal(7 * DAY_MS)
    expect(week['comparison']).to.include({ by: 'before', notCompared: null })
    const off = await read('overview?compare=off')
    expect([off['comparison'], off['before'], off['largestChange']]).to.deep.equal([null, null, null])
    expect(off['total']).to.deep.equal(week['total'])
    for (const { rows } of off['panels']) for (const { before } of rows) expect(before).to.equal(null)
    // The website keeps 395 days: a year before is not all kept once the period is longer than a month.
    const year = await read('overview?compare=year_before')
    expect(year['comparison']).to.include({ by: 'year_before', notCompared: 'nothing_yet' })
    expect(year['before']).to.equal(null)
    const quarter = await read('overview?period=Last90Days&compare=year_before')
    expect(quarter['comparison']).to.include({ by: 'year_before', notCompared: 'not_kept' })
    expect(quarter['before']).to.equal(null)
    for (const page of ['funnel', 'sources', 'match', 'deliveries', 'shared-commands'])
      expect((await read(`${page}?period=Last90Days&compare=year_before`))['comparison'], page).to.include({
        notCompared: 'not_kept',
      })
  })

  it('marks the first sight of a version, a destination that went live and changed origins, of its own alone', async () => {
    const told = (
      type: 'destination_live' | 'origins_changed' | 'object_changed',
      subject: string,
      organization = 'acme',
    ) => activityRecord({ type, subject, organization, website: '', atMs: ago(2) })
    await storeCounted(
      facts,
      [
        told('destination_live', 'Destination/acme-ga4'),
        told('destination_live', 'Destination/not-here'),
        told('origins_changed', 'Website/acme-site'),
        told('object_changed', 'Website/acme-site'),
        told('origins_changed', 'Website/fresh-site', 'fresh'),
      ],
      clock,
    )
    const named = (body: Record<string, any>) =>
      (body['annotations'] as readonly Record<string, any>[]).map(({ kind, name }) => `${kind} ${name}`).toSorted()
    expect(named(await read('overview'))).to.deep.equal([
      'destination_live Analytics',
      'origins_changed acme-site',
      'version 2.0.0',
    ])
    const since = NOW_MS - DAY_MS
    expect(named(await read(`overview?since=${since}`))).to.deep.equal([])
    // All that is kept: it has versions from its beginning on, which is no day on which they were made.
    expect(named(await read('overview?period=Last90Days'))).to.include.members(['version 1.0.0', 'version 2.0.0'])
    expect((await read('overview?filter=source:is:news'))['annotations']).to.deep.equal(
      (await read('overview'))['annotations'],
    )
  })

  it('marks steps of which not all is kept', async () => {
    const { keptSince, steps } = await read(`overview?since=${NOW_MS - 399 * DAY_MS}&bucket=day`)
    expect(keptSince).to.be.within(NOW_MS - 395 * DAY_MS, NOW_MS - 394 * DAY_MS)
    const unkept = (steps as readonly { at: number; isKept: boolean }[]).filter(({ isKept }) => !isKept)
    expect(unkept.map(({ at }) => at < keptSince)).to.deep.equal(unkept.map(() => true))
    expect(unkept.length).to.be.within(4, 5)
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
    const body = await read('overview?filter=source:is:news')
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
    const direct = await read('overview?filter=source:is:')
    expect(direct['total'].visits).to.include({ visits: 1, converted: 0 })
    expect(direct['total'].installs).to.include({ installs: 0 })
  })

  it('shows installs alone under a filter on installs, and says why', async () => {
    const byVersion = await read('overview?filter=version:is:2.0.0')
    expect(byVersion['visitsLeftOut']).to.equal('install_filter')
    expect(byVersion['total']).to.deep.include({ visits: null, ripe: null })
    expect(byVersion['total'].installs).to.include({ installs: 2, matched: 1 })
    for (const { visits } of panelOf(byVersion, 'campaign')) expect(visits).to.equal(null)
  })

  it('counts visits under several filters one by one', async () => {
    const both = await read('overview?filter=source:is:news&filter=campaign:is:launch')
    expect(both['visitsLeftOut']).to.equal(null)
    expect(both['total'].installs).to.include({ installs: 4 })
    expect(both['total'].visits).to.include({ visits: 3, converted: 2 })
    expect(both['before'].total.visits).to.include({ visits: 1, converted: 1 })
    expect(panelOf(both, 'source').map((row) => [named(row), row.installs, row.visits])).to.deep.equal([['news', 4, 3]])
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
    expect(await listed('?filter=version:is:2.0.0')).to.have.lengthOf(2)
    expect(await listed('?filter=campaign:is:nothing')).to.have.lengthOf(0)
    const many = `?since=${ago(41)}&until=${ago(39)}`
    expect(await listed(many)).to.equal(null)
    expect(await listed(`${many}&filter=campaign:is:eight`)).to.equal(null)
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

  it('compares nothing while an hour of either period was never counted, and again once it is', async () => {
    const comparison = async (query: string) => (await read(`overview?${query}`))['comparison'].notCompared
    for (const days of [3, 10]) {
      await storeCounted(facts, visitOf({ atMs: ago(days) - 5 * HOUR_MS, source: 'late', campaign: 'late' }), clock)
      const body = await read('overview')
      expect([body['comparison'].notCompared, body['before'], body['largestChange']], `${days} days ago`).to.deep.equal(
        ['not_counted_yet', null, null],
      )
      expect(await comparison('period=Yesterday')).to.equal(null)
      await rollUp({ facts, nowMs: clock })
      expect(await comparison('period=Last7Days')).to.equal(null)
      // It has figures that are all but right, so that it only has to be counted again does not matter.
      await storeCounted(facts, visitOf({ atMs: ago(days) - 5 * HOUR_MS, source: 'late', campaign: 'late' }), clock)
      expect(await comparison('period=Last7Days')).to.equal(null)
    }
  })
})
