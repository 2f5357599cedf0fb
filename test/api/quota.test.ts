/** Plans: what Free only counts, and what happens beyond the monthly quota. */

import { expect } from 'chai'
import { PLAN_LIMITS } from '../../domain/limits.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import { newId } from '../../fixtures/service/requests.ts'
import { eventBody, FREE_MANIFESTS, logsOf, MANIFESTS, startApi, visitBody, type Api } from './support/api.ts'
import { claimsOf, tokenClaimsOf } from './support/keys.ts'

const MONTH = '2040-11'
const START_MS = Date.UTC(2040, 10, 21, 12)

describe('an organisation on Free', () => {
  let api: Api
  /** How far the service's clock is ahead of the real one; it keeps running. */
  let aheadMs = START_MS - Date.now()
  const nowMs = (): number => Date.now() + aheadMs
  const setNow = (ms: number): void => void (aheadMs = ms - Date.now())
  before(async () => {
    api = await startApi({ manifests: FREE_MANIFESTS, nowMs })
  })
  after(() => api.stop())

  /** Uses up all but `left` tracked events of the month. */
  const leave = async (left: number, month = MONTH): Promise<void> => {
    const quota = PLAN_LIMITS.Free.trackedEventsPerMonth
    const missing = quota - left - (await api.service.hotState.readUsage('acme', month))
    for (let count = 0; count < missing; count++)
      await api.service.hotState.addUsage({ organization: 'acme', month, quota })
  }
  const used = (): Promise<number> => api.service.hotState.readUsage('acme', MONTH)
  const counts = async () => {
    await api.service.drain('facts-writer')
    const [row] = await api.service.facts.run('counts', {})
    return { visits: row!.visits, activations: row!.activations, handoffs: row!.handoffs, installs: row!.installs }
  }

  describe('within its quota', () => {
    it('has its installs counted, and receipts and tokens are not read', async () => {
      const receipt = await api.activeReceipt()
      const { token } = (await api.handoff({ receipt })).body
      for (const more of [{ receipts: [receipt] }, { handoff: token }, { receipts: [] }]) {
        const event = eventBody(more)
        const { body } = await api.post('/v1/events', event)
        expect(body).to.deep.equal({
          ok: true,
          event_id: event['event_id'],
          duplicate: false,
          resolution: 'counted',
          candidate_count: 0,
          selection_policy: 'none',
          ga: { status: 'not_queued', deliveries: [] },
        })
        await api.service.drain('facts-writer')
        const [row] = await api.service.facts.run('installsByEventId', { event_id: event['event_id'] })
        expect(row).to.deep.include({ verdicts: '[]', visit_id: '' })
      }
    })

    it('counts visits and installs once each, and nothing else', async () => {
      const before = await used()
      const receipt = await api.activeReceipt()
      await api.activate(receipt)
      await api.handoff({ receipt })
      expect(await used()).to.equal(before + 1)
      await api.handoff(visitBody())
      expect(await used()).to.equal(before + 2)
      const event = eventBody()
      await Promise.all([1, 2, 3].map(() => api.post('/v1/events', event)))
      expect(await used()).to.equal(before + 3)
      await api.visit({ url_id: 'x' })
      await api.event({ event_type: 'x' })
      await api.visit({}, { origin: 'https://evil.example' })
      expect(await used()).to.equal(before + 3)
    })
  })

  describe('whose website is visited by bots', () => {
    const headers = { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }

    it('stores these visits and counts none of them', async () => {
      const before = await used()
      const stored = (await counts()).visits
      const { body } = await api.visit({}, { headers })
      expect(body).not.to.have.property('recorded')
      await api.handoff(visitBody(), { headers })
      expect(await used()).to.equal(before)
      expect((await counts()).visits).to.equal(stored + 2)
      await api.visit({ client: { automation: true } })
      expect(await used()).to.equal(before + 1)
    })

    it('stores no more of them than the quota of events', async () => {
      const quota = PLAN_LIMITS.Free.trackedEventsPerMonth
      const bots = { organization: 'acme:bots', month: MONTH, quota: null }
      const missing = quota - 1 - (await api.service.hotState.readUsage('acme:bots', MONTH))
      for (let count = 0; count < missing; count++) await api.service.hotState.addUsage(bots)
      expect((await api.visit({}, { headers })).body).not.to.have.property('recorded')
      const stored = await counts()
      expect((await api.visit({}, { headers })).body).to.include({ recorded: false })
      expect(await counts()).to.deep.equal(stored)
      for (let count = 0; count < 10; count++) await api.service.hotState.returnUsage(bots)
    })
  })

  describe('at the edge of its quota', () => {
    const told = async (type: string): Promise<readonly string[]> => {
      await api.service.drain('facts-writer')
      const period = { since_ms: nowMs() - 1e9, until_ms: nowMs() + 1e9, limit: 100, organization: 'acme' }
      const rows = await api.service.facts.run('listActivity', period)
      return rows.filter((row) => row.type === type).map(({ subject }) => subject)
    }

    it('is told when four fifths of it are used, once', async () => {
      await leave(PLAN_LIMITS.Free.trackedEventsPerMonth / 5 + 1)
      expect(await told('quota_near')).to.deep.equal([])
      for (let count = 0; count < 3; count += 1) await api.visit()
      expect(await told('quota_near')).to.deep.equal([MONTH])
    })

    it('records exactly as many concurrent events as are left', async () => {
      await leave(10)
      const replies = await Promise.all(
        Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? api.visit() : api.event())),
      )
      expect(replies.map(({ status }) => status).every((status) => status === 200)).to.equal(true)
      expect(replies.filter(({ body }) => !('recorded' in body)).length).to.equal(10)
      expect(await used()).to.equal(PLAN_LIMITS.Free.trackedEventsPerMonth)
    })

    it('is recorded once in the activity of the organisation', async () => {
      expect(await told('quota_reached')).to.deep.equal([MONTH])
    })
  })

  describe('beyond its quota', () => {
    before(() => leave(0))

    it('has no visit of a bot stored', async () => {
      const headers = { 'user-agent': 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)' }
      const before = await counts()
      expect((await api.visit({}, { headers })).body).to.include({ recorded: false })
      expect(await counts()).to.deep.equal(before)
    })

    it('gets the usual answers with recorded false, and nothing is stored', async () => {
      const before = await counts()
      const visit = (await api.visit({ referrer: 'https://unrecorded.example/visit' })).body
      expect(visit).to.deep.include({ recorded: false })
      expect(Object.keys(visit['marker'])).to.have.members([
        'format',
        'version',
        'project',
        'url_id',
        'origin',
        'receipt',
        'created_at',
        'expires_at',
      ])
      const { receipt } = visit['marker']
      expect(claimsOf(receipt).isUnrecorded).to.equal(true)
      expect((await api.activate(receipt)).body).to.deep.equal({ ok: true })
      const handoff = (await api.handoff({ receipt })).body
      expect(handoff).to.have.all.keys('ok', 'token', 'expires_at')
      expect(tokenClaimsOf(handoff['token']).isUnrecorded).to.equal(true)
      const own = (await api.handoff(visitBody())).body
      expect(own).to.deep.include({ ok: true, recorded: false })
      expect(own).to.have.all.keys('ok', 'token', 'expires_at', 'receipt', 'recorded')
      expect((await api.handoff({ receipt: own['receipt'] })).status).to.equal(200)
      const event = (await api.event()).body
      expect(event).to.deep.include({ ok: true, duplicate: false, resolution: 'counted', recorded: false })
      expect(await counts()).to.deep.equal(before)
      const ref = {
        organization: 'acme',
        website: 'acme-dev',
        visitId: claimsOf(receipt).visitId,
        issuedAtMs: claimsOf(receipt).issuedAtMs,
      }
      expect(await api.service.hotState.receiptStates([ref])).to.deep.equal(['unknown'])
    })

    it('records a retry of what may have been stored, though the quota was used up in between', async () => {
      const { eventLog } = api.service
      const append = eventLog.append.bind(eventLog)
      eventLog.append = async (topic, entries, options) => {
        await append(topic, entries, options)
        if (topic !== 'installs') return
        eventLog.append = append
        throw new LogUnavailable('no answer')
      }
      await api.service.hotState.returnUsage({ organization: 'acme', month: MONTH, quota: null })
      const event = eventBody()
      expect((await api.post('/v1/events', event)).status).to.equal(503)
      await leave(0)
      const { body } = await api.post('/v1/events', event)
      expect(body).to.deep.include({ duplicate: false, resolution: 'counted' }).and.to.not.have.property('recorded')
      await api.service.drain('facts-writer')
      const [row] = await api.service.facts.run('installsByEventId', { event_id: event['event_id'] })
      expect(JSON.parse(row?.answer ?? '')).to.deep.equal(body)
      expect((await api.post('/v1/events', event)).body).to.deep.equal({ ...body, duplicate: true })
    })

    it('does not remember an event that it did not record, and still remembers those that it did', async () => {
      await leave(0)
      const event = eventBody()
      for (let time = 0; time < 3; time++) {
        expect((await api.post('/v1/events', event)).body).to.deep.include({ duplicate: false, recorded: false })
      }
    })

    it('is in Logs without the bodies', async () => {
      const agent = `agent-${newId()}`
      const options = { headers: { 'User-Agent': agent } }
      const visit = await api.visit({}, options)
      const receipt = visit.body['marker'].receipt
      await api.activate(receipt, {}, options)
      await api.handoff({ receipt }, options)
      await api.handoff(visitBody(), options)
      await api.event({}, options)
      const rows = await logsOf(api, ({ user_agent }) => user_agent === agent, 5)
      expect(rows.map(({ path }) => path)).to.have.members([
        '/v1/visits',
        '/v1/visits/activate',
        '/v1/handoffs',
        '/v1/handoffs',
        '/v1/events',
      ])
      for (const row of rows) {
        expect(row).to.deep.include({
          status: 200,
          body: '',
          body_form: 'withheld',
          website: 'acme-dev',
          kind: 'request',
        })
        expect(row.body_bytes).to.be.above(0)
      }
    })

    it('is still refused for invalid requests', async () => {
      expect((await api.visit({ url_id: 'x' })).status).to.equal(400)
      expect((await api.activate('A'.repeat(43))).status).to.equal(404)
      const { receipt } = (await api.visit()).body['marker']
      const elsewhere = await api.activate(receipt, {}, { origin: 'https://docs.acme.dev' })
      expect(elsewhere.body).to.deep.equal({ error: 'origin_mismatch' })
      const own = (await api.handoff(visitBody())).body['receipt']
      expect((await api.activate(own)).body).to.deep.equal({ error: 'receipt_not_activatable' })
    })

    it('is recorded again in the next month, UTC, and what was not recorded never becomes a candidate', async () => {
      const { receipt } = (await api.visit()).body['marker']
      const { token } = (await api.handoff({ receipt })).body
      setNow(Date.UTC(2040, 11, 1) - 60_000)
      await leave(0)
      expect((await api.visit()).body).to.deep.include({ recorded: false })
      setNow(Date.UTC(2040, 11, 1))
      expect((await api.visit()).body).to.not.have.property('recorded')
      // On a paid plan receipts are read, and these are marked as never recorded.
      await api.service.apply(MANIFESTS)
      for (const more of [{ receipts: [receipt] }, { handoff: token }]) {
        expect((await api.event(more)).body).to.deep.include({ resolution: 'unmatched', candidate_count: 0 })
      }
      expect((await api.activate(receipt)).body).to.deep.equal({ ok: true })
      expect((await api.event({ receipts: [receipt] })).body).to.deep.include({ resolution: 'unmatched' })
    })
  })
})

