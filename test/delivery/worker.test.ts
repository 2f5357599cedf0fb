/** The worker on the real log, over real HTTP, against the GA4 stand-in. */

import { expect } from 'chai'

import { destinationKey } from '../../domain/catalog.ts'
import { replayDeadLetters } from '../../delivery/tools/replay.ts'
import type { Job } from '../../domain/records.ts'
import {
  API_SECRET,
  catalogOf,
  CLIENT_ID,
  destinationOf,
  HOUR_MS,
  MEASUREMENT_ID,
  MINUTE_MS,
  NOON_MS,
  visitOf,
  WEBSITE,
} from '../../fixtures/delivery/builders.ts'
import { credentialsOf, Stage, until, type StageOptions } from '../../fixtures/delivery/harness.ts'
import { eventJob, jobOf } from '../../fixtures/delivery/jobs.ts'

const BUSY = { kind: 'status', status: 500 } as const

describe('the delivery worker', () => {
  let stage: Stage
  const set = async (options: StageOptions = {}): Promise<Stage> => {
    stage = await Stage.set(options)
    await stage.startWorker()
    return stage
  }
  afterEach(() => stage.strike())

  it('sends a job that Google would accept, and records that once', async () => {
    await set()
    await stage.enqueue(jobOf())
    await until(async () => (await stage.records()).length === 1)
    const [record] = await stage.records()
    expect(record).to.include({ status: 'delivered', reason: '', attempts: 1, sessionMode: 'original_session_window' })
    expect(record?.jobId).to.equal(jobOf().jobId)
    expect(record?.attempt).to.include({
      number: 1,
      responseStatus: 204,
      outcome: 'delivered',
      code: 'accepted',
      nextStep: 'done',
    })
    expect(stage.standIn.requests().map((hit) => [hit.path, hit.messages, hit.hasSecret])).to.deep.equal([
      ['/mp/collect', [], true],
    ])
  })

  it('keeps secrets and identifiers out of what it records', async () => {
    await set()
    stage.standIn.fail('*', { kind: 'status', status: 400, body: `no such secret ${API_SECRET} for ${CLIENT_ID}` })
    await stage.enqueue(jobOf())
    await until(async () => (await stage.records()).length === 1)
    const kept = JSON.stringify(await stage.records())
    for (const canary of [API_SECRET, encodeURIComponent(API_SECRET), CLIENT_ID, '1795168500'])
      expect(kept).not.to.contain(canary)
    const [record] = await stage.records()
    expect(record?.attempt?.requestUrl).to.equal(
      `${stage.standIn.url}/mp/collect?measurement_id=${MEASUREMENT_ID}&api_secret=[hidden]`,
    )
    expect(record?.attempt?.responseBody).to.equal('no such secret [hidden] for [hidden]')
  })

  it('in mode Validate asks the validation server and says that nothing is reported', async () => {
    await set({ destinations: [destinationOf({ mode: 'Validate' })] })
    await stage.enqueue(jobOf())
    await until(async () => (await stage.records()).length === 1)
    const [record] = await stage.records()
    expect(record).to.include({ status: 'delivered' })
    expect(record?.attempt?.code).to.equal('validated')
    expect(record?.detail).to.contain('validated only')
    expect(stage.standIn.requests()[0]?.path).to.equal('/debug/mp/collect')
  })

  it('tries again by the schedule with the same ID, and delivers at last', async () => {
    await set()
    stage.standIn.fail('*', BUSY)
    await stage.enqueue(jobOf())
    for (const [attempts, waitMs] of [
      [1, 5_000],
      [2, 30_000],
      [3, 5 * MINUTE_MS],
    ] as const) {
      await until(async () => (await stage.records()).length === attempts)
      const record = (await stage.records()).at(-1)
      expect(record).to.include({ status: 'retrying', reason: 'attempt_failed', attempts })
      const endedAtMs = (record?.attempt?.startedAtMs ?? 0) + (record?.attempt?.durationMs ?? 0)
      expect((record?.nextAttemptAtMs ?? 0) - endedAtMs).to.equal(waitMs)
      if (attempts === 3) stage.standIn.fail('*', null)
      stage.clock.advance(waitMs)
    }
    await until(async () => (await stage.records()).length === 4)
    expect((await stage.records()).at(-1)).to.include({ status: 'delivered', attempts: 4 })
    const ids = stage.standIn.requests().map((hit: any) => hit.body.events[0].params.install_id)
    expect(ids).to.deep.equal(Array(4).fill(jobOf().jobId))
  })

  it('neither hurries nor forgets a retry over a restart', async () => {
    await set()
    stage.standIn.fail('*', BUSY)
    await stage.enqueue(jobOf())
    await until(async () => (await stage.records()).length === 1)
    stage.standIn.fail('*', null)
    await stage.restart()
    const dueAtMs = (await stage.records())[0]?.nextAttemptAtMs ?? 0
    stage.clock.advance(dueAtMs - stage.clock.nowMs() - 1_000)
    await stage.enqueue(eventJob(2))
    await until(async () => (await stage.records()).length === 2)
    expect(stage.standIn.total()).to.equal(2)
    stage.clock.advance(1_000)
    await until(async () => (await stage.records()).length === 3)
    expect((await stage.records()).at(-1)).to.include({ eventId: 'event-0001', status: 'delivered', attempts: 2 })
  })

  it('waits as long as a throttling provider asks', async () => {
    await set()
    stage.standIn.fail('*', { kind: 'status', status: 429, headers: { 'retry-after': '7200' } })
    await stage.enqueue(jobOf())
    await until(async () => (await stage.inTier('2h')).length === 1)
    await until(async () => (await stage.records()).length === 1)
    const [record] = await stage.records()
    expect(record).to.include({ status: 'retrying', reason: 'throttled' })
    expect((await stage.inTier('2h'))[0]?.dueAtMs).to.equal(record?.nextAttemptAtMs)
  })

  it('ends a job past its deadline as expired, without sending it', async () => {
    await set()
    stage.clock.advance(71 * HOUR_MS)
    await stage.enqueue(jobOf())
    await until(async () => (await stage.records()).length === 1)
    expect((await stage.records())[0]).to.include({ status: 'expired', reason: 'deadline_passed', attempts: 0 })
    expect(stage.standIn.total()).to.equal(0)
  })

  it('puts a job that is refused for good into the dead letters, with the reason', async () => {
    await set()
    stage.standIn.fail('*', { kind: 'status', status: 400 })
    await stage.enqueue(jobOf())
    await until(async () => (await stage.records()).length === 1)
    expect((await stage.records())[0]).to.include({ status: 'failed', reason: 'refused' })
    const [letter] = await stage.deadLetters()
    expect(letter).to.include({ reason: 'refused: http_400' })
    expect(letter?.job).to.include({ jobId: jobOf().jobId, attempts: 1 })
  })

  it('skips what belongs to a destination that is gone, and what has no client ID', async () => {
    await set()
    const nobody = eventJob(2, { visit: visitOf({ identities: {} }) })
    await stage.enqueue(eventJob(1, { destination: destinationOf({ id: 'gone' }) }), nobody)
    await until(async () => (await stage.records()).length === 2)
    const reasons = (await stage.records()).map((record) => [record.kind, record.eventId, record.status, record.reason])
    expect(reasons).to.have.deep.members([
      ['delivery', 'event-0001', 'skipped', 'destination_removed'],
      ['delivery', 'event-0002', 'skipped', 'no_client_id'],
    ])
    expect(stage.standIn.total()).to.equal(0)
  })

  describe('whose copy of the catalog is older than the one that planned a job', () => {
    const made = destinationOf({ id: 'made-now' })
    const planned = (): Job => ({ ...jobOf({ destination: made }), catalogNumber: 2 })

    it('holds it, records why, and sends it once the catalog has come', async () => {
      await set()
      await stage.enqueue(planned())
      await until(async () => (await stage.records()).length === 1)
      const held = { status: 'retrying', reason: 'catalog_behind', nextAttemptAtMs: stage.clock.nowMs() + 5_000 }
      const [record] = await stage.records()
      expect(record).to.include({ status: held.status, reason: held.reason })
      expect(record?.nextAttemptAtMs).to.be.within(held.nextAttemptAtMs - 5_000, held.nextAttemptAtMs)
      expect(await stage.inTier('5s')).to.have.length(1)
      stage.clock.advance(6_000)
      await until(async () => (await stage.inTier('5s')).length === 2)
      expect(await stage.records(), 'it is recorded once').to.have.length(1)
      stage.catalog = { ...catalogOf([destinationOf(), made]), number: 2 }
      stage.credentials = credentialsOf([destinationOf(), made])
      stage.clock.advance(30_000)
      await until(async () => (await stage.statuses()).get('event-0001') === 'delivered')
    })

    it('ends it as expired at its deadline, and never as removed', async () => {
      await set()
      await stage.enqueue({ ...planned(), deadlineAtMs: NOON_MS + HOUR_MS })
      await until(async () => (await stage.records()).length === 1)
      stage.clock.advance(2 * HOUR_MS)
      await until(async () => (await stage.records()).length === 2)
      expect((await stage.records())[1]).to.include({ status: 'expired', reason: 'deadline_passed' })
      expect(stage.standIn.total()).to.equal(0)
    })

    it('ends one whose destination is missing in a catalog that is as new', async () => {
      await set()
      stage.catalog = { ...catalogOf([destinationOf()]), number: 2 }
      await stage.enqueue(planned())
      await until(async () => (await stage.records()).length === 1)
      expect((await stage.records())[0]).to.include({ status: 'skipped', reason: 'destination_removed' })
    })

    it('does not count as delivered what the provider has accepted, while its destination may be there', async () => {
      await set()
      const accepted = { reference: 'its reference', atMs: NOON_MS }
      await stage.enqueue({ ...planned(), accepted })
      await until(async () => (await stage.records()).length === 1)
      expect((await stage.records())[0]).to.include({ status: 'retrying', reason: 'catalog_behind' })
    })

    it('sends what it knows the destination of', async () => {
      await set()
      await stage.enqueue({ ...jobOf(), catalogNumber: 2 })
      await until(async () => (await stage.statuses()).get('event-0001') === 'delivered')
    })
  })

  it('holds the jobs of a destination that was paused since, records it once, and sends them when it is back', async () => {
    await set({ destinations: [destinationOf({ mode: 'Paused' })] })
    await stage.enqueue(jobOf())
    await until(async () => (await stage.inTier('5s')).length === 1)
    stage.clock.advance(6_000)
    await until(async () => (await stage.inTier('5s')).length === 2)
    await until(async () => (await stage.records()).length === 1)
    expect((await stage.records())[0]).to.include({
      status: 'retrying',
      reason: 'destination_on_hold',
      nextAttemptAtMs: null,
    })
    stage.catalog = catalogOf([destinationOf()])
    stage.clock.advance(30_000)
    await until(async () => (await stage.statuses()).get('event-0001') === 'delivered')
    expect(await stage.records()).to.have.length(2)
  })

  it('does not send a second copy of a job that it has settled', async () => {
    await set()
    await stage.enqueue(jobOf())
    await until(async () => (await stage.records()).length === 1)
    await stage.enqueue(jobOf(), jobOf(), eventJob(2))
    await until(async () => (await stage.statuses()).get('event-0002') === 'delivered')
    expect(stage.standIn.total()).to.equal(2)
  })

  it('knows after a restart what was settled before it', async () => {
    await set()
    await stage.enqueue(jobOf())
    await until(async () => (await stage.records()).length === 1)
    await stage.restart()
    await stage.enqueue(jobOf(), eventJob(2))
    await until(async () => (await stage.statuses()).get('event-0002') === 'delivered')
    expect(stage.standIn.total()).to.equal(2)
  })

  it('ends a job from which no request can be built as failed, and continues', async () => {
    await set()
    const broken = { ...jobOf(), visit: { ...visitOf(), identities: null } } as unknown as Job
    await stage.enqueue(broken, eventJob(2))
    await until(async () => (await stage.records()).length === 2)
    expect(
      (await stage.records()).map((record) => [record.eventId, record.status, record.reason]),
    ).to.have.deep.members([
      ['event-0001', 'failed', 'unreadable_job'],
      ['event-0002', 'delivered', ''],
    ])
  })

  it('does not touch a job that another worker has claimed, until the claim is released', async () => {
    await set()
    await stage.store.hotState.claimJob(jobOf().jobId, 'another worker', 60_000)
    await stage.enqueue(jobOf())
    await until(async () => (await stage.inTier('5s')).length === 1)
    // Whatever the worker would have sent of the first job has gone out by the time the second one is delivered.
    await stage.enqueue(eventJob(2))
    await until(async () => (await stage.statuses()).get('event-0002') === 'delivered')
    expect((await stage.statuses()).has('event-0001')).to.equal(false)
    expect(stage.standIn.total()).to.equal(1)
    await stage.store.hotState.releaseJob(jobOf().jobId, 'another worker')
    stage.clock.advance(6_000)
    await until(async () => (await stage.statuses()).get('event-0001') === 'delivered')
  })

  it('continues past an unreadable entry', async () => {
    await set()
    await stage.store.log.append('deliver.ga4', [
      { key: 'x', value: '{"v":0}' },
      { key: 'y', value: 'no JSON' },
      { key: 'z', value: '{"v":1}' },
    ])
    await stage.enqueue(jobOf())
    await until(async () => (await stage.statuses()).get('event-0001') === 'delivered')
  })

  it('keeps fields of a job that a later release added, through a retry, a dead letter and a replay', async () => {
    await set()
    const later = { laterField: { kept: true } }
    stage.standIn.fail('*', BUSY)
    await stage.enqueue({ ...jobOf(), ...later })
    await until(async () => (await stage.inTier('5s')).length === 1)
    expect((await stage.inTier('5s'))[0]).to.deep.include(later)
    stage.standIn.fail('*', { kind: 'status', status: 400 })
    stage.clock.advance(7_000)
    await until(async () => (await stage.deadLetters()).length === 1)
    expect((await stage.deadLetters())[0]?.job).to.deep.include(later)
    const row = {
      organization: 'acme',
      website: WEBSITE,
      event_id: 'event-0001',
      destination: 'acme-ga4',
      status: 'failed',
    }
    const facts = { run: async () => [row] } as never
    await replayDeadLetters({ eventLog: stage.store.log, facts, nowMs: stage.clock.nowMs }, {})
    const jobs = await stage.store.log.read('deliver.ga4', 0, 10)
    expect(jobs.map(({ value }) => JSON.parse(value).laterField)).to.deep.equal([later.laterField, later.laterField])
  })

  it('finishes attempts in flight when it is stopped', async () => {
    await set()
    stage.standIn.fail('*', { kind: 'delay', waitMs: 300 })
    await stage.enqueue(...[1, 2, 3, 4].map((number) => eventJob(number)))
    await until(() => stage.standIn.total() === 4)
    await stage.worker?.close()
    expect([...(await stage.statuses()).values()]).to.deep.equal(Array(4).fill('delivered'))
  })

  it('gives up what does not end when it is stopped, and sends it again under the same ID after its next start', async () => {
    await set({ exchangeMs: 600_000, stopMs: 50 })
    stage.standIn.fail('*', { kind: 'hang' })
    await stage.enqueue(jobOf())
    await until(() => stage.standIn.total() === 1)
    await stage.worker?.close()
    stage.standIn.fail('*', null)
    await stage.restart()
    stage.clock.advance(HOUR_MS)
    await until(async () => [...(await stage.statuses()).values()].includes('delivered'))
    const hits = stage.standIn.requests()
    expect(hits.map(({ answered }) => answered)).to.deep.equal([0, 204])
    expect(hits[1]?.body).to.deep.equal(hits[0]?.body)
  })
})

