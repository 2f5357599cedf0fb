/** The page Spend: an Admin imports a file, sees what a visit and an install cost and what joined nothing, and removes the file. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { createHourMarks } from '../../delivery/counting/hour-marks.ts'
import { createErasures } from '../../delivery/facts-writer/erasures.ts'
import { writeBatch } from '../../delivery/facts-writer/fact-batch.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { every } from '../../common/every.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { until } from '../../fixtures/until.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { installRecord, visitRecord } from '../contract/fact-samples.ts'
import { organizationOf, SECRET, websiteOf } from '../dashboard/support/stage.ts'
import { NO_BACKLOG } from '../delivery/support/memory-facts.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { seriousFindings, startPages, type Look, type PagesStage } from './support/stage.ts'

const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS
const NOON_MS = TODAY_MS - DAY_MS / 2
const YESTERDAY = new Date(NOON_MS).toISOString().slice(0, 10)
const KEY_ID = createKeyring([SECRET]).currentKeyId
const HOSTILE = '<img src=x onerror=alert(1)>'
const LOOKS: readonly Look[] = [
  { width: 1280, scheme: 'light' },
  { width: 390, scheme: 'dark' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
]
/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

let serial = 0
function traffic(source: string, campaign: string, [visits, installs]: readonly [number, number]) {
  const of = { website: 'acme-site', organization: 'acme' }
  return Array.from({ length: visits }, (_, index) => {
    const atMs = NOON_MS + index
    const visitId = `${KEY_ID.toString(16).padStart(2, '0')}${atMs.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`
    const visit = visitRecord({ ...of, visitId, issuedAtMs: atMs, utm: { source, campaign } })
    const matched = { resolution: 'matched', selectionPolicy: 'latest_visit', visitId, visitIssuedAtMs: atMs } as const
    return index < installs ? [visit, installRecord({ ...of, receivedAtMs: atMs + HOUR_MS, ...matched })] : [visit]
  }).flat()
}

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
    await storeCounted(facts, [...traffic('google', 'launch', [20, 4]), ...traffic('x', 'launch', [10, 0])], Date.now)
    await rollUp({ facts, nowMs: Date.now })
    const manifests =
      organizationOf('acme', { members: { 'admin@acme.dev': 'Admin', 'viewer@acme.dev': 'Viewer' } }) +
      websiteOf('acme-site', 'acme')
    stage = await startPages({ manifests, facts })
    // As the facts-writer does.
    let written = 0
    const write = async (): Promise<void> => {
      const entries = await stage.eventLog.read('spend', written, 100)
      if (entries.length === 0) return
      written += entries.length
      const tools = {
        nowMs: Date.now,
        marks: createHourMarks('test', Date.now),
        erasures: createErasures(facts),
        backlog: NO_BACKLOG,
      }
      await writeBatch(facts, { topic: 'spend', partition: 0, entries }, tools)
    }
    writer = every(50, write, { firstMs: 0, onFailure: () => undefined })
  })
  after(async () => {
    await writer?.close()
    await stage?.stop()
    await facts?.close()
  })

  it('names each problem of a file, imports a right one, shows currencies apart, and forgets the file', async () => {
    const { page, noise } = await stage.open('admin@acme.dev', LOOKS[0]!)
    await page.goto(`${stage.url}/app/acme/spend`)
    await page.getByRole('heading', { name: 'Nothing was spent' }).waitFor()
    await page.getByText('The columns have other names').click()
    await page.getByLabel('Names of columns').fill(COLUMNS)
    await page.getByLabel('File', { exact: true }).setInputFiles(csv(`${YESTERDAY},google,launch,"1,5",EUR`))
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
    await page.getByLabel('File', { exact: true }).setInputFiles(csv(...rows.map((row) => `${YESTERDAY},${row}`)))
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
    const { page } = await stage.open('viewer@acme.dev', LOOKS[0]!)
    await page.goto(`${stage.url}/app/acme/spend`)
    await page.getByRole('region', { name: 'Imports' }).waitFor()
    expect(await page.getByRole('button', { name: /Import|Remove/ }).count()).to.equal(0)
    await page.close()
  })

  it('forgets what a file says once that is removed', async () => {
    const { page, noise } = await stage.open('admin@acme.dev', LOOKS[0]!)
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
