/** What is judged unusual, line by line as it is promised, and what is not judged. */

import { expect } from 'chai'

import type { AlertKind, AlertedArrival } from '../../../domain/alerts/alert.ts'
import { NO_ALERT_COUNTS, type AlertCounts } from '../../../domain/alerts/counts.ts'
import { figuresOfDays, lastClosedDay, sameWeekdays, type DayFigures } from '../../../domain/alerts/days.ts'
import { judgeDay, judgeQuota } from '../../../domain/alerts/judge.ts'
import { ALERT_THRESHOLDS } from '../../../domain/alerts/rules.ts'
import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts'
import { timeZone } from '../../../domain/time-zones.ts'

type Day = Partial<AlertCounts>
const counts = (day: Day): AlertCounts => ({ ...NO_ALERT_COUNTS, ...day })

/** `before`: of the days before, the latest first; the last one repeats. */
function figuresOf(day: Day, before: readonly (Day | null)[], last24Hours: Day = day): DayFigures {
  const days = Array.from({ length: 28 }, (_, back) => (back < before.length ? before[back] : before.at(-1)) ?? null)
  const known = days.toReversed().map((each) => (each === null ? null : counts(each)))
  return { day: counts(day), last24Hours: counts(last24Hours), before: known }
}

function kindOf(rule: AlertKind, figures: DayFigures, of: AlertedArrival | '' = '', threshold?: number): string {
  return judgeDay({ rule, of }, figures, threshold ?? ALERT_THRESHOLDS[rule]?.fallback ?? 0).kind
}

describe('installs of a day', () => {
  const usual = [{ installs: 40 }]

  it('are unusual below half of the median of the same weekday in four weeks, and not at half', () => {
    expect(kindOf('InstallsDown', figuresOf({ installs: 19 }, usual))).to.equal('unusual')
    expect(kindOf('InstallsDown', figuresOf({ installs: 20 }, usual))).to.equal('usual')
    expect(kindOf('InstallsDown', figuresOf({ installs: 0 }, usual))).to.equal('unusual')
    expect(kindOf('InstallsDown', figuresOf({ installs: 35 }, usual), '', 90)).to.equal('unusual')
  })

  it('are unusual above three times that median, and not at three times', () => {
    expect(kindOf('InstallsUp', figuresOf({ installs: 121 }, usual))).to.equal('unusual')
    expect(kindOf('InstallsUp', figuresOf({ installs: 120 }, usual))).to.equal('usual')
  })

  it('are compared with the same weekday alone', () => {
    const busySaturdays = Array.from({ length: 28 }, (_, back) => ({ installs: (back + 1) % 7 === 0 ? 100 : 1_000 }))
    const verdict = judgeDay({ rule: 'InstallsDown', of: '' }, figuresOf({ installs: 60 }, busySaturdays), 50)
    expect(verdict).to.deep.equal({ kind: 'usual', measure: { value: 60, expected: 100, threshold: 50 } })
    const mondays = [80, 10, 200, 40]
    const uneven = Array.from({ length: 28 }, (_, back) => ({ installs: mondays[(back + 1) / 7 - 1] ?? 7 }))
    expect(judgeDay({ rule: 'InstallsDown', of: '' }, figuresOf({ installs: 29 }, uneven), 50)).to.deep.equal({
      kind: 'unusual',
      measure: { value: 29, expected: 60, threshold: 50 },
    })
  })

  it('are not judged by a median below 20, nor by weeks in which nothing had come in yet', () => {
    expect(kindOf('InstallsDown', figuresOf({ installs: 0 }, [{ installs: 19 }]))).to.equal('not_judged')
    expect(kindOf('InstallsDown', figuresOf({ installs: 9 }, [{ installs: 20 }]))).to.equal('unusual')
    const threeWeeks = Array.from({ length: 28 }, (_, back) => (back < 27 ? { installs: 40 } : null))
    expect(kindOf('InstallsDown', figuresOf({ installs: 0 }, threeWeeks))).to.equal('not_judged')
    expect(kindOf('InstallsUp', figuresOf({ installs: 900 }, threeWeeks))).to.equal('not_judged')
    expect(kindOf('InstallsUp', figuresOf({ installs: 900 }, [null]))).to.equal('not_judged')
  })
})

