/** Ad spend in the dashboard: who imports it, what is refused as a whole, and what it cost to bring a visit and an install. */

import { request, type ClientRequest } from 'node:http'
import { text } from 'node:stream/consumers'

import { expect } from 'chai'

import { spendHit } from '../../dashboard/http/limits.ts'
import { createHourMarks } from '../../delivery/counting/hour-marks.ts'
import { createErasures } from '../../delivery/facts-writer/erasures.ts'
import { writeBatch } from '../../delivery/facts-writer/fact-batch.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import { middayClock } from '../../fixtures/clocks.ts'
import { until } from '../../fixtures/until.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { installRecord, visitRecord } from '../contract/fact-samples.ts'
import { NO_BACKLOG } from '../delivery/support/memory-facts.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { organizationOf, SECRET, startStage, type Stage, type Told, websiteOf } from './support/stage.ts'

/** Noon of a day. */
const clock = middayClock()
const NOW_MS = clock()
const TODAY_MS = Math.floor(NOW_MS / DAY_MS) * DAY_MS
const KEY_ID = createKeyring([SECRET]).currentKeyId
const ROOT = '/api/organizations/acme'
const UPLOAD = `${ROOT}/websites/acme-site/spend`
const HEADER = 'day,source,campaign,amount,currency\n'
const dayAgo = (days: number): string => new Date(TODAY_MS - days * DAY_MS).toISOString().slice(0, 10)
const YESTERDAY = dayAgo(1)
const WEEK = `since=${TODAY_MS - 7 * DAY_MS}&until=${NOW_MS}`
const MEMBERS = { 'anna@acme.dev': 'Admin', 'max@acme.dev': 'Member', 'vera@acme.dev': 'Viewer' }

let serial = 0
const idAt = (ms: number): string =>
  `${KEY_ID.toString(16).padStart(2, '0')}${ms.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`

/** So many visits of a campaign, of which some led to an install. */
function traffic(atMs: number, source: string, campaign: string, [visits, installs]: readonly [number, number]) {
  const of = { website: 'acme-site', organization: 'acme' }
  const utm = campaign === '' ? { source } : { source, campaign }
  return Array.from({ length: visits }, (_, index) => {
    const visitId = idAt(atMs + index)
    const visit = visitRecord({ ...of, visitId, issuedAtMs: atMs + index, utm })
    const matched = { resolution: 'matched', selectionPolicy: 'latest_visit', visitId, visitIssuedAtMs: atMs } as const
    const install = installRecord({ ...of, receivedAtMs: atMs + 60_000, ...matched })
    return index < installs ? [visit, install] : [visit]
  }).flat()
}