describe('wrong credentials', () => {
  let stage: Stage
  beforeEach(async () => {
    stage = await Stage.set()
    await stage.startWorker()
    stage.standIn.fail('*', { kind: 'status', status: 401 })
    await stage.enqueue(eventJob(1))
    await until(async () => (await stage.records()).length === 1)
  })
  afterEach(() => stage.strike())

  it('pause the destination: one request, one activity entry, and the jobs wait', async () => {
    expect((await stage.records())[0]).to.include({ status: 'retrying', reason: 'credentials_refused' })
    await stage.enqueue(eventJob(2), eventJob(3))
    await until(async () => (await stage.statuses()).size === 3)
    expect((await stage.statuses()).get('event-0003')).to.equal('retrying')
    expect(stage.standIn.total()).to.equal(1)
    const activity = await stage.activity()
    expect(activity.map((entry) => [entry.type, entry.subject, entry.organization])).to.deep.equal([
      ['destination_paused', 'acme-ga4', 'acme'],
    ])
    const troubled = stage.worker?.health().troubled ?? []
    expect(troubled.map((each) => [each.destination, each.breaker, each.pausedFor])).to.deep.equal([
      [`acme/${WEBSITE}/acme-ga4`, 'closed', 'credentials_refused'],
    ])
  })

  it('are forgotten as soon as the credentials change, and the activity says so', async () => {
    stage.standIn.fail('*', null)
    stage.credentials = new Map([
      [destinationKey({ organization: 'acme', website: WEBSITE }, 'acme-ga4'), { apiSecret: 'another' }],
    ])
    await stage.enqueue(eventJob(2))
    await until(async () => (await stage.statuses()).get('event-0002') === 'delivered')
    await until(async () => (await stage.activity()).length === 2)
    expect((await stage.activity())[1]?.type).to.equal('destination_resumed')
    expect(stage.worker?.health().troubled).to.deep.equal([])
  })

  it('are tried again after a quarter of an hour even if nothing changed', async () => {
    stage.standIn.fail('*', null)
    stage.clock.advance(14 * MINUTE_MS)
    await stage.enqueue(eventJob(2))
    await until(async () => (await stage.statuses()).get('event-0002') === 'retrying')
    expect(stage.standIn.total()).to.equal(1)
    stage.clock.advance(MINUTE_MS + 1_000)
    await stage.enqueue(eventJob(3))
    await until(async () => {
      // A job that came due is the one that tries; if so, this one waits for its next turn.
      stage.clock.advance(1_000)
      return (await stage.statuses()).get('event-0003') === 'delivered'
    })
  })

  it('are remembered over a restart: one request tries them, and the activity records the end but not the beginning again', async () => {
    await stage.restart()
    await stage.enqueue(eventJob(2), eventJob(3), eventJob(4))
    await until(async () => (await stage.statuses()).size === 4)
    expect(stage.standIn.total()).to.equal(2)
    expect((await stage.activity()).map(({ type }) => type)).to.deep.equal(['destination_paused'])
    stage.standIn.fail('*', null)
    stage.credentials = new Map([
      [destinationKey({ organization: 'acme', website: WEBSITE }, 'acme-ga4'), { apiSecret: 'another' }],
    ])
    await stage.enqueue(eventJob(5))
    await until(async () => (await stage.activity()).length === 2)
    expect((await stage.activity())[1]?.type).to.equal('destination_resumed')
  })

  it('that are not there at all hold the jobs too', async () => {
    stage.credentials = new Map()
    await stage.enqueue(eventJob(2))
    await until(async () => (await stage.statuses()).get('event-0002') === 'retrying')
    expect((await stage.records()).at(-1)?.reason).to.equal('credentials_missing')
  })
})

