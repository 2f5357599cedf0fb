/** A benchmark that cannot measure says so: no figure comes from missing tools, failed requests or a single round. */

import { expect } from 'chai'

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
