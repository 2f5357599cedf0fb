/** How one partition's entries reach the handler, and when they count as done. */

import { expect } from 'chai'

import { until } from '../../fixtures/until.ts'
import type { BatchHandler, StoredEntry } from '../../ports/event-log/event-log.ts'
import { PartitionFlow } from '../../ports/event-log/kafka/flow.ts'

interface Stage {
  readonly flow: PartitionFlow
  readonly seen: string[]
  readonly commits: number[]
  readonly failures: unknown[]
  commitFailures: number
}

describe('a partition on Kafka', () => {
  const flows: PartitionFlow[] = []
  afterEach(async () => {
    for (const flow of flows) flow.end({ isLost: true })
    await Promise.all(flows.splice(0).map(({ ended }) => ended))
  })

  function stage(handler?: BatchHandler, maxEntries = 10, budget = { bytes: 0, maxBytes: 10_000 }): Stage {
    const seen: string[] = []
    const commits: number[] = []
    const failures: unknown[] = []
    const flow = new PartitionFlow(
      {
        source: {
          topic: 'visits',
          partition: 0,
          commit: async (_partition, offset) => {
            if (staged.commitFailures-- > 0) throw new Error('no coordinator')
            commits.push(offset)
          },
        },
        consumer: {
          handler: async (batch) => {
            seen.push(batch.entries.map(({ offset }) => offset).join())
            return handler?.(batch)
          },
          options: { maxEntries },
        },
        bounds: { maxBytes: 1_000, budget },
        pace: { retryMs: { first: 1, most: 5 }, recheckMs: 5, random: () => 0 },
        nowMs: Date.now,
        onFailure: (error) => void failures.push(error),
      },
      null,
    )
    flows.push(flow)
    const staged: Stage = { flow, seen, commits, failures, commitFailures: 0 }
    return staged
  }

  it('begins nothing new before what is done is committed', async () => {
    const staged = stage(undefined, 2)
    staged.commitFailures = 3
    staged.flow.accept({ entries: entries(0, 4), endOffset: 4 })
    await until(() => staged.commits.length === 2)
    expect(staged.seen).to.deep.equal(['0,1', '2,3'])
    expect(staged.commits).to.deep.equal([2, 4])
    expect(staged.failures).to.have.length(3)
  })

  it('hands nothing over twice when fetching starts again before what it has', async () => {
    const staged = stage(undefined, 3)
    staged.flow.accept({ entries: entries(5, 8), endOffset: 20 })
    await until(() => staged.commits.length === 1)
    staged.flow.accept({ entries: entries(5, 11), endOffset: 20 })
    await until(() => staged.commits.length === 2)
    expect(staged.seen).to.deep.equal(['5,6,7', '8,9,10'])
  })

  it('commits again what Kafka fetches again although it is done', async () => {
    const staged = stage()
    staged.flow.accept({ entries: entries(0, 3), endOffset: 3 })
    await until(() => staged.commits.length === 1)
    await turn()
    staged.flow.accept({ entries: entries(0, 3), endOffset: 3 })
    await until(() => staged.commits.length === 2)
    expect(staged.commits).to.deep.equal([3, 3])
    expect(staged.seen).to.have.length(1)
  })

  it('begins again if the partition was truncated below what is done', async () => {
    const staged = stage()
    staged.flow.accept({ entries: entries(100, 103), endOffset: 103 })
    await until(() => staged.commits.length === 1)
    staged.flow.accept({ entries: entries(0, 2), endOffset: 2 })
    await until(() => staged.commits.length === 2)
    expect(staged.seen).to.deep.equal(['100,101,102', '0,1'])
    expect(staged.failures).to.have.length(1)
  })

  it('commits nothing of a partition that another member has by now', async () => {
    const finish = Promise.withResolvers<void>()
    const staged = stage(() => finish.promise)
    staged.flow.accept({ entries: entries(0, 3), endOffset: 3 })
    await until(() => staged.seen.length === 1)
    staged.flow.end({ isLost: true })
    finish.resolve()
    await staged.flow.ended
    expect(staged.commits).to.deep.equal([])
  })

  it('commits the current batch before it ends by itself', async () => {
    const finish = Promise.withResolvers<void>()
    const staged = stage(() => finish.promise, 2)
    staged.flow.accept({ entries: entries(0, 3), endOffset: 3 })
    await until(() => staged.seen.length === 1)
    staged.flow.end({ isLost: false })
    finish.resolve()
    await staged.flow.ended
    expect(staged.commits).to.deep.equal([2])
    expect(staged.seen).to.deep.equal(['0,1'])
  })

  it('commits as far as the handler came, and hands the rest over again', async () => {
    const calls: number[] = []
    const staged = stage(async ({ entries: batch }) => {
      calls.push(batch.length)
      return calls.length === 1 ? { done: 2 } : { done: batch.length }
    })
    staged.flow.accept({ entries: entries(0, 5), endOffset: 5 })
    await until(() => staged.commits.length === 2)
    expect(staged.commits).to.deep.equal([2, 5])
    expect(staged.seen).to.deep.equal(['0,1,2,3,4', '2,3,4'])
  })

  it('commits nothing of a batch of which nothing is done, and hands it over again at the given time', async () => {
    const resumeAtMs = Date.now() + 30
    const handedOverAtMs: number[] = []
    const staged = stage(async () => {
      handedOverAtMs.push(Date.now())
      return handedOverAtMs.length === 1 ? { done: 0, resumeAtMs } : undefined
    })
    staged.flow.accept({ entries: entries(0, 2), endOffset: 2 })
    await until(() => staged.commits.length === 1)
    expect(staged.commits).to.deep.equal([2])
    expect(staged.seen).to.deep.equal(['0,1', '0,1'])
    expect(handedOverAtMs[1]).to.be.at.least(resumeAtMs)
  })

  it('is full if all partitions together keep what the process may keep, unless it has nothing itself', async () => {
    const budget = { bytes: 0, maxBytes: 500 }
    const one = stage(() => new Promise<void>(() => undefined), 10, budget)
    const other = stage(undefined, 10, budget)
    one.flow.accept({ entries: entries(0, 1, 'x'.repeat(499)), endOffset: 9 })
    expect(one.flow.isFull).to.equal(false)
    one.flow.accept({ entries: entries(1, 2, 'x'), endOffset: 9 })
    expect(one.flow.isFull).to.equal(true)
    expect(other.flow.isFull).to.equal(false)
    expect(budget.bytes).to.equal(500)
    // The handler of the first never ends, so neither does it.
    flows.splice(flows.indexOf(one.flow), 1)
  })

  it('is full by entries and by bytes, so that no more is fetched', async () => {
    const never = new Promise<void>(() => undefined)
    const byEntries = stage(() => never, 3)
    byEntries.flow.accept({ entries: entries(0, 2), endOffset: 9 })
    expect(byEntries.flow.isFull).to.equal(false)
    byEntries.flow.accept({ entries: entries(2, 4), endOffset: 9 })
    expect(byEntries.flow.isFull).to.equal(true)
    const byBytes = stage(() => new Promise<void>(() => undefined))
    byBytes.flow.accept({ entries: entries(0, 1, 'x'.repeat(1_000)), endOffset: 9 })
    expect(byBytes.flow.isFull).to.equal(true)
    // Their handlers never end, so neither do they.
    flows.splice(0)
  })
})

function entries(from: number, to: number, value = 'value'): StoredEntry[] {
  return Array.from({ length: to - from }, (_, index) => {
    return { key: 'k', value, offset: from + index, appendedAtMs: 0 }
  })
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
