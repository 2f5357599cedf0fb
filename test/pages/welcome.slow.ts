/** The first page of somebody who belongs to no organisation: they make one, join one, or read whom to ask. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { NARROW, NARROW_DARK, WIDE, WIDE_DARK } from './support/looks.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']
const HOST = organizationOf('host', { members: { 'owner@host.dev': 'Owner' } }) + websiteOf('host-site', 'host')

describe('the page Welcome', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  before(async () => {
    facts = await openTestFacts()
  })
  after(() => facts?.close())
  afterEach(() => stage?.stop())

  async function check(page: Page, noise: readonly string[], name: string): Promise<void> {
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true })
      await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
    }
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
    // Browsers log each answer that is no success.
    expect(noise.filter((line) => !/status of (400|404)/.test(line))).to.deep.equal([])
  }

  it('makes an organisation with its website in one form, by keyboard, and leads to what is next', async () => {
    stage = await startPages({ manifests: HOST, facts, isOpen: true })
    const { page, noise } = await stage.open('new@person.dev', NARROW_DARK)
    await page.goto(stage.url)
    await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()
    await check(page, noise, 'Welcome-390-dark')
    await page.getByLabel('Name', { exact: true }).focus()
    await page.keyboard.type('Person & Co')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type('http://person.dev')
    await page.keyboard.press('Enter')
    await page.getByText('Give an https address').waitFor()
    await check(page, noise, 'Welcome refused-390-dark')
    await page.getByRole('textbox', { name: 'Website' }).fill('person.dev/install')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/app/o-*/checklist')
    await page.getByText('1 of 8 steps are done').waitFor()
    const organization = new URL(page.url()).pathname.split('/')[2] ?? ''
    expect(stage.directory.websites(organization).map(({ primaryOrigin }) => primaryOrigin)).to.deep.equal([
      'https://person.dev',
    ])
    const zone = await page.evaluate<string>('Intl.DateTimeFormat().resolvedOptions().timeZone')
    expect(stage.directory.organizations().get(organization)?.timeZone).to.equal(zone)
    await page.close()
  })

  it('goes on with the website alone if that is refused, and makes no second organisation', async () => {
    stage = await startPages({ manifests: HOST, facts, isOpen: true })
    const { page, noise } = await stage.open('new@person.dev', WIDE)
    await page.goto(stage.url)
    await page.getByLabel('Name', { exact: true }).fill('Person')
    // It belongs to somebody else.
    await page.getByRole('textbox', { name: 'Website' }).fill('host-site.example')
    await page.getByRole('button', { name: 'Make it' }).click()
    await page.getByText('A website of somebody else has this address').waitFor()
    await page.getByText('Person is made, and you are its owner.').waitFor()
    await check(page, noise, 'Welcome taken-1280-light')
    await page.getByRole('textbox', { name: 'Website' }).fill('person.dev')
    await page.getByRole('button', { name: 'Add the website' }).click()
    await page.waitForURL('**/app/o-*/checklist')
    const made = [...stage.directory.organizations().keys()].filter((id) => id.startsWith('o-'))
    expect(made).to.have.length(1)
    await page.close()
  })

  it('leads whoever joins by an invitation to what is open there', async () => {
    stage = await startPages({ manifests: HOST, facts })
    const owner = await stage.signIn('owner@host.dev')
    const body = { email: 'new@person.dev', role: 'Member' }
    await stage.ask('POST', '/api/organizations/host/members', { cookies: owner, body })
    const { page, noise } = await stage.open('new@person.dev', WIDE_DARK)
    await page.goto(stage.url)
    expect(await page.getByRole('button', { name: 'Make it' }).count()).to.equal(0)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.waitForURL('**/app/host/checklist')
    await check(page, noise, 'Joined-1280-dark')
    await page.close()
  })

  it('says whom to ask if there is neither', async () => {
    stage = await startPages({ manifests: HOST, facts })
    const { page, noise } = await stage.open('new@person.dev', NARROW)
    await page.goto(stage.url)
    await page.getByText('You belong to no organisation yet').waitFor()
    await check(page, noise, 'Nobody-390-light')
    await page.close()
  })
})
