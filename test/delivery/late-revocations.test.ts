/** A revocation that was unknown when its receipt was activated takes effect once the visit is in ClickHouse. */

import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import { expect } from 'chai'

import { rebuildState } from '../../delivery/recovery/rebuild-state.ts'
import { startState, type StateRole } from '../../delivery/state/state.ts'
import { LIMITS } from '../../domain/limits.ts'
import { decodeRecord, encodeRecord, type ActivationRecord } from '../../domain/records.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { FactsUnavailable, type Facts, type FactsReader } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import type { HotState, ReceiptRef } from '../../ports/hot-state/hot-state.ts'
import { redisHotState } from '../../ports/hot-state/redis/redis.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { startApi, type Api } from '../api/support/api.ts'
import { claimsOf } from '../api/support/keys.ts'
import { activationRecord, store, visitRecord } from '../contract/fact-samples.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder } from '../contract/lmdb-harness.ts'
import { hasRedisServer, startRedis, type RedisServer } from '../../fixtures/engines/redis.ts'
import { until } from '../../fixtures/until.ts'

const PAUSE_MS = 25
const TRUST_MS = 5_100

describe('a revocation whose visit could not be read', function () {
  this.timeout(120_000)
  let redis: RedisServer
  before(async function () {
    if (!hasRedisServer()) return this.skip()
    redis = await startRedis()
  })
  after(() => redis?.stop())

  describe('in the whole service', () => {
    let api: Api
    afterEach(() => api.stop())

    /** The facts accept nothing until the returned function is called. */
    const holdFacts = (): (() => void) => {
      const { facts } = api.service
      const startBatch = facts.startBatch.bind(facts)
      facts.startBatch = () => ({ ...startBatch(), insert: () => Promise.reject(new FactsUnavailable('held')) })
      return () => void (facts.startBatch = startBatch)
    }
    const settled = async (): Promise<void> => {
      const isWorkedOff = async (): Promise<boolean> => {
        api.service.advance(1_000)
        return (await api.service.eventLog.lag()).every(({ entries }) => entries === 0)
      }
      await until(isWorkedOff, { what: 'the log is worked off', everyMs: PAUSE_MS })
    }
    const expectRevoked = async (first: string, second: string): Promise<void> => {
      const records = await api.service.eventLog.read('activations', 0, 100)
      expect(records.filter(({ value }) => value.includes('"isPredecessorUnknown":true')).length).to.equal(1)
      const asked = { organization: 'acme', website: 'acme-dev', visit_ids: [claimsOf(first).visitId] }
      expect((await api.service.facts.run('receiptFacts', asked))[0]).to.deep.include({ is_revoked: true })
      const both = await api.event({ receipts: [first, second] })
      expect(both.body).to.deep.include({ resolution: 'matched', candidate_count: 1 })
      // Only a hot state that has forgotten nothing knows that the installation was never matched.
      await until(async () => (await api.service.hotState.forgotten()) === null, { everyMs: PAUSE_MS })
      expect((await api.event({ receipts: [first] })).body).to.deep.include({ resolution: 'unmatched' })
    }

    it('holds although Redis had forgotten both receipts and ClickHouse did not have the visit yet', async () => {
      redis.cli('FLUSHALL')
      api = await startApi({ env: { WHENCE_HOT_STATE: redis.url } })
      const release = holdFacts()
      const first = await api.activeReceipt()
      const second = (await api.visit({ previous_receipt: first })).body['marker'].receipt
      redis.cli('FLUSHALL')
      // For longer than this the process believes what it saw itself.
      await pause(TRUST_MS)
      expect((await api.activate(second)).body).to.deep.equal({ ok: true })
      release()
      await settled()
      await expectRevoked(first, second)
    })

    it('holds for an event that comes when ClickHouse has the visit and not yet its activation', async () => {
      redis.cli('FLUSHALL')
      api = await startApi({ env: { WHENCE_HOT_STATE: redis.url } })
      const first = await api.activeReceipt()
      const second = (await api.visit({ previous_receipt: first })).body['marker'].receipt
      await settled()
      const { facts } = api.service
      const run = facts.run.bind(facts)
      // The visit stays unknown while the receipt is activated: the look-up is late, as behind a busy ClickHouse.
      const isAsked = (query: string): boolean => query === 'receiptFacts' || query === 'previousVisits'
      facts.run = (query, params) => (isAsked(query) ? Promise.reject(new Error('busy')) : run(query, params))
      const release = holdFacts()
      redis.cli('FLUSHALL')
      await pause(TRUST_MS)
      expect((await api.activate(second)).body).to.deep.equal({ ok: true })
      facts.run = run
      const both = await api.event({ receipts: [first, second] })
      expect(both.body).to.deep.include({ resolution: 'matched', candidate_count: 1 })
      // Whether its installation was matched before is not known yet.
      const alone = await api.event({ receipts: [first] })
      release()
      await settled()
      const [decided] = await run('installsByEventId', { event_id: alone.body['event_id'] })
      expect(decided).to.deep.include({ resolution: 'unmatched', candidate_count: 0 })
    })

    it('holds in one process as well, if the visit was forgotten before it could be read', async () => {
      api = await startApi()
      const release = holdFacts()
      const first = await api.activeReceipt()
      const second = (await api.visit({ previous_receipt: first })).body['marker'].receipt
      api.service.advance(LIMITS.issuedMemoryMs)
      expect((await api.activate(second)).body).to.deep.equal({ ok: true })
      release()
      await settled()
      await expectRevoked(first, second)
    })
  })

  describe('in the role state', () => {
    let folder: string
    let now: number
    let environment: LmdbEnvironment
    let eventLog: EventLog
    let hotState: HotState
    let facts: Facts
    const roles: StateRole[] = []

    before(async () => {
      const connection = await openChdb((folder = await temporaryFolder()))
      await migrate(connection)
      facts = clickhouseFacts(connection, { nowMs: Date.now })
    })
    after(async () => {
      await facts.close()
      await deleteFolder(folder)
    })
    let logFolder: string
    beforeEach(async () => {
      redis.cli('FLUSHALL')
      now = Date.now()
      environment = await openTestEnvironment((logFolder = await temporaryFolder()), () => now)
      eventLog = await lmdbEventLog(environment, {
        keeping: { trimEveryMs: Infinity },
        pace: { recheckMs: 5, retryMs: { first: 10, most: 50 } },
      })
      hotState = await redisHotState(redis.url, { whenAway: 'reject', times: { deadlineMs: 5_000 } })
    })
    afterEach(async () => {
      await Promise.all(roles.splice(0).map((role) => role.close()))
      await eventLog.close()
      await environment.close()
      await hotState.close()
      await deleteFolder(logFolder)
    })

    const start = async (its: FactsReader = facts): Promise<StateRole> => {
      const deps = {
        eventLog,
        hotState,
        facts: its,
        telemetry: { logger: SILENT_LOGGER },
        nowMs: () => now,
        random: () => 0,
        owner: 'test',
      }
      const role = await startState(deps)
      roles.push(role)
      return role
    }
    const openActivation = (receipt: ReceiptRef): ActivationRecord => ({
      ...activationRecord(receipt),
      activatedAtMs: now,
      isPredecessorUnknown: true,
    })
    const appendActivation = (receipt: ReceiptRef, more: object = {}): Promise<void> =>
      eventLog.append('activations', [
        { key: receipt.visitId, value: encodeRecord({ ...openActivation(receipt), ...more }) },
      ])
    const waiting = async (): Promise<number> =>
      (await eventLog.lag())
        .filter(({ topic }) => topic.startsWith('state.'))
        .reduce((sum, row) => sum + row.entries, 0)
    const stateOf = async (receipt: ReceiptRef): Promise<string | undefined> =>
      (await hotState.receiptStates([receipt]))[0]
    const activations = async (): Promise<readonly ActivationRecord[]> =>
      (await eventLog.read('activations', 0, 100)).map(({ value }) => decodeRecord<ActivationRecord>(value))

    it('is kept over restarts until the visit is there, then passed to the hot state and to the log', async () => {
      const first = receipt(now)
      const second = receipt(now)
      await hotState.learn({ ...first, previous: null }, 'active')
      const role = await start()
      await appendActivation(second, { laterField: 'kept' })
      await until(async () => (await waiting()) === 1)
      expect(await hotState.receiptStates([first, second])).to.deep.equal(['active', 'predecessor_unknown'])
      await role.close()
      // Past the first look, which finds nothing: it waits once more, in the new process.
      await start()
      now += 6_000
      await until(async () => (await eventLog.read('state.5s', 0, 10)).length === 2)
      await store(facts, [visitRecord({ ...second, previousVisitId: first.visitId })])
      now += 6_000
      await until(async () => (await stateOf(first)) === 'revoked')
      await until(async () => (await activations()).length === 2)
      expect(await stateOf(second)).to.equal('active')
      const [open, completed] = await activations()
      expect(completed).to.deep.equal({
        ...open,
        revokedVisitId: first.visitId,
        revokedIssuedAtMs: first.issuedAtMs,
        isPredecessorUnknown: false,
      })
      expect(completed).to.deep.include({ laterField: 'kept' })
    })

    it('is looked up at once if the visit is there by then, and adds nothing if it replaced none', async () => {
      const second = receipt(now)
      await store(facts, [visitRecord(second)])
      await start()
      await appendActivation(second)
      await until(async () => (await stateOf(second)) === 'active')
      expect(await waiting()).to.equal(0)
      expect((await activations()).length).to.equal(1)
    })

    it('waits while ClickHouse is unreachable, and lets other activations pass', async () => {
      const first = receipt(now)
      const second = receipt(now)
      const third = receipt(now)
      await store(facts, [visitRecord({ ...second, previousVisitId: first.visitId })])
      let isAway = true
      const run = (...asked: Parameters<Facts['run']>): Promise<readonly unknown[]> =>
        isAway ? Promise.reject(new Error('away')) : facts.run(...asked)
      await start({ run } as FactsReader)
      await appendActivation(second)
      await appendActivation(third, { isPredecessorUnknown: false })
      await until(async () => (await stateOf(third)) === 'active')
      isAway = false
      await until(async () => (await waiting()) === 1)
      now += 6_000
      await until(async () => (await stateOf(first)) === 'revoked')
    })

    it('ends when the log has no record of the visit any more', async () => {
      const second = receipt(now)
      await start()
      await appendActivation(second)
      await until(async () => (await stateOf(second)) === 'predecessor_unknown')
      now += LIMITS.eventLogKeepMs
      await until(async () => (await stateOf(second)) === 'active')
      await until(async () => (await waiting()) === 0)
    })

    it('comes back with a rebuilt state, also what is still to be learnt', async () => {
      const first = receipt(now)
      const second = receipt(now + 1)
      const third = receipt(now + 2)
      await store(facts, [
        visitRecord({ ...second, previousVisitId: first.visitId }),
        ...[first, second, third].map((each) => openActivation(each)),
      ])
      await rebuildState({ facts, hotState, nowMs: () => now, onProgress: () => undefined })
      const states = await hotState.receiptStates([first, second, third])
      expect(states).to.deep.equal(['revoked_predecessor_unknown', 'active', 'predecessor_unknown'])
    })
  })
})

/** As the service issues them: the visit ID begins with the time. */
function receipt(issuedAtMs: number): ReceiptRef {
  const visitId = `00${issuedAtMs.toString(16).padStart(12, '0')}${randomBytes(9).toString('hex')}`
  return { organization: 'acme', website: 'acme', visitId, issuedAtMs }
}
