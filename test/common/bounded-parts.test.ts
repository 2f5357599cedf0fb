/** Texts of clients are divided as far as anybody needs, and no further. */

import { expect } from 'chai'

import { boundedParts, lastParts } from '../../common/bounded-parts.ts'

describe('the parts of a text', () => {
  it('are without blanks around them, and empty ones keep their place', () => {
    expect(boundedParts(' a ; b;;c ', ';', 4)).to.deep.equal(['a', 'b', '', 'c'])
    expect(boundedParts('', ';', 1)).to.deep.equal([''])
  })

  it('are none if there are more than may be, at any length', () => {
    expect(boundedParts('a;b;c', ';', 3)).to.deep.equal(['a', 'b', 'c'])
    expect(boundedParts('a;b;c', ';', 2)).to.equal(null)
    expect(boundedParts(';'.repeat(16_000), ';', 256)).to.equal(null)
  })

  it('are read from the end where lists grow there, the last one first', () => {
    expect(lastParts('a, b,c', ',', 9)).to.deep.equal(['c', 'b', 'a'])
    expect(lastParts('a, b,c', ',', 2)).to.deep.equal(['c', 'b'])
    expect(lastParts('', ',', 2)).to.deep.equal([''])
    expect(lastParts(',a,', ',', 9)).to.deep.equal(['', 'a', ''])
    expect(lastParts(','.repeat(16_000), ',', 32)).to.have.lengthOf(32)
  })
})
