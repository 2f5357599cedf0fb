/** Which hours are read from the facts, and which of them at once. */

import { expect } from 'chai'

import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts'
import { dividedHours, hoursTogether } from '../../../domain/figures/divided-hours.ts'

const FROM_MS = Date.UTC(2026, 9, 1, 18)
const everyDay = (days: number): number[] => Array.from({ length: days }, (_, day) => FROM_MS + day * DAY_MS)
/** So many page views in each hour of these days. */
const viewsOf = (days: number, anHour: number): ReadonlyMap<number, number> =>
  new Map(Array.from({ length: days * 24 }, (_, hour) => [FROM_MS + hour * HOUR_MS, anHour]))
const daysOf = (groups: readonly { readonly sinceMs: number; readonly untilMs: number }[]): number[] =>
  groups.map(({ sinceMs, untilMs }) => (untilMs - HOUR_MS - sinceMs) / DAY_MS + 1)

describe('hours that a step of time divides', () => {
  it('are those in which a step begins, unless it begins with them', () => {
    const half = FROM_MS + HOUR_MS / 2
    expect([...dividedHours([FROM_MS, half, half + DAY_MS, half])]).to.deep.equal([FROM_MS, FROM_MS + DAY_MS])
  })

  it('are read at once by two weeks, if a website is small', () => {
    expect(daysOf(hoursTogether(everyDay(30), viewsOf(30, 1)))).to.deep.equal([14, 14, 2])
  })

  it('are as many at once as there are page views to look through', () => {
    // A day has 2,400, and the last hour of a group 100 more.
    expect(daysOf(hoursTogether(everyDay(11), viewsOf(11, 100)))).to.deep.equal([5, 5, 1])
  })

  it('are read one by one, if the website is large', () => {
    const groups = hoursTogether(everyDay(3).toReversed(), viewsOf(3, 9_000))
    expect(groups).to.deep.equal(everyDay(3).map((sinceMs) => ({ sinceMs, untilMs: sinceMs + HOUR_MS })))
  })

  it('have a bound of time even if nothing was counted yet', () => {
    expect(daysOf(hoursTogether(everyDay(15), new Map()))).to.deep.equal([14, 1])
    expect(hoursTogether([], new Map())).to.deep.equal([])
  })
})
