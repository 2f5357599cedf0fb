/** The Overview on a day on which clocks were changed by half an hour, against what clocks showed there. */

import { expect } from 'chai'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { installRecord } from '../contract/fact-samples.ts'
import { WIDE } from './support/looks.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { openInFirefox } from './support/firefox.ts'
import { startPages, type PagesStage } from './support/stage.ts'

const ZONE = 'Australia/Lord_Howe'
const EVERY_MS = 20 * MINUTE_MS
const shown = new Intl.DateTimeFormat('sv', { timeZone: ZONE, dateStyle: 'short', timeStyle: 'short' })
const dateAt = (ms: number): string => shown.format(ms).slice(0, 10)
const hourAt = (ms: number): number => Number(shown.format(ms).slice(11, 13))

/** The last day, some days ago at least, that was half an hour longer there. */
function longDay(): { readonly sinceMs: number; readonly untilMs: number } {
  // Days there begin at full or at half hours of UTC.
  for (let untilMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 3 * DAY_MS; ; untilMs -= HOUR_MS / 2) {
    const sinceMs = untilMs - DAY_MS - HOUR_MS / 2
    const isDay = shown.format(sinceMs).endsWith('00:00') && shown.format(untilMs).endsWith('00:00')
    if (isDay && dateAt(sinceMs) === dateAt(untilMs - 1)) return { sinceMs, untilMs }
  }
}

describe('the Overview of a day with a changed clock', function () {
  this.timeout(300_000)
  const { sinceMs, untilMs } = longDay()
  const times = Array.from(
    { length: (untilMs - sinceMs) / EVERY_MS + 4 },
    (_, place) => sinceMs + (place - 2) * EVERY_MS,
  )
  let facts: TestFacts
  let stage: PagesStage
  before(async () => {
    facts = await openTestFacts()
    const of = { organization: 'howe', website: 'howe-site' }
    const installs = times.map((receivedAtMs, place) =>
      installRecord({ ...of, receivedAtMs, installationId: `machine-${place}` }),
    )
    await storeCounted(facts, installs, Date.now)
    await rollUp({ facts, nowMs: Date.now })
    const manifests =
      organizationOf('howe', { members: { 'anna@howe.dev': 'Viewer' }, timeZone: ZONE }) +
      websiteOf('howe-site', 'howe')
    stage = await startPages({ manifests, facts })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const date = dateAt(sinceMs)
  const address = `/app/howe/overview?from=${date}&to=${date}&bucket=hour&compare=off`
  const within = times.filter((ms) => ms >= sinceMs && ms < untilMs)
  /** By what clocks showed: one hour lasts an hour and a half. */
  const expected = Array.from({ length: 24 }, (_, hour) => within.filter((ms) => hourAt(ms) === hour).length)

  it('has 24 hours of which one is longer, in Chromium', async () => {
    expect(Math.max(...expected), 'the longer hour').to.be.greaterThan(3)
    const { page, noise } = await stage.open('anna@howe.dev', WIDE)
    await page.goto(stage.url + address)
    await page.getByText('As a table').click()
    const cells = page.getByRole('table', { name: 'Installs by hour' }).locator('tbody td.number')
    expect((await cells.allTextContents()).map(Number)).to.deep.equal(expected)
    const sum = await page.locator('.metrics .tile strong').first().textContent()
    expect(Number(sum)).to.equal(within.length)
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('has the same in Firefox', async () => {
    const visitor = await openInFirefox(stage, 'anna@howe.dev')
    await visitor.page.goto(stage.url + address)
    await visitor.see('summary', 'As a table')
    const numbers = await visitor.page.$$eval('table[aria-label="Installs by hour"] tbody td.number', (cells) =>
      cells.map(({ textContent }) => textContent),
    )
    expect(numbers.map(Number)).to.deep.equal(expected)
    expect(visitor.noise).to.deep.equal([])
    await visitor.close()
  })
})
