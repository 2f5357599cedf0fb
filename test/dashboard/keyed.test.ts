/** What programs read with a key, over real facts: the numbers of the pages, as JSON and as CSV. */

import { expect } from 'chai'

import { KEY_INSTALL_COLUMNS } from '../../dashboard/api/keyed.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { middayClock } from '../../fixtures/clocks.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { OF, unmatchedAt, visitOf } from './support/sourced.ts'
import { apiKeyOf, organizationOf, specTime, startStage, type Stage, websiteOf } from './support/stage.ts'

/** No day ends while this runs. */
const clock = middayClock()
const NOW_MS = clock()
const KEY = apiKeyOf('reader', { organization: 'acme', expiresAt: specTime(NOW_MS + 30 * DAY_MS) })
const ago = (days: number): number => NOW_MS - days * DAY_MS - 2 * HOUR_MS
const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10)
/** Of what is counted here, without the many installs before it. */
const WEEK = `from=${dayOf(ago(6))}`
const MANY = 1_005
const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

interface Row {
  readonly value: string | null
  readonly row: string | null
  readonly bucket: string | null
  readonly installs: number
  readonly visits: number | null
}

describe('what programs read', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: Stage
  let cookies: string
  before(async () => {
    facts = await openTestFacts()
    const manifests =
      organizationOf('acme', { members: { 'anna@acme.dev': 'Member' } }) + websiteOf(OF.website, 'acme') + KEY.text
    stage = await startStage({ manifests, facts, clock })
    cookies = await stage.signIn('anna@acme.dev')
    const records = [
      ...visitOf({ atMs: ago(1), source: 'news', campaign: 'launch', installs: 3 }),
      ...visitOf({ atMs: ago(1), source: 'news', campaign: 'launch' }),
      ...visitOf({ atMs: ago(2), source: '=forum, "b"', campaign: 'launch', installs: 1, version: '2.0.0' }),
      ...visitOf({ atMs: ago(3) }),
      ...visitOf({ atMs: NOW_MS - HOUR_MS / 2, source: 'news', campaign: 'other', installs: 1 }),
      unmatchedAt(ago(4)),
      ...Array.from({ length: MANY }, (_, place) => unmatchedAt(ago(20) + place)),
    ]
    await storeCounted(facts, records, clock)
    await rollUp({ facts, nowMs: clock })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const read = async (path: string, accept = 'application/json') => {
    const told = await stage.ask('GET', `/v1/${path}`, { headers: { ...KEY.headers, Accept: accept } })
    expect(told.status, told.text).to.equal(200)
    return told
  }
  const rowsOf = async (path: string): Promise<readonly Row[]> => (await read(path)).body['rows']
  const overview = async (query = '') =>
    (await stage.ask('GET', `/api/organizations/acme/overview?${query}`, { cookies })).body

  it("counts what the Overview counts, in all, by day and by its panels' dimensions", async () => {
    const { total, steps } = await overview()
    const all = (await read('figures?metrics=installs,visits,copied,matched')).body
    const { installs, matched } = total.installs
    const counted = { installs, visits: total.visits.visits, copied: total.visits.copied, matched }
    expect(all['total']).to.deep.equal(counted)
    expect(counted).to.deep.equal({ installs: 6, visits: 5, copied: 0, matched: 5 })
    expect(all['rows']).to.deep.equal([{ value: null, row: null, bucket: null, ...counted }])
    expect([all['timeZone'], all['notKept']]).to.deep.equal(['UTC', null])
    const byDay = await rowsOf('figures?metrics=installs,visits&bucket=day')
    expect(byDay.map((row) => [row.bucket, row.installs, row.visits])).to.deep.equal(
      steps.map((step: any) => [dayOf(step.at), step.installs.installs, step.visits.visits]),
    )
    const { body: page } = await stage.ask('GET', '/api/organizations/acme/sources?by=source', { cookies })
    const bySource = await rowsOf('figures?metrics=installs,visits&by=source')
    expect(bySource.map(({ row, installs: number, visits }) => [row, number, visits])).to.deep.equal(
      page['rows'].map((row: any) => [row.row, row.installs, row.visits.visits]),
    )
    expect(bySource.map(({ value }) => value)).to.deep.equal(['news', '=forum, "b"', 'Direct', 'No visit found'])
  })

  it('adds up: the rows of each time to its total, and these to the total of the period', async () => {
    const byBoth = await rowsOf('figures?by=campaign&bucket=day&metrics=installs,visits')
    const byDay = await rowsOf('figures?bucket=day&metrics=installs,visits')
    for (const { bucket, installs, visits } of byDay) {
      const own = byBoth.filter((row) => row.bucket === bucket)
      expect([sum(own.map((row) => row.installs)), sum(own.map((row) => row.visits ?? 0))], bucket ?? '').to.deep.equal(
        [installs, visits],
      )
    }
    const hours = await rowsOf(`figures?bucket=hour&from=${dayOf(ago(1))}`)
    expect(sum(hours.map(({ installs }) => installs))).to.equal(4)
    const weeks = (await read('figures?bucket=week&by=source')).body
    expect(sum((weeks['rows'] as readonly Row[]).map(({ installs }) => installs))).to.equal(weeks['total'].installs)
  })

  it('counts as the Overview does under a filter, and leaves visits out where that does', async () => {
    for (const filters of [
      'filter=campaign:is:launch',
      'filter=campaign:is_not:launch',
      'filter=version:is:2.0.0',
      'filter=source:is:news&filter=campaign:is:launch',
    ] as const) {
      const { total } = await overview(filters)
      const told = (await read(`figures?metrics=installs,visits&${filters}`)).body
      const visits = total.visits?.visits ?? null
      expect(told['total'], filters).to.deep.equal({ installs: total.installs.installs, visits })
    }
  })

  it('has null for times of which nothing is kept, and says before which day that is', async () => {
    const told = (await read(`figures?bucket=day&from=${dayOf(NOW_MS - 399 * DAY_MS)}`)).body
    const rows: readonly Row[] = told['rows']
    expect(told['notKept'].before).to.equal(dayOf(NOW_MS - 394 * DAY_MS))
    const { before } = told['notKept']
    expect(rows.filter(({ installs }) => installs === null).map(({ bucket }) => bucket)).to.deep.equal(
      rows.map(({ bucket }) => bucket).filter((bucket) => bucket !== null && bucket < before),
    )
    expect(rows[0]?.installs).to.equal(null)
  })

  it('gives the same rows as CSV, in which nothing runs in a spreadsheet', async () => {
    const told = await read('figures?by=source&metrics=installs,visits', 'text/csv')
    expect(told.headers.get('content-type')).to.equal('text/csv; charset=utf-8')
    expect(told.text).to.equal(
      'value,row,installs,visits\r\nnews,value,4,3\r\n"\'=forum, ""b""",value,1,1\r\nDirect,direct,0,1\r\nNo visit found,no_visit,1,0\r\n',
    )
    for (const accept of ['text/csv, application/json', '*/*', 'text/html'])
      expect((await read('figures', accept)).headers.get('content-type'), accept).to.include('application/json')
  })

  it('lists installs with the columns of the export, but without IDs of installations', async () => {
    const { text } = await stage.ask('GET', '/api/organizations/acme/installs/export', { cookies })
    const [names = '', ...lines] = text.split('\r\n')
    const told = await read(`installs?${WEEK}`, 'text/csv')
    const [ownNames, ...ownLines] = told.text.trimEnd().split('\r\n')
    const columns = names.split(',')
    const hidden = columns.indexOf('installation_id')
    expect(ownNames?.split(',')).to.deep.equal(columns.filter((name) => name !== 'installation_id'))
    expect(KEY_INSTALL_COLUMNS).to.deep.equal(ownNames?.split(','))
    expect(ownLines).to.have.length(6)
    expect(told.text).not.to.include('machine-')
    const { installs, next } = (await read(`installs?${WEEK}`)).body
    expect(next).to.equal(null)
    expect(installs.map((each: any) => each.received_at)).to.deep.equal(
      lines.slice(0, 6).map((line) => line.split(',')[0]),
    )
    expect(hidden).to.be.greaterThan(0)
    const filtered = (await read('installs?filter=source:is:news&filter=kind:is:install')).body['installs']
    const { total } = await overview('filter=source:is:news')
    expect(filtered).to.have.length(total.installs.installs)
    expect(filtered[0]).to.include({ source: 'news', website: OF.website, ci: false, event_type: 'install_completed' })
  })

  it('lists more installs than a page has, in pages that miss none and repeat none', async () => {
    const first = (await read('installs')).body
    expect(first['installs']).to.have.length(1_000)
    const second = (await read(`installs?cursor=${first['next']}`)).body
    expect(second['next']).to.equal(null)
    const ids = [...first['installs'], ...second['installs']].map((each: any) => each.event_id)
    expect([ids.length, new Set(ids).size]).to.deep.equal([MANY + 6, MANY + 6])
    const csv = await read('installs?filter=kind:is:install&website=acme-site', 'text/csv')
    const link = /^<\/v1\/(.+)>; rel="next"$/.exec(csv.headers.get('link') ?? '')?.[1] ?? ''
    const rest = await read(link, 'text/csv')
    expect(rest.text.trimEnd().split('\r\n')).to.have.length(1 + MANY + 6 - 1_000)
    expect(rest.headers.get('link')).to.equal(null)
  })

  it('refuses what is no question, by its field', async () => {
    for (const [path, field] of [
      ['figures?from=soon', '/from'],
      ['figures?from=2020-01-01', '/from'],
      ['figures?metrics=clicks', '/metrics'],
      ['figures?by=colour', '/by'],
      ['figures?bucket=hour&from=2026-01-01', '/bucket'],
      ['figures?filter=colour:is:red', '/filter'],
      ['figures?nothing=1', '/nothing'],
      ['installs?cursor=none', '/cursor'],
      ['installs?filter=kind:is:visit', '/filter'],
      ['installs?website=acme-site&website=acme-site', '/website'],
    ] as const) {
      const told = await stage.ask('GET', `/v1/${path}`, { headers: KEY.headers })
      expect([told.status, told.body['error'], told.body['field']], path).to.deep.equal([400, 'invalid_field', field])
    }
  })
})
