/** Which windows a request counts in, and when a month of the quota begins. */

import { expect } from 'chai'
import { RATE_RULES } from '../../domain/limits.ts'
import { addressHit, eventHits, monthOf, visitHits } from '../../domain/collection/rate.ts'

describe('rate windows', () => {
  it('are those of the contract', () => {
    const { collection, visits, events, events_per_address_minute: minute, events_per_address_day: day } = RATE_RULES
    expect([collection, visits, events, minute, day].map(({ limit, windowS }) => [limit, windowS])).to.deep.equal([
      [240, 60],
      [6_000, 60],
      [1_200, 60],
      [30, 60],
      [500, 86_400],
    ])
  })

  it('of an event are narrow before wide', () => {
    const rules = eventHits('site', 'hash').map(({ rule }) => rule)
    expect(rules).to.deep.equal(['events_per_address_minute', 'events_per_address_day', 'events'])
  })

  it('have keys of their own for each rule and subject', () => {
    const hits = [addressHit('a'), addressHit('b'), ...visitHits('a'), ...eventHits('a', 'b'), ...eventHits('b', 'a')]
    expect(new Set(hits.map(({ key }) => key)).size).to.equal(hits.length)
  })

  it('cannot be confused by a website whose ID looks like another and an address', () => {
    // IDs of websites hold no colon and hashes are hex, so the parts of a key cannot run into each other.
    expect(eventHits('a', 'b')[0]?.key).to.equal('events_per_address_minute:a:b')
  })
})

describe('the month of the quota', () => {
  it('is the calendar month in UTC', () => {
    expect(monthOf(Date.UTC(2026, 10, 30, 23, 59, 59, 999))).to.equal('2026-11')
    expect(monthOf(Date.UTC(2026, 11, 1))).to.equal('2026-12')
    expect(monthOf(Date.UTC(2026, 11, 31, 23, 59, 59, 999))).to.equal('2026-12')
    expect(monthOf(Date.UTC(2027, 0, 1))).to.equal('2027-01')
  })

  it('knows the 29th of February', () => {
    expect(monthOf(Date.UTC(2028, 1, 29, 23, 59, 59, 999))).to.equal('2028-02')
    expect(monthOf(Date.UTC(2028, 2, 1))).to.equal('2028-03')
  })
})
