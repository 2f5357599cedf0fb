/** Times in lists: which day they belong to can be seen. */

import { expect } from 'chai'

import { clockTexts } from '../../pages/parts/clock.ts'

const NOW_MS = Date.parse('2026-11-28T07:00:00Z')

describe('the time of a row in a list', () => {
  const inUtc = clockTexts('UTC')

  it('has no date if it is of today', () => {
    expect(inUtc({ ms: Date.parse('2026-11-28T00:00:00Z'), nowMs: NOW_MS })).to.not.contain('28')
  })

  it('has the date if it is of yesterday, however few hours ago', () => {
    expect(inUtc({ ms: Date.parse('2026-11-27T23:59:59Z'), nowMs: NOW_MS })).to.match(/27/u)
  })

  it('judges by the day of its time zone', () => {
    const inTokyo = clockTexts('Asia/Tokyo')
    expect(inTokyo({ ms: Date.parse('2026-11-27T23:59:59Z'), nowMs: NOW_MS })).to.not.match(/2[78]/u)
    expect(inTokyo({ ms: Date.parse('2026-11-27T14:59:58Z'), nowMs: NOW_MS })).to.match(/27/u)
  })

  it('has the year if it is of another', () => {
    expect(inUtc({ ms: Date.parse('2025-11-28T07:00:00Z'), nowMs: NOW_MS })).to.match(/2025/u)
  })
})