describe('a destination that keeps failing', () => {
  let stage: Stage
  afterEach(() => stage.strike())

  it('gets one request in half a minute after ten failures in a row, and all again after one success', async () => {
    stage = await Stage.set()
    await stage.startWorker()
    stage.standIn.fail('*', BUSY)
    for (let number = 1; number <= 10; number += 1) {
      await stage.enqueue(eventJob(number))
      await until(async () => (await stage.statuses()).has(`event-${String(number).padStart(4, '0')}`))
    }
    expect(stage.standIn.total()).to.equal(10)
    expect(stage.worker?.health().troubled[0]?.breaker).to.equal('open')
    await stage.enqueue(eventJob(11), eventJob(12))
    await until(async () => (await stage.records()).filter((record) => record.reason === 'breaker_open').length === 2)
    expect(stage.standIn.total()).to.equal(10)
    stage.standIn.fail('*', null)
    for (let half = 0; half < 8 && stage.worker?.health().troubled.length !== 0; half += 1) {
      stage.clock.advance(30_000)
      await until(() => stage.standIn.total() > 10)
    }
    stage.clock.advance(10 * MINUTE_MS)
    await until(async () => [...(await stage.statuses()).values()].every((status) => status === 'delivered'))
    expect(await stage.statuses()).to.have.property('size', 12)
  })
})

