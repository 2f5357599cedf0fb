/** A destination in trouble delays no other: a destination that never answers, one that gets more than it can take. */

import { expect } from 'chai'

import type { Destination } from '../../domain/catalog.ts'
import type { Job } from '../../domain/records.ts'
import { destinationOf, visitOf } from '../../fixtures/delivery/builders.ts'
import { Stage, until } from '../../fixtures/delivery/harness.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'

function numbered(first: number, count: number, destination: Destination): Job[] {
  return Array.from({ length: count }, (_, index) => {
    const install = { eventId: `event-${String(first + index).padStart(5, '0')}` }
    return jobOf({ install, destination, visit: visitFor(destination) })
  })
}

function ga4Named(name: string): Destination {
  return destinationOf({ id: name, settings: { measurementId: `G-${name.toUpperCase()}` } })
}

function visitFor({ settings }: Destination): ReturnType<typeof visitOf> {
  return visitOf({ identities: { ga4: { [String(settings['measurementId'])]: { client_id: '7.7' } } } })
}

describe('one black hole among ten destinations', () => {
  let stage: Stage
  afterEach(() => stage.strike())

  it('makes no delivery to the nine others be tried twice, and holds eight requests at most', async () => {
    const well = Array.from({ length: 9 }, (_, index) => ga4Named(`well${index}`))
    const hole = ga4Named('hole')
    stage = await Stage.set({ destinations: [...well, hole], exchangeMs: 2_000 })
    stage.standIn.fail('G-HOLE', { kind: 'hang' })
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
    const open = stage.standIn.requests().filter(({ measurementId }) => measurementId === 'G-HOLE')
    expect(open.length).to.be.greaterThan(0)
    expect(stage.worker?.health().inFlight).to.be.at.most(8)
    await stage.standIn.close()
  })
})

describe('a destination that gets more than it can take', () => {
  let stage: Stage
  afterEach(() => stage.strike())

  it('lets other jobs pass, and gets its own jobs at its pace without retries in vain', async () => {
    const busy = ga4Named('busy')
    stage = await Stage.set({ destinations: [busy, destinationOf()] })
    stage.standIn.fail('G-BUSY', { kind: 'delay', waitMs: 300 })
    await stage.startWorker()
    await stage.enqueue(...numbered(0, 300, busy), ...numbered(0, 3, destinationOf()))
    await until(
      async () => (await stage.records()).filter(({ destination }) => destination === 'acme-ga4').length === 3,
    )
    const inTiers = async () => [...(await stage.inTier('5s')), ...(await stage.inTier('30s'))]
    // Far more than the backup copies of slow attempts: several of those may be due at one moment, and be of other destinations.
    await until(async () => (await inTiers()).length > 100)
    const aside = (await inTiers()).filter(({ destination }) => destination === 'busy')
    // Each has a place of its own behind the others, not the same moment again and again.
    const moments = aside.map(({ dueAtMs }) => dueAtMs)
    expect(new Set(moments).size).to.be.greaterThan(moments.length / 2)
    expect(aside.map(({ attempts }) => attempts)).to.deep.equal(aside.map(() => 0))
  })
})
