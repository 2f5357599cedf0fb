/** Dead letters: listed by what they are, replayed under their old IDs, and not when that would be wrong. */

import { expect } from 'chai'

import { listDeadLetters, replayDeadLetters } from '../../delivery/tools/replay.ts'
import type {
  DeadLetterFilter,
  ReplayDeps,
  ReplayRefusal,
  ReplayStep,
  UnreadLetters,
} from '../../delivery/tools/replay.ts'
import type { ReadDeadLetter } from '../../domain/read-record.ts'
import { encodeRecord, type DeadLetter, type Job } from '../../domain/records.ts'
import { destinationOf, HOUR_MS, NOON_MS } from '../../fixtures/delivery/builders.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { Stage, until } from '../../fixtures/delivery/harness.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'

interface Replayed {
  readonly replayed: readonly ReadDeadLetter[]
  readonly refused: readonly { readonly letter: ReadDeadLetter; readonly reason: ReplayRefusal }[]
  readonly steps: readonly ReplayStep[]
  readonly unread: UnreadLetters
}

const OTHER = destinationOf({ id: 'other' })

describe('dead letters', () => {
  let stage: Stage
  let facts: FactsDouble
  const jobs: Job[] = [
    jobOf({ install: { eventId: 'event-0001' } }),
    jobOf({ install: { eventId: 'event-0002' } }),
    jobOf({ install: { eventId: 'event-0003' }, destination: OTHER }),
  ]
  const installIds = (): string[] => stage.standIn.requests().map((hit: any) => hit.body.events[0].params.install_id)

  beforeEach(async () => {
    stage = await Stage.set({ destinations: [destinationOf(), OTHER] })
    facts = new FactsDouble()
    await stage.startWorker()
    stage.standIn.fail('*', { kind: 'status', status: 400 })
    await stage.enqueue(...jobs)
    await until(async () => (await stage.records()).length === 3)
    stage.standIn.fail('*', null)
    for (const job of jobs) {
      facts.deliveries.push({
        install_received_at_ms: 0,
        organization: 'acme',
        website: job.website,
        event_id: job.install.eventId,
        destination: job.destination,
        status: 'failed',
      })
    }
  })
  afterEach(() => stage.strike())

  const list = (filter: DeadLetterFilter = {}, most?: number): Promise<string[]> =>
    listDeadLetters(stage.store.log, filter, most).then(({ letters }) =>
      letters.map((letter) => letter.job.install.eventId).sort(),
    )
  const replay = async (filter: DeadLetterFilter = {}, change: Partial<ReplayDeps> = {}): Promise<Replayed> => {
    const steps: ReplayStep[] = []
    const deps = { eventLog: stage.store.log, facts, nowMs: stage.clock.nowMs, ...change }
    const { unread, ...counts } = await replayDeadLetters(deps, filter, (step) => void steps.push(step))
    const replayed = steps.filter(({ refusal }) => refusal === null).map(({ letter }) => letter)
    const refused = steps.flatMap(({ letter, refusal }) => (refusal === null ? [] : [{ letter, reason: refusal }]))
    expect(counts).to.deep.equal({ replayed: replayed.length, refused: refused.length })
    return { replayed, refused, steps, unread }
  }

  it('are listed by destination, reason, time and job, and never more than asked for', async () => {
    expect(await list()).to.have.length(3)
    expect(await list({ destination: 'other' })).to.deep.equal(['event-0003'])
    expect(await list({ website: 'nobody' })).to.deep.equal([])
    expect(await list({ reason: 'refused' })).to.have.length(3)
    expect(await list({ reason: 'refused: http_4' })).to.have.length(3)
    expect(await list({ reason: 'retries_ran_out' })).to.deep.equal([])
    expect(await list({ jobIds: new Set([jobs[1]?.jobId ?? '']) })).to.deep.equal(['event-0002'])
    expect(await list({ failed: { untilMs: NOON_MS } })).to.deep.equal([])
    expect(await list({ failed: { sinceMs: NOON_MS } })).to.have.length(3)
    expect(await list({}, 1)).to.have.length(1)
  })

  it('are replayed with the same IDs, and are recorded as pending and then as delivered', async () => {
    const result = await replay({ jobIds: new Set([jobs[0]?.jobId ?? '']) })
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

  it('are not replayed if the delivery is no longer failed', async () => {
    facts.deliveries[0] = { ...facts.deliveries[0]!, status: 'delivered' }
    const result = await replay({ destination: 'acme-ga4' })
    expect(result.refused.map(({ letter, reason }) => [letter.job.install.eventId, reason])).to.deep.equal([
      ['event-0001', 'not_failed'],
    ])
    expect(result.replayed.map((letter) => letter.job.install.eventId)).to.deep.equal(['event-0002'])
  })

  it('are sent once if the same replay is requested twice at the same time', async () => {
    await Promise.all([replay({ destination: 'other' }), replay({ destination: 'other' })])
    await until(async () => (await stage.statuses()).get('event-0003') === 'delivered')
    stage.clock.advance(6_000)
    await until(async () => (await stage.store.log.lag()).every((lag) => lag.entries === 0))
    expect(installIds().filter((id) => id === jobs[2]?.jobId)).to.have.length(2)
  })

  it('that fail once more are listed once, with the last reason', async () => {
    stage.standIn.fail('*', { kind: 'status', status: 404 })
    await replay({ destination: 'other' })
    await until(async () => (await stage.deadLetters()).length === 4)
    const { letters } = await listDeadLetters(stage.store.log, { destination: 'other' })
    expect(letters.map((letter) => [letter.reason, letter.job.attempts])).to.deep.equal([['refused: http_404', 2]])
  })

  it('are judged by their last failure: what failed again later does not lie in the time before', async () => {
    const { letters } = await listDeadLetters(stage.store.log, { destination: 'other' })
    const [letter] = letters
    if (letter === undefined) throw new Error('no letter')
    const later: DeadLetter = { ...letter, failedAtMs: letter.failedAtMs + HOUR_MS, reason: 'retries_ran_out' }
    await stage.store.log.append('dead-letters', [{ key: 'k', value: encodeRecord(later) }])
    expect(await list({ failed: { untilMs: letter.failedAtMs + 1 } })).to.deep.equal(['event-0001', 'event-0002'])
    expect(await list({ reason: 'refused', destination: 'other' })).to.deep.equal([])
    expect(await list({ failed: { sinceMs: later.failedAtMs } })).to.deep.equal(['event-0003'])
  })

  it('are listed and replayed beside others that cannot be read, which are counted and stay', async () => {
    const bad = ['{', 'null', '{"v":1}', '{"v":1,"job":{},"reason":"refused","failedAtMs":1}', '{"v":2,"job":{}}']
    await stage.store.log.append(
      'dead-letters',
      bad.map((value) => ({ key: 'k', value })),
    )
    const unread = { count: 5, newer: 1, offsets: [3, 4, 5, 6, 7] }
    const listed = await listDeadLetters(stage.store.log)
    expect({ ...listed, letters: listed.letters.length }).to.deep.equal({ letters: 3, unread })
    const result = await replay()
    expect({ replayed: result.replayed.length, unread: result.unread }).to.deep.equal({ replayed: 3, unread })
  })

  it('are distinguished if several partitions have them at one offset', async () => {
    const [mine, other] = await stage.store.log.read('dead-letters', 0, 2)
    if (mine === undefined || other === undefined) throw new Error('no letters')
    const entries = [mine, { ...other, offset: mine.offset }]
    const eventLog = { read: async (_: string, from: number) => entries.filter(({ offset }) => offset >= from) }
    const { letters } = await listDeadLetters(eventLog, { jobIds: new Set([JSON.parse(other.value).job.jobId]) })
    expect(letters.map(({ job }) => job.jobId)).to.deep.equal([JSON.parse(other.value).job.jobId])
  })

  it('are replayed all, however many, in order, at the pace that is set, with a report on each', async () => {
    const { letters } = await listDeadLetters(stage.store.log, { jobIds: new Set([jobs[0]?.jobId ?? '']) })
    const [first] = letters
    if (first === undefined) throw new Error('no letter')
    const many = Array.from({ length: 700 }, (_, index) => ({
      ...first,
      job: { ...first.job, destination: 'gone', jobId: String(index).padStart(32, '0') },
      failedAtMs: first.failedAtMs + index,
      reason: 'refused' as const,
    }))
    await stage.store.log.append(
      'dead-letters',
      many.map((letter) => ({ key: 'k', value: encodeRecord(letter) })),
    )
    facts.deliveries.push({
      install_received_at_ms: 0,
      organization: 'acme',
      website: first.job.website,
      event_id: 'event-0001',
      destination: 'gone',
      status: 'failed',
    })
    const pauses: number[] = []
    const pause = (waitMs: number): Promise<void> => Promise.resolve(void pauses.push(waitMs))
    const { replayed, steps } = await replay({ destination: 'gone' }, { pace: { perSecond: 100, pause } })
    expect(replayed.map(({ job }) => job.jobId)).to.deep.equal(many.map(({ job }) => job.jobId))
    expect(steps.at(-1)).to.include({ done: 700, of: 700 })
    // At most a hundred between two pauses; fewer at the end of a page of the log.
    expect(pauses.length).to.be.within(6, 8)
    const failed = { sinceMs: first.failedAtMs + 10, untilMs: first.failedAtMs + 20 }
    const range = { destination: 'gone', failed }
    expect(
      (await replay(range, { pace: { pause } })).replayed.map(({ failedAtMs }) => failedAtMs - first.failedAtMs),
    ).to.deep.equal([10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
  })

  it('that are refused delay no others', async () => {
    stage.clock.advance(71 * HOUR_MS)
    const pause = (): Promise<void> => Promise.reject(new Error('waited'))
    expect((await replay({}, { pace: { perSecond: 1, pause } })).refused).to.have.length(3)
  })
})
