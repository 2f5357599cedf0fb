/** The filters of every page of figures in browsers: made, changed and taken away by keyboard, kept in the address, and obeyed by what is shown. */

import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { until } from '../../fixtures/until.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { openInFirefox } from './support/firefox.ts'
import { keyboardOf } from './support/keyboard.ts'
import { overviewTraffic } from './support/overview-facts.ts'
import { NARROW_DARK, WIDE } from './support/looks.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

const PICTURES = process.env['WHENCE_PICTURES']
const NOW_MS = Date.now()
/** With what each shows once its figures are there. */
const PAGES = [
  { path: 'overview', ready: '.plot' },
  { path: 'funnel', ready: 'ol.funnel' },
  { path: 'sources', ready: 'table.sources tbody tr' },
  { path: 'match', ready: '.rate' },
  { path: 'installs', ready: 'table.installs tbody tr' },
  { path: 'visits', ready: 'table.visits tbody tr' },
  { path: 'deliveries', ready: 'main .filter-bar' },
] as const

describe('filters of the pages of figures', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  before(async () => {
    facts = await openTestFacts()
    await storeCounted(
      facts,
      overviewTraffic({ organization: 'busy', website: 'busy-site', nowMs: NOW_MS, days: 9 }),
      Date.now,
    )
    await rollUp({ facts, nowMs: Date.now })
    const members = { 'anna@acme.dev': 'Viewer' }
    stage = await startPages({ manifests: organizationOf('busy', { members }) + websiteOf('busy-site', 'busy'), facts })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const holds = async (page: Page, noise: readonly string[]): Promise<void> => {
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
    expect(noise).to.deep.equal([])
  }
  const picture = async (page: Page, name: string): Promise<void> => {
    if (PICTURES === undefined) return
    mkdirSync(PICTURES, { recursive: true })
    await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
  }
  const filtersOf = (page: Page): readonly string[] => new URL(page.url()).searchParams.getAll('filter')

  for (const { path, ready } of PAGES)
    it(`are chips of ${path}, with a form that offers the values of the period`, async () => {
      for (const look of [WIDE, NARROW_DARK]) {
        const { page, noise } = await stage.open('anna@acme.dev', look)
        await page.goto(
          `${stage.url}/app/busy/${path}?filter=source:is_not:google,&filter=campaign:contains:HN,release`,
        )
        await page.locator(ready).first().waitFor()
        await page.getByRole('button', { name: 'Source is not google or Direct', exact: true }).waitFor()
        await page.getByRole('button', { name: 'Campaign contains HN or release', exact: true }).click()
        const form = page.getByRole('form', { name: 'Filter' })
        await form.getByRole('checkbox', { name: /show-hn/ }).waitFor()
        await holds(page, noise)
        await picture(page, `filters-${path}-${look.width}-${look.scheme}`)
        await page.keyboard.press('Escape')
        await form.waitFor({ state: 'detached' })
        await page.getByRole('button', { name: 'Without the filter Campaign contains HN or release' }).click()
        await until(async () => filtersOf(page).length === 1)
        expect(filtersOf(page)).to.deep.equal(['source:is_not:google,'])
        await page.close()
      }
    })

  it('are made by keyboard, and every page counts what they leave', async () => {
    const { page, noise } = await stage.open('anna@acme.dev', WIDE)
    const { press, reach } = keyboardOf(page)
    await page.goto(`${stage.url}/app/busy/sources?by=campaign`)
    await page.locator('table.sources tbody tr').first().waitFor()
    await press(page.getByRole('button', { name: 'Filter', exact: true }))
    // The first field has the focus.
    await page.keyboard.type('Sour')
    const value = page.getByRole('checkbox', { name: /hacker-news/ })
    await reach(value)
    await page.keyboard.press('Space')
    await press(page.getByRole('button', { name: 'Apply' }))
    await page.getByRole('button', { name: 'Source is hacker-news', exact: true }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('+ Filter')
    await until(async () => (await page.locator('table.sources tbody tr').count()) === 1)
    const cells = page.locator('table.sources tbody tr td')
    expect(await cells.nth(0).textContent()).to.match(/^[1-9]/)
    await page.reload()
    await page.getByRole('button', { name: 'Source is hacker-news', exact: true }).waitFor()
    expect(filtersOf(page)).to.deep.equal(['source:is:hacker-news'])
    expect(page.url()).to.include('?by=campaign&filter=source:is:hacker-news')
    await holds(page, noise)
    await page.close()
  })

  it('stand beside a table of Sources that sorts by every column, by mouse and keyboard, with what is no value at its foot', async () => {
    for (const look of [WIDE, NARROW_DARK]) {
      const { page, noise } = await stage.open('anna@acme.dev', look)
      await page.goto(`${stage.url}/app/busy/sources?period=Last28Days`)
      const names = async (): Promise<readonly string[]> => page.locator('table.sources tbody tr th').allTextContents()
      await page.locator('table.sources tbody tr').first().waitFor()
      await holds(page, noise)
      await picture(page, `sources-${look.width}-${look.scheme}`)
      expect(await page.locator('table.sources .sparkline').count()).to.equal((await names()).length + 1)
      expect((await names()).slice(-2)).to.deep.equal(['Direct', 'No visit found'])
      if (look === WIDE) {
        const { press } = keyboardOf(page)
        for (const title of ['Source', 'Visits', 'Copied', 'Conversion', 'Trend', 'Of installs', 'Installs']) {
          const heading = page.getByRole('columnheader').filter({ hasText: title }).first()
          await press(page.getByRole('link', { name: `Sort by ${title}`, exact: true }))
          await until(async () => (await heading.getAttribute('aria-sort')) !== 'none')
          expect((await names()).slice(-2), title).to.deep.equal(['Direct', 'No visit found'])
        }
        await press(page.getByRole('link', { name: 'Sort by Source', exact: true }))
        const up = (await names()).slice(0, -2)
        expect(up).to.deep.equal([...up].sort())
        await press(page.getByRole('link', { name: 'Sort by Source', exact: true }))
        await until(async () => (await names())[0] === up.at(-1))
        expect(new URL(page.url()).search).to.equal('?period=Last28Days&sort=name&order=down')
        const file = page.waitForEvent('download')
        await page.getByRole('link', { name: 'Download as CSV' }).click()
        const download = await file
        expect(download.suggestedFilename()).to.equal('sources-by-source.csv')
        const lines = (await readFile(await download.path(), 'utf8')).trim().split(/\r?\n/)
        expect(lines[0]).to.match(
          /^Source,Visits,Copied,Converted,Installs,"Installs, the 28 days before",\d{4}-\d\d-\d\dT/,
        )
        expect(lines.slice(1).map((line) => line.split(',')[0])).to.deep.equal(
          (await names()).map((name) => (name === 'Direct' || name === 'No visit found' ? `(${name})` : name)),
        )
      } else {
        await page.getByRole('combobox', { name: 'Sorted by' }).selectOption('name')
        await until(async () => new URL(page.url()).search.includes('sort=name'))
      }
      await page.close()
    }
  })

  it('go along from a panel of the Overview to all of its rows', async () => {
    const { page } = await stage.open('anna@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/busy/overview?period=Last28Days&filter=source:is:hacker-news`)
    await page.getByRole('link', { name: 'All by campaign' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sources' }).waitFor()
    const { searchParams } = new URL(page.url())
    expect([searchParams.get('by'), searchParams.get('period'), ...filtersOf(page)]).to.deep.equal([
      'campaign',
      'Last28Days',
      'source:is:hacker-news',
    ])
    await page.close()
  })

  it('are made in Firefox, too', async () => {
    const visitor = await openInFirefox(stage, 'anna@acme.dev')
    await visitor.page.goto(`${stage.url}/app/busy/funnel`)
    await visitor.see('ol.funnel', 'Visited')
    await visitor.follow('.add-filter', 'Filter')
    await visitor.see('fieldset label', 'newsletter')
    await visitor.page.keyboard.press('Tab')
    await visitor.page.keyboard.press('Tab')
    await visitor.page.keyboard.type('hacker-news')
    await visitor.page.keyboard.press('Enter')
    await visitor.see('.chips', 'Source is hacker-news')
    // While it loads, the figures before are pale.
    await visitor.see('.figures[aria-busy="false"]', 'Visited')
    expect(visitor.page.url()).to.include('?filter=source:is:hacker-news')
    expect(await visitor.findings()).to.deep.equal([])
    expect(visitor.noise).to.deep.equal([])
    await visitor.close()
  })
})
