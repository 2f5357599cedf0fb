/** The problems that the operator publishes for the activity: with the time when they began, and bounded fairly. */

import { expect } from 'chai'

import type { CatalogProblem } from '../../domain/catalog.ts'
import { LIMITS } from '../../domain/limits.ts'
import { problemsText, problemsToPublish, readProblems } from '../../domain/published/problems.ts'

const problem = (organization: string | undefined, object: string, message = 'no room'): CatalogProblem => ({
  object,
  source: '',
  field: '',
  reason: 'PlanLimit',
  message,
  ...(organization === undefined ? {} : { organization }),
})

describe('published problems', () => {
  it('keep the time at which they began, and begin again after they were gone', () => {
    const one = problem('acme', 'Website/one')
    const two = problem('acme', 'Website/two')
    const first = problemsToPublish([one], [], 1_000)
    const second = problemsToPublish([two, one], first, 2_000)
    expect(second.map(({ object, sinceMs }) => [object, sinceMs])).to.deep.equal([
      ['Website/one', 1_000],
      ['Website/two', 2_000],
    ])
    const third = problemsToPublish([two], second, 3_000)
    const fourth = problemsToPublish([one, two], third, 4_000)
    expect(fourth.map(({ object, sinceMs }) => [object, sinceMs])).to.deep.equal([
      ['Website/two', 2_000],
      ['Website/one', 4_000],
    ])
  })

  it('leave out what belongs to no known organisation, and duplicates', () => {
    const found = problemsToPublish(
      [problem(undefined, 'Website/x'), problem('a', 'Website/y'), problem('a', 'Website/y')],
      [],
      1,
    )
    expect(found.map(({ object }) => object)).to.deep.equal(['Website/y'])
  })

  it('of one organisation take no room from another, and those of one namespace none of another, however many they are', () => {
    const text = 'x'.repeat(200)
    const loud = Array.from({ length: 5_000 }, (_, n) => problem('crowd/loud', `Website/crowd/loud-${n}`, text))
    const crowd = Array.from({ length: 5_000 }, (_, n) => problem(`crowd/${n}`, `Website/crowd/${n}`, text))
    const quiet = Array.from({ length: 50 }, (_, n) => problem(`quiet-${n % 5}`, `Website/quiet-${n}`, text))
    const beside = Array.from({ length: 50 }, (_, n) => problem('loud', `Website/loud-${n}`, text))
    for (const others of [loud, crowd, [...crowd, ...loud]]) {
      const found = problemsToPublish([...others, ...beside, ...quiet], [], 1)
      const ofOthers = found.filter(({ organization }) => organization.startsWith('crowd/'))
      expect(found.length - ofOthers.length).to.equal(100)
      expect(ofOthers.length).to.be.greaterThan(200)
      expect(problemsText(found).length).to.be.lessThan(LIMITS.publishedProblemsBytes + 10 * found.length)
      // Known ones keep their place.
      expect(problemsToPublish([...others.toReversed(), ...quiet, ...beside], found, 2)).to.deep.equal(found)
    }
    const found = problemsToPublish([...loud, ...crowd.slice(0, 50)], [], 1)
    expect(
      new Set(found.map(({ organization }) => organization)).size,
      'each of the namespace is told something',
    ).to.equal(51)
  })

  it('are read as they were written, and as none if this is something else', () => {
    const found = problemsToPublish([problem('acme', 'Website/one')], [], 1_000)
    expect(readProblems(problemsText(found))).to.deep.equal(found)
    for (const text of [null, '', '{', '[]', 'null', '{"problems":{}}', '{"problems":[null,1,{"object":"x"}]}'])
      expect(readProblems(text), String(text)).to.deep.equal([])
  })
})
