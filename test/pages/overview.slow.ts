/** The Overview in a browser: its numbers, its chart by pointer and keyboard, and filters in the address. */

import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { DAY_MS } from '../../domain/durations.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { until } from '../../fixtures/until.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { keyboardOf } from './support/keyboard.ts'
import { overviewTraffic } from './support/overview-facts.ts'
import { LOOKS, WIDE, type Look } from './support/looks.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']
const NOW_MS = Date.now()
const clockIn = (timeZone: string): string =>
  new Date(NOW_MS).toLocaleTimeString('sv', { timeZone, timeStyle: 'short' })
/** Where it is noon: the traffic of a day before is then of that calendar day, at whatever time this runs. Hours there begin with those of UTC. */
const AT_NOON =
  Intl.supportedValuesOf('timeZone').find((name) => clockIn(name) === `12${clockIn('UTC').slice(2)}`) ?? ''
/** The date there. */
const dayBefore = (days: number): string =>
  new Date(NOW_MS - days * DAY_MS).toLocaleDateString('sv', { timeZone: AT_NOON })

describe('the page Overview', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  before(async () => {
    facts = await openTestFacts()
    const ofBusy = { organization: 'busy', website: 'busy-site', nowMs: NOW_MS }
    const ofFree = { organization: 'free', website: 'free-site', nowMs: NOW_MS, isFree: true } as const
    const few = overviewTraffic({ organization: 'few', website: 'few-site', nowMs: NOW_MS, days: 1 })
    const records = [
      ...overviewTraffic({ ...ofBusy, days: 16 }),
      ...overviewTraffic({ ...ofFree, days: 16 }),
      ...few.filter(({ kind }) => kind === 'visit'),
      ...few.filter(({ kind }) => kind === 'install').slice(0, 3),
    ]
    await storeCounted(facts, records, Date.now)
    await rollUp({ facts, nowMs: Date.now })
    const members = { 'anna@acme.dev': 'Viewer' }
    const manifests = ['busy', 'few', 'fresh', 'free']
      .map(
        (name) =>
          organizationOf(name, { members, plan: name === 'free' ? 'Free' : 'Enterprise', timeZone: AT_NOON }) +
          websiteOf(`${name}-site`, name),
      )
      .join('---\n')
    stage = await startPages({ manifests, facts })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const picture = async (page: Page, name: string): Promise<void> => {
    if (PICTURES === undefined) return
    mkdirSync(PICTURES, { recursive: true })
    await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
  }
  const holds = async (page: Page, noise: readonly string[]): Promise<void> => {
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
    expect(noise).to.deep.equal([])
  }
  const open = async (look: Look, address = 'overview') => {
    const opened = await stage.open('anna@acme.dev', look)
    await opened.page.goto(`${stage.url}/app/busy/${address}`)
    await opened.page.locator('.plot').waitFor()
    return opened
  }
  const tile = (page: Page, title: string) =>
    page.locator('.metrics .tile').filter({ has: page.getByText(title, { exact: true }) })
  const numberOf = async (page: Page, title: string): Promise<string | null> =>
    tile(page, title).locator('strong').textContent()

  for (const look of LOOKS)
    it(`is shown, ${look.width} wide and ${look.scheme}, with each of its charts`, async () => {
      const { page, noise } = await open(look)
      await holds(page, noise)
      await picture(page, `overview-${look.width}-${look.scheme}`)
      for (const title of ['Match rate', 'Visits', 'Conversion']) {
        await tile(page, title).click()
        await page.getByRole('heading', { name: `${title} by day` }).waitFor()
        await page.locator('.drawing').focus()
        await page.locator('.chart-card').waitFor()
        await holds(page, noise)
        await picture(page, `overview-${look.width}-${look.scheme}-${title.split(' ')[0]}`)
      }
      await page.close()
    })

  it('asks for everything at once, and shows what the API counted', async () => {
    const { page, noise } = await stage.open('anna@acme.dev', WIDE)
    const asked: string[] = []
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.startsWith('/api/organizations/')) asked.push(new URL(request.url()).pathname)
    })
    await page.goto(`${stage.url}/app/busy/overview`)
    await page.locator('.plot').waitFor()
    const one = '/api/organizations/busy'
    expect(asked.toSorted()).to.deep.equal([`${one}/alerts`, `${one}/overview`, `${one}/websites`])
    const cookies = await stage.signIn('anna@acme.dev')
    const { body } = await stage.ask('GET', '/api/organizations/busy/overview', { cookies })
    expect(await numberOf(page, 'Installs')).to.equal(body['total'].installs.installs.toLocaleString('en'))
    expect(await numberOf(page, 'Visits')).to.equal(body['total'].visits.visits.toLocaleString('en'))
    expect(await tile(page, 'Conversion').textContent()).to.include('may still rise')
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('tells with arrow keys what its bars show', async () => {
    const { page, noise } = await open(WIDE)
    const { reach } = keyboardOf(page)
    const drawing = page.getByRole('slider')
    await reach(drawing)
    const last = await drawing.getAttribute('aria-valuetext')
    expect(last).to.match(/installs; .* in the 7 days before/)
    await page.keyboard.press('ArrowLeft')
    await until(async () => (await drawing.getAttribute('aria-valuetext')) !== last)
    expect(await page.locator('.chart-card strong').textContent()).to.equal(
      (await drawing.getAttribute('aria-valuetext'))?.split(/, a part|:/)[0],
    )
    await page.keyboard.press('Home')
    await until(async () => (await drawing.getAttribute('aria-valuenow')) === '1')
    await holds(page, noise)
    await page.close()
  })

  it('marks the day on which a version was first seen, and says so on the card and in the table', async () => {
    const { page, noise } = await open(WIDE, 'overview?period=Last28Days')
    expect(await page.locator('.marks li').count()).to.equal(1)
    await page.getByText('As a table').click()
    const row = page.getByRole('row').filter({ hasText: 'Version 2.4.1 first seen' })
    const place = await row.locator('xpath=preceding-sibling::tr').count()
    const drawing = page.getByRole('slider')
    await drawing.focus()
    await page.keyboard.press('Home')
    for (let step = 0; step < place; step++) await page.keyboard.press('ArrowRight')
    await page.locator('.chart-card').getByText('Version 2.4.1 first seen').waitFor()
    expect(await drawing.getAttribute('aria-valuetext')).to.contain('; Version 2.4.1 first seen')
    await holds(page, noise)
    await picture(page, 'overview-marks-1280-light')
    await page.close()
  })

  it('asks for a period by name, by date and compared with another, in the address', async () => {
    const { page, noise } = await open(WIDE)
    const choose = async (label: string, name: string): Promise<void> => {
      await page.getByRole('combobox', { name: label }).or(page.getByLabel(label)).first().click()
      await page.getByRole('option', { name, exact: true }).click()
    }
    const search = () => new URL(page.url()).searchParams
    await choose('Period', 'Yesterday')
    await page.getByRole('heading', { name: 'Installs by hour' }).waitFor()
    expect(search().get('period')).to.equal('Yesterday')
    await choose('Compared with', 'Not compared')
    await page.locator('.legend .before').waitFor({ state: 'detached' })
    expect(await page.locator('.change').count()).to.equal(0)
    await choose('Compared with', 'Period before')
    await page.locator('.legend .before').waitFor()
    await choose('Period', 'From … to …')
    await page.getByLabel('First day').fill(dayBefore(9))
    await page.getByLabel('Last day').fill(dayBefore(4))
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('heading', { name: 'Installs by day' }).waitFor()
    expect([search().get('from'), search().get('to'), search().get('period')]).to.deep.equal([
      dayBefore(9),
      dayBefore(4),
      null,
    ])
    await page.getByRole('slider').focus()
    expect(await page.getByRole('slider').getAttribute('aria-valuemax')).to.equal('6')
    await choose('Steps of the chart', 'By week')
    await page.getByRole('heading', { name: 'Installs by week' }).waitFor()
    await holds(page, noise)
    await page.reload()
    await page.getByRole('heading', { name: 'Installs by week' }).waitFor()
    await page.close()
  })

  it('says what is not kept, hatches it and compares nothing with it', async () => {
    const { page, noise } = await open(WIDE, `overview?from=${dayBefore(399)}`)
    await page.getByText(/What happened before .* is not kept/).waitFor()
    expect(await page.locator('.drawing .not-kept').count()).to.be.within(1, 2)
    await page.getByText('Hatched: not all of that time is kept').waitFor()
    expect(await page.locator('.change, .legend .before').count()).to.equal(0)
    await holds(page, noise)
    await picture(page, 'overview-not-kept-1280-light')
    await page.close()
  })

  it('has the numbers of its chart as a table and as a file for whoever asks', async () => {
    const { page, noise } = await open(WIDE, 'overview?metric=conversion')
    expect(await page.getByRole('table', { name: 'Conversion by day' }).isVisible()).to.equal(false)
    await page.getByText('As a table').click()
    const rows = page.getByRole('table', { name: 'Conversion by day' }).locator('tbody tr')
    const count = Number(await page.getByRole('slider').getAttribute('aria-valuemax'))
    expect(await rows.count()).to.equal(count)
    await holds(page, noise)
    const file = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download as CSV' }).click()
    const download = await file
    expect(download.suggestedFilename()).to.equal('conversion-by-day.csv')
    const lines = (await readFile(await download.path(), 'utf8')).trim().split(/\r?\n/)
    expect(lines[0]).to.equal('Day,Conversion,the 7 days before,What happened')
    expect(lines).to.have.lengthOf(count + 1)
    for (const line of lines.slice(1)) expect(line).to.match(/^\d{4}-\d\d-\d\d,(0|1|0\.\d+)?,(0|1|0\.\d+)?,[^,]*$/)
    await page.close()
  })

  it('filters all of it by a click on a value, keeps that in the address, and forgets it by its chip, all by keyboard', async () => {
    const { page, noise } = await open(WIDE)
    const { press } = keyboardOf(page)
    const all = await numberOf(page, 'Installs')
    await press(page.getByRole('region', { name: 'Campaign' }).getByRole('link', { name: 'show-hn' }))
    await page.getByText('Campaign is show-hn').waitFor()
    await until(async () => (await numberOf(page, 'Installs')) !== all)
    expect(new URL(page.url()).searchParams.getAll('filter')).to.deep.equal(['campaign:is:show-hn'])
    expect(await numberOf(page, 'Visits')).to.match(/^[1-9]/)
    await page.getByText(/leaves out installs without a visit/).waitFor()
    await holds(page, noise)
    await press(page.getByRole('region', { name: 'Version' }).getByRole('link', { name: '2.4.1' }))
    await page.getByText('about machines').waitFor()
    expect(await numberOf(page, 'Visits')).to.equal('–')
    await tile(page, 'Visits').click()
    await page.getByText('Not counted under these filters').waitFor()
    await page.reload()
    await page.getByText('Version is 2.4.1').waitFor()
    await page.getByText('Not counted under these filters').waitFor()
    await picture(page, 'overview-filtered-1280-light')
    await press(page.getByRole('button', { name: 'Without filters' }))
    await until(async () => (await numberOf(page, 'Installs')) === all)
    await holds(page, noise)
    await page.close()
  })

  it('leads from each panel to all rows of Sources, and from a number to its installs', async () => {
    const { page } = await open(WIDE)
    const campaigns = page.getByRole('region', { name: 'Campaign' })
    const shown = Number(
      await campaigns
        .getByRole('row', { name: /show-hn/ })
        .getByRole('link')
        .last()
        .textContent(),
    )
    await campaigns
      .getByRole('row', { name: /show-hn/ })
      .getByRole('link')
      .last()
      .click()
    await page.locator('table.installs tbody tr').first().waitFor()
    expect(await page.locator('table.installs tbody tr').count()).to.equal(shown)
    await page.goBack()
    await page.getByRole('link', { name: 'All by version' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sources' }).waitFor()
    await page.getByRole('rowheader', { name: '2.4.1' }).waitFor()
    await page.close()
  })

  const openOther = async (look: Look, organization: string, ready: string) => {
    const opened = await stage.open('anna@acme.dev', look)
    await opened.page.goto(`${stage.url}/app/${organization}/overview`)
    await opened.page.getByText(ready).first().waitFor()
    return opened
  }

  for (const look of LOOKS) {
    it(`shows what to do next if there is nothing, and no number, ${look.width} wide and ${look.scheme}`, async () => {
      const { page, noise } = await openOther(look, 'fresh', 'Next step')
      await page.getByRole('heading', { level: 2, name: 'The script is on your website' }).waitFor()
      await page.getByRole('link', { name: 'Say where your install command stands' }).waitFor()
      expect(await page.locator('.plot, .panels, .change').count()).to.equal(0)
      expect(await page.locator('main').textContent()).to.not.match(/[▲▼]|\b0 [a-z]|\b0 %/)
      const example = page.getByRole('region', { name: 'What will be here Example' })
      expect(await page.locator('.tile').count()).to.equal(await example.locator('.tile').count())
      expect(await page.locator('.period, .filter-bar').count(), 'another period or filter shows no more').to.equal(0)
      await holds(page, noise)
      await picture(page, `overview-none-${look.width}-${look.scheme}`)
      await page.close()
    })

    it(`lists installs that are few, and counts them, ${look.width} wide and ${look.scheme}`, async () => {
      const { page, noise } = await openOther(look, 'few', 'Until then, each install tells more')
      const rows = page.locator('table.installs tbody tr')
      expect(await rows.count()).to.equal(3)
      expect(await page.locator('.tile').filter({ hasText: 'With a visit' }).textContent()).to.match(/[0-3] of 3/)
      expect(await page.locator('.plot, .panels, .change').count()).to.equal(0)
      expect(await page.locator('main').textContent()).to.not.match(/[▲▼%]/)
      await holds(page, noise)
      await picture(page, `overview-few-${look.width}-${look.scheme}`)
      await rows.first().getByRole('link').click()
      await page.getByRole('heading', { level: 1, name: /Installed/ }).waitFor()
      await page.close()
    })
  }

  it('says what changed most and why installs have no visit, with what to do about it', async () => {
    const { page, noise } = await open(WIDE)
    expect(await page.getByText('The largest change').textContent()).to.match(
      /the campaign show-hn brought \d+ installs, \d+ more than in the 7 days before/,
    )
    const reasons = page.getByRole('region', { name: /Why \d+ installs have no visit/ })
    expect(await reasons.getByRole('heading', { level: 3 }).count()).to.be.greaterThan(0)
    expect((await reasons.locator('.remedy').first().textContent())?.length).to.be.greaterThan(10)
    await holds(page, noise)
    await page.close()
  })

  it('counts on Free, and says that nothing was looked up', async () => {
    const { page, noise } = await openOther(WIDE, 'free', 'Counted, not looked up')
    expect(await tile(page, 'Counted, not looked up').locator('strong').textContent()).to.equal(
      await numberOf(page, 'Installs'),
    )
    expect(await page.locator('.metrics').textContent()).to.not.match(/Match rate|known source|Conversion/)
    await picture(page, 'overview-free-1280-light')
    await holds(page, noise)
    await page.close()
  })

  it('shows the first visit of somebody who waits for it, without a reload', async () => {
    const { page } = await openOther(WIDE, 'fresh', 'Next step')
    await storeCounted(
      facts,
      overviewTraffic({ organization: 'fresh', website: 'fresh-site', nowMs: NOW_MS, days: 1 }).slice(0, 1),
      Date.now,
    )
    await rollUp({ facts, nowMs: Date.now })
    await page.getByRole('heading', { level: 2, name: 'Browsers keep a marker' }).waitFor()
    await page.close()
  })
})
