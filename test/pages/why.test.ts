/** The pages that answer "why": figures whose every number can be followed, and one install with all that explains it. */

import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { createHourMarks } from '../../delivery/facts-writer/hour-marks.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import type { LogRecord } from '../../domain/records.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { FactRow, Facts } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { rowsOf } from '../contract/fact-samples.ts'
import { organizationOf } from '../dashboard/support/stage.ts'
import { seriousFindings, startPages, type Look, type PagesStage } from './support/stage.ts'
import { HOSTILE, whyFacts } from './support/why-facts.ts'

const website = (id: string, displayName: string): string => `---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: ${id} }
spec: { organizationRef: { name: acme }, displayName: ${displayName}, primaryOrigin: 'https://${id}.example', providers: [ga4] }
`
const MEMBERS = { 'owner@acme.dev': 'Owner', 'viewer@acme.dev': 'Viewer' }

const WIDE_LIGHT: Look = { width: 1280, scheme: 'light' }
const WIDE_DARK: Look = { width: 1280, scheme: 'dark' }
const NARROW_LIGHT: Look = { width: 390, scheme: 'light' }
const NARROW_DARK: Look = { width: 390, scheme: 'dark' }
const ALL_LOOKS: readonly Look[] = [WIDE_LIGHT, WIDE_DARK, NARROW_LIGHT, NARROW_DARK]
/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

