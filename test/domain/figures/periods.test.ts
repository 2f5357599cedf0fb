/** Periods by name, by date and by moment, and what they are compared with, in zones whose days are not all of 24 hours. */

import { expect } from 'chai'

import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts'
import {
  comparedPeriod,
  firstKeptDay,
  periodOf,
  refuseSteps,
  stepSizeOf,
  type AskedPeriod,
  type Comparison,
  type FiguresPeriod,
} from '../../../domain/figures/periods.ts'
import { timeZone } from '../../../domain/time-zones.ts'

/** A Saturday. */
const NOW = '2026-11-28T20:10'

const at = (text: string): number => Date.parse(`${text}Z`)
const shown = (ms: number): string => new Date(ms).toISOString().slice(0, 16)

interface Asked extends AskedPeriod {
  readonly now?: string
  readonly zone?: string
  readonly by?: Exclude<Comparison, 'off'>
}

function read({ now = NOW, zone: name = 'UTC', by = 'before', ...asked }: Asked) {
  const zone = timeZone(name)
  const period = periodOf(asked, { nowMs: at(now), zone })
  if ('code' in period) return expect.fail(JSON.stringify(period))
  return { period, before: comparedPeriod(asked, period, { by, zone }) }
}
const textOf = ({ sinceMs, untilMs }: FiguresPeriod): string => `${shown(sinceMs)} ${shown(untilMs)}`
const period = (asked: Asked): string => textOf(read(asked).period)
const before = (asked: Asked): string => textOf(read(asked).before)

