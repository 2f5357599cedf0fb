/** What every Facts adapter shows of Logs: requests and attempts as lines, by any filter, page by page. */

import { expect } from 'chai'

import { referenceHash } from '../../domain/logs/references.ts'
import type { Attempt, RequestLog } from '../../domain/records.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { LogPageFilters, LogLineRow, LogWindow } from '../../ports/facts/pages/logs.ts'
import { attempt, deliveryRecord, installRecord, requestRecord, SAMPLE_MS, store, unique } from './fact-samples.ts'

export function logsContract(facts: () => Facts): void {
  let scope: LogWindow
  beforeEach(() => {
    const bounds = { since_ms: SAMPLE_MS - 60_000, until_ms: SAMPLE_MS + 60_000 }
    scope = { organization: unique('organization'), websites: [unique('site'), unique('site')], ...bounds }
  })

  const of = (site = 0) => ({ organization: scope.organization, website: scope.websites[site] ?? '' })
  const log = (changes: Partial<RequestLog> = {}, site = 0) => requestRecord({ ...of(site), ...changes })
  const delivery = (changes: Partial<Attempt> = {}) => deliveryRecord({ ...of(), attempt: attempt(changes) })
  const requests = (filters: LogPageFilters = {}, more: Partial<LogWindow> = {}) =>
    facts().run('requestLines', { ...scope, ...more, ...filters, limit: 200 })
  const attempts = (filters: LogPageFilters = {}) => facts().run('attemptLines', { ...scope, ...filters, limit: 200 })
  const ids = (rows: readonly LogLineRow[]) => rows.map(({ id }) => id)

  it('list the requests of several websites, newest first, each once, and none of other organisations', async () => {
    const records = [0, 1, 0, 1].map((site, index) => log({ receivedAtMs: SAMPLE_MS + index }, site))
    await store(facts(), records)
    await store(facts(), records)
    await store(facts(), [requestRecord({ ...of(), organization: unique('organization') })])
    expect(ids(await requests())).to.deep.equal(records.map(({ request }) => request.id).reverse())
    expect(await requests({}, { websites: scope.websites.slice(1) })).to.have.lengthOf(2)
    expect(await requests({}, { since_ms: SAMPLE_MS + 1, until_ms: SAMPLE_MS + 3 })).to.have.lengthOf(2)
  })

  it('go on after a line, also among those of one millisecond', async () => {
    await store(
      facts(),
      Array.from({ length: 5 }, () => log()),
    )
    await store(
      facts(),
      [1, 2, 3].map(() => delivery({ startedAtMs: SAMPLE_MS })),
    )
    for (const list of [requests, attempts]) {
      const all = ids(await list())
      const after = ids(await list({ before_ms: SAMPLE_MS, before_id: all[1] ?? '' }))
      expect(after).to.deep.equal(all.slice(2))
      expect(await list({ before_ms: SAMPLE_MS, before_id: '' })).to.deep.equal([])
    }
  })

  it('are found by any property of a request', async () => {
    const mine = {
      status: 429,
      code: 'rate_limited',
      path: '/v1/events',
      origin: 'https://b.dev',
      body: 'x{"a": "Ä%_"}',
    }
    const found = log(mine)
    await store(facts(), [found, log(), { ...installRecord(of()), request: log().request }])
    const filters: readonly LogPageFilters[] = [
      { status_from: 400, status_to: 499 },
      { code: 'rate_limited' },
      { path: '/v1/events' },
      { origin: 'https://b.dev' },
      { text: '"Ä%_"' },
      { kind: 'request', status_from: 429 },
    ]
    for (const filter of filters)
      expect(ids(await requests(filter)), JSON.stringify(filter)).to.deep.equal([found.request.id])
    expect(await requests({ kind: 'install' })).to.have.lengthOf(1)
    expect(await requests({ text: "' OR 1 = 1 --" })).to.deep.equal([])
  })

  it('are found by what they name', async () => {
    const record = { ...installRecord({ ...of(), eventId: 'event-0001' }), request: log().request }
    await store(facts(), [record, log({ body: '{"event_id":"event-0002"}' })])
    expect(ids(await requests({ refs: [referenceHash('event-0001'), referenceHash('none')] }))).to.deep.equal([
      record.request.id,
    ])
    expect(await requests({ refs: [referenceHash('event-0002')] })).to.have.lengthOf(1)
    expect(await requests({ refs: [referenceHash('event-0003')] })).to.deep.equal([])
  })

  it('are attempts by event, status, code and text, and never twice', async () => {
    const failed = delivery({ responseStatus: 500, code: 'http_500', responseBody: 'out of order' })
    await store(facts(), [failed, delivery()])
    await store(facts(), [failed])
    const filters: readonly LogPageFilters[] = [
      { status_from: 500, status_to: 599 },
      { code: 'http_500' },
      { text: 'of order' },
      { references: [failed.eventId] },
      { references: ['none', failed.jobId] },
    ]
    for (const filter of filters) {
      const rows = await attempts(filter)
      expect(rows, JSON.stringify(filter)).to.have.lengthOf(1)
      expect(rows[0]).to.include({ id: failed.attempt?.attemptId, event_id: failed.eventId, destination: 'acme-ga4' })
    }
    expect(await attempts()).to.have.lengthOf(2)
  })

  it('give the whole of one line, to its own organisation alone', async () => {
    const record = log({ body: 'the\tbody' })
    const sent = delivery({ requestBody: 'what was sent' })
    await store(facts(), [record, sent])
    const whose = { ...of(), websites: scope.websites }
    const request = { ...whose, at_ms: SAMPLE_MS, id: record.request.id }
    expect((await facts().run('requestLog', request))[0]?.body).to.equal('the\tbody')
    const exchange = { ...whose, event_id: sent.eventId, attempt_id: sent.attempt?.attemptId ?? '' }
    expect((await facts().run('attempt', exchange))[0]?.request_body).to.equal('what was sent')
    const other = { organization: unique('organization') }
    expect(await facts().run('requestLog', { ...request, ...other })).to.deep.equal([])
    expect(await facts().run('attempt', { ...exchange, ...other })).to.deep.equal([])
    expect(await facts().run('requestLog', { ...request, websites: [unique('site')] })).to.deep.equal([])
  })
}