describe('the order of a batch', () => {
  let stage: Stage
  afterEach(() => stage.strike())

  it('sends the nearest deadline first within a batch', async () => {
    stage = await Stage.set()
    const jobs = [30, 10, 20].map((hours, index) => ({
      ...eventJob(index + 1),
      deadlineAtMs: NOON_MS + hours * HOUR_MS,
    }))
    await stage.enqueue(...jobs)
    await stage.startWorker()
    await until(() => stage.standIn.total() === 3)
    const sent = stage.standIn.requests().map((hit: any) => hit.body.events[0].params.install_id)
    expect(sent).to.deep.equal([jobs[1]?.jobId, jobs[2]?.jobId, jobs[0]?.jobId])
  })
})

describe('an exchange that takes long', () => {
  let stage: Stage
  afterEach(() => stage.strike())

  it('leaves a copy in a tier, which is dropped once the exchange has ended well', async () => {
    stage = await Stage.set()
    stage.standIn.fail('*', { kind: 'delay', waitMs: 900 })
    await stage.startWorker()
    await stage.enqueue(jobOf())
    await until(async () => (await stage.inTier('30s')).length === 1)
    await until(async () => (await stage.records()).length === 1)
    stage.clock.advance(31_000)
    stage.standIn.fail('*', null)
    await stage.enqueue(eventJob(2))
    await until(async () => (await stage.statuses()).get('event-0002') === 'delivered')
    await until(async () => (await stage.store.log.lag()).every((lag) => lag.entries === 0))
    expect(stage.standIn.total()).to.equal(2)
    expect(await stage.records()).to.have.length(2)
  })

  it('leaves its copy before it begins if the destination failed just before, so that no crash can lose the job', async () => {
    stage = await Stage.set()
    stage.standIn.fail('*', BUSY)
    await stage.startWorker()
    await stage.enqueue(eventJob(1))
    await until(async () => (await stage.records()).length === 1)
    stage.standIn.fail('*', { kind: 'delay', waitMs: 900 })
    await stage.enqueue(eventJob(2))
    await until(() => stage.standIn.total() === 2)
    const copies = (await stage.inTier('30s')).map(({ install }) => install.eventId)
    expect(copies).to.deep.equal(['event-0002'])
    await until(async () => (await stage.statuses()).get('event-0002') === 'delivered')
  })

  it('is cut off at its limit, and counts as unclear', async () => {
    stage = await Stage.set({ exchangeMs: 150 })
    stage.standIn.fail('*', { kind: 'hang' })
    await stage.startWorker()
    await stage.enqueue(jobOf())
    await until(async () => (await stage.records()).length === 1)
    const [record] = await stage.records()
    expect(record?.attempt).to.include({ outcome: 'retry', code: 'timeout', responseStatus: 0 })
    expect((await stage.inTier('5s'))[0]?.unclearSinceMs).to.be.a('number')
  })
})
