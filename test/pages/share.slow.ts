/** A report that is shared: made from the Overview, opened by somebody without an account, and taken back. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { startSheetStage, type SheetStage } from './support/sheets.ts'
import { LOOKS, NARROW_DARK, WIDE } from './support/looks.ts'
import { seriousFindings } from './support/stage.ts'

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']
const OWNER = 'owner@acme.dev'

describe('a report that is shared', function () {
  this.timeout(300_000)
  let stage: SheetStage
  before(async () => {
    stage = await startSheetStage()
  })
  after(() => stage?.stop())

  /** Keeps a picture if somebody wants it, and holds what holds on every page. */
  async function check(page: Page, noise: readonly string[], name: string): Promise<void> {
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true })
      await page.evaluate('scrollTo(0, 0)')
      await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
    }
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
    expect(noise.filter((line) => !/status of 404/.test(line))).to.deep.equal([])
  }

  /** Makes a link on the pages, and resolves with its address. */
  async function share(page: Page, name: string): Promise<string> {
    await page.getByRole('link', { name: 'Share', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByRole('button', { name: 'Make the link' }).click()
    await dialog.getByRole('button', { name: 'Copy the address' }).click()
    await dialog.getByRole('button', { name: 'Copied' }).waitFor()
    return page.evaluate<string>('navigator.clipboard.readText()')
  }

  it('is made from what the Overview shows, opened without an account, and taken back', async () => {
    const { page, noise } = await stage.open(OWNER, WIDE)
    await page.goto(`${stage.url}/app/acme/overview?website=acme-docs&period=Last28Days&filter=source:is_not:google`)
    await page.locator('.plot').waitFor()
    const tileOf = (of: Page) => of.locator('.metrics strong').allTextContents()
    const shown = await tileOf(page)
    await page.getByRole('link', { name: 'Share', exact: true }).click()
    await page.getByRole('dialog').getByText('Source is not google').waitFor()
    await check(page, noise, 'new-link-1280-light')
    await page.getByRole('button', { name: 'Close' }).click()
    await page.goBack()
    const address = await share(page, 'For the board')
    expect(address).to.match(new RegExp(`^${stage.url}/share/whs_[\\w-]{43}$`))
    await page.getByRole('button', { name: 'Close' }).click()
    const row = page.getByRole('row', { name: /^For the board/ }).filter({ hasText: 'Dashboard' })
    await row.getByText('In force').waitFor()
    expect(await page.content()).not.to.include(address.slice(-43))
    await check(page, noise, 'links-1280-light')

    const reader = await stage.open(OWNER, WIDE)
    await reader.page.context().clearCookies()
    const asked: string[] = []
    reader.page.on('request', (request) => {
      asked.push(new URL(request.url()).pathname)
      expect(request.headers()['referer'] ?? '', request.url()).not.to.include('/share/')
    })
    await reader.page.goto(address)
    await reader.page.getByRole('heading', { level: 1, name: 'For the board' }).waitFor()
    await reader.page.locator('.plot').waitFor()
    expect(await tileOf(reader.page)).to.deep.equal(shown)
    await reader.page.getByText('Source is not google').waitFor()
    expect(asked.filter((path) => !path.startsWith('/assets/'))).to.deep.equal([
      new URL(address).pathname,
      `${new URL(address).pathname}/figures`,
    ])
    expect(await reader.page.context().cookies()).to.deep.equal([])
    // Nothing leads elsewhere but the numbers above the chart, which it shows.
    const targets = await reader.page
      .locator('a[href^="/"]')
      .evaluateAll((links) => links.map((link) => new URL((link as unknown as { href: string }).href).pathname))
    expect(await reader.page.locator('a[href^="http"]').count()).to.equal(0)
    expect(new Set(targets)).to.deep.equal(new Set([new URL(address).pathname]))
    await reader.page
      .getByRole('link', { name: /Visits/ })
      .first()
      .click()
    await reader.page.getByRole('heading', { level: 2, name: /^Visits by/ }).waitFor()
    await reader.page.reload()
    await reader.page.getByRole('heading', { level: 2, name: /^Visits by/ }).waitFor()
    await reader.page.close()

    const owner = await stage.open(OWNER, NARROW_DARK)
    await owner.page.goto(`${stage.url}/app/acme/links`)
    const own = owner.page.getByRole('row', { name: /^For the board/ }).filter({ hasText: 'Dashboard' })
    await check(owner.page, owner.noise, 'links-390-dark')
    await own.getByRole('button', { name: 'Revoke For the board' }).click()
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await own.waitFor({ state: 'detached' })
    await owner.page.goto(address)
    await owner.page.getByRole('heading', { level: 1, name: 'This link opens nothing' }).waitFor()
    await check(owner.page, owner.noise, 'revoked-390-dark')
    await owner.page.close()
    await page.close()
  })

  for (const look of LOOKS)
    it(`reads well on ${look.width} pixels, ${look.scheme}`, async () => {
      const { page } = await stage.open(OWNER, look)
      await page.goto(`${stage.url}/app/acme/overview?website=acme-docs`)
      await page.locator('.plot').waitFor()
      const address = await share(page, `For the board of <b>Acme</b>, ${look.width} ${look.scheme}`)
      await page.close()
      const reader = await stage.open(OWNER, look)
      await reader.page.context().clearCookies()
      await reader.page.goto(address)
      await reader.page.locator('.plot').waitFor()
      await check(reader.page, reader.noise, `shared-${look.width}-${look.scheme}`)
      await reader.page.close()
    })
})
