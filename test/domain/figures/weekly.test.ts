/** When the numbers of a week are due, in zones whose clocks are changed, and what may be shown of them. */

import { expect } from 'chai'

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../domain/durations.ts'
import { dueWeek, saysShares } from '../../../domain/figures/weekly.ts'
import { LIMITS } from '../../../domain/limits.ts'
import type { WeekFigures, WeeklySummary } from '../../../domain/people/weekly-summary.ts'
import { timeZone } from '../../../domain/time-zones.ts'

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Pacific/Niue',
]

describe('the week that is due', () => {
  for (const name of ZONES) {
    it(`is due in ${name} when clocks show nine on Monday, in every week of two years`, () => {
      const zone = timeZone(name)
      const shown = new Intl.DateTimeFormat('en', {
        timeZone: name,
        weekday: 'long',
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
      })
      const seen = new Set<string>()
      for (let ms = Date.UTC(2026, 0, 6); ms < Date.UTC(2028, 0, 4); ms += 6 * HOUR_MS) {
        const week = dueWeek(ms, zone)
        if (week === null) continue
        seen.add(week.from)
        expect(shown.format(week.dueAtMs), week.from).to.equal('Monday 09:00')
        expect(Date.parse(week.to) - Date.parse(week.from)).to.equal(6 * DAY_MS)
        // Sunday is the day before it is due.
        expect(zone.dateOf(week.dueAtMs) - Date.parse(week.to)).to.equal(DAY_MS)
      }
      expect(seen.size).to.be.within(104, 105)
    })
  }

  it('is due from that moment until it is too late, and its Monday and Sunday do not depend on when one looks', () => {
    const zone = timeZone('Europe/Berlin')
    const dueAtMs = Date.parse('2026-10-26T08:00:00Z')
    const week = { from: '2026-10-19', to: '2026-10-25', dueAtMs }
    expect(dueWeek(dueAtMs - 1, zone)).to.equal(null)
    for (const late of [0, MINUTE_MS, DAY_MS, LIMITS.weeklyMailLateMs - 1])
      expect(dueWeek(dueAtMs + late, zone), String(late)).to.deep.equal(week)
    expect(dueWeek(dueAtMs + LIMITS.weeklyMailLateMs, zone)).to.equal(null)
  })
})

describe('the numbers of a week', () => {
  const figures = (installs: number): WeekFigures => ({
    installs,
    matched: 0,
    lookedUp: 0,
    counted: 0,
    knownSource: 0,
    visits: 0,
    converted: 0,
  })
  const summary = (now: number, before: number | null): WeeklySummary => ({
    from: '2026-11-16',
    to: '2026-11-22',
    timeZone: 'UTC',
    now: figures(now),
    before: before === null ? null : figures(before),
    changes: [],
  })

  it('are shown as shares only if neither week has few installs', () => {
    const said = [
      [20, null, true],
      [20, 20, true],
      [19, null, false],
      [0, null, false],
      [20, 19, false],
      [20, 0, false],
    ] as const
    for (const [now, before, isSaid] of said)
      expect(saysShares(summary(now, before)), `${now}, ${before}`).to.equal(isSaid)
  })
})
