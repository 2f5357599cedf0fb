/** A request that cannot be made durable is never answered with ok, and an answer that may have been lost is repeated unchanged. */

import { expect } from 'chai'
import { middayClock } from '../../fixtures/clocks.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { Claim } from '../../ports/hot-state/hot-state.ts'
import type { Reply } from '../../fixtures/service/requests.ts'
import { eventBody, startApi, visitBody, type Api } from './support/api.ts'
import { claimsOf } from './support/keys.ts'

function claimOf(event: ReturnType<typeof eventBody>): Claim {
  const eventId = String(event['event_id'])
  const installationId = String(event['installation_id'])
  return { organization: 'acme', website: 'acme-dev', eventId, installationId, owner: 'the test' }
}

describe('an event log that accepts nothing', () => {
  let api: Api
  let append: EventLog['append']
  before(async () => {
    api = await startApi({ nowMs: middayClock() })
    append = api.service.eventLog.append.bind(api.service.eventLog)
  })
  after(() => api.stop())
  afterEach(() => heal())

  const breakLog = (error: Error = new LogUnavailable('full')): void => {
    api.service.eventLog.append = () => Promise.reject(error)
  }
  const heal = (): void => {
    api.service.eventLog.append = append
  }
  const expectUnavailable = (reply: Reply): void => {
    expect(reply.status).to.equal(503)
    expect(reply.body).to.deep.equal({ error: 'unavailable' })
    expect(reply.headers.get('retry-after')).to.equal('2')
  }
  /** What the hot state keeps of an event whose append failed. */
  const keptAfterFailure = async (event: ReturnType<typeof eventBody>): Promise<Record<string, unknown>> => {
    breakLog()
    expectUnavailable(await api.post('/v1/events', event))
    heal()
    const outcome = await api.service.hotState.claimInstall(claimOf(event))
    expect(outcome.kind).to.equal('first')
    await api.service.hotState.releaseInstall(claimOf(event))
    return JSON.parse((outcome as { kept: string }).kept) as Record<string, unknown>
  }
  const keep = async (event: ReturnType<typeof eventBody>, decision: object): Promise<void> => {
    await api.service.hotState.claimInstall(claimOf(event))
    await api.service.hotState.keepInstall(claimOf(event), () => JSON.stringify(decision))
    await api.service.hotState.releaseInstall(claimOf(event))
  }
  const used = () => api.service.hotState.readUsage('acme', new Date(api.service.nowMs()).toISOString().slice(0, 7))

  it('makes every request that would leave a fact answer 503 unavailable, and count nothing', async () => {
    const { receipt } = (await api.visit()).body['marker']
    const before = await used()
    breakLog()
    for (const ask of [
      () => api.visit(),
      () => api.activate(receipt),
      () => api.handoff({ receipt }),
      () => api.handoff(visitBody()),
      () => api.event(),
    ]) {
      expectUnavailable(await ask())
    }
    expect(await used()).to.equal(before)
  })

  it('does not stop refusals and reads', async () => {
    breakLog()
    expect((await api.visit({ url_id: 'x' })).status).to.equal(400)
    expect((await api.get('/v1/projects/acme-dev/report.sh')).status).to.equal(200)
    expect((await api.get('/health')).status).to.equal(200)
    heal()
    const metrics = await (await fetch(api.service.metricsUrl)).text()
    expect(metrics).to.match(/whence_records_shed_total\{[^}]*what="request_record"[^}]*\} [1-9]/)
  })

  for (const refuses of ['queue_full', 'disk_full', 'spool_full', 'late', 'failing'] as const)
    it(`leaves the process ready if it says ${refuses}, which health and metrics say too, and hook and SDK reachable`, async () => {
      const { eventLog, metricsUrl } = api.service
      const health = eventLog.health.bind(eventLog)
      breakLog()
      eventLog.health = () => ({ ...health(), isAccepting: false, refuses })
      try {
        expect((await fetch(new URL('/ready', metricsUrl))).status).to.equal(200)
        for (const path of ['/v1/projects/acme-dev/report.sh', '/browser.js', '/v1/projects/acme-dev/browser-config'])
          expect((await api.get(path)).status, path).to.equal(200)
        expectUnavailable(await api.visit())
        expect((await api.get('/health')).body['event_log']).to.deep.include({ isAccepting: false })
        const metrics = await (await fetch(metricsUrl)).text()
        expect(metrics).to.include(`\nwhence_event_log_refusing{why="${refuses}"} 1\n`)
      } finally {
        eventLog.health = health
      }
      const metrics = await (await fetch(metricsUrl)).text()
      expect(metrics).to.not.match(/^whence_event_log_refusing\{/m)
    })

  it('lets the same event be the first one when it comes again', async () => {
    const receipt = await api.activeReceipt()
    const event = eventBody({ receipts: [receipt] })
    breakLog()
    expectUnavailable(await api.post('/v1/events', event))
    heal()
    expect((await api.post('/v1/events', event)).body).to.deep.include({ duplicate: false, resolution: 'matched' })
    expect((await api.post('/v1/events', event)).body).to.deep.include({ duplicate: true, resolution: 'matched' })
  })

  it('leaves an event to a later release that has decided it: 503 until that release answers, and nothing is stored', async () => {
    const event = eventBody({ receipts: [await api.activeReceipt()] })
    const kept = await keptAfterFailure(event)
    await keep(event, { ...kept, v: 2 })
    const before = await used()
    expectUnavailable(await api.post('/v1/events', event))
    expectUnavailable(await api.post('/v1/events', event))
    expect(await used()).to.equal(before)
    expect(api.service.logLines.some((line) => line.includes('decided by a later release'))).to.equal(true)
    await api.service.drain('facts-writer')
    expect(await api.service.facts.run('installsByEventId', { event_id: event['event_id'] })).to.deep.equal([])
    // The later release answers.
    await keep(event, kept)
    expect((await api.post('/v1/events', event)).body).to.deep.include({ duplicate: false, resolution: 'matched' })
  })

  it('does not answer a repeat with ok while nothing can be recorded of it', async () => {
    const event = eventBody()
    expect((await api.post('/v1/events', event)).body).to.deep.include({ duplicate: false })
    breakLog()
    expectUnavailable(await api.post('/v1/events', event))
    heal()
    expect((await api.post('/v1/events', event)).body).to.deep.include({ duplicate: true })
  })

  it('gives the log less time for a repeat that has waited for the first one, so that its answer is not late', async () => {
    const deadlines: (number | undefined)[] = []
    api.service.eventLog.append = async (topic, entries, options) => {
      // Request records of earlier calls are put on the log whenever their time has come.
      if (topic !== 'installs') return append(topic, entries, options)
      deadlines.push(options?.deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, 300))
      throw new LogUnavailable('too slow')
    }
    const event = eventBody()
    const replies = await Promise.all([api.post('/v1/events', event), api.post('/v1/events', event)])
    replies.forEach(expectUnavailable)
    const [first = 0, second = 0] = deadlines
    expect(first - second).to.be.within(250, 2_000)
  })

  it('loses no revocation: an activation that comes again records what the first one revoked', async () => {
    const first = await api.activeReceipt()
    const second = (await api.visit({ previous_receipt: first })).body['marker'].receipt
    breakLog()
    expectUnavailable(await api.activate(second))
    heal()
    expect((await api.activate(second)).body).to.deep.equal({ ok: true })
    await api.service.drain('facts-writer')
    const asked = { organization: 'acme', website: 'acme-dev', visit_ids: [claimsOf(first).visitId] }
    const [state] = await api.service.facts.run('receiptFacts', asked)
    expect(state).to.deep.include({ is_revoked: true })
  })

  it('answers 500 internal to a fault of its own, without details', async () => {
    breakLog(new TypeError('secret detail of a fault'))
    const reply = await api.visit()
    heal()
    expect(reply.status).to.equal(500)
    expect(reply.body).to.deep.equal({ error: 'internal' })
    expect(api.service.logLines.some((line) => line.includes('request failed'))).to.equal(true)
    expect((await api.visit()).status).to.equal(200)
  })

  it('answers 503 to a repeat while the first is not done, and the answer once it is', async () => {
    const event = eventBody()
    let finish = (): void => undefined
    const held = new Promise<void>((resolve) => (finish = resolve))
    api.service.eventLog.append = async (...entries) => {
      await held
      return append(...entries)
    }
    const first = api.post('/v1/events', event)
    const late = api.post('/v1/events', event)
    expectUnavailable(await late)
    const soon = api.post('/v1/events', event)
    finish()
    expect((await first).body).to.deep.include({ duplicate: false })
    expect((await soon).body).to.deep.include({ duplicate: true })
  })
})

describe('a ClickHouse that is unreachable', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  it('leaves an install pending if only ClickHouse remembers its receipts, whether it is broken or silent, and fails none', async () => {
    const run = api.service.facts.run.bind(api.service.facts)
    for (const broken of [() => Promise.reject(new Error('away')), () => new Promise<never>(() => undefined)]) {
      const { receipt } = (await api.visit()).body['marker']
      // An hour later the hot state has forgotten a receipt that was never activated.
      api.service.advance(3_700_000)
      // The roles after the log keep reading; only the request's own look-up fails.
      api.service.facts.run = (query, params) => (query === 'receiptFacts' ? broken() : run(query, params))
      const { body } = await api.event({ receipts: [receipt] })
      expect(body).to.deep.include({ resolution: 'pending', candidate_count: 0, selection_policy: 'none' })
      expect(body['ga']).to.deep.include({ status: 'pending' })
      expect((await api.activate(receipt)).body).to.deep.equal({ ok: true })
      api.service.facts.run = run
      expect((await api.event({ receipts: [receipt] })).body).to.deep.include({ resolution: 'matched' })
    }
  })
})
