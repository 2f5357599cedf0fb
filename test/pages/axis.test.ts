/** The axis of a chart: round numbers, and labels that fit. */

import { expect } from 'chai'

import { axisTicks, labelPlaces } from '../../pages/overview/axis.ts'

describe('the axis of a chart', () => {
  const of = (most: number, isWhole = true): readonly number[] => axisTicks({ most, isWhole })

  it('has round numbers from nothing to the first that is not below the greatest value', () => {
    expect(of(0)).to.deep.equal([0, 1])
    expect(of(1)).to.deep.equal([0, 1])
    expect(of(3)).to.deep.equal([0, 1, 2, 3])
    expect(of(7)).to.deep.equal([0, 2, 4, 6, 8])
    expect(of(20)).to.deep.equal([0, 5, 10, 15, 20])
    expect(of(22)).to.deep.equal([0, 10, 20, 30])
    expect(of(1_234_567)).to.deep.equal([0, 500_000, 1_000_000, 1_500_000])
  })

  it('has shares of which none is cut, and no trace of binary fractions', () => {
    expect(of(1, false)).to.deep.equal([0, 0.5, 1])
    expect(of(0.26, false)).to.deep.equal([0, 0.1, 0.2, 0.3])
    expect(of(0.034, false)).to.deep.equal([0, 0.01, 0.02, 0.03, 0.04])
    expect(of(0.0004, false)).to.deep.equal([0, 0.0001, 0.0002, 0.0003, 0.0004])
  })

  it('reaches whatever the greatest value is, with few numbers', () => {
    for (let most = 1; most < 100_000; most = Math.ceil(most * 1.07)) {
      const ticks = of(most)
      expect(ticks.at(-1), `of ${most}`).to.be.at.least(most)
      expect(ticks.at(-2), `of ${most}`).to.be.below(most)
      expect(ticks.length, `of ${most}`).to.be.within(2, 6)
      for (const tick of ticks) expect(Number.isInteger(tick)).to.equal(true)
    }
  })

  it('has labels at even distances, and no more than fit', () => {
    expect(labelPlaces(7, 6)).to.deep.equal([0, 2, 4, 6])
    expect(labelPlaces(3, 6)).to.deep.equal([0, 1, 2])
    for (let columns = 1; columns < 400; columns++) expect(labelPlaces(columns, 6).length).to.be.within(1, 6)
  })
})
