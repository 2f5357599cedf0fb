/** How many requests to the API server are under way at once. */

import { expect } from 'chai'

import { createAdaptiveLimit } from '../../operator/adaptive-limit.ts'

const SLOW_MS = 1_000

describe('the limit of requests under way', () => {
  it('halves once for all that were under way when the server became slow, and never below two', () => {
    const { limit, ended } = createAdaptiveLimit({ most: 32, slowMs: SLOW_MS })
    expect(limit()).to.equal(32)
    for (let count = 0; count < 32; count++) ended(0, SLOW_MS + 1 + count)
    expect(limit()).to.equal(16)
    ended(SLOW_MS + 1, 2 * SLOW_MS + 10)
    expect(limit()).to.equal(8)
    for (let round = 3; round < 20; round++) ended(round * SLOW_MS * 2, round * SLOW_MS * 2 + SLOW_MS + 1)
    expect(limit()).to.equal(2)
  })

  it('grows again with fast requests, by one for each round of them, up to the most', () => {
    const { limit, ended } = createAdaptiveLimit({ most: 8, slowMs: SLOW_MS })
    ended(0, SLOW_MS + 1)
    expect(limit()).to.equal(4)
    for (let count = 0; count < 5; count++) ended(2_000, 2_000 + SLOW_MS)
    expect(limit()).to.equal(5)
    for (let count = 0; count < 100; count++) ended(3_000, 3_010)
    expect(limit()).to.equal(8)
  })

  it('stays at one if only one is allowed', () => {
    const { limit, ended } = createAdaptiveLimit({ most: 1, slowMs: SLOW_MS })
    ended(0, 5_000)
    expect(limit()).to.equal(1)
  })
})
