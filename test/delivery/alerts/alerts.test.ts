/** Alerts over the real log and real facts: which days are judged, when, and that each is opened and closed once. */

import { expect } from 'chai'

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../domain/durations.ts'
import { lastClosedDay, sameWeekdays } from '../../../domain/alerts/days.ts'
import { timeZone } from '../../../domain/time-zones.ts'
import { until } from '../../../fixtures/until.ts'
import { AlertWorld } from './world.ts'

const NOW_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS + HOUR_MS
const USUAL = 20

/** Some minutes after the end of the last day of 25 hours. */
function afterLongDay(zone: string): number {
  let ms = NOW_MS
  const { dayOf, dayAfter } = timeZone(zone)
  while (dayAfter(dayOf(ms) - 1) - dayOf(dayOf(ms) - 1) !== 25 * HOUR_MS) ms -= DAY_MS
  return dayOf(ms) + 10 * MINUTE_MS
}

describe('alerts', function () {
  this.timeout(60_000)
  let world: AlertWorld
  before(async () => {
    world = await AlertWorld.open()
  })
  after(() => world.close())

  /** A usual day in each of four weeks, or each day of them, and the last closed day as told. Not counted yet. */
  const fourWeeks = async (installs: number, isDaily = false): Promise<ReturnType<typeof lastClosedDay>> => {
    const days = lastClosedDay(timeZone(world.organization.timeZone), world.nowMs - 5 * MINUTE_MS)
    const few = isDaily ? days.before.flatMap((day) => world.recordsOf(day, 1)) : []
    const usual = sameWeekdays(days.before).flatMap((day) => world.recordsOf(day, USUAL))
    await world.store([...few, ...usual, ...world.recordsOf(days.day, installs)])
    return days
  }
  beforeEach(async () => {
    world.nowMs = NOW_MS
    await world.write()
  })

  it('are opened once however often the day is judged, and closed once by a day that is as usual', async () => {
    world.begin()
    const { date, day } = await fourWeeks(9)
    await world.count()
    expect(await world.judge()).to.deep.equal([`InstallsDown opened ${date}`])
    world.restart()
    world.nowMs += HOUR_MS
    expect(await world.judge(3)).to.have.length(1)
    const [opened] = await world.alerts()
    expect(opened).to.include({ value: 9, expected: USUAL, threshold: 50, website: world.website })
    world.nowMs += DAY_MS
    await world.store(world.recordsOf({ at: day.until, until: day.until + DAY_MS }, USUAL))
    await world.count()
    expect(await world.judge(2)).to.deep.equal([`InstallsDown opened ${date}`, `InstallsDown closed ${date}`])
  })

  it('wait until each hour of the day is counted, and follow a late hour', async () => {
    world.begin()
    const { date, day } = await fourWeeks(9)
    expect(await world.judge(), 'nothing is counted').to.deep.equal([])
    await world.count()
    expect(await world.judge()).to.deep.equal([`InstallsDown opened ${date}`])
    await world.store(world.recordsOf({ at: day.at + HOUR_MS, until: day.at + 2 * HOUR_MS }, 5))
    world.restart()
    expect(await world.judge(), 'the late hour is not counted').to.have.length(1)
    await world.count()
    expect(await world.judge(2)).to.deep.equal([`InstallsDown opened ${date}`, `InstallsDown closed ${date}`])
  })

  it('judge nothing while the facts lag behind the log', async () => {
    world.begin()
    const { date } = await fourWeeks(9)
    await world.count()
    await world.stopWriting()
    const [late] = world.recordsOf({ at: world.nowMs, until: world.nowMs + HOUR_MS }, 1)
    if (late !== undefined) await world.append(late, 'visits')
    expect(await world.judge(3)).to.deep.equal([])
    await world.write()
    world.nowMs += HOUR_MS
    await until(async () => (await world.judge()).length > 0)
    expect(await world.judge()).to.deep.equal([`InstallsDown opened ${date}`])
  })

  it('leave out installs of tests, CI and containers, as figures do', async () => {
    world.begin()
    const { date, day } = await fourWeeks(9)
    for (const changes of [{ isTest: true }, { isCi: true }, { isContainer: true }])
      await world.store(world.recordsOf(day, 30, changes))
    await world.count()
    expect(await world.judge()).to.deep.equal([`InstallsDown opened ${date}`])
    expect((await world.alerts())[0]?.value).to.equal(9)
  })

  it('judge all 25 hours of a day', async () => {
    world.begin({ timeZone: 'Europe/Berlin' })
    world.nowMs = afterLongDay('Europe/Berlin')
    const days = await fourWeeks(0)
    expect(days.day.until - days.day.at).to.equal(25 * HOUR_MS)
    await world.store(world.recordsOf({ at: days.day.at, until: days.day.at + HOUR_MS }, 5))
    await world.store(world.recordsOf({ at: days.day.until - HOUR_MS, until: days.day.until }, 4))
    world.nowMs += HOUR_MS
    await world.count()
    expect(await world.judge()).to.deep.equal([`InstallsDown opened ${days.date}`])
    expect((await world.alerts())[0]?.value).to.equal(9)
  })

  it('judge no day twice when the time zone changes', async () => {
    world.begin({ timeZone: 'Pacific/Kiritimati' })
    await fourWeeks(0)
    await world.count()
    const before = await world.judge()
    expect(before).to.include.members([`InstallsDown opened ${(await world.alerts())[0]?.period}`])
    for (const zone of ['Pacific/Honolulu', 'Asia/Kolkata', 'Pacific/Kiritimati']) {
      world.organization = { ...world.organization, timeZone: zone }
      world.restart()
      await world.judge(2)
    }
    const all = await world.alerts()
    expect(new Set(all.map(({ id, state }) => `${id} ${state}`)).size).to.equal(all.length)
    const opened = all.filter(({ rule, state }) => rule === 'InstallsDown' && state === 'opened')
    const closed = all.filter(({ rule, state }) => rule === 'InstallsDown' && state === 'closed')
    expect(opened.length - closed.length).to.be.within(0, 1)
  })

  it('say that nothing arrives, of visits and installs apart, and end when something does', async () => {
    world.begin()
    const { date, day } = await fourWeeks(0, true)
    await world.store(world.recordsOf(day, 1).filter(({ kind }) => kind === 'install'))
    await world.count()
    expect((await world.judge()).toSorted()).to.deep.equal([
      `InstallsDown opened ${date}`,
      `NothingArrives visits opened ${date}`,
    ])
    world.nowMs += DAY_MS
    await world.store(world.recordsOf({ at: day.until, until: day.until + DAY_MS }, USUAL))
    await world.count()
    expect(await world.judge()).to.include(`NothingArrives visits closed ${date}`)
  })

  it('obey the rules of the organisation, and close what they switch off and what is about a website that is gone', async () => {
    world.begin({ alertRules: [{ kind: 'InstallsDown', off: true }] })
    const { date } = await fourWeeks(9)
    await world.count()
    expect(await world.judge()).to.deep.equal([])
    world.organization = { ...world.organization, alertRules: [{ kind: 'InstallsDown', threshold: 46 }] }
    world.restart()
    expect(await world.judge()).to.deep.equal([`InstallsDown opened ${date}`])
    world.website = ''
    world.restart()
    await world.judge(2)
    expect((await world.alerts()).map(({ state, end }) => [state, end])).to.deep.equal([
      ['opened', undefined],
      ['closed', 'website_gone'],
    ])
  })

  it('say of a quota that it is near once in a month', async () => {
    world.begin({ plan: 'Free' })
    const day = { at: NOW_MS - DAY_MS, until: NOW_MS }
    const isSameMonth = new Date(day.at).getUTCMonth() === new Date(NOW_MS).getUTCMonth()
    world.organization = { ...world.organization, alertRules: [{ kind: 'QuotaNear', threshold: 1 }] }
    const step = isSameMonth ? day : { at: NOW_MS - HOUR_MS, until: NOW_MS - 1 }
    await world.store(world.recordsOf(step, 60))
    world.nowMs += 2 * HOUR_MS
    await world.count()
    const month = new Date(world.nowMs).toISOString().slice(0, 7)
    expect(await world.judge(2)).to.deep.equal([`QuotaNear opened ${month}`])
    expect((await world.alerts())[0]).to.include({ value: 120, expected: 10_000, threshold: 1, website: '' })
  })
})