describe('the match rate of a day', () => {
  const usual = [{ matched: 70, unmatched: 30 }]
  const rate = (matched: number, unmatched: number): Day => ({ matched, unmatched })

  it('is unusual more than 20 points below its median of four weeks', () => {
    expect(kindOf('MatchRateDown', figuresOf(rate(49, 51), usual))).to.equal('unusual')
    expect(kindOf('MatchRateDown', figuresOf(rate(50, 50), usual))).to.equal('usual')
    expect(kindOf('MatchRateDown', figuresOf(rate(66, 34), usual), '', 3)).to.equal('unusual')
    expect(judgeDay({ rule: 'MatchRateDown', of: '' }, figuresOf(rate(30, 70), usual), 20)).to.deep.include({
      measure: { value: 30, expected: 70, threshold: 20 },
    })
  })

  it('is judged from 50 decided installs on, by days that have as many', () => {
    expect(kindOf('MatchRateDown', figuresOf(rate(10, 39), usual))).to.equal('not_judged')
    expect(kindOf('MatchRateDown', figuresOf(rate(10, 40), usual))).to.equal('unusual')
    expect(kindOf('MatchRateDown', figuresOf(rate(10, 90), [rate(20, 5)]))).to.equal('not_judged')
    const sixDays = [...Array.from({ length: 6 }, () => rate(70, 30)), rate(1, 1)]
    expect(kindOf('MatchRateDown', figuresOf(rate(10, 90), sixDays))).to.equal('not_judged')
    expect(
      kindOf('MatchRateDown', figuresOf(rate(10, 90), [...sixDays.slice(0, 6), rate(70, 30), rate(1, 1)])),
    ).to.equal('unusual')
    expect(kindOf('MatchRateDown', figuresOf({ installs: 900 }, [{ installs: 900 }])), 'on Free').to.equal('not_judged')
  })
})

describe('what arrives', () => {
  const all = { visits: 5, copies: 2, installs: 1 }

  it('is judged for visits, copies and installs apart', () => {
    const figures = figuresOf({ visits: 5, installs: 1 }, [all])
    expect(kindOf('NothingArrives', figures, 'visits')).to.equal('usual')
    expect(kindOf('NothingArrives', figures, 'copies')).to.equal('unusual')
    expect(kindOf('NothingArrives', figures, 'installs')).to.equal('usual')
    expect(kindOf('NothingArrives', figuresOf({}, [all]), 'visits')).to.equal('unusual')
  })

  it('is not judged where there was a day without it, or no four weeks yet', () => {
    expect(kindOf('NothingArrives', figuresOf({}, [all, all, {}, all]), 'visits')).to.equal('not_judged')
    expect(kindOf('NothingArrives', figuresOf({}, [all, null]), 'visits')).to.equal('not_judged')
    expect(kindOf('NothingArrives', figuresOf({}, [{ visits: 5 }]), 'installs')).to.equal('not_judged')
  })

  it('on a day of 23 hours may be nothing, if something came in the hour before it', () => {
    expect(kindOf('NothingArrives', figuresOf({}, [all], { visits: 1 }), 'visits')).to.equal('usual')
  })
})

describe('deliveries of a day', () => {
  it('are failing from 20 % of 20 on', () => {
    const of = (delivered: number, failed: number) =>
      kindOf('DeliveriesFailing', figuresOf({ delivered, failed }, [null]))
    expect(of(80, 20)).to.equal('unusual')
    expect(of(81, 19)).to.equal('usual')
    expect(of(0, 19)).to.equal('not_judged')
    expect(of(0, 20)).to.equal('unusual')
  })
})

