/** An install that cannot be decided when it is reported is pending, and is later shown everywhere as it was decided. */

import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { until } from '../../fixtures/until.ts'
import { middayClock } from '../../fixtures/clocks.ts'
import { LIMITS } from '../../domain/limits.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import { FactsUnavailable } from '../../ports/facts/facts.ts'
import { hasRedisServer, startRedis, type RedisServer } from '../../fixtures/engines/redis.ts'
import { eventBody, startApi, type Api } from './support/api.ts'
import { claimsOf } from './support/keys.ts'

const PAUSE_MS = 25
/** Longer than a process trusts what it saw itself. */
const TRUST_MS = 5_100

describe('a pending install', function () {
  this.timeout(60_000)
  let api: Api
  afterEach(() => api.stop())

  /** Entries waiting in a tier become due meanwhile. */
  const inTime = (isMet: () => Promise<boolean>): Promise<true> => {
    const look = async (): Promise<boolean> => {
      api.service.advance(1_000)
      return isMet()
    }
    return until(look, { what: isMet.toString(), everyMs: PAUSE_MS })
  }
  const rowOf = async (eventId: string) => (await api.service.facts.run('installsByEventId', { event_id: eventId }))[0]
  const deliveriesOf = (eventId: string) =>
    api.service.facts.run('deliveriesOfInstall', { organization: 'acme', website: 'acme-dev', event_id: eventId })
  const decided = (eventId: string): Promise<true> =>
    inTime(async () => ((await rowOf(eventId))?.resolution ?? 'pending') !== 'pending')
  /** Queries of the facts fail until the returned function is called. */
  const silence = (...queries: string[]): (() => void) => {
    const { facts } = api.service
    const run = facts.run.bind(facts)
    facts.run = (query, params) =>
      queries.includes(query) ? Promise.reject(new FactsUnavailable('away')) : run(query, params)
    return () => void (facts.run = run)
  }
  /** Nothing of the log can be read back, and the facts do not say which events they have, until the returned function is called. */
  const forgetReports = (...queries: string[]): (() => void) => {
    const { eventLog } = api.service
    const readLast = eventLog.readLast.bind(eventLog)
    const failing = { next: () => Promise.reject(new LogUnavailable('away')) }
    eventLog.readLast = () => ({ [Symbol.asyncIterator]: () => failing })
    const speak = silence('settledInstalls', ...queries)
    return () => {
      eventLog.readLast = readLast
      speak()
    }
  }
  /** Activated, and forgotten by a hot state that loses what it does not need: only the facts know it. */
  const forgottenReceipt = async (): Promise<string> => {
    const receipt = await api.activeReceipt()
    const { hotState } = api.service
    const receiptStates = hotState.receiptStates.bind(hotState)
    const { visitId } = claimsOf(receipt)
    const states: typeof receiptStates = async (asked) => {
      const known = await receiptStates(asked)
      return known.map((state, place) => (asked[place]?.visitId === visitId ? 'unknown' : state))
    }
    hotState.receiptStates = states
    return receipt
  }

  describe('whose receipts cannot be decided', () => {
    it('is answered as pending at once, and decided once the facts are there: row, delivery and a repeat agree', async () => {
      api = await startApi()
      const receipt = await forgottenReceipt()
      const speak = silence('receiptFacts', 'receiptHistory')
      const event = eventBody({ receipts: [receipt] })
      const { body } = await api.post('/v1/events', event)
      expect(body).to.deep.include({
        duplicate: false,
        resolution: 'pending',
        candidate_count: 0,
        selection_policy: 'none',
        ga: { status: 'pending', deliveries: [{ destination: 'acme-ga4', status: 'pending', session_mode: 'none' }] },
      })
      expect((await api.post('/v1/events', event)).body).to.deep.equal({ ...body, duplicate: true })
      await inTime(async () => (await rowOf(event['event_id']))?.resolution === 'pending')
      speak()
      await decided(event['event_id'])
      const visitId = claimsOf(receipt).visitId
      expect(await rowOf(event['event_id'])).to.deep.include({
        resolution: 'matched',
        candidate_count: 1,
        visit_id: visitId,
      })
      await inTime(async () => (await deliveriesOf(event['event_id']))[0]?.status === 'delivered')
      expect(api.service.ga4.total()).to.equal(1)
      await inTime(async () => (await api.post('/v1/events', event)).body['resolution'] !== 'pending')
      const repeat = await api.post('/v1/events', event)
      expect(repeat.body).to.deep.include({
        duplicate: true,
        resolution: 'matched',
        candidate_count: 1,
        selection_policy: 'latest_visit',
      })
      expect(JSON.parse((await rowOf(event['event_id']))?.answer ?? '')).to.deep.equal({
        ...repeat.body,
        duplicate: false,
      })
    })

    it('is given to a repeat as it was decided even if the hot state does not have it, which then gets it too', async () => {
      api = await startApi()
      const receipt = await forgottenReceipt()
      const speak = silence('receiptFacts', 'receiptHistory', 'settledInstall')
      const event = eventBody({ receipts: [receipt] })
      const { body } = await api.post('/v1/events', event)
      const { hotState } = api.service
      const decideInstall = hotState.decideInstall.bind(hotState)
      hotState.decideInstall = async () => undefined
      speak()
      await decided(event['event_id'])
      const quiet = silence('settledInstall')
      expect((await api.post('/v1/events', event)).body).to.deep.equal({ ...body, duplicate: true })
      quiet()
      hotState.decideInstall = decideInstall
      const repeat = await api.post('/v1/events', { ...event, installation_id: 'another-installation' })
      expect(repeat.body).to.deep.include({ duplicate: true, resolution: 'matched', candidate_count: 1 })
      silence('settledInstall', 'installationVisits')
      expect((await api.post('/v1/events', event)).body).to.deep.equal(repeat.body)
      const next = await api.event({ installation_id: event['installation_id'], event_type: 'first_run' })
      expect(next.body).to.deep.include({ selection_policy: 'same_installation' })
    })

    it('is pending while the facts are behind the log, though they answer', async () => {
      api = await startApi()
      const receipt = await forgottenReceipt()
      await api.service.drain('facts-writer')
      const { facts } = api.service
      const startBatch = facts.startBatch.bind(facts)
      facts.startBatch = () => ({ ...startBatch(), insert: () => Promise.reject(new FactsUnavailable('held')) })
      expect((await api.event({ receipts: [receipt] })).body).to.deep.include({ resolution: 'matched' })
      await api.activeReceipt()
      const open = await api.event({ receipts: [receipt] })
      expect(open.body).to.deep.include({ resolution: 'pending' })
      facts.startBatch = startBatch
      await decided(open.body['event_id'])
      expect(await rowOf(open.body['event_id'])).to.deep.include({ resolution: 'matched' })
    })

    it('makes the next event of its installation pending, which then follows it', async () => {
      api = await startApi()
      const receipt = await forgottenReceipt()
      const speak = silence('receiptFacts', 'receiptHistory')
      const first = eventBody({ receipts: [receipt] })
      const later = eventBody({ installation_id: first['installation_id'], event_type: 'first_run' })
      await api.post('/v1/events', first)
      expect((await api.post('/v1/events', later)).body).to.deep.include({ resolution: 'pending' })
      speak()
      await decided(first['event_id'])
      await decided(later['event_id'])
      const { visitId } = claimsOf(receipt)
      expect(await rowOf(later['event_id'])).to.deep.include({
        selection_policy: 'same_installation',
        visit_id: visitId,
      })
      const last = await api.event({ installation_id: first['installation_id'], event_type: 'first_run' })
      await inTime(async () => (await api.service.eventLog.lag()).every(({ entries }) => entries === 0))
      expect((await rowOf(last.body['event_id']))?.visit_id).to.equal(visitId)
    })
  })

  describe('after a try with an unknown outcome', () => {
    const installs = async () => (await api.service.eventLog.read('installs', 0, 100)).map(({ value }) => value)
    /** Stores the entries but reports a failure, this many times. */
    const lie = (times: number): void => {
      const { eventLog } = api.service
      const append = eventLog.append.bind(eventLog)
      let left = times
      eventLog.append = async (topic, entries, options) => {
        await append(topic, entries, options)
        if (topic === 'installs' && left-- > 0) throw new LogUnavailable('no answer')
      }
    }

    it('says what is stored, whatever has changed since and whatever the second body says', async () => {
      api = await startApi({ nowMs: middayClock() })
      const older = await api.activeReceipt()
      const event = eventBody({ receipts: [older] })
      lie(1)
      expect((await api.post('/v1/events', event)).status).to.equal(503)
      // Meanwhile the receipt is revoked, and the client has another body.
      await api.activeReceipt({ previous_receipt: older })
      const { body } = await api.post('/v1/events', { ...event, event_type: 'first_run', receipts: [] })
      expect(body).to.deep.include({ duplicate: false, resolution: 'matched', candidate_count: 1 })
      await api.service.drain()
      const row = await rowOf(event['event_id'])
      expect(row).to.deep.include({ event_type: 'install_completed', visit_id: claimsOf(older).visitId })
      expect(JSON.parse(row?.answer ?? '')).to.deep.equal(body)
      expect((await installs()).length).to.equal(2)
      expect((await deliveriesOf(event['event_id'])).map(({ status }) => status)).to.deep.equal(['delivered'])
      expect(api.service.ga4.total()).to.equal(1)
      expect((await api.post('/v1/events', event)).body).to.deep.equal({ ...body, duplicate: true })
      const month = new Date(api.service.nowMs()).toISOString().slice(0, 7)
      expect(await api.service.hotState.readUsage('acme', month)).to.equal(3)
    })

    it('stores nothing that differs from what another try was told while this one stood still', async () => {
      api = await startApi()
      const receipt = await api.activeReceipt()
      const event = eventBody({ receipts: [receipt] })
      const { hotState } = api.service
      const receiptStates = hotState.receiptStates.bind(hotState)
      const arrived = Promise.withResolvers<void>()
      const goesOn = Promise.withResolvers<void>()
      hotState.receiptStates = async (asked) => {
        const states = await receiptStates(asked)
        hotState.receiptStates = receiptStates
        arrived.resolve()
        await goesOn.promise
        return states
      }
      const held = api.post('/v1/events', event)
      await arrived.promise
      await api.activeReceipt({ previous_receipt: receipt })
      await pause(LIMITS.claimLeaseMs)
      const told = (await api.post('/v1/events', event)).body
      expect(told).to.deep.include({ duplicate: false, resolution: 'unmatched' })
      goesOn.resolve()
      expect((await held).body).to.deep.equal({ ...told, duplicate: true })
      await api.service.drain()
      expect(JSON.parse((await rowOf(event['event_id']))?.answer ?? '')).to.deep.equal(told)
      expect((await installs()).length).to.equal(1)
      expect((await api.post('/v1/events', event)).body).to.deep.equal({ ...told, duplicate: true })
    })

    it('says the same after several such tries', async () => {
      api = await startApi()
      const event = eventBody({ receipts: [await api.activeReceipt()] })
      lie(3)
      for (let tries = 0; tries < 3; tries++) expect((await api.post('/v1/events', event)).status).to.equal(503)
      const { body } = await api.post('/v1/events', event)
      await api.service.drain()
      expect(JSON.parse((await rowOf(event['event_id']))?.answer ?? '')).to.deep.equal(body)
      expect(api.service.ga4.total()).to.equal(1)
    })
  })

  describe('of an installation whose first event had an unknown outcome', () => {
    /** Stores the next install or not, and reports a failure. */
    const fail = (isStored: boolean): void => {
      const { eventLog } = api.service
      const append = eventLog.append.bind(eventLog)
      eventLog.append = async (topic, entries, options) => {
        if (isStored || topic !== 'installs') await append(topic, entries, options)
        if (topic !== 'installs') return
        eventLog.append = append
        throw new LogUnavailable('no answer')
      }
    }
    const nextOf = (first: Record<string, unknown>) =>
      api.post('/v1/events', eventBody({ installation_id: first['installation_id'], event_type: 'first_run' }))

    it('follows that event if it was stored', async () => {
      api = await startApi()
      const receipt = await api.activeReceipt()
      const first = eventBody({ receipts: [receipt] })
      fail(true)
      expect((await api.post('/v1/events', first)).status).to.equal(503)
      const { body } = await nextOf(first)
      expect(body).to.include({ resolution: 'pending', candidate_count: 0 })
      await decided(String(body['event_id']))
      expect(await rowOf(String(body['event_id']))).to.include({
        selection_policy: 'same_installation',
        visit_id: claimsOf(receipt).visitId,
      })
    })

    it('is unmatched if it was not', async () => {
      api = await startApi()
      const first = eventBody({ receipts: [await api.activeReceipt()] })
      fail(false)
      expect((await api.post('/v1/events', first)).status).to.equal(503)
      const { body } = await nextOf(first)
      expect(body['resolution']).to.equal('pending')
      await decided(String(body['event_id']))
      expect((await rowOf(String(body['event_id'])))?.resolution).to.equal('unmatched')
    })

    it('follows it also if the next try named another installation, which follows nothing', async () => {
      api = await startApi()
      const first = eventBody({ receipts: [await api.activeReceipt()] })
      fail(true)
      expect((await api.post('/v1/events', first)).status).to.equal(503)
      const other = eventBody({ event_id: first['event_id'], receipts: [] })
      expect((await api.post('/v1/events', other)).body).to.include({ resolution: 'matched' })
      expect((await nextOf(first)).body).to.include({ selection_policy: 'same_installation' })
      expect((await nextOf(other)).body).to.include({ resolution: 'unmatched' })
    })
  })

  describe('and a Redis that was emptied', () => {
    let redis: RedisServer
    before(async function () {
      if (!hasRedisServer()) return this.skip()
      redis = await startRedis()
    })
    after(() => redis?.stop())
    beforeEach(async () => {
      redis.cli('FLUSHALL')
      api = await startApi({ env: { WHENCE_HOT_STATE: redis.url } })
      await inTime(async () => (await api.service.hotState.forgotten()) === null)
    })

    it('follows the installation by what ClickHouse knows', async () => {
      const receipt = await api.activeReceipt()
      const first = eventBody({ receipts: [receipt] })
      await api.post('/v1/events', first)
      await api.service.drain('facts-writer')
      redis.cli('FLUSHALL')
      const { body } = await api.event({ installation_id: first['installation_id'], event_type: 'first_run' })
      expect(body).to.deep.include({ resolution: 'matched', candidate_count: 0, selection_policy: 'same_installation' })
    })

    it('leaves it pending if ClickHouse is silent, answers in time, and follows the installation later', async () => {
      const first = eventBody({ receipts: [await api.activeReceipt()] })
      await api.post('/v1/events', first)
      await api.service.drain('facts-writer')
      const { facts } = api.service
      const run = facts.run.bind(facts)
      facts.run = (query, params) => {
        if (query === 'installsAfter') return Promise.reject(new FactsUnavailable('away'))
        if (query !== 'installationVisits') return run(query, params)
        facts.run = run
        return new Promise<never>(() => undefined)
      }
      redis.cli('FLUSHALL')
      const { body } = await api.event({ installation_id: first['installation_id'], event_type: 'first_run' })
      expect(body).to.deep.include({ resolution: 'pending' })
      await decided(body['event_id'])
      expect(await rowOf(body['event_id'])).to.deep.include({
        selection_policy: 'same_installation',
        candidate_count: 0,
      })
    })

    it('calls a repeat that by its first answer, before Redis has it again', async () => {
      const event = eventBody({ receipts: [await api.activeReceipt()] })
      const { body } = await api.post('/v1/events', event)
      const speak = silence('installsAfter', 'activationsAfter')
      redis.cli('FLUSHALL')
      expect((await api.post('/v1/events', event)).body).to.deep.equal({ ...body, duplicate: true })
      speak()
    })

    it('answers a repeat as the first record was decided, though the repeat itself had to stay pending', async () => {
      const receipt = await api.activeReceipt()
      const event = eventBody({ receipts: [receipt] })
      const { body } = await api.post('/v1/events', event)
      await api.service.drain()
      await pause(TRUST_MS)
      const speak = forgetReports('installsAfter', 'receiptFacts', 'installationVisits', 'activationsAfter')
      redis.cli('FLUSHALL')
      expect((await api.post('/v1/events', event)).body).to.deep.include({ duplicate: false, resolution: 'pending' })
      const quiet = silence('settledInstall')
      expect((await api.post('/v1/events', event)).body).to.deep.include({ duplicate: true, resolution: 'pending' })
      quiet()
      expect((await api.post('/v1/events', event)).body).to.deep.equal({ ...body, duplicate: true })
      speak()
      const next = await api.event({ installation_id: event['installation_id'], event_type: 'first_run' })
      expect(next.body).to.deep.include({ resolution: 'matched', selection_policy: 'same_installation' })
    })

    it('is filled with what is stored, though a repeat had to stay pending or named another installation', async () => {
      const events = [0, 1].map(async () => eventBody({ receipts: [await api.activeReceipt()] }))
      const [first, second] = (await Promise.all(events)) as [Record<string, unknown>, Record<string, unknown>]
      const { body } = await api.post('/v1/events', first)
      await api.post('/v1/events', second)
      await api.service.drain()
      await pause(TRUST_MS)
      const speak = forgetReports('installsAfter', 'receiptFacts', 'installationVisits', 'activationsAfter')
      redis.cli('FLUSHALL')
      expect((await api.post('/v1/events', first)).body).to.deep.include({ resolution: 'pending' })
      const other = { ...second, receipts: [], installation_id: 'another-installation' }
      await api.post('/v1/events', other)
      speak()
      await inTime(async () => (await api.service.hotState.forgotten()) === null)
      silence('settledInstall', 'installationVisits', 'receiptFacts')
      expect((await api.post('/v1/events', first)).body).to.deep.equal({ ...body, duplicate: true })
      for (const { installation_id } of [first, second]) {
        const next = await api.event({ installation_id, event_type: 'first_run' })
        expect(next.body).to.deep.include({ resolution: 'matched', selection_policy: 'same_installation' })
      }
    })

    it('trusts what this same process saw activated a moment ago', async () => {
      const receipt = await api.activeReceipt()
      const { facts } = api.service
      const run = facts.run.bind(facts)
      facts.run = (query, params) => (query === 'receiptFacts' ? Promise.reject(new Error('busy')) : run(query, params))
      redis.cli('FLUSHALL')
      expect((await api.event({ receipts: [receipt] })).body).to.deep.include({ resolution: 'matched' })
    })

    it('trusts ClickHouse if another process has replaced it since', async () => {
      const receipt = await api.activeReceipt()
      await api.service.drain()
      const { facts } = api.service
      const run = facts.run.bind(facts)
      facts.run = async (query, params) => {
        const rows = await run(query, params)
        if (query === 'receiptFacts') for (const row of rows) Object.assign(row as object, { is_revoked: true })
        return rows
      }
      redis.cli('FLUSHALL')
      expect((await api.event({ receipts: [receipt] })).body).to.deep.include({ resolution: 'unmatched' })
    })

    it('knows receipts, answers and installations again by itself', async () => {
      const receipt = await api.activeReceipt()
      const event = eventBody({ receipts: [receipt] })
      const { body } = await api.post('/v1/events', event)
      redis.cli('FLUSHALL')
      await inTime(async () => (await api.service.hotState.forgotten()) !== null)
      await inTime(async () => (await api.service.hotState.forgotten()) === null)
      await pause(TRUST_MS)
      const speak = silence('receiptFacts', 'installationVisits')
      expect((await api.post('/v1/events', event)).body).to.deep.equal({ ...body, duplicate: true })
      expect((await api.event({ receipts: [receipt] })).body).to.deep.include({ resolution: 'matched' })
      const again = await api.event({ installation_id: event['installation_id'], event_type: 'first_run' })
      expect(again.body).to.deep.include({ selection_policy: 'same_installation' })
      expect((await api.event()).body).to.deep.include({ resolution: 'unmatched' })
      speak()
    })
  })
})
