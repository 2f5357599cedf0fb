/** Counters in memory are bounded, however many clients come. */

import { expect } from 'chai'

import { openCounters } from '../../ports/hot-state/lmdb/counters.ts'
import { memoryTable } from '../../ports/hot-state/redis/memory.ts'
import type { Table } from '../../ports/shared/lmdb/table.ts'

const MOST_KEYS = 500_000

describe('the counters of one window', () => {
  it('forget the client that came first once there are half a million, in favour of the clients', () => {
    const table: Table = { get: () => undefined, put: () => undefined, remove: () => undefined, range: () => [] }
    const counters = openCounters(table, () => 0)
    const countOf = (client: number): number => {
      const outcome = counters.countHits([{ key: `client-${client}`, limit: 10, windowS: 60 }])
      return outcome.kind === 'counted' ? (outcome.counts[0] ?? 0) : 0
    }
    for (let client = 0; client < MOST_KEYS; client++) countOf(client)
    expect(countOf(0)).to.equal(2)
    expect(countOf(MOST_KEYS)).to.equal(1)
    expect(countOf(MOST_KEYS)).to.equal(2)
    expect(countOf(0)).to.equal(1)
  })

  for (const windowS of [3_600, 86_400])
    it(`of ${windowS} s begin with what is stored, and look nothing up until some were forgotten`, () => {
      const table = memoryTable(MOST_KEYS)
      const hit = (client: string) => ({ key: client, limit: 50, windowS })
      const counted = (counters: ReturnType<typeof openCounters>, client: string): number => {
        const outcome = counters.countHits([hit(client)])
        return outcome.kind === 'counted' ? (outcome.counts[0] ?? 0) : 0
      }
      const before = openCounters(table, () => 0)
      for (let time = 0; time < 3; time++) counted(before, 'known')
      before.save()

      const asked: string[] = []
      const watched: Table = { ...table, get: (key) => (asked.push(key), table.get(key)) }
      const after = openCounters(watched, () => 0)
      expect(counted(after, 'known')).to.equal(4)
      expect(counted(after, 'new')).to.equal(1)
      expect(asked).to.deep.equal([])

      after.save()
      for (let client = 0; client < MOST_KEYS; client++) counted(after, `client-${client}`)
      expect(counted(after, 'known')).to.equal(5)
      expect(asked).to.have.length.above(0)
    })

  it('of a day that the clock came back to are looked up, as the table may have more than was read', () => {
    const table = memoryTable(100)
    let now = 0
    const counters = openCounters(table, () => now)
    const count = (): number => {
      const outcome = counters.countHits([{ key: 'known', limit: 50, windowS: 86_400 }])
      return outcome.kind === 'counted' ? (outcome.counts[0] ?? 0) : 0
    }
    count()
    count()
    now = 86_400_000
    expect(count()).to.equal(1)
    now = 86_399_999
    expect(count()).to.equal(3)
  })
})
