/** The dialog to jump in browsers: by keyboard to a page, a website, and whatever a pasted ID names. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { LOOKS } from './support/looks.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { installRecord } from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { openInFirefox } from './support/firefox.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

const PICTURES = process.env['WHENCE_PICTURES']

describe('the dialog to jump', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  before(async () => {
    facts = await openTestFacts()
    const about = { organization: 'acme', website: 'acme-docs', receivedAtMs: Date.now() - 60_000 }
    await storeCounted(facts, [installRecord({ ...about, eventId: 'event-to-jump-to' })], Date.now)
    const members = { 'anna@acme.dev': 'Viewer' }
    stage = await startPages({ manifests: organizationOf('acme', { members }) + websiteOf('acme-docs', 'acme'), facts })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  it('leads to pages, websites and installs, keyboard alone', async () => {
    for (const look of LOOKS) {
      const { page, noise } = await stage.open('anna@acme.dev', look)
      await page.goto(`${stage.url}/app/acme/live`)
      await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
      const field = page.getByRole('combobox', { name: 'A page, a website or an ID' })
      // What is typed before the field has the focus goes nowhere.
      const openDialog = async (keys: string): Promise<void> => {
        await page.keyboard.press(keys)
        await field.and(page.locator(':focus')).waitFor()
      }
      await openDialog('Control+k')
      await page.getByRole('option', { name: 'Overview' }).waitFor()
      expect(await seriousFindings(page)).to.deep.equal([])
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
      if (PICTURES !== undefined) {
        mkdirSync(PICTURES, { recursive: true })
        await page.screenshot({ path: join(PICTURES, `jump-${look.width}-${look.scheme}.png`) })
      }
      await page.keyboard.type('sour')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowUp')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Sources' }).waitFor()
      await openDialog('Meta+k')
      await page.keyboard.type('acme-docs')
      await page.getByRole('option', { name: /acme-docs/ }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL('**/overview?website=acme-docs')
      // The page of an install also asks Logs for its request, which is not stored here.
      expect(noise).to.deep.equal([])
      await openDialog('Control+k')
      await page.keyboard.type('event-to-jump-to')
      await page.getByRole('option', { name: /The install on acme-docs/ }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL('**/installs/acme-docs/event-to-jump-to')
      await openDialog('Control+k')
      await page.keyboard.type('nothing-has-this-id')
      await page.getByText('No page, website, install').waitFor()
      await page.keyboard.press('Escape')
      await field.waitFor({ state: 'detached' })
      await page.close()
    }
  })

  it('opens and leads on in Firefox, too', async () => {
    const visitor = await openInFirefox(stage, 'anna@acme.dev')
    await visitor.page.goto(`${stage.url}/app/acme/live`)
    await visitor.see('h1', 'Live')
    await visitor.page.keyboard.down('Control')
    await visitor.page.keyboard.press('k')
    await visitor.page.keyboard.up('Control')
    await visitor.see('[role=option]', 'Funnel')
    await visitor.page.waitForSelector('[role=combobox]:focus')
    await visitor.page.keyboard.type('funnel')
    await visitor.page.keyboard.press('Enter')
    await visitor.see('h1', 'Funnel')
    expect(visitor.noise).to.deep.equal([])
    await visitor.close()
  })
})
