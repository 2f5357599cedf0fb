/** The figures that a website shows: rounded, steady, and absent if nothing has ever happened. */

import { expect } from 'chai'
import fc from 'fast-check'

import { isSameTraffic, shownTraffic } from '../../domain/resources/traffic.ts'

const now = (visits: number, installs = 0, matched = 0) => ({
  organization: 'acme',
  website: 'acme',
  visits,
  installs,
  matched,
  unmatched: installs - matched,
})

describe('the traffic that a website shows', () => {
  it('is nothing before there was any, and zero after it has ended', () => {
    expect(shownTraffic(null, null)).to.equal(null)
    expect(shownTraffic(null, { visits: 120, installs: 3, matchRate: '67%' })).to.deep.equal({ visits: 0, installs: 0 })
  })

  it('has two digits, and a whole percentage of the installs', () => {
    expect(shownTraffic(now(14_449, 7, 5), null)).to.deep.equal({ visits: 14_000, installs: 7, matchRate: '71%' })
    expect(shownTraffic(now(99, 99, 98), null)).to.deep.equal({ visits: 99, installs: 99, matchRate: '99%' })
    expect(shownTraffic(now(0, 1_000, 1_000), null)?.matchRate).to.equal('100%')
    expect(shownTraffic(now(0, 1_000, 0), { visits: 0, installs: 1_000, matchRate: '1%' })?.matchRate).to.equal('0%')
  })

  it('does not flip back and forth at the edge of rounding', () => {
    let shown = shownTraffic(now(1_449, 2_000, 1_250), null)
    expect(shown).to.deep.equal({ visits: 1_400, installs: 2_000, matchRate: '63%' })
    for (const visits of [1_451, 1_449, 1_460, 1_440]) {
      const next = shownTraffic(now(visits, 2_000, 1_247), shown)
      expect(isSameTraffic(next, shown), String(visits)).to.equal(true)
      shown = next
    }
    expect(shownTraffic(now(1_480), shown)?.visits).to.equal(1_500)
  })

  it('is never more than one step of its second digit away from the truth, whatever was shown before', () => {
    const count = fc.integer({ min: 0, max: 10_000_000 })
    fc.assert(
      fc.property(count, count, (visits, before) => {
        const shown = shownTraffic(now(visits), { visits: before, installs: 0 })?.visits ?? -1
        const step = visits < 10 ? 1 : 10 ** (String(visits).length - 2)
        expect(Math.abs(shown - visits)).to.be.at.most(step)
        if (visits === 0) expect(shown).to.equal(0)
      }),
    )
  })
})
