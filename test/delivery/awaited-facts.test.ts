/** What an install waits for before dispatch goes on with it. */

import { expect } from 'chai'

import { Passages, whoIsDue } from '../../delivery/dispatch/awaited-facts.ts'
import type { Arrival } from '../../delivery/dispatch/decide-pending.ts'
import { AWAITED_TOPICS, type LogEnds, type Offsets } from '../../domain/collection/facts-lag.ts'
import type { Batch } from '../../ports/event-log/event-log.ts'
import { HOUR_MS, installOf, NOON_MS, recordOf } from '../../fixtures/delivery/builders.ts'
import { pendingInstall } from './support/pending.ts'

/** A log whose facts-writer has come as far as the test says. */
class ProgressDouble {
  done: Offsets = [0, 0]
  ends: Offsets = [9, 9]
  readonly asked: string[] = []

  readonly progress = async (topic: string, group: string) => {
    expect(group).to.equal('facts-writer')
    this.asked.push(topic)
    return { done: this.done, ends: this.ends }
  }
}

describe('records of installs that may not be the first of their event', () => {
  let log: ProgressDouble
  let passages: Passages
  beforeEach(() => {
    log = new ProgressDouble()
    passages = new Passages(log)
  })
  const batchOf = (partition: number, ...offsets: readonly number[]): Batch => ({
    topic: 'installs',
    partition,
    entries: offsets.map((offset) => ({ key: 'k', value: 'v', offset, appendedAtMs: NOON_MS })),
  })
  const endsOf = (partition: number, ...offsets: readonly number[]): Promise<LogEnds | undefined> =>
    passages.endsFor(batchOf(partition, ...offsets))

  it('are none if the log begins with them', async () => {
    expect(await endsOf(0, 0, 1)).to.equal(undefined)
    expect(log.asked).to.deep.equal([])
  })

  it('are those of a partition that was taken over, until the facts have what came before', async () => {
    log.done = [9, 3]
    expect(await endsOf(1, 4, 5)).to.deep.equal({ installs: [0, 4] })
    expect(await endsOf(1, 6)).to.deep.equal({ installs: [0, 4] })
    log.done = [0, 4]
    expect(await endsOf(1, 7)).to.equal(undefined)
    log.done = [0, 0]
    expect(await endsOf(1, 8)).to.equal(undefined)
    expect(log.asked).to.deep.equal(['installs', 'installs', 'installs'])
  })

  it('are looked at by partition', async () => {
    log.done = [3, 3]
    expect(await endsOf(0, 3)).to.equal(undefined)
    expect(await endsOf(1, 4)).to.deep.equal({ installs: [0, 4] })
    expect(await endsOf(2, 4)).to.deep.equal({ installs: [0, 0, 4] })
  })

  it('are those of a partition of which the position is not known', async () => {
    log.done = [9, null]
    expect(await endsOf(1, 4, 5)).to.deep.equal({ installs: [0, 4] })
    log.done = [null, 4]
    expect(await endsOf(1, 6)).to.equal(undefined)
  })

  it('are there again if another process had the partition meanwhile, and not if a batch comes again', async () => {
    log.done = [4]
    expect(await endsOf(0, 4, 5)).to.equal(undefined)
    expect(await endsOf(0, 4, 5)).to.equal(undefined)
    expect(await endsOf(0, 6)).to.equal(undefined)
    expect(await endsOf(0, 8)).to.deep.equal({ installs: [8] })
    log.done = [8]
    expect(await endsOf(0, 9)).to.equal(undefined)
  })
})

describe('an install that waits for facts', () => {
  const log = new ProgressDouble()
  let nowMs: number
  beforeEach(() => {
    nowMs = NOON_MS
    log.done = [5, 5]
    log.ends = [5, 5]
    log.asked.length = 0
  })
  const arrivalOf = (more: Partial<Arrival> = {}): Arrival => ({
    record: recordOf(installOf()),
    firstSeenAtMs: NOON_MS,
    ...more,
  })
  const pending = (ends?: LogEnds): Arrival =>
    arrivalOf({ record: recordOf(pendingInstall()), ...(ends === undefined ? {} : { ends }) })
  const split = (...arrivals: readonly Arrival[]) => whoIsDue(arrivals, { eventLog: log, nowMs: () => nowMs })
  const everything = (offsets: Offsets): LogEnds => Object.fromEntries(AWAITED_TOPICS.map((topic) => [topic, offsets]))

  it('is asked about only if there is one', async () => {
    const plain = arrivalOf()
    expect(await split(plain)).to.deep.equal({ due: [plain], waiting: [] })
    expect(log.asked).to.deep.equal([])
  })

  it('goes on in its place among the others, and waits for nothing any more', async () => {
    const one = arrivalOf({ firstSeenAtMs: NOON_MS - 1 })
    const other = arrivalOf({ ends: { installs: [5] } })
    expect(await split(one, other, one)).to.deep.equal({ due: [one, arrivalOf(), one], waiting: [] })
  })

  it('waits for the topics that it names alone, an hour at most', async () => {
    const awaiting = arrivalOf({ ends: { installs: [0, 6] } })
    expect(await split(awaiting)).to.deep.equal({ due: [], waiting: [awaiting] })
    nowMs += HOUR_MS
    expect(await split(awaiting)).to.deep.equal({ due: [arrivalOf()], waiting: [] })
  })

  it('waits for each topic that was not noted with it if it is pending', async () => {
    const { install_decisions: _, ...ends } = everything([4, 4])
    log.ends = [6, 6]
    expect((await split(pending(ends))).waiting.map((each) => each.ends)).to.deep.equal([
      { ...ends, install_decisions: [6, 6] },
    ])
    expect((await split(pending(everything([4, 4])))).due).to.have.length(1)
  })
})
