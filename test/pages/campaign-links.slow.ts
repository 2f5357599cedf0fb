/** The page of campaign links: what it makes counts under the channel that it says, and it names a landing page that counts nothing. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { LOOKS, WIDE_DARK } from './support/looks.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']
const MEMBERS = { 'owner@acme.dev': 'Owner', 'viewer@acme.dev': 'Viewer' } as const

describe('the page of campaign links', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  let html = ''
  before(async () => {
    facts = await openTestFacts()
    const manifests = organizationOf('acme', { members: MEMBERS }) + websiteOf('acme-site', 'acme')
    stage = await startPages({
      manifests,
      facts,
      fetchPage: async () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: html, failure: '' }),
    })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  async function check(page: Page, noise: readonly string[], name: string): Promise<void> {
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true })
      await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
    }
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
    expect(noise).to.deep.equal([])
  }

  for (const look of LOOKS)
    it(`makes a link by keyboard, copies it, and checks where it leads, at ${look.width} in ${look.scheme}`, async () => {
      const { page, noise } = await stage.open('owner@acme.dev', look)
      await page.goto(`${stage.url}/app/acme/campaign-links`)
      await page.getByText('It appears here once there is a landing page.').waitFor()
      await page.getByLabel('Landing page').focus()
      await page.keyboard.type('acme-site.example')
      await page.getByText('Give the whole address, with https://').waitFor()
      await page.getByLabel('Landing page').fill('https://acme-site.example/install?os=linux#top')
      for (const word of ['newsletter', 'email', 'Spring launch']) {
        await page.keyboard.press('Tab')
        await page.keyboard.type(word)
      }
      await page.getByText('Its visits count under the channel Email.').waitFor()
      await page.getByRole('button', { name: 'Copy the link' }).click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(
        'https://acme-site.example/install?os=linux&utm_source=newsletter&utm_medium=email&utm_campaign=Spring%20launch#top',
      )
      html = '<title>Nothing</title>'
      await page.getByRole('button', { name: 'Check the landing page' }).click()
      await page.getByText('The script is missing').waitFor()
      await check(page, noise, `Campaign link-${look.width}-${look.scheme}`)
      html = `<script async src="${stage.url}/browser.js" data-project="acme-site"></script>`
      await page.getByRole('button', { name: 'Check the landing page' }).click()
      await page.getByText('Visits of this page are counted').waitFor()
      await page.close()
    })

  it('makes links for who only reads, who has no page fetched', async () => {
    const { page, noise } = await stage.open('viewer@acme.dev', WIDE_DARK)
    await page.goto(`${stage.url}/app/acme/campaign-links`)
    await page.getByLabel('Landing page').fill('https://acme-site.example/')
    await page.getByRole('button', { name: 'Copy the link' }).waitFor()
    expect(await page.getByRole('button', { name: 'Check the landing page' }).count()).to.equal(0)
    await check(page, noise, 'Campaign link of a viewer-1280-dark')
    await page.close()
  })
})
