/** What led installs to their visits: each that was looked up and decided is counted once. */

import { expect } from 'chai'

import { matchedBy } from '../../domain/figures/found-by.ts'
import { SELECTION_POLICIES } from '../../domain/model.ts'

describe('what led installs to their visits', () => {
  it('adds up to all that were looked up and decided, whatever they were matched by', () => {
    const policies = SELECTION_POLICIES.map((value, place) => ({ value, matched: 10 ** place, unmatched: 0 }))
    const found = matchedBy([...policies, { value: '', matched: 0, unmatched: 7 }])
    const all = policies.reduce((sum, { matched }) => sum + matched, 7)
    expect(found.token + found.marker + found.earlier + found.neither).to.equal(all)
    expect([found.token, found.marker, found.neither]).to.deep.equal([100, 11, 7])
  })

  it('is neither without a match', () => {
    expect(matchedBy([])).to.deep.equal({ token: 0, marker: 0, earlier: 0, neither: 0 })
    expect(matchedBy([{ value: 'none', matched: 0, unmatched: 3 }]).neither).to.equal(3)
  })
})