describe('a quota', () => {
  it('is near from 80 % on, and not judged where it is none', () => {
    expect(judgeQuota(8_000, 10_000, 80).kind).to.equal('unusual')
    expect(judgeQuota(7_999, 10_000, 80).kind).to.equal('usual')
    expect(judgeQuota(5, 0, 80).kind).to.equal('not_judged')
    expect(judgeQuota(5, Infinity, 80).kind).to.equal('not_judged')
    expect(() => judgeDay({ rule: 'QuotaNear', of: '' }, figuresOf({}, [null]), 80)).to.throw()
  })
})

describe('the day that is judged', () => {
  const hoursOf = ({ at, until }: { readonly at: number; readonly until: number }): number => (until - at) / HOUR_MS

  it('has the hours that its clocks gave it: 23, 24, 25, or half of one more', () => {
    const berlin = timeZone('Europe/Berlin')
    const spring = lastClosedDay(berlin, Date.UTC(2026, 2, 30, 5))
    expect([spring.date, hoursOf(spring.day)]).to.deep.equal(['2026-03-29', 23])
    const autumn = lastClosedDay(berlin, Date.UTC(2026, 9, 26, 5))
    expect([autumn.date, hoursOf(autumn.day)]).to.deep.equal(['2026-10-25', 25])
    expect(autumn.before.map(hoursOf)).to.deep.equal(Array.from({ length: 28 }, () => 24))
    const lordHowe = lastClosedDay(timeZone('Australia/Lord_Howe'), Date.UTC(2026, 3, 5, 20))
    expect([lordHowe.date, hoursOf(lordHowe.day)]).to.deep.equal(['2026-04-05', 24.5])
    expect(lastClosedDay(timeZone('Asia/Kolkata'), Date.UTC(2026, 10, 28, 18, 30)).date).to.equal('2026-11-28')
    expect(lastClosedDay(timeZone('Asia/Kolkata'), Date.UTC(2026, 10, 28, 18, 29)).date).to.equal('2026-11-27')
  })

  it('follows the days before it without a gap, of which every seventh is the same weekday', () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns', 'Pacific/Chatham']) {
      const { before, day } = lastClosedDay(timeZone(zone), Date.UTC(2026, 10, 2, 12))
      const steps = [...before, day]
      expect(before, zone).to.have.length(28)
      expect(
        steps.slice(1).every(({ at }, place) => at === steps[place]?.until),
        zone,
      ).to.equal(true)
      const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: zone })
      const same = sameWeekdays(before).map(({ at }) => weekday.format(at))
      expect(same, zone).to.deep.equal(Array.from({ length: 4 }, () => weekday.format(day.at)))
    }
  })

  it('is another one after the zone has changed, by the new clocks', () => {
    const nowMs = Date.UTC(2026, 10, 28, 1)
    expect(lastClosedDay(timeZone('Europe/Berlin'), nowMs).date).to.equal('2026-11-27')
    expect(lastClosedDay(timeZone('America/New_York'), nowMs).date).to.equal('2026-11-26')
  })

  it('counts each hour in the day that it is in, and of a day of 23 hours the hour before in its last 24', () => {
    const days = lastClosedDay(timeZone('Europe/Berlin'), Date.UTC(2026, 2, 30, 5))
    const visited = (atMs: number) => ({ atMs, lengthMs: HOUR_MS, counts: counts({ visits: 1 }) })
    const { at, until } = days.day
    const figures = figuresOfDays(days, [at - DAY_MS, at - HOUR_MS, at, until - HOUR_MS, until].map(visited))
    expect([figures.day.visits, figures.last24Hours.visits]).to.deep.equal([2, 3])
    expect(figures.before.slice(0, 27)).to.deep.equal(Array.from({ length: 27 }, () => null))
    expect(figures.before.at(-1)).to.deep.equal(counts({ visits: 2 }))
    const autumn = lastClosedDay(timeZone('Europe/Berlin'), Date.UTC(2026, 9, 26, 5))
    const first = figuresOfDays(autumn, [visited(autumn.day.at)])
    expect([first.day.visits, first.last24Hours.visits], 'of 25 hours').to.deep.equal([1, 0])
  })
})
