/** Lanes that are filled by measured seconds. */

import { expect } from 'chai'

import { learnSeconds, planProcesses } from './plan.ts'

describe('the plan of a test run', () => {
  it('starts what takes longest first, and lets short neighbours share a process', () => {
    const seconds = {
      'test/a/1.test.ts': 1,
      'test/a/2.test.ts': 2,
      'test/b/long.test.ts': 90,
      'test/b/short.test.ts': 3,
    }
    const plan = planProcesses(Object.keys(seconds).reverse(), seconds)
    expect(plan).to.deep.equal([
      ['test/b/long.test.ts'],
      ['test/a/1.test.ts', 'test/a/2.test.ts'],
      ['test/b/short.test.ts'],
    ])
  })

  it('gives every file one process, and none too many of them, measured or not', () => {
    const files = Array.from({ length: 100 }, (_, index) => `test/a/${index}.test.ts`)
    const plan = planProcesses(files, Object.fromEntries(files.slice(0, 50).map((file) => [file, 0])))
    expect(plan.flat()).to.have.members(files).and.lengthOf(files.length)
    for (const some of plan) expect(some.length).to.be.within(1, 24)
  })

  it('learns what was measured and forgets files that are gone', () => {
    const learnt = learnSeconds({ b: 1, gone: 7, c: 4 }, { b: 2.46, a: 3 }, (file) => file !== 'gone')
    expect(Object.entries(learnt)).to.deep.equal([
      ['a', 3],
      ['b', 2.5],
      ['c', 4],
    ])
  })

  it('starts slow files that were never measured before those that are known to be short', () => {
    const known = { 'test/a.slow.ts': 12, 'test/b.slow.ts': 39 }
    const [first] = planProcesses(['test/a.slow.ts', 'test/b.slow.ts', 'test/new.slow.ts'], known)
    expect(first).to.deep.equal(['test/new.slow.ts'])
  })
})
