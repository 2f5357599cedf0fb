/** A destination that never answers, beside one that does. */

import { expect } from 'chai'

import type { Job } from '../../domain/records.ts'
import { destinationOf, visitOf } from '../../fixtures/delivery/builders.ts'
import { Stage, until } from '../../fixtures/delivery/harness.ts'
import { eventJob } from '../../fixtures/delivery/jobs.ts'

describe('isolation of destinations', () => {
  let stage: Stage
  afterEach(() => stage.strike())

  it('lets a black hole delay none of the others, and sends it at most eight requests at once', async () => {
    const hole = destinationOf({ id: 'hole', settings: { measurementId: 'G-HOLE' } })
    const holeVisit = visitOf({ identities: { ga4: { 'G-HOLE': { client_id: '7.7' } } } })
    stage = await Stage.set({ destinations: [destinationOf(), hole] })
    stage.standIn.fail('G-HOLE', { kind: 'hang' })
    await stage.startWorker()
    const jobs: Job[] = []
    for (let number = 1; number <= 200; number += 1) {
      jobs.push(number % 4 === 0 ? eventJob(number, { destination: hole, visit: holeVisit }) : eventJob(number))
    }
    await stage.enqueue(...jobs)
    const deliveredCount = async (): Promise<number> =>
      (await stage.records()).filter((record) => record.status === 'delivered').length
    await until(async () => (await deliveredCount()) === 150)
    const atHole = stage.standIn.requests().filter((hit) => hit.measurementId === 'G-HOLE')
    // Each of them lasts ten seconds, so as many were under way as came within nine.
    for (const { receivedAtMs } of atHole) {
      const within = atHole.filter((hit) => hit.receivedAtMs >= receivedAtMs && hit.receivedAtMs < receivedAtMs + 9_000)
      expect(within.length).to.be.at.most(8)
    }
    expect(atHole).not.to.deep.equal([])
    // Cuts what hangs, so that the worker can stop.
    await stage.standIn.close()
  })
})