describe('ad spend in the dashboard', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: Stage
  let anna: string
  let bert: string
  let written = 0
  /** Of what the dashboard appends to the log, this and all that follows fails; null: nothing does. */
  let failsAt: number | null = null
  let appended = 0
  const onStep = (step: string): void => {
    if (step !== 'before note') return
    appended += 1
    if (failsAt !== null && appended >= failsAt) throw new LogUnavailable('full')
  }

  before(async () => {
    facts = await openTestFacts()
    const records = [
      ...traffic(NOW_MS - DAY_MS, 'google', 'launch', [4, 2]),
      ...traffic(NOW_MS - 2 * DAY_MS, 'google', 'brand', [2, 0]),
      ...traffic(NOW_MS - 2 * DAY_MS, 'newsletter', '', [3, 1]),
      // Of today, which has not ended.
      ...traffic(NOW_MS - HOUR_MS, 'google', 'launch', [5, 5]),
    ]
    await storeCounted(facts, records, clock)
    await rollUp({ facts, nowMs: clock })
  })
  beforeEach(async () => {
    const manifests = [
      organizationOf('acme', { members: MEMBERS }) + websiteOf('acme-site', 'acme'),
      organizationOf('other', { members: { 'bert@other.dev': 'Owner' } }) + websiteOf('other-site', 'other'),
    ].join('---\n')
    failsAt = null
    stage = await startStage({ manifests, facts, clock, onStep })
    anna = await stage.signIn('anna@acme.dev')
    bert = await stage.signIn('bert@other.dev')
    written = 0
    for (const table of ['spend_rows', 'spend_imports']) await facts.connection.command(`TRUNCATE TABLE ${table}`)
  })
  afterEach(() => stage?.stop())
  after(() => facts?.close())

  const upload = (body: string, cookies = anna, more = '', path = UPLOAD): Promise<Told> =>
    stage.ask('POST', `${path}${more}`, { cookies, body, headers: { 'Content-Type': 'text/csv; charset=utf-8' } })
  const entries = (): ReturnType<Stage['eventLog']['read']> => stage.eventLog.read('spend', 0, 1_000)
  /** As the facts-writer does. */
  const write = async (): Promise<void> => {
    const found = await stage.eventLog.read('spend', written, 100)
    if (found.length === 0) return
    written += found.length
    const tools = {
      nowMs: clock,
      marks: createHourMarks('test', clock),
      erasures: createErasures(facts),
      backlog: NO_BACKLOG,
    }
    await writeBatch(facts, { topic: 'spend', partition: 0, entries: found }, tools)
  }
  /** The answer waits until the import is stored. */
  const imported = async (rows: string, more = ''): Promise<Told['body']> => {
    const answer = upload(HEADER + rows, anna, more)
    let isAnswered = false
    void answer.finally(() => (isAnswered = true))
    await until(async () => {
      await write()
      return isAnswered
    })
    const told = await answer
    expect(told.status, told.text).to.equal(201)
    return told.body
  }
  const read = async (query = WEEK, cookies = anna): Promise<Told['body']> =>
    (await stage.ask('GET', `${ROOT}/spend?${query}`, { cookies })).body
  const imports = async (cookies = anna): Promise<readonly any[]> =>
    (await stage.ask('GET', `${ROOT}/spend/imports`, { cookies })).body['imports']
  const remove = (id: string, cookies = anna): Promise<Told> =>
    stage.ask('DELETE', `${ROOT}/spend/imports/${id}`, { cookies })

  const ROWS = `${YESTERDAY},google,launch,20.00,EUR\n${dayAgo(2)},google,brand,3.50,EUR\n${dayAgo(2)},newsletter,,10,EUR\n${YESTERDAY},google,lunch,1.25,EUR\n`

  it('gives the cost of a visit and of an install by campaign, and lists what joined nothing', async () => {
    const answer = await imported(ROWS, '?file=november.csv')
    const total = { currency: 'EUR', places: 2, amount: 3_475 }
    expect(answer).to.deep.include({ website: 'acme-site', fileName: 'november.csv', rows: 4, totals: [total] })
    expect(answer).to.deep.include({ firstDay: dayAgo(2), lastDay: YESTERDAY })
    const { rows, notJoined, currencies, days, timeZone } = await read()
    expect(rows).to.deep.equal([
      {
        source: 'google',
        campaign: 'launch',
        currency: 'EUR',
        amount: 2_000,
        visits: 4,
        installs: 2,
        perVisit: 500,
        perInstall: 1_000,
      },
      {
        source: 'newsletter',
        campaign: '',
        currency: 'EUR',
        amount: 1_000,
        visits: 3,
        installs: 1,
        perVisit: 1_000 / 3,
        perInstall: 1_000,
      },
      {
        source: 'google',
        campaign: 'brand',
        currency: 'EUR',
        amount: 350,
        visits: 2,
        installs: 0,
        perVisit: 175,
        perInstall: null,
      },
    ])
    expect(notJoined).to.deep.equal([{ source: 'google', campaign: 'lunch', currency: 'EUR', amount: 125 }])
    expect(currencies).to.deep.equal([{ ...total, joined: 3_350, notJoined: 125, other: 0 }])
    expect(timeZone).to.equal('UTC')
    expect(days).to.deep.equal({ first: dayAgo(7), last: YESTERDAY, since: TODAY_MS - 7 * DAY_MS, until: TODAY_MS })
  })

  it('gives it by source, of which all campaigns are one', async () => {
    await imported(ROWS)
    const { by, rows, notJoined } = await read(`by=source&${WEEK}`)
    expect(by).to.equal('source')
    expect(notJoined).to.deep.equal([])
    expect(rows.map(({ source, amount, visits, installs }: any) => [source, amount, visits, installs])).to.deep.equal([
      ['google', 2_475, 6, 2],
      ['newsletter', 1_000, 3, 1],
    ])
  })

  it('keeps currencies apart', async () => {
    await imported(`${YESTERDAY},google,launch,20.00,EUR\n${YESTERDAY},google,launch,300,JPY\n`)
    const { rows, currencies } = await read()
    expect(rows.map(({ currency, perVisit }: any) => [currency, perVisit])).to.deep.equal([
      ['EUR', 500],
      ['JPY', 75],
    ])
    expect(currencies.map(({ currency, places, amount }: any) => [currency, places, amount])).to.deep.equal([
      ['EUR', 2, 2_000],
      ['JPY', 0, 300],
    ])
  })

  it('counts only days that lie whole within the period, and nothing if there is none', async () => {
    await imported(ROWS)
    const part = await read(`since=${TODAY_MS - 2 * DAY_MS + HOUR_MS}&until=${TODAY_MS}`)
    expect(part['days']).to.deep.include({ first: YESTERDAY, last: YESTERDAY })
    expect(part['rows'].map(({ campaign, amount }: any) => [campaign, amount])).to.deep.equal([['launch', 2_000]])
    const none = await read(`since=${TODAY_MS}&until=${NOW_MS}`)
    expect(none).to.deep.include({ days: null, rows: [], notJoined: [], currencies: [] })
  })

  it('takes columns by other names, and a source and a currency that all rows share', async () => {
    const columns = encodeURIComponent('day=Day,campaign=Campaign,amount=Cost')
    const told = await upload(
      `Campaign,Day,Clicks,Cost\nlaunch,${YESTERDAY},7,8.00\n`,
      anna,
      `?columns=${columns}&source=google&currency=USD`,
    )
    expect(told.status, told.text).to.equal(201)
    await write()
    expect((await read())['rows'][0]).to.deep.include({
      source: 'google',
      campaign: 'launch',
      currency: 'USD',
      perVisit: 200,
    })
    const refused = await upload(HEADER + ROWS, anna, '?columns=date%3DDay')
    expect(refused.body).to.deep.include({ error: 'invalid_field', field: '/columns' })
  })

  it('is imported whole or not at all: problems are named by line and column, and nothing reaches the log', async () => {
    const rows = `${ROWS.repeat(2_000)}${YESTERDAY},google,launch,"1,5",EUR\n01/11/2026,google,launch,1,EUR\n`
    const { status, body } = await upload(HEADER + rows)
    expect(status).to.equal(400)
    expect(body).to.deep.equal({
      error: 'invalid_csv',
      problems: [
        {
          line: 8_002,
          column: 'amount',
          message:
            'must be digits with a point before decimals, such as 1234.50: no sign, exponent or separator of thousands',
        },
        { line: 8_003, column: 'day', message: 'must be a day such as 2026-11-30' },
      ],
    })
    expect(await entries()).to.deep.equal([])
  })

  it('is imported by Admins and Owners alone, of their own websites, and from our own pages', async () => {
    const max = await stage.signIn('max@acme.dev')
    const vera = await stage.signIn('vera@acme.dev')
    const statuses = [
      await upload(HEADER + ROWS, max),
      await upload(HEADER + ROWS, vera),
      await upload(HEADER + ROWS, ''),
      await upload(HEADER + ROWS, bert),
      await upload(HEADER + ROWS, anna, '', `${ROOT}/websites/other-site/spend`),
      await upload(HEADER + ROWS, anna, '', `/api/organizations/other/websites/other-site/spend`),
      await stage.ask('POST', UPLOAD, {
        cookies: anna,
        body: HEADER + ROWS,
        headers: { 'Content-Type': 'text/csv', 'Sec-Fetch-Site': 'cross-site' },
      }),
    ].map(({ status, body }) => [status, body['error']])
    expect(statuses).to.deep.equal([
      [403, 'forbidden'],
      [403, 'forbidden'],
      [401, 'unauthenticated'],
      [404, 'not_found'],
      [404, 'not_found'],
      [404, 'not_found'],
      [403, 'cross_origin'],
    ])
    expect(await entries()).to.deep.equal([])
  })

  it('is listed for Viewers, and removed by Admins alone; then what it had replaced counts again', async () => {
    const first = await imported(`${YESTERDAY},google,launch,20.00,EUR\n`)
    const second = await imported(`${YESTERDAY},google,lunch,70.00,EUR\n`)
    const vera = await stage.signIn('vera@acme.dev')
    expect((await imports(vera)).map(({ id }) => id)).to.deep.equal([second['id'], first['id']])
    expect((await read(WEEK, vera))['rows']).to.deep.equal([])
    expect((await remove(second['id'], vera)).status).to.equal(403)
    expect(
      (await stage.ask('DELETE', `/api/organizations/other/spend/imports/${second['id']}`, { cookies: bert })).status,
    ).to.equal(404)
    expect((await remove(second['id'])).status).to.equal(204)
    await write()
    expect((await remove(second['id'])).status).to.equal(404)
    expect((await imports()).map(({ id }) => id)).to.deep.equal([first['id']])
    expect((await read())['rows'].map(({ campaign, amount }: any) => [campaign, amount])).to.deep.equal([
      ['launch', 2_000],
    ])
    const noted = (await stage.eventLog.read('activity', 0, 100)).map(({ value }) => JSON.parse(value))
    const ofSpend = noted.filter(({ type }) => type.startsWith('spend_'))
    expect(ofSpend.map(({ type, subject, website }) => [type, subject, website])).to.deep.equal([
      ['spend_imported', first['id'], 'acme-site'],
      ['spend_imported', second['id'], 'acme-site'],
      ['spend_removed', second['id'], 'acme-site'],
    ])
    expect(ofSpend.every(({ actor }) => /^p_[0-9a-f]{16}$/.test(actor))).to.equal(true)
  })

  it('is refused above 5 MB, declared or not, and unless it is plain CSV', async () => {
    const tooLarge = HEADER + ROWS.repeat(Math.ceil(LIMITS.spendFileBytes / ROWS.length))
    const declared = await upload(tooLarge)
    expect([declared.status, declared.body['error']]).to.deep.equal([413, 'body_too_large'])
    const chunked = openUpload()
    chunked.req.write(tooLarge)
    expect(await chunked.answer).to.deep.equal({ status: 413, error: 'body_too_large' })
    const asJson = await stage.ask('POST', UPLOAD, { cookies: anna, body: HEADER + ROWS })
    expect(asJson.body['error']).to.equal('unsupported_media_type')
    const headers = { 'Content-Type': 'text/csv', 'Content-Encoding': 'gzip' }
    const packed = await stage.ask('POST', UPLOAD, { cookies: anna, body: HEADER + ROWS, headers })
    expect(packed.body['error']).to.equal('unsupported_encoding')
    expect(await entries()).to.deep.equal([])
  })

  it('is imported once at a time for an organisation, while another one imports its own', async () => {
    const open = openUpload()
    open.req.write(HEADER)
    await until(async () => (await stage.hotState.readOnce('spend/acme')) !== null)
    const second = await upload(HEADER + ROWS)
    expect([second.status, second.body['error']]).to.deep.equal([409, 'import_running'])
    const ofOther = await upload(HEADER + ROWS, bert, '', '/api/organizations/other/websites/other-site/spend')
    expect(ofOther.status).to.equal(201)
    open.req.end(ROWS)
    expect((await open.answer).status).to.equal(201)
    expect((await upload(HEADER + ROWS)).status).to.equal(201)
  })

  it('leaves nothing behind if its client disconnects, and keeps nobody away', async () => {
    const open = openUpload()
    open.req.write(HEADER + ROWS)
    await until(async () => (await stage.hotState.readOnce('spend/acme')) !== null)
    open.req.destroy()
    await until(async () => (await stage.hotState.readOnce('spend/acme')) === null)
    expect(await entries()).to.deep.equal([])
    expect(stage.logLines.filter((line) => line.includes('"level":50'))).to.deep.equal([])
  })

  it('counts for nothing if the log takes only some of it, and can be imported again', async () => {
    await imported(`${YESTERDAY},google,launch,20.00,EUR\n`)
    const many = `${YESTERDAY},google,${'x'.repeat(100)},1.00,EUR\n`.repeat(3_000)
    appended = 0
    failsAt = 3
    const told = await upload(HEADER + many)
    expect([told.status, told.body['error']]).to.deep.equal([503, 'unavailable'])
    const found = await entries()
    expect(found.length, 'some of it is on the log').to.equal(4)
    await write()
    expect((await read())['currencies'].map(({ amount }: any) => amount)).to.deep.equal([2_000])
    expect(await imports()).to.have.length(1)
    failsAt = null
    await imported(many)
    expect((await read())['currencies'].map(({ amount }: any) => amount)).to.deep.equal([300_000])
  })

  it('is refused if its person loses the right while the file arrives', async () => {
    const open = openUpload()
    open.req.write(HEADER + ROWS)
    await until(async () => (await stage.hotState.readOnce('spend/acme')) !== null)
    await stage.ask('POST', '/api/sign-out', { cookies: anna, body: {} })
    open.req.end()
    expect(await open.answer).to.deep.equal({ status: 403, error: 'forbidden' })
    expect(await entries()).to.deep.equal([])
  })

  it('is imported thirty times an hour, and a file that is refused is none of them', async () => {
    const hit = spendHit('acme')
    for (let times = 1; times < hit.limit; times++) await stage.hotState.countHits([hit])
    for (let times = 0; times < 2; times++) expect((await upload('nothing')).body['error']).to.equal('invalid_csv')
    expect((await upload(HEADER + ROWS)).status).to.equal(201)
    const told = await upload(HEADER + ROWS)
    expect([told.status, told.body['error'], hit.limit]).to.deep.equal([429, 'rate_limited', 30])
  })

  interface OpenUpload {
    readonly req: ClientRequest
    readonly answer: Promise<{ readonly status: number; readonly error?: string }>
  }

  /** Sent in pieces, with no length declared. */
  function openUpload(): OpenUpload {
    const headers = {
      'Content-Type': 'text/csv',
      Cookie: anna,
      'Sec-Fetch-Site': 'same-origin',
      'X-Address': '192.0.2.9',
    }
    const req = request(`${stage.url}${UPLOAD}`, { method: 'POST', headers })
    const answer = new Promise<{ status: number; error?: string }>((resolve) => {
      req.on('error', () => resolve({ status: 0 }))
      req.on('response', (res) => {
        void text(res).then((told) => {
          const { error } = JSON.parse(told)
          resolve({ status: res.statusCode ?? 0, ...(error === undefined ? {} : { error }) })
        })
      })
    })
    return { req, answer }
  }
})
