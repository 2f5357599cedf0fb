/** Lanes by name, and how a log that begins again is distinguished from one that repeats itself. */

import { expect } from 'chai'

import { LIMITS } from '../../../domain/limits.ts'
import { isOfNewLog, laneName, partitionName, readLane, type LogLane } from '../../../domain/streams/lane.ts'

const LANE: LogLane = { topic: 'visits', partition: 3, begunAtMs: 1_795_000_000_000, cause: 'renewed' }
const NEWEST = { offset: 1_000, appendedAtMs: 5_000_000 }

describe('a lane of a log stream', () => {
  it('is read from its own name', () => {
    expect(laneName(LANE)).to.equal('visits/3/1795000000000/renewed')
    expect(readLane(laneName(LANE))).to.deep.equal(LANE)
    expect(partitionName(LANE)).to.equal('visits/3')
  })

  for (const name of [
    '',
    'visits',
    'visits/3',
    'visits/x/1/first',
    'visits/3/1/other',
    '/3/1/first',
    'visits/3/p1/first',
  ])
    it(`is not read from '${name}'`, () => expect(readLane(name)).to.equal(null))

  it('continues with entries above the newest known one, and begins with any', () => {
    expect(isOfNewLog(NEWEST, { offset: 1_001, appendedAtMs: 9_000_000 }, 1_002)).to.equal(false)
    expect(isOfNewLog(null, { offset: 0, appendedAtMs: 9_000_000 }, 1)).to.equal(false)
  })

  it('continues with repeated entries, even from machines whose clocks differ', () => {
    const again = { offset: 900, appendedAtMs: NEWEST.appendedAtMs + LIMITS.clockSkewMs }
    expect(isOfNewLog(NEWEST, again, 1_001)).to.equal(false)
    expect(isOfNewLog(NEWEST, { ...again, offset: 1_000 }, null)).to.equal(false)
  })

  it('ends if the log ends before what was known of it, as after a restore', () => {
    expect(isOfNewLog(NEWEST, { offset: 900, appendedAtMs: NEWEST.appendedAtMs }, 901)).to.equal(true)
    expect(isOfNewLog(NEWEST, { offset: 0, appendedAtMs: NEWEST.appendedAtMs }, 1_000)).to.equal(true)
  })

  it('ends if a lower entry was appended later, as in a recreated topic that has grown since', () => {
    const later = { offset: 0, appendedAtMs: NEWEST.appendedAtMs + LIMITS.clockSkewMs + 1 }
    expect(isOfNewLog(NEWEST, later, 50_000)).to.equal(true)
    expect(isOfNewLog(NEWEST, later, null)).to.equal(true)
  })
})
