/** Forms that were filled in and not sent: the pages ask before they go, and store nothing of them. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { LOOKS, WIDE } from './support/looks.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

const ADMIN = 'admin@acme.dev'
const TYPED = 'https://typed-and-not-sent.example'
/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

const FORMS: readonly { readonly address: string; readonly fill: (page: Page) => Promise<void> }[] = [
  { address: 'new/Website', fill: (page) => page.getByLabel('Primary origin').fill(TYPED) },
  { address: 'new/Website', fill: (page) => page.getByLabel('Name', { exact: true }).fill('typed') },
  { address: 'resources/InstallPath/default/cli', fill: (page) => page.getByLabel('Name that people see').fill(TYPED) },
  { address: 'webhooks/new', fill: (page) => page.getByLabel('Address').fill(TYPED) },
  { address: 'keys', fill: (page) => fillDialog(page, 'New key') },
  { address: 'links', fill: (page) => fillDialog(page, 'New link') },
]

async function fillDialog(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button }).click()
  await page.getByRole('dialog').getByLabel('Name').fill(TYPED)
}

describe('a form that was filled in', function () {
  this.timeout(300_000)
  let stage: PagesStage
  before(async () => {
    const manifests = organizationOf('acme', { members: { [ADMIN]: 'Admin' } }) + websiteOf('acme-site', 'acme')
    stage = await startPages({ manifests })
    const made = { name: 'cli', spec: { organizationRef: { name: 'acme' } } }
    const cookies = await stage.signIn(ADMIN)
    await stage.ask('POST', '/api/organizations/acme/resources/InstallPath', { cookies, body: made })
  })
  after(() => stage?.stop())

  const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Leave without saving?' })
  /** As by a click on the navigation, which a dialog may cover. */
  const leave = (page: Page) => page.evaluate(`document.querySelector('nav a[href$="/live"]').click()`)

  for (const { address, fill } of FORMS)
    it(`asks before ${address} is left`, async () => {
      const { page, noise } = await stage.open(ADMIN, WIDE)
      await page.goto(`${stage.url}/app/acme/${address}`)
      await fill(page)
      await leave(page)
      await dialogOf(page).getByRole('button', { name: 'Stay here' }).click()
      await dialogOf(page).waitFor({ state: 'hidden' })
      expect(page.url()).to.contain(address)
      const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
      expect(kept).to.not.contain('typed')
      await leave(page)
      await dialogOf(page).getByRole('button', { name: 'Leave', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
      expect(noise).to.deep.equal([])
      await page.close()
    })

  it('asks before the window is closed, and not if nothing was changed', async () => {
    const { page } = await stage.open(ADMIN, WIDE)
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.accept()
    })
    await page.goto(`${stage.url}/app/acme/new/Website`)
    const field = page.getByLabel('Primary origin')
    await field.fill(TYPED)
    await page.goto(`${stage.url}/app/acme/new/Website`)
    expect(asked).to.deep.equal(['beforeunload'])
    await field.fill(TYPED)
    await field.fill('')
    await leave(page)
    await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
    await page.close()
    expect(asked).to.deep.equal(['beforeunload'])
  })

  it('lets go what was saved', async () => {
    const { page, noise } = await stage.open(ADMIN, WIDE)
    await page.goto(`${stage.url}/app/acme/new/Website`)
    await page.getByLabel('Primary origin').fill('https://saved.example')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.waitForURL(/resources\/Website\/default\//)
    await leave(page)
    await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('is not thrown away by a click beside its dialog', async () => {
    const { page } = await stage.open(ADMIN, WIDE)
    await page.goto(`${stage.url}/app/acme/keys`)
    await fillDialog(page, 'New key')
    await page.mouse.click(5, 400)
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).to.equal(TYPED)
    await page.close()
  })

  for (const look of LOOKS)
    it(`asks in words that fit, ${look.width} wide and ${look.scheme}`, async () => {
      const { page } = await stage.open(ADMIN, look)
      await page.goto(`${stage.url}/app/acme/new/Website`)
      await page.getByLabel('Primary origin').fill(TYPED)
      await leave(page)
      await dialogOf(page).waitFor()
      expect(await seriousFindings(page)).to.deep.equal([])
      if (PICTURES !== undefined) {
        mkdirSync(PICTURES, { recursive: true })
        await page.screenshot({ path: join(PICTURES, `unsaved-${look.width}-${look.scheme}.png`) })
      }
      await page.close()
    })
})
