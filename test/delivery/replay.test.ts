/** Dead letters: listed by what they are, replayed under their old IDs, and not when that would be wrong. */

import { expect } from 'chai'

import { listDeadLetters, replayDeadLetters } from '../../delivery/replay.ts'
import type { Job } from '../../domain/records.ts'
import { destinationOf, HOUR_MS, NOON_MS } from './support/builders.ts'
import { FactsDouble } from './support/facts-double.ts'
import { Stage, until } from './support/harness.ts'
import { jobOf } from './support/jobs.ts'

const OTHER = destinationOf({ id: 'other' })

describe('dead letters', () => {
  let stage: Stage
  let facts: FactsDouble
  const jobs: Job[] = [
    jobOf({ install: { eventId: 'event-0001' } }),
    jobOf({ install: { eventId: 'event-0002' } }),
    jobOf({ install: { eventId: 'event-0003' }, destination: OTHER }),
  ]
  const installIds = (): string[] => stage.simulator.requests().map((hit: any) => hit.body.events[0].params.install_id)

  beforeEach(async () => {
    stage = await Stage.set({ destinations: [destinationOf(), OTHER] })
    facts = new FactsDouble()
    await stage.startWorker()
    stage.simulator.fail('*', { kind: 'status', status: 400 })
    await stage.enqueue(...jobs)
    await until(async () => (await stage.records()).length === 3)
    stage.simulator.fail('*', null)
    for (const job of jobs) {
      facts.deliveries.push({
        website: job.website,
        event_id: job.install.eventId,
        destination: job.destination,
        status: 'failed',
      })
    }
  })
  afterEach(() => stage.strike())

  const list = (filter: Parameters<typeof listDeadLetters>[1] = {}): Promise<string[]> =>
    listDeadLetters(stage.store.log, filter).then((letters) =>
      letters.map((letter) => letter.job.install.eventId).sort(),
    )
  const replay = async (filter: Parameters<typeof listDeadLetters>[1] = {}): ReturnType<typeof replayDeadLetters> => {
    const letters = await listDeadLetters(stage.store.log, filter)
    return replayDeadLetters({ eventLog: stage.store.log, facts, nowMs: stage.clock.nowMs }, letters)
  }

  it('are listed by destination, reason, time and job, and never more than asked for', async () => {
    expect(await list()).to.have.length(3)
    expect(await list({ destination: 'other' })).to.deep.equal(['event-0003'])
    expect(await list({ website: 'nobody' })).to.deep.equal([])
    expect(await list({ reason: 'refused' })).to.have.length(3)
    expect(await list({ reason: 'refused: http_4' })).to.have.length(3)
    expect(await list({ reason: 'retries_ran_out' })).to.deep.equal([])
    expect(await list({ jobId: jobs[1]?.jobId ?? '' })).to.deep.equal(['event-0002'])
    expect(await list({ untilMs: NOON_MS })).to.deep.equal([])
    expect(await list({ sinceMs: NOON_MS })).to.have.length(3)
    expect(await list({ limit: 1 })).to.have.length(1)
  })

  it('are replayed with the same IDs, and are told as pending and then as delivered', async () => {
    const result = await replay({ jobId: jobs[0]?.jobId ?? '' })
    expect(result.replayed.map((letter) => letter.job.jobId)).to.deep.equal([jobs[0]?.jobId])
    await until(async () => (await stage.statuses()).get('event-0001') === 'delivered')
    expect(installIds().filter((id) => id === jobs[0]?.jobId)).to.have.length(2)
    const told = (await stage.records()).filter((record) => record.eventId === 'event-0001')
    expect(told.map((record) => [record.status, record.detail === 'replayed', record.attempts])).to.deep.equal([
      ['failed', false, 1],
      ['pending', true, 1],
      ['delivered', false, 2],
    ])
  })

  it('are not replayed past their deadline', async () => {
    stage.clock.advance(71 * HOUR_MS)
    const result = await replay()
    expect(result.replayed).to.deep.equal([])
    expect(result.refused.map(({ reason }) => reason)).to.deep.equal(Array(3).fill('deadline_passed'))
  })

  it('are not replayed where the delivery does not stand as failed any more', async () => {
    facts.deliveries[0] = { ...facts.deliveries[0]!, status: 'delivered' }
    const result = await replay({ destination: 'acme-ga4' })
    expect(result.refused.map(({ letter, reason }) => [letter.job.install.eventId, reason])).to.deep.equal([
      ['event-0001', 'not_failed'],
    ])
    expect(result.replayed.map((letter) => letter.job.install.eventId)).to.deep.equal(['event-0002'])
  })

  it('are sent once where the same replay is asked for twice at the same time', async () => {
    await Promise.all([replay({ destination: 'other' }), replay({ destination: 'other' })])
    await until(async () => (await stage.statuses()).get('event-0003') === 'delivered')
    stage.clock.advance(6_000)
    await until(async () => (await stage.store.log.lag()).every((lag) => lag.entries === 0))
    expect(installIds().filter((id) => id === jobs[2]?.jobId)).to.have.length(2)
  })

  it('that fail once more are listed once, with the last reason', async () => {
    stage.simulator.fail('*', { kind: 'status', status: 404 })
    await replay({ destination: 'other' })
    await until(async () => (await stage.deadLetters()).length === 4)
    const letters = await listDeadLetters(stage.store.log, { destination: 'other' })
    expect(letters.map((letter) => [letter.reason, letter.job.attempts])).to.deep.equal([['refused: http_404', 2]])
  })
})