describe('an organisation on a paid plan', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  it('is never cut off, and is notified of its quota once', async () => {
    const quota = PLAN_LIMITS.Standard.trackedEventsPerMonth
    const month = new Date(api.service.nowMs()).toISOString().slice(0, 7)
    // A million requests would take minutes; the count is the same for every plan.
    for (let count = 0; count < quota - 1; count++)
      await api.service.hotState.addUsage({ organization: 'acme', month, quota: null })
    const notices = async (): Promise<number> => {
      await api.service.drain('facts-writer')
      const nowMs = api.service.nowMs()
      const period = { since_ms: nowMs - 1e7, until_ms: nowMs + 1e7, limit: 100, organization: 'acme' }
      const rows = await api.service.facts.run('listActivity', period)
      return rows.filter(({ type }) => type === 'quota_reached').length
    }
    expect((await api.visit()).body).to.not.have.property('recorded')
    expect(await api.service.hotState.readUsage('acme', month)).to.equal(quota)
    expect(await notices(), 'the last event of the quota').to.equal(0)
    for (let index = 0; index < 3; index++) expect((await api.visit()).body).to.not.have.property('recorded')
    expect((await api.event()).body).to.not.have.property('recorded')
    expect(await api.service.hotState.readUsage('acme', month)).to.equal(quota + 4)
    expect(await notices()).to.equal(1)
  })
})
