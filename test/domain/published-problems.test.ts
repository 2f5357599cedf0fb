/** The problems that the operator publishes for the activity: with the time of their beginning, and bounded fairly. */

import { expect } from 'chai'

import type { CatalogProblem } from '../../domain/catalog.ts'
import { LIMITS } from '../../domain/limits.ts'
import { problemsText, problemsToPublish, readProblems } from '../../domain/published/problems.ts'

const problem = (organization: string | undefined, object: string, message = 'no room'): CatalogProblem => ({
  ...{ object, source: '', field: '', reason: 'PlanLimit', message },
  ...(organization === undefined ? {} : { organization }),
})

describe('published problems', () => {
  it('keep the time at which they began, and begin anew after they were gone', () => {
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

  it('leave out what belongs to no known organisation, and what is said twice', () => {
    const found = problemsToPublish(
      [problem(undefined, 'Website/x'), problem('a', 'Website/y'), problem('a', 'Website/y')],
      [],
      1,
    )
    expect(found.map(({ object }) => object)).to.deep.equal(['Website/y'])
  })

  it('of one organisation take no room of another, however many they are', () => {
    const loud = Array.from({ length: 5_000 }, (_, n) => problem('loud', `Website/loud-${n}`, 'x'.repeat(200)))
    const quiet = Array.from({ length: 50 }, (_, n) => problem(`quiet-${n % 5}`, `Website/quiet-${n}`))
    const found = problemsToPublish([...loud, ...quiet], [], 1)
    expect(found.filter(({ organization }) => organization !== 'loud')).to.have.length(50)
    expect(found.length).to.be.greaterThan(200)
    expect(problemsText(found).length).to.be.lessThan(LIMITS.publishedProblemsBytes + 10 * found.length)
    // Known ones keep their place.
    const again = problemsToPublish([...loud.toReversed(), ...quiet], found, 2)
    expect(again).to.deep.equal(found)
  })

  it('are read as they were written, and as none where this is something else', () => {
    const found = problemsToPublish([problem('acme', 'Website/one')], [], 1_000)
    expect(readProblems(problemsText(found))).to.deep.equal(found)
    for (const text of [null, '', '{', '[]', 'null', '{"problems":{}}', '{"problems":[null,1,{"object":"x"}]}'])
      expect(readProblems(text), String(text)).to.deep.equal([])
  })
})
