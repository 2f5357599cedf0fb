/** Days and hours of an organisation's time zone, against a count of our own by what clocks show there. */

import { expect } from 'chai'

import { funnelPage, sourcesPage } from '../../dashboard/figures/pages.ts'
import { figuresQuestion } from '../../dashboard/figures/asked-period.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts'
import { timeZone } from '../../domain/time-zones.ts'
import { visitIdTime } from '../../domain/receipt.ts'
import type { LogRecord } from '../../domain/records.ts'
import { installRecord, visitRecord } from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'

const WEBSITE = 'zoned'
/** Before it, clocks are changed in Berlin and in Lord Howe. */
const NOW_MS = Date.UTC(2026, 9, 27, 10, 40)
const DAYS = 26
const EVERY_MS = 397 * MINUTE_MS
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe']

const isThird = (place: number): boolean => place % 3 === 0
const OF_THIRD = { dimension: 'source', op: 'is', values: ['third'] } as const

describe('figures in a time zone', function () {
  this.timeout(120_000)
  let facts: TestFacts
  const times: number[] = []
  before(async () => {
    facts = await openTestFacts()
    const records: LogRecord[] = []
    for (let atMs = NOW_MS - DAYS * DAY_MS; atMs < NOW_MS - MINUTE_MS; atMs += EVERY_MS) {
      const visitId = `0a${visitIdTime(atMs)}${String(times.length).padStart(18, '0')}`
      const about = {
        website: WEBSITE,
        visitId,
        issuedAtMs: atMs,
        utm: { source: isThird(times.length) ? 'third' : '' },
      }
      records.push(visitRecord(about))
      records.push(installRecord({ website: WEBSITE, installationId: `machine-${times.length}`, receivedAtMs: atMs }))
      times.push(atMs)
    }
    await storeCounted(facts, records, Date.now)
    await rollUp({ facts, nowMs: () => NOW_MS })
  })
  after(() => facts?.close())

  const sourceIn = (name: string) => ({
    keyIds: [10],
    nowMs: NOW_MS,
    zone: timeZone(name),
    reads: {
      websites: [{ id: WEBSITE }],
      run: ((query: 'visitSteps', params: object) =>
        facts.run(query, { ...params, organization: 'acme', websites: [WEBSITE] } as never)) as never,
    },
  })
  const shown = (name: string, options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat('sv', { ...options, timeZone: name })
    return (ms: number): string => format.format(ms)
  }
  const expectSteps = async (name: string, days: number, options: Intl.DateTimeFormatOptions): Promise<void> => {
    const source = sourceIn(name)
    const query = { since: NOW_MS - days * DAY_MS, bucket: days > 2 ? ('day' as const) : ('hour' as const) }
    const question = figuresQuestion({ query, nowMs: NOW_MS }, { zone: source.zone, websites: [], firstHourMs: 0 })
    if ('code' in question) return expect.fail(question.code)
    const { sinceMs, untilMs } = question
    const { steps, total } = await funnelPage(source, question)
    const own = times.filter((ms) => ms >= sinceMs && ms < untilMs)
    const label = shown(name, options)
    const expected = Object.entries(Object.groupBy(own, label)).map(([at, all]) => [at, all?.length])
    const countedIn = (shown: typeof steps) =>
      shown.filter(({ visits }) => visits > 0).map(({ at, visits }) => [label(at), visits])
    expect(countedIn(steps), `${name}, ${days} days`).to.deep.equal(expected)
    expect(total?.visits).to.equal(own.length)
    const third = Object.entries(
      Object.groupBy(
        times.filter((ms, place) => isThird(place) && own.includes(ms)),
        label,
      ),
    )
    const filtered = await funnelPage({ ...source, filters: [OF_THIRD] }, question)
    expect(countedIn(filtered.steps), `${name}, a third`).to.deep.equal(third.map(([at, all]) => [at, all?.length]))
    expect(steps.map(({ until }) => until)).to.deep.equal([...steps.slice(1).map(({ at }) => at), untilMs])
    const { total: sources } = await sourcesPage(source, question, { query: { by: 'place' } } as never)
    expect([sources.installs, sources.visits?.visits], name).to.deep.equal([own.length, own.length])
  }

  for (const name of ZONES) it(`count each day of ${name} once`, () => expectSteps(name, 25, { dateStyle: 'short' }))

  for (const name of ZONES)
    it(`count each hour of ${name} once`, () =>
      expectSteps(name, 1, { month: 'numeric', day: 'numeric', hour: '2-digit' }))
})
