/** A benchmark that cannot measure says so: no figure comes from missing tools, failed requests or a single round. */

import { expect } from 'chai'

import { comparePairs, measurePairs, type WindowKind } from '../../bench/hostile/paired-windows.ts'
import { figuresOf, luaScript } from '../../bench/support/http-load.ts'
import { median, needTools, roundsFrom } from '../../bench/support/rounds.ts'

const PRINTED = `
  Thread Stats   Avg      Stdev     Max   +/- Stdev
  Latency Distribution
     50%   18.50ms
     75%   20.10ms
     90%   30.00ms
     99%    1.20s
  34310 requests in 10.00s, 5.12MB read
Requests/sec:   3430.12
`

describe('a benchmark', () => {
  it('fails if a tool is missing, and names it', () => {
    expect(() => needTools('sh')).not.to.throw()
    expect(() => needTools('sh', 'no-such-tool-of-ours')).to.throw('no-such-tool-of-ours cannot be found')
  })

  it('makes at least three rounds', () => {
    expect([roundsFrom(undefined, 3), roundsFrom('5', 3)]).to.deep.equal([3, 5])
    for (const text of ['2', '1', '0', 'x', '3.5', '-3']) expect(() => roundsFrom(text, 3), text).to.throw('no median')
  })

  it('gives the figure in the middle, and none if one is missing', () => {
    expect(median([9, 1, 5])).to.equal(5)
    expect(median([4, 1, 2, 9])).to.equal(3)
    for (const values of [[], [1, Number.NaN, 2]]) expect(() => median(values)).to.throw('a figure is missing')
  })

  it('holds a bound by the middle pair, whichever of its two measures is larger', () => {
    const held = (alone: readonly number[], beside: readonly number[]): boolean =>
      comparePairs({ alone, beside }, { times: 2, orMore: 300 }).isHeld
    expect(held([10, 10, 10], [310, 310, 310]), 'so much more').to.be.true
    expect(held([1_000, 1_000, 1_000], [2_000, 2_000, 2_000]), 'so many times').to.be.true
    expect(held([10, 10, 10], [311, 311, 311])).to.be.false
    expect(held([10, 10, 10], [9_000, 20, 20]), 'one disturbed pair').to.be.true
    expect(held([10, 400, 10], [400, 700, 400]), 'each pair is compared with itself').to.be.false
  })

  it('shows the spread of pairs, and no change where there is nothing beside nothing', () => {
    const { alone, ratio } = comparePairs({ alone: [2, 1, 4], beside: [4, 1, 12] }, undefined)
    expect(alone).to.deep.equal({ least: 1, middle: 2, most: 4 })
    expect(ratio).to.deep.equal({ least: 1, middle: 2, most: 3 })
    expect(comparePairs({ alone: [0, 0, 0], beside: [0, 0, 0] }, undefined).ratio.most).to.equal(1)
    expect(() => comparePairs({ alone: [1, 1], beside: [1] }, undefined)).to.throw('a figure is missing')
  })

  it('measures in pairs whose first window changes', async () => {
    const order: string[] = []
    const measure = async (kind: WindowKind, pair: number) => {
      order.push(`${pair} ${kind}`)
      return { p99: kind === 'alone' ? 1 : 3 }
    }
    const figures = { p99: { name: 'p99', mayBe: { times: 2, orMore: 0 } } }
    expect(await measurePairs({ pairs: 3, figures, measure })).to.be.false
    expect(order).to.deep.equal(['0 alone', '0 beside', '1 beside', '1 alone', '2 alone', '2 beside'])
  })

  it('reads the output of wrk, and does not read an empty one as zero', () => {
    expect(figuresOf(PRINTED, 5)).to.deep.equal({
      perSecond: 3_430.12,
      perCpuSecond: 6_862,
      p50Ms: 18.5,
      p99Ms: 1_200,
      requests: 34_310,
    })
    expect(() => figuresOf('', 5)).to.throw('wrk did not print')
    expect(() => figuresOf(PRINTED.replace('34310 requests', '0 requests'), 5)).to.throw('not one request')
  })

  it('sends matched events with the receipts that it was given, and others with none', () => {
    const receipt = 'r'.repeat(43)
    expect(luaScript('matched', [{ website: 'site-0', receipt }])).to.contain(`"receipts":["${receipt}"]`)
    expect(luaScript('event')).to.contain('"receipts":[]')
    expect(() => luaScript('matched')).to.throw('need visits')
  })
})
