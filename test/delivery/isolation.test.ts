/** What is in trouble delays nothing else: a provider that is down, a destination that never answers, one that floods. */

import { expect } from 'chai'

import type { Destination } from '../../domain/catalog.ts'
import { destinationKey } from '../../domain/catalog.ts'
import { encodeRecord, recordKey, type Job } from '../../domain/records.ts'
import { meta } from '../../delivery/providers/meta.ts'
import { startMetaSimulator } from '../../delivery/simulator/meta.ts'
import type { Simulator } from '../../delivery/simulator/server.ts'
import { startWorker, type Worker } from '../../delivery/worker.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { AD_DESTINATIONS, adJob } from './support/ad-install.ts'
import { catalogOf, destinationOf, MINUTE_MS, visitOf, WEBSITE } from './support/builders.ts'
import { Stage, until } from './support/harness.ts'
import { jobOf } from './support/jobs.ts'

function numbered(first: number, count: number, destination: Destination): Job[] {
  const isGa4 = destination.provider === 'ga4'
  return Array.from({ length: count }, (_, index) => {
    const install = { eventId: `event-${String(first + index).padStart(5, '0')}` }
    return isGa4 ? jobOf({ install, destination, visit: visitFor(destination) }) : adJob(destination, { install })
  })
}

function ga4Named(name: string): Destination {
  return destinationOf({ id: name, settings: { measurementId: `G-${name.toUpperCase()}` } })
}

function visitFor({ settings }: Destination): ReturnType<typeof visitOf> {
  return visitOf({ identities: { ga4: { [String(settings['measurementId'])]: { client_id: '7.7' } } } })
}

describe('a provider that is down for an hour', () => {
  let stage: Stage
  let simulator: Simulator
  let worker: Worker

  beforeEach(async () => {
    stage = await Stage.set({ destinations: [destinationOf(), AD_DESTINATIONS.meta] })
    simulator = await startMetaSimulator({ port: 0, nowMs: stage.clock.nowMs, keep: 10_000 })
    await stage.startWorker()
    worker = await startWorker({
      provider: meta,
      baseUrl: simulator.url,
      eventLog: stage.store.log,
      hotState: stage.store.hotState,
      catalog: () => catalogOf([destinationOf(), AD_DESTINATIONS.meta]),
      credentials: () => new Map([[destinationKey(WEBSITE, AD_DESTINATIONS.meta.id), { accessToken: 'token' }]]),
      nowMs: stage.clock.nowMs,
      random: () => 0,
      logger: SILENT_LOGGER,
    })
  })
  afterEach(async () => {
    await worker.stop()
    await simulator.stop()
    await stage.strike()
  })

  it('delays no delivery to the others, is asked twice a minute at most, and gets everything when it is back', async () => {
    simulator.fail('*', { kind: 'status', status: 503 })
    const statuses = async (): Promise<Map<string, string>> =>
      new Map((await stage.records()).map((record) => [record.jobId, record.status]))
    const ids = { ga4: [] as string[], meta: [] as string[] }
    for (let minute = 0; minute < 60; minute += 5) {
      const jobs = {
        ga4: numbered(minute * 10, 10, destinationOf()),
        meta: numbered(minute * 10, 10, AD_DESTINATIONS.meta),
      }
      await stage.enqueue(...jobs.ga4)
      const entries = jobs.meta.map((job) => ({ key: recordKey(job.website, job.jobId), value: encodeRecord(job) }))
      await stage.store.log.append('deliver.meta', entries)
      for (const provider of ['ga4', 'meta'] as const) ids[provider].push(...jobs[provider].map(({ jobId }) => jobId))
      await until(async () => {
        const now = await statuses()
        return ids.ga4.every((id) => now.get(id) === 'delivered') && ids.meta.every((id) => now.has(id))
      })
      stage.clock.advance(5 * MINUTE_MS)
    }
    // Each of GA4's arrived before the clock moved on, at the first try.
    const records = await stage.records()
    expect(records.filter(({ provider, attempts }) => provider === 'ga4' && attempts !== 1)).to.deep.equal([])
    expect(stage.simulator.total()).to.equal(ids.ga4.length)
    // Ten failures open the breaker; from then on there is one probe in half a minute.
    expect(simulator.total()).to.be.within(10, 10 + 120)

    simulator.fail('*', null)
    await until(async () => {
      stage.clock.advance(10_000)
      const now = await statuses()
      return ids.meta.every((id) => now.get(id) === 'delivered')
    })
  }).timeout(120_000)
})

describe('one black hole among ten destinations', () => {
  let stage: Stage
  afterEach(() => stage.strike())

  it('makes no delivery to the nine others be tried twice, and holds eight requests at most', async () => {
    const well = Array.from({ length: 9 }, (_, index) => ga4Named(`well${index}`))
    const hole = ga4Named('hole')
    stage = await Stage.set({ destinations: [...well, hole], exchangeMs: 2_000 })
    stage.simulator.fail('G-HOLE', { kind: 'hang' })
    await stage.startWorker()
    // A quarter of a batch of the log, so that no destination is ever crowded by its own jobs.
    for (let round = 0; round < 12; round += 1) {
      const jobs = [...well, hole].flatMap((destination) => numbered(round * 3, 3, destination))
      await stage.enqueue(...jobs)
      await until(async () => {
        const delivered = (await stage.records()).filter(({ status }) => status === 'delivered')
        return delivered.length === (round + 1) * 27
      })
    }
    const tried = (await stage.records()).filter(({ destination }) => destination !== 'hole')
    expect(tried.every(({ attempts }) => attempts === 1)).to.equal(true)
    const open = stage.simulator.requests().filter(({ measurementId }) => measurementId === 'G-HOLE')
    expect(open.length).to.be.greaterThan(0)
    expect(stage.worker?.health().inFlight).to.be.at.most(8)
    await stage.simulator.stop()
  })
})

describe('a destination that gets more than it can take', () => {
  let stage: Stage
  afterEach(() => stage.strike())

  it('lets those behind it pass, and gets its own at its own pace without asking in vain', async () => {
    const busy = ga4Named('busy')
    stage = await Stage.set({ destinations: [busy, destinationOf()] })
    stage.simulator.fail('G-BUSY', { kind: 'delay', waitMs: 300 })
    await stage.startWorker()
    await stage.enqueue(...numbered(0, 300, busy), ...numbered(0, 3, destinationOf()))
    await until(
      async () => (await stage.records()).filter(({ destination }) => destination === 'acme-ga4').length === 3,
    )
    await until(async () => (await stage.inTier('5s')).length + (await stage.inTier('30s')).length > 0)
    const aside = [...(await stage.inTier('5s')), ...(await stage.inTier('30s'))]
    // Each has a place of its own behind the others, not the same moment again and again.
    const moments = aside.map(({ dueAtMs }) => dueAtMs)
    expect(new Set(moments).size).to.be.greaterThan(moments.length / 2)
    expect(aside.every(({ destination, attempts }) => destination === 'busy' && attempts === 0)).to.equal(true)
  })
})
