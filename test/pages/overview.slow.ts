/** The Overview in a browser: its numbers, its chart by pointer and keyboard, and filters in the address. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { until } from '../../fixtures/until.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { keyboardOf } from './support/keyboard.ts'
import { overviewTraffic } from './support/overview-facts.ts'
import { seriousFindings, startPages, type Look, type PagesStage } from './support/stage.ts'

const LOOKS: readonly Look[] = [
  { width: 1280, scheme: 'light' },
  { width: 390, scheme: 'dark' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
]
const WIDE = LOOKS[0]!
/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']
const NOW_MS = Date.now()

describe('the page Overview', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  before(async () => {
    facts = await openTestFacts()
    const ofBusy = { organization: 'busy', website: 'busy-site', nowMs: NOW_MS }
    await storeCounted(facts, overviewTraffic({ ...ofBusy, days: 16 }), Date.now)
    await rollUp({ facts, nowMs: Date.now })
    const manifests =
      organizationOf('busy', { members: { 'anna@acme.dev': 'Viewer' } }) + websiteOf('busy-site', 'busy')
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
    expect(asked.toSorted()).to.deep.equal(['/api/organizations/busy/overview', '/api/organizations/busy/websites'])
    const cookies = await stage.signIn('anna@acme.dev')
    const { body } = await stage.ask('GET', '/api/organizations/busy/overview', { cookies })
    expect(await numberOf(page, 'Installs')).to.equal(body['total'].installs.installs.toLocaleString('en'))
    expect(await numberOf(page, 'Visits')).to.equal(body['total'].visits.visits.toLocaleString('en'))
    expect(await tile(page, 'Conversion').textContent()).to.include('may still rise')
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('tells with arrow keys what its bars show', async () => {
    const { page, noise } = await open(WIDE, 'overview?days=30')
    const { reach } = keyboardOf(page)
    const drawing = page.getByRole('slider')
    await reach(drawing)
    const last = await drawing.getAttribute('aria-valuetext')
    expect(last).to.match(/installs; .* in the 30 days before/)
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

  it('filters all of it by a click on a value, keeps that in the address, and forgets it by its chip, all by keyboard', async () => {
    const { page, noise } = await open(WIDE)
    const { press } = keyboardOf(page)
    const all = await numberOf(page, 'Installs')
    await press(page.getByRole('region', { name: 'Campaign' }).getByRole('link', { name: 'show-hn' }))
    await page.getByText('Campaign: show-hn').waitFor()
    await until(async () => (await numberOf(page, 'Installs')) !== all)
    expect(new URL(page.url()).searchParams.get('campaign')).to.equal('show-hn')
    expect(await numberOf(page, 'Visits')).to.match(/^[1-9]/)
    await page.getByText(/leaves out installs without a visit/).waitFor()
    await holds(page, noise)
    await press(page.getByRole('region', { name: 'Version' }).getByRole('link', { name: '2.4.1' }))
    await page.getByText('about machines').waitFor()
    expect(await numberOf(page, 'Visits')).to.equal('–')
    await tile(page, 'Visits').click()
    await page.getByText('Visits is not counted here').waitFor()
    await page.reload()
    await page.getByText('Version: 2.4.1').waitFor()
    await page.getByText('Visits is not counted here').waitFor()
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
})
