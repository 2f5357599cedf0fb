/** Hours and days of time zones, as instants. */

import { expect } from 'chai'

import { HOUR_MS } from '../../domain/durations.ts'
import { isTimeZone, stepsOf, timeZone } from '../../domain/time-zones.ts'
import { ZONE_NAMES } from '../../domain/zone-countries.ts'

const at = (text: string): number => Date.parse(`${text}Z`)
const hours = (steps: readonly { readonly at: number; readonly until: number }[]): readonly number[] =>
  steps.map((step) => (step.until - step.at) / HOUR_MS)

describe('time zones', () => {
  it('are those of the IANA database, by name', () => {
    for (const name of ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/Argentina/Salta'])
      expect(isTimeZone(name), name).to.equal(true)
    for (const name of ['', 'Mars/Olympus', '+05:30', '-0800', 'Berlin', 'europe', ' UTC'])
      expect(isTimeZone(name), name).to.equal(false)
  })

  it('are known to this Node, all of them', () => {
    for (const name of ZONE_NAMES) expect(() => timeZone(name), name).not.to.throw()
  })

  it('have days of 23, 24 and 25 hours', () => {
    const berlin = timeZone('Europe/Berlin')
    const of = (since: string, until: string) => hours(stepsOf(berlin, { at: at(since), until: at(until) }, 'day'))
    expect(of('2026-03-27T23:00', '2026-03-30T22:00')).to.deep.equal([24, 23, 24])
    expect(of('2026-10-23T22:00', '2026-10-26T23:00')).to.deep.equal([24, 25, 24])
    expect(berlin.dayOf(at('2026-10-25T23:30'))).to.equal(at('2026-10-25T23:00'))
    expect(berlin.dayAfter(at('2026-10-25T12:00'))).to.equal(at('2026-10-25T23:00'))
  })

  it('begin a day where midnight does not exist with its first moment', () => {
    // Clocks in Santiago go from 24:00 to 1:00 in September.
    const santiago = timeZone('America/Santiago')
    const day = santiago.dayOf(at('2026-09-06T15:00'))
    expect(day).to.equal(at('2026-09-06T04:00'))
    expect((santiago.dayAfter(day) - day) / HOUR_MS).to.equal(23)
  })

  it('have hours that begin at half past and at a quarter of those of UTC', () => {
    const kolkata = timeZone('Asia/Kolkata')
    expect(kolkata.hourOf(at('2026-05-01T12:10'))).to.equal(at('2026-05-01T11:30'))
    expect(kolkata.dayOf(at('2026-05-01T12:10'))).to.equal(at('2026-04-30T18:30'))
    expect(timeZone('Asia/Kathmandu').hourOf(at('2026-05-01T12:10'))).to.equal(at('2026-05-01T11:15'))
    expect(kolkata.hourAfter(at('2026-05-01T12:30'))).to.equal(at('2026-05-01T13:30'))
  })

  it("have an hour of one and a half, and one of half, at Lord Howe's changes", () => {
    const howe = timeZone('Australia/Lord_Howe')
    const of = (since: string, until: string) => hours(stepsOf(howe, { at: at(since), until: at(until) }, 'hour'))
    // Back at 2:00 on 5 April: from 1:00 until 2:00 it is one and a half.
    expect(of('2026-04-04T13:00', '2026-04-04T17:30')).to.deep.equal([1, 1.5, 1, 1])
    // Forward at 2:00 on 4 October: 2:30 until 3:00.
    expect(of('2026-10-03T13:30', '2026-10-03T18:00')).to.deep.equal([1, 1, 0.5, 1, 1])
    expect(hours(stepsOf(howe, { at: at('2026-10-02T13:30'), until: at('2026-10-05T13:00') }, 'day'))).to.deep.equal([
      24, 23.5, 24,
    ])
  })

  it('cut the first and the last step at the ends of a period', () => {
    const period = { at: at('2026-05-01T10:00'), until: at('2026-05-02T05:00') }
    expect(hours(stepsOf(timeZone('UTC'), period, 'day'))).to.deep.equal([14, 5])
  })
})
