/** What figures leave out, how a reader counts it after all, and the cards that say what a number counts. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { FIGURE_WORDS } from '../../domain/figures/figure-words.ts'
import type { Install } from '../../domain/model.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { installRecord, unique, visitRecord } from '../contract/fact-samples.ts'
import { organizationOf, SECRET, websiteOf } from '../dashboard/support/stage.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { LOOKS, WIDE, type Look } from './support/looks.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

const FROM_MS = Date.now() - 30 * HOUR_MS
const KEY_ID = createKeyring([SECRET]).currentKeyId
const OF = { website: 'acme-site', organization: 'acme' }
/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

let serial = 0
const idAt = (ms: number): string =>
  `${KEY_ID.toString(16).padStart(2, '0')}${ms.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`

function visited(source: string, kind = '') {
  const visitId = idAt(FROM_MS)
  return visitRecord({ ...OF, visitId, issuedAtMs: FROM_MS, utm: { source }, visitor: { platform: '', kind } })
}

function installed({ visit }: ReturnType<typeof visited>, changes: Partial<Install> = {}) {
  const { visitId } = visit
  const matched = { resolution: 'matched', selectionPolicy: 'handoff', visitId, visitIssuedAtMs: FROM_MS } as const
  const installationId = unique('machine')
  return installRecord({ ...OF, receivedAtMs: FROM_MS + HOUR_MS, installationId, ...matched, ...changes })
}

describe('the pages of figures', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  before(async () => {
    facts = await openTestFacts()
    const news = visited('news')
    const records = [
      news,
      visited('forum'),
      installed(news),
      installed(news),
      installed(news, { isCi: true }),
      installed(news, { isContainer: true, eventType: 'first_run' }),
      ...['automation', 'automation', 'ChatGPT-User', 'bot'].map((kind) => visited('news', kind)),
    ]
    await storeCounted(facts, records, Date.now)
    await rollUp({ facts, nowMs: Date.now })
    const manifests = organizationOf('acme', { members: { 'anna@acme.dev': 'Viewer' } }) + websiteOf(OF.website, 'acme')
    stage = await startPages({ manifests, facts })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  async function opened(path: string, look = WIDE): Promise<{ readonly page: Page; readonly noise: string[] }> {
    const { page, noise } = await stage.open('anna@acme.dev', look)
    await page.goto(`${stage.url}/app/acme/${path}`)
    return { page, noise }
  }
  async function picture(page: Page, name: string, { width, scheme }: Look): Promise<void> {
    if (PICTURES === undefined) return
    mkdirSync(PICTURES, { recursive: true })
    await page.screenshot({ path: join(PICTURES, `${name}-${width}-${scheme}.png`), fullPage: true })
  }
  const numbers = async (page: Page, selector: string): Promise<readonly number[]> =>
    (await page.locator(selector).allTextContents()).map((text) => Number.parseInt(text, 10))

  it('leave out installs from CI and containers, and count them by a switch that the address keeps', async () => {
    const { page, noise } = await opened('sources')
    await page.getByText('2 installs from CI, containers and tests are not counted').waitFor()
    const installs = '.sources td[data-title="installs"]'
    const visits = '.sources td[data-title="visits"]'
    const conversion = '.sources td[data-title="conversion"]'
    // Rows, then the total.
    expect(await numbers(page, installs)).to.deep.equal([2, 0, 2])
    expect(await numbers(page, visits)).to.deep.equal([1, 1, 2])
    const before = await page.locator(conversion).allTextContents()
    await page.getByRole('link', { name: 'count them' }).click()
    await page.getByText('are counted, too; visits, copies and conversion stay without them').waitFor()
    await page.locator('.figures[aria-busy="false"]').waitFor()
    expect(page.url()).to.include('leftOut=include')
    expect(await numbers(page, installs)).to.deep.equal([4, 0, 4])
    expect(await numbers(page, visits)).to.deep.equal([1, 1, 2])
    expect(await page.locator(conversion).allTextContents()).to.deep.equal(before)
    await page.locator('.sources tfoot').getByRole('link', { name: '4', exact: true }).click()
    await page.locator('table.installs').waitFor()
    expect(await page.locator('table.installs tbody tr').count()).to.equal(4)
    await page.getByRole('link', { name: 'leave them out' }).click()
    await page.getByRole('link', { name: 'list them, too' }).waitFor()
    await page.locator('table.installs').waitFor()
    expect(await page.locator('table.installs tbody tr').count()).to.equal(2)
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('lead to just the installs that are left out, on Match rate as well', async () => {
    const { page, noise } = await opened('match')
    await page.getByText('2 of 2 installs have a visit').waitFor()
    await page.getByRole('link', { name: '2 installs', exact: true }).click()
    await page.getByText('Only from CI, containers and tests').waitFor()
    await page.locator('table.installs').waitFor()
    const rows = await page.locator('table.installs tbody tr').allTextContents()
    expect(rows.map((text) => /in CI|in a container/.exec(text)?.[0]).sort()).to.deep.equal(['in CI', 'in a container'])
    await page.goto(`${stage.url}/app/acme/match?leftOut=include`)
    await page.getByText('4 of 4 installs have a visit').waitFor()
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('show page views of programs by kind, which no visit counts', async () => {
    const { page, noise } = await opened('funnel')
    await page.getByText('4 page views of programs are not among them').click()
    const rows = page.locator('.programs tbody tr')
    expect(await rows.locator('th').allTextContents()).to.deep.equal(['Automated browsers', 'ChatGPT-User', 'Crawlers'])
    expect(await numbers(page, '.programs tbody .number')).to.deep.equal([2, 1, 1])
    expect(await page.locator('.funnel .count').first().textContent()).to.equal('2')
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('say what a number counts, by a key and by a click, until Escape', async () => {
    const { page, noise } = await opened('sources')
    const word = page.getByRole('button', { name: 'Conversion' }).first()
    const card = page.locator(`[id="${(await word.getAttribute('aria-describedby')) ?? ''}"]`)
    await word.focus()
    await page.keyboard.press('Enter')
    await card.waitFor()
    expect(await card.textContent()).to.equal(FIGURE_WORDS.conversion.means)
    await picture(page, 'Card', WIDE)
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'hidden' })
    await word.click()
    await card.waitFor()
    expect(noise).to.deep.equal([])
    await page.close()
  })

  for (const look of LOOKS) {
    it(`say it where rows stack, and fit, ${look.width} wide and ${look.scheme}`, async () => {
      for (const [path, name] of [
        ['sources?leftOut=include', 'Sources'],
        ['match', 'Match'],
        ['funnel', 'Funnel'],
        ['usage', 'Usage'],
      ] as const) {
        const { page, noise } = await opened(path, look)
        await page.locator('.figure-word:visible').first().waitFor()
        if (name === 'Funnel') await page.locator('.programs summary').click()
        await picture(page, name, look)
        await page.locator('.figure-word:visible').first().click()
        await page.locator('.figure-card:popover-open').waitFor()
        const box = await page.locator('.figure-card:popover-open').boundingBox()
        expect(box?.x, name).to.be.at.least(0)
        expect((box?.x ?? 0) + (box?.width ?? 0), name).to.be.at.most(look.width)
        await picture(page, `${name}-card`, look)
        expect(await seriousFindings(page), name).to.deep.equal([])
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).to.equal(0)
        expect(noise, name).to.deep.equal([])
        await page.close()
      }
    })
  }
})
