/** The page Spend: an Admin imports a file, sees what a visit and an install cost and what joined nothing, and removes the file. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { until } from '../../fixtures/until.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { CAMPAIGN_DAY, campaignTraffic } from './support/campaign-facts.ts'
import { startSpendWriter } from './support/spend-writer.ts'
import { LOOKS, WIDE } from './support/looks.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

const HOSTILE = '<img src=x onerror=alert(1)>'
/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

const traffic = (source: string, visits: number, installs: number) =>
  campaignTraffic({ website: 'acme-site', organization: 'acme', source, campaign: 'launch', visits, installs })

const csv = (...rows: readonly string[]) => ({
  name: 'november.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(`Day,Source,Campaign,Cost,Currency\n${rows.join('\n')}\n`),
})
const COLUMNS = 'day=Day,source=Source,campaign=Campaign,amount=Cost,currency=Currency'

describe('the page Spend', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  let writer: { readonly close: () => Promise<void> }
  before(async () => {
    facts = await openTestFacts()
    await storeCounted(facts, [...traffic('google', 20, 4), ...traffic('x', 10, 0)], Date.now)
    await rollUp({ facts, nowMs: Date.now })
    const manifests =
      organizationOf('acme', { members: { 'admin@acme.dev': 'Admin', 'viewer@acme.dev': 'Viewer' } }) +
      websiteOf('acme-site', 'acme')
    stage = await startPages({ manifests, facts })
    writer = startSpendWriter(stage, facts)
  })
  after(async () => {
    await writer?.close()
    await stage?.stop()
    await facts?.close()
  })

  it('names each problem of a file, imports a right one, shows currencies apart, and forgets the file', async () => {
    const { page, noise } = await stage.open('admin@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/spend`)
    await page.getByRole('heading', { name: 'Nothing was spent' }).waitFor()
    await page.getByText('The columns have other names').click()
    await page.getByLabel('Names of columns').fill(COLUMNS)
    await page.getByLabel('File', { exact: true }).setInputFiles(csv(`${CAMPAIGN_DAY},google,launch,"1,5",EUR`))
    await page.getByRole('button', { name: 'Import' }).click()
    const problems = page.getByRole('table', { name: 'Problems of the file' })
    expect(await problems.locator('tbody').textContent()).to.match(
      /^2Cost.*must be digits with a point before decimals/,
    )
    expect(await seriousFindings(page)).to.deep.equal([])

    const rows = [
      `google,launch,40.00,EUR`,
      `x,launch,12.5,EUR`,
      `google,lunch,3,EUR`,
      `x,launch,600,JPY`,
      `${HOSTILE},,1,EUR`,
    ]
    await page.getByLabel('File', { exact: true }).setInputFiles(csv(...rows.map((row) => `${CAMPAIGN_DAY},${row}`)))
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByText('5 rows were imported.').waitFor()
    const euros = page.getByRole('region', { name: 'Spend in EUR' })
    await euros.waitFor()
    const textsOf = async (table: number): Promise<readonly string[]> =>
      (await euros.locator('table').nth(table).locator('tbody tr').all()).reduce<Promise<readonly string[]>>(
        async (texts, row) => [...(await texts), (await row.locator('th, td').allTextContents()).join('|')],
        Promise.resolve([]),
      )
    expect(await textsOf(0)).to.deep.equal(['launch|google|€40.00|20|€2.00|4|€10.00', 'launch|x|€12.50|10|€1.25|0|–'])
    expect(await textsOf(1)).to.deep.equal(['lunch|google|€3.00', `No campaign|${HOSTILE}|€1.00`])
    expect(await euros.getByRole('heading', { level: 3 }).textContent()).to.equal(
      'Joined no visit and no install: €4.00',
    )
    const yen = page.getByRole('region', { name: 'Spend in JPY' })
    expect(await yen.locator('tbody tr').first().textContent())
      .to.include('¥600')
      .and.to.include('¥60')
    expect(await page.getByRole('region', { name: 'Imports' }).textContent())
      .to.include('november.csv')
      .and.to.include('€56.50, ¥600')
    await page.getByRole('link', { name: 'By source' }).click()
    await until(async () => (await euros.locator('table').first().textContent())?.startsWith('SourceSpent'))
    await page.close()
    expect(noise.filter((line) => !line.includes('400 (Bad Request)'))).to.deep.equal([])
  })

  for (const look of LOOKS) {
    it(`is shown, ${look.width} wide and ${look.scheme}`, async () => {
      const { page, noise } = await stage.open('admin@acme.dev', look)
      await page.goto(`${stage.url}/app/acme/spend`)
      await page.getByRole('region', { name: 'Imports' }).waitFor()
      await page.getByRole('region', { name: 'Spend in EUR' }).waitFor()
      if (PICTURES !== undefined) {
        mkdirSync(PICTURES, { recursive: true })
        await page.screenshot({ path: join(PICTURES, `spend-${look.width}-${look.scheme}.png`), fullPage: true })
      }
      expect(await seriousFindings(page)).to.deep.equal([])
      expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(
        0,
      )
      expect(await page.locator('main img').count()).to.equal(0)
      expect(noise).to.deep.equal([])
      await page.close()
    })
  }

  it('shows a Viewer what was spent, without the means to change it', async () => {
    const { page } = await stage.open('viewer@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/spend`)
    await page.getByRole('region', { name: 'Imports' }).waitFor()
    expect(await page.getByRole('button', { name: /Import|Remove/ }).count()).to.equal(0)
    await page.close()
  })

  it('forgets what a file says once that is removed', async () => {
    const { page, noise } = await stage.open('admin@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/spend`)
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { name: 'Nothing was spent' }).waitFor()
    expect(await page.getByRole('region', { name: 'Imports' }).count()).to.equal(0)
    expect(noise).to.deep.equal([])
    await page.close()
  })
})