describe('periods of figures', () => {
  it('between two moments begin and end with whole hours of the zone', () => {
    const moments = { since: at('2026-10-27T05:40'), until: at('2026-10-27T09:40') }
    expect(period({ ...moments, zone: 'Asia/Kolkata' })).to.equal('2026-10-27T05:30 2026-10-27T10:30')
  })

  it('have names, and reach the end of the present hour', () => {
    expect(period({ period: 'Today' })).to.equal('2026-11-28T00:00 2026-11-28T21:00')
    expect(period({ period: 'Yesterday' })).to.equal('2026-11-27T00:00 2026-11-28T00:00')
    expect(period({ period: 'Last7Days' })).to.equal('2026-11-22T00:00 2026-11-28T21:00')
    expect(period({ period: 'Last28Days' })).to.equal('2026-11-01T00:00 2026-11-28T21:00')
    expect(period({ period: 'Last90Days' })).to.equal('2026-08-31T00:00 2026-11-28T21:00')
    expect(period({ period: 'MonthToDate' })).to.equal('2026-11-01T00:00 2026-11-28T21:00')
    expect(period({ period: 'LastMonth' })).to.equal('2026-10-01T00:00 2026-11-01T00:00')
    expect(period({ period: 'YearToDate' })).to.equal('2026-01-01T00:00 2026-11-28T21:00')
    expect(period({})).to.equal(period({ period: 'Last7Days' }))
  })

  it('are of the dates of the time zone', () => {
    const zone = 'Pacific/Auckland'
    expect(period({ period: 'Today', zone })).to.equal('2026-11-28T11:00 2026-11-28T21:00')
    expect(period({ period: 'MonthToDate', zone, now: '2026-11-30T12:00' })).to.equal(
      '2026-11-30T11:00 2026-11-30T13:00',
    )
    expect(period({ period: 'LastMonth', zone: 'America/New_York' })).to.equal('2026-10-01T04:00 2026-11-01T04:00')
    expect(period({ from: '2026-10-25', to: '2026-10-25', zone: 'Europe/Berlin' })).to.equal(
      '2026-10-24T22:00 2026-10-25T23:00',
    )
  })

  it('go from one date to another, both whole, and not beyond now', () => {
    expect(period({ from: '2026-11-01', to: '2026-11-03' })).to.equal('2026-11-01T00:00 2026-11-04T00:00')
    expect(period({ from: '2026-11-27' })).to.equal('2026-11-27T00:00 2026-11-28T21:00')
    expect(period({ from: '2026-11-28', to: '2027-02-01' })).to.equal('2026-11-28T00:00 2026-11-28T21:00')
    expect(period({ from: '2024-02-29', to: '2024-02-29' })).to.equal('2024-02-29T00:00 2024-03-01T00:00')
  })

  for (const [asked, field] of [
    [{ from: '2026-02-30' }, '/from'],
    [{ from: '2026-13-01' }, '/from'],
    [{ from: '28.11.2026' }, '/from'],
    [{ to: '2026-11-28' }, '/from'],
    [{ from: '2026-11-29' }, '/from'],
    [{ from: '2026-11-03', to: '2026-11-02' }, '/from'],
    [{ from: '2026-11-01', to: 'tomorrow' }, '/to'],
    [{ from: '2025-10-01', to: '2026-11-28' }, '/from'],
    [{ since: at('2026-11-29T00:00') }, '/since'],
    [{ since: at('2026-11-28T10:00'), until: at('2026-11-28T10:00') }, '/since'],
    [{ since: 0 }, '/since'],
  ] as const)
    it(`refuses ${JSON.stringify(asked)}`, () => {
      expect(periodOf(asked, { nowMs: at(NOW), zone: timeZone('UTC') })).to.have.nested.property('extra.field', field)
    })

  it('are compared with as many days right before, up to the same hour', () => {
    expect(before({ period: 'Today' })).to.equal('2026-11-27T00:00 2026-11-27T21:00')
    expect(before({ period: 'Yesterday' })).to.equal('2026-11-26T00:00 2026-11-27T00:00')
    expect(before({ period: 'Last7Days' })).to.equal('2026-11-15T00:00 2026-11-21T21:00')
    expect(before({ from: '2026-11-01', to: '2026-11-03' })).to.equal('2026-10-29T00:00 2026-11-01T00:00')
    expect(before({ since: at('2026-11-28T10:00'), until: at('2026-11-28T13:00') })).to.equal(
      '2026-11-28T07:00 2026-11-28T10:00',
    )
  })

  it('of a month or a year are compared with the same part of the one before', () => {
    expect(before({ period: 'MonthToDate' })).to.equal('2026-10-01T00:00 2026-10-28T21:00')
    expect(before({ period: 'LastMonth' })).to.equal('2026-09-01T00:00 2026-10-01T00:00')
    expect(before({ period: 'YearToDate' })).to.equal('2025-01-01T00:00 2025-11-28T21:00')
  })

  it('of a month that is longer than the one before are compared with all of it', () => {
    expect(before({ period: 'MonthToDate', now: '2026-03-30T10:10' })).to.equal('2026-02-01T00:00 2026-03-01T00:00')
    expect(before({ period: 'MonthToDate', now: '2026-02-28T10:10' })).to.equal('2026-01-01T00:00 2026-01-28T11:00')
    expect(before({ period: 'YearToDate', now: '2024-02-29T10:10' })).to.equal('2023-01-01T00:00 2023-03-01T00:00')
  })

  it('are compared with the same dates a year before', () => {
    const by = 'year_before'
    expect(before({ period: 'Last7Days', by })).to.equal('2025-11-22T00:00 2025-11-28T21:00')
    expect(before({ period: 'LastMonth', by })).to.equal('2025-10-01T00:00 2025-11-01T00:00')
    expect(before({ from: '2024-02-28', to: '2024-02-29', by })).to.equal('2023-02-28T00:00 2023-03-01T00:00')
    expect(before({ since: at('2026-11-28T10:00'), until: at('2026-11-28T13:00'), by })).to.equal(
      '2025-11-28T10:00 2025-11-28T13:00',
    )
  })

  it('are compared by the clock where days have 23 and 25 hours', () => {
    const zone = 'Europe/Berlin'
    // Winter time began on 25 October at 1:00 UTC.
    expect(before({ period: 'Today', zone, now: '2026-10-26T10:10' })).to.equal('2026-10-24T22:00 2026-10-25T10:00')
    expect(before({ period: 'Yesterday', zone, now: '2026-10-26T10:10' })).to.equal('2026-10-23T22:00 2026-10-24T22:00')
    expect(before({ period: 'Last7Days', zone, now: '2026-10-26T10:10' })).to.equal('2026-10-12T22:00 2026-10-19T10:00')
  })

  for (const name of ['Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/Santiago', 'Pacific/Apia'])
    it(`begin and end with hours of ${name} at every hour of a year`, () => {
      const zone = timeZone(name)
      const expectHours = (asked: AskedPeriod, nowMs: number): void => {
        const found = periodOf(asked, { nowMs, zone })
        if ('code' in found) return expect.fail(found.code)
        for (const by of ['before', 'year_before'] as const) {
          const earlier = comparedPeriod(asked, found, { by, zone })
          const about = `${shown(nowMs)} ${asked.period ?? ''} ${by}: ${textOf(earlier)}`
          expect(earlier.untilMs, about).to.be.greaterThan(earlier.sinceMs).and.at.most(found.sinceMs)
          const borders = [zone.dayOf(earlier.sinceMs), zone.hourOf(earlier.untilMs)]
          expect(borders, about).to.deep.equal([earlier.sinceMs, earlier.untilMs])
        }
      }
      for (let nowMs = at('2026-01-01T00:07'); nowMs < at('2027-01-01T00:00'); nowMs += 37 * HOUR_MS)
        for (const period of ['Today', 'Last7Days', 'MonthToDate'] as const) expectHours({ period }, nowMs)
    })

  it('are shown by hour, day or week, as many as a chart has room for', () => {
    const zone = timeZone('UTC')
    const of = (asked: Asked) => stepSizeOf(read(asked).period, zone)
    expect([of({ period: 'Today' }), of({ from: '2026-11-26', to: '2026-11-27' })]).to.deep.equal(['hour', 'hour'])
    expect([of({ period: 'Last7Days' }), of({ period: 'Last90Days' })]).to.deep.equal(['day', 'day'])
    expect(of({ period: 'YearToDate' })).to.equal('week')
    expect(refuseSteps('hour', read({ period: 'Last7Days' }).period)).to.equal(null)
    expect(refuseSteps('hour', read({ period: 'Last28Days' }).period)).to.have.nested.property('extra.field', '/bucket')
    expect(refuseSteps('day', read({ period: 'YearToDate' }).period)).to.equal(null)
  })

  it('are kept from the first whole day that every website keeps', () => {
    const clock = { nowMs: at(NOW), zone: timeZone('Europe/Berlin') }
    expect(shown(firstKeptDay([{ retentionDays: 30 }, { retentionDays: 395 }], clock))).to.equal('2026-10-29T23:00')
    const midnight = { nowMs: at('2026-11-28T00:00'), zone: timeZone('UTC') }
    expect(firstKeptDay([{ retentionDays: 30 }], midnight)).to.equal(midnight.nowMs - 30 * DAY_MS)
    expect(firstKeptDay([], clock)).to.equal(0)
  })
})
