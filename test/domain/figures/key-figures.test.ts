/** What programs may ask of figures, in days of a time zone. */

import { expect } from 'chai'

import { HOUR_MS } from '../../../domain/durations.ts'
import {
  askedListFilters,
  askedMetrics,
  askedPeriod,
  askedSteps,
  bucketText,
  notKeptOf,
} from '../../../domain/figures/key-figures.ts'
import { dateText, startOfDate, zonedTimeText } from '../../../domain/figures/zone-dates.ts'
import { timeZone } from '../../../domain/time-zones.ts'

const BERLIN = timeZone('Europe/Berlin')
const ms = Date.parse
const messageOf = (value: unknown): unknown => {
  const { extra = {} } = value as { readonly extra?: Readonly<Record<string, unknown>> }
  return extra['field']
}

describe('days of a time zone as texts', () => {
  it('begin and end where the zone says, on both sides of the date line', () => {
    for (const [name, date, start] of [
      ['Europe/Berlin', '2026-11-28', '2026-11-27T23:00:00Z'],
      ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00Z'],
      ['Pacific/Kiritimati', '2026-11-28', '2026-11-27T10:00:00Z'],
      ['Pacific/Pago_Pago', '2026-11-28', '2026-11-28T11:00:00Z'],
      ['UTC', '2026-02-28', '2026-02-28T00:00:00Z'],
    ] as const) {
      const zone = timeZone(name)
      expect(startOfDate(zone, date), name).to.equal(ms(start))
      expect([dateText(zone, ms(start)), dateText(zone, ms(start) - 1)], name).to.deep.equal([
        date,
        new Date(ms(`${date}T00:00:00Z`) - 1).toISOString().slice(0, 10),
      ])
    }
  })

  it('are none that the calendar or the zone does not have', () => {
    for (const date of ['2026-02-29', '2026-13-01', '2026-02-31'])
      expect(startOfDate(BERLIN, date), date).to.equal(null)
    expect(startOfDate(timeZone('Pacific/Apia'), '2011-12-30')).to.equal(null)
  })

  it('have hours with their offset from UTC', () => {
    expect(zonedTimeText(BERLIN, ms('2026-11-28T08:00:00Z'))).to.equal('2026-11-28T09:00:00+01:00')
    expect(zonedTimeText(timeZone('America/St_Johns'), ms('2026-11-28T00:30:00Z'))).to.equal(
      '2026-11-27T21:00:00-03:30',
    )
    expect(zonedTimeText(timeZone('UTC'), 0)).to.equal('1970-01-01T00:00:00+00:00')
  })
})

describe('what programs ask of figures', () => {
  it('is installs, or a list of metrics, each once', () => {
    expect(askedMetrics(undefined)).to.deep.equal(['installs'])
    expect(askedMetrics('visits,installs,visits')).to.deep.equal(['visits', 'installs'])
    for (const list of ['', 'clicks', 'installs,', 'installs, visits', 'toString'])
      expect(messageOf(askedMetrics(list)), list).to.equal('/metrics')
  })

  it('is a period of whole days, or of moments', () => {
    const since = ms('2026-11-27T23:00:00Z')
    expect(askedPeriod({}, BERLIN)).to.deep.equal({})
    expect(askedPeriod({ from: '2026-11-28', to: '2026-11-28' }, BERLIN)).to.deep.equal({
      since,
      until: since + 24 * HOUR_MS,
    })
    const moments = { from: '2026-11-28T00:00:00+01:00', to: '2026-11-28T00:00:00.500Z' }
    expect(askedPeriod(moments, BERLIN)).to.deep.equal({ since, until: ms(moments.to) })
    for (const text of ['yesterday', '2026-11-31', '2026-11-28T09:00', '20261128', '1969-12-31', '2300-01-01', '']) {
      expect(messageOf(askedPeriod({ from: text }, BERLIN)), text).to.equal('/from')
      expect(messageOf(askedPeriod({ to: text }, BERLIN)), text).to.equal('/to')
    }
    expect(messageOf(askedPeriod({ from: '2026-11-28', to: '2026-11-27' }, BERLIN))).to.equal('/from')
  })

  it('has filters of figures and, of a list, some of its own with one value', () => {
    expect(askedListFilters(['kind:is:install', 'path:is_not:cli,npm'])).to.deep.equal({
      figures: [{ dimension: 'path', op: 'is_not', values: ['cli', 'npm'] }],
      own: { kind: 'install' },
    })
    for (const wrong of [
      ['kind:is:visit'],
      ['kind:is_not:install'],
      ['kind:is:install,upgrade'],
      ['kind:is:install', 'kind:is:upgrade'],
      ['source'],
      ['__proto__:is:x'],
    ])
      expect(messageOf(askedListFilters(wrong)), wrong.join()).to.equal('/filter')
  })

  it('is divided into hours, days, or weeks from Monday, cut at the ends of the period', () => {
    const period = { at: ms('2026-10-21T22:00:00Z'), until: ms('2026-11-02T23:00:00Z') }
    const textsOf = (bucket: 'hour' | 'day' | 'week'): readonly string[] => {
      const steps = askedSteps({ bucket, isByValue: false }, period, BERLIN)
      return 'code' in steps ? [] : steps.map((step) => bucketText(bucket, step, BERLIN))
    }
    expect(textsOf('week')).to.deep.equal(['2026-10-22', '2026-10-26', '2026-11-02'])
    const days = textsOf('day')
    expect([days.length, days[0], days.at(-1)]).to.deep.equal([12, '2026-10-22', '2026-11-02'])
    const hours = textsOf('hour')
    expect(hours).to.have.length(12 * 24 + 1)
    expect(hours.filter((text) => text.startsWith('2026-10-25T02'))).to.deep.equal([
      '2026-10-25T02:00:00+02:00',
      '2026-10-25T02:00:00+01:00',
    ])
    expect(askedSteps({ bucket: undefined, isByValue: true }, period, BERLIN)).to.deep.equal([period])
    expect(messageOf(askedSteps({ bucket: 'hour', isByValue: true }, period, BERLIN))).to.equal('/bucket')
    const long = { at: ms('2026-01-01T00:00:00Z'), until: period.until }
    expect(messageOf(askedSteps({ bucket: 'hour', isByValue: false }, long, BERLIN))).to.equal('/bucket')
  })

  it('says which days are not kept: those before the first whole one that every website keeps', () => {
    const period = { at: ms('2026-11-01T00:00:00Z'), until: ms('2026-11-28T00:00:00Z') }
    const utc = timeZone('UTC')
    const kept = [{ sinceMs: ms('2026-11-05T10:00:00Z') }, { sinceMs: ms('2026-11-03T00:00:00Z') }]
    expect(notKeptOf(kept, period, utc)).to.deep.equal({ before: '2026-11-06', untilMs: ms('2026-11-03T00:00:00Z') })
    expect(notKeptOf([{ sinceMs: period.at }], period, utc)).to.equal(null)
    expect(notKeptOf([], period, utc)).to.equal(null)
  })
})