describe('the pages that answer why', function () {
  // An engine, a bundler and a browser start: seconds on a quiet machine, minutes on one that is not.
  this.timeout(300_000)
  const nowMs = Date.now()
  // Each day has hours to be counted, which takes time.
  const records = whyFacts(nowMs, PICTURES === undefined ? 2 : 14)
  let folder: string
  let facts: Facts
  let stage: PagesStage
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-why-'))
    const connection = await openChdb(folder)
    await migrate(connection)
    facts = clickhouseFacts(connection, { nowMs: Date.now })
    const manifests = [
      organizationOf('acme', { members: MEMBERS }),
      website('acme-docs', 'Documentation'),
      website('acme-blog', 'Blog'),
    ]
    stage = await startPages({ manifests: manifests.join(''), facts })
    const hours = createHourMarks('test', Date.now).collect()
    for (const [table, rows] of rowsOf(records)) {
      await facts.insert(table, rows)
      for (const row of rows) if (isRecent(row, nowMs)) hours.note(table, row)
    }
    await facts.insert('hour_marks', hours.rows())
    await rollUp({ facts, nowMs: Date.now, logger: { warn: () => undefined } })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** How many records of the last days are of this kind, counted without the service. */
  function counted(days: number, isMeant: (record: LogRecord) => boolean): number {
    return records.filter((record) => isMeant(record) && timeOf(record) > nowMs - days * 86_400_000).length
  }

  async function holdsEverywhere(page: Page, noise: readonly string[]): Promise<void> {
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
    expect(await page.locator('main img').count()).to.equal(0)
    expect(noise).to.deep.equal([])
  }

  /** Opens it as it looks in one way, or in all ways if pictures are wanted. */
  async function look(
    address: string,
    name: string,
    looks: readonly Look[],
    act: (page: Page) => Promise<void>,
  ): Promise<void> {
    for (const one of PICTURES === undefined ? looks : ALL_LOOKS) {
      const { page, noise } = await stage.open('owner@acme.dev', one)
      await page.goto(stage.url + address)
      await act(page)
      await page.locator('.loading').waitFor({ state: 'detached' })
      if (PICTURES !== undefined) {
        mkdirSync(PICTURES, { recursive: true })
        await page.screenshot({ path: join(PICTURES, `${name}-${one.width}-${one.scheme}.png`), fullPage: true })
      }
      await holdsEverywhere(page, noise)
      await page.close()
    }
  }

  it('show a funnel whose numbers are those of the facts, each with a way to what it counts', async () => {
    const visits = counted(7, ({ kind }) => kind === 'visit')
    const copied = counted(7, ({ kind }) => kind === 'handoff')
    await look('/app/acme/funnel', 'Funnel', [NARROW_DARK], async (page) => {
      await page.getByRole('link', { name: `Visited A page with the script was opened ${visits}` }).waitFor()
      await page.getByRole('link', { name: new RegExp(`^Copied .* ${copied} `) }).waitFor()
    })
    const { page } = await stage.open('viewer@acme.dev', WIDE_LIGHT)
    await page.goto(`${stage.url}/app/acme/funnel?days=1&website=acme-docs`)
    const installed = page.getByRole('link', { name: /^Installed/ })
    const shown = Number(await installed.locator('.count').textContent())
    await installed.click()
    await page.waitForURL('**/installs?*eventType=install_completed*')
    await page.locator('table.installs').waitFor()
    expect(await page.locator('.installs tbody tr').count())
      .to.equal(shown)
      .and.be.greaterThan(0)
    await page.goto(`${stage.url}/app/acme/funnel?website=acme-blog`)
    await page.getByRole('heading', { name: 'No visit in this time' }).waitFor()
    await page.close()
  })

  it('say why installs have no visit, what to do about it, and which they are', async () => {
    await look('/app/acme/match', 'Match rate', [WIDE_DARK], async (page) => {
      const expired = page.getByRole('listitem').filter({ hasText: 'The visit was too old' })
      await expired.getByText('What to do').waitFor()
    })
    const { page } = await stage.open('viewer@acme.dev', WIDE_LIGHT)
    await page.goto(`${stage.url}/app/acme/match?days=1`)
    const expired = page.getByRole('listitem').filter({ hasText: 'The visit was too old' }).getByRole('link')
    const shown = parseInt((await expired.textContent()) ?? '', 10)
    await expired.click()
    await page.waitForURL('**/installs?*reason=expired*')
    await page.locator('table.installs').waitFor()
    expect(await page.locator('.installs tbody tr').count())
      .to.equal(shown)
      .and.be.greaterThan(0)
    await page.close()
  })

  it('show what brings installs, with the installs of each source', async () => {
    await look('/app/acme/sources', 'Sources', [NARROW_LIGHT], async (page) => {
      await page.getByRole('rowheader', { name: HOSTILE }).waitFor()
    })
    const { page } = await stage.open('viewer@acme.dev', WIDE_LIGHT)
    await page.goto(`${stage.url}/app/acme/sources?by=campaign`)
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'launch' }) })
    const shown = parseInt((await row.getByRole('link').textContent()) ?? '', 10)
    await row.getByRole('link').click()
    await page.waitForURL('**/installs?*campaign=launch*')
    await page.locator('table.installs').waitFor()
    expect(await page.locator('.installs tbody tr').count())
      .to.equal(shown)
      .and.be.greaterThan(0)
    await page.close()
  })

  it('show which installs coding agents ran, and from which pages', async () => {
    await look('/app/acme/sources?by=agent', 'Agents', [WIDE_LIGHT], async (page) => {
      await page.getByRole('rowheader', { name: 'claude-code' }).waitFor()
      await page.getByRole('rowheader', { name: '/install' }).first().waitFor()
    })
  })

  it('list installs by what the address says, and lead on to each', async () => {
    await look(
      '/app/acme/installs?resolution=unmatched&reason=expired',
      'Installs filtered',
      [WIDE_LIGHT],
      async (page) => {
        await page.getByText('Why not: The visit was too old').waitFor()
        await page.getByRole('link', { name: 'Installed' }).first().waitFor()
      },
    )
    await look('/app/acme/installs', 'Installs', [NARROW_DARK], async (page) => {
      await page.getByText(HOSTILE).first().waitFor()
    })
    const { page } = await stage.open('owner@acme.dev', WIDE_LIGHT)
    await page.goto(`${stage.url}/app/acme/installs?path=homebrew&source=google`)
    const file = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export exactly these' }).click()
    expect((await file).suggestedFilename()).to.equal('installs.csv')
    await page.getByRole('link', { name: 'Installed' }).first().press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Installed: homebrew' }).waitFor()
    await page.close()
  })

  it('show one install as a picture, in words, and as it came', async () => {
    await look('/app/acme/installs/acme-docs/event-picture', 'Install', [WIDE_LIGHT, NARROW_DARK], async (page) => {
      const picture = page.getByRole('img', { name: /Matched to a visit 1\.1 days before from .google/ })
      await picture.waitFor()
      expect(await picture.locator('.visit').count()).to.equal(3)
      expect(await picture.locator('.visit.chosen').count()).to.equal(1)
      expect(await picture.locator('.attempt').count()).to.equal(7)
      const table = page.getByRole('table')
      for (const what of [
        'A newer visit replaced it',
        'The command was copied',
        'Try 4 for acme-ads',
        'Deadline of acme-ads',
      ])
        await table.getByRole('rowheader', { name: what }).waitFor()
      await page.getByText('The service is currently unavailable.').first().waitFor()
      await page.getByRole('button', { name: 'Copy as curl' }).waitFor()
      expect(await page.locator('.raw pre').textContent()).to.include(HOSTILE)
      expect(await page.locator('a[href^="javascript"]').count()).to.equal(0)
    })
    const { page } = await stage.open('viewer@acme.dev', WIDE_LIGHT)
    await page.goto(`${stage.url}/app/acme/installs/acme-docs/event-picture`)
    await page.getByRole('link', { name: 'Its lines of Logs' }).click()
    await page.waitForURL('**/logs?reference=event-picture')
    await page.getByRole('button', { name: /:/ }).first().click()
    await page.getByRole('complementary', { name: 'One line of Logs' }).locator('pre').first().waitFor()
    await page.goto(`${stage.url}/app/acme/installs/acme-docs/event-nobody`)
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await page.close()
  })
})

/** Hours that a page can show; the rest need not be counted. */
function isRecent(row: FactRow, nowMs: number): boolean {
  const at = row['issued_at'] ?? row['received_at']
  return typeof at === 'number' && at > nowMs - 14 * 86_400_000 && at < nowMs - 7_200_000
}

function timeOf(record: LogRecord): number {
  if (record.kind === 'visit') return record.visit.issuedAtMs
  if (record.kind === 'handoff' || record.kind === 'activation') return record.issuedAtMs
  return record.kind === 'install' ? record.install.receivedAtMs : 0
}
