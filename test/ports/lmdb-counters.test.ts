/** Counters in memory are bounded, however many clients come. */

import { expect } from 'chai'

import { openCounters } from '../../ports/hot-state/lmdb/counters.ts'
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
})
