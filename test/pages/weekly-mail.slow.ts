/** Your account turns the weekly mail on and off; the link in a mail ends it without signing in, and leads to the week on the Overview. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { endAddress } from '../../dashboard/weekly/end-token.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { until } from '../../fixtures/until.ts'
import { organizationOf, SECRET, websiteOf } from '../dashboard/support/stage.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { LOOKS, NARROW_DARK, WIDE, type Look } from './support/looks.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']
const EMAIL = 'anna@acme.dev'

describe('the weekly mail on pages', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  before(async () => {
    facts = await openTestFacts()
    const members = { [EMAIL]: 'Viewer' }
    const manifests =
      organizationOf('acme', { members: { 'owner@acme.dev': 'Owner' } }) +
      websiteOf('acme-site', 'acme') +
      '---\n' +
      organizationOf('declared', { members })
    stage = await startPages({ manifests, facts })
    const spec = { organizationRef: { name: 'acme' }, email: EMAIL, role: 'Viewer' }
    await stage.writer.create({ kind: 'Member', namespace: 'default', name: 'm-anna', spec })
    await until(() => stage.directory.members().some(({ name }) => name === 'm-anna'))
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const drawn = async (page: Page, name: string): Promise<void> => {
    if (PICTURES === undefined) return
    mkdirSync(PICTURES, { recursive: true })
    await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
  }
  const openAccount = async (look: Look) => {
    const { page, noise } = await stage.open(EMAIL, look)
    await page.goto(`${stage.url}/app/acme/account`)
    const section = page.getByRole('region', { name: 'Weekly mail' })
    const own = section.getByRole('checkbox', { name: 'acme Ltd' })
    await own.waitFor()
    return { page, noise, section, own }
  }
  const endUrl = (): string =>
    endAddress(stage.url, createKeyring([SECRET]).mailEnds.seal, { organization: 'acme', email: EMAIL })

  it('is turned on and off by whoever gets it, and says where Git has to be asked', async () => {
    const { page, noise, section, own } = await openAccount(WIDE)
    expect(await own.isChecked()).to.equal(false)
    await own.click()
    await until(() =>
      stage.directory.members().some(({ name, wantsWeeklyMail }) => name === 'm-anna' && wantsWeeklyMail),
    )
    await page.reload()
    await own.waitFor()
    expect(await own.isChecked()).to.equal(true)
    await own.click()
    await section.getByText('You ended it.').waitFor()
    expect(await own.isChecked()).to.equal(false)
    await own.click()
    await section.getByText('You ended it.').waitFor({ state: 'detached' })
    expect(noise).to.deep.equal([])
    await section.getByRole('checkbox', { name: 'declared Ltd' }).click()
    await section.getByRole('alert').waitFor()
    await drawn(page, 'account-managed')
    await page.close()
  })

  for (const look of LOOKS) {
    it(`is readable and in reach, ${look.width} wide and ${look.scheme}`, async () => {
      const { page, section } = await openAccount(look)
      await section.getByRole('checkbox', { name: 'declared Ltd' }).waitFor()
      await drawn(page, `account-${look.width}-${look.scheme}`)
      expect(await seriousFindings(page)).to.deep.equal([])
      await page.goto(endUrl())
      await page.getByRole('button', { name: 'End the weekly mail' }).waitFor()
      await drawn(page, `end-${look.width}-${look.scheme}`)
      expect(await seriousFindings(page)).to.deep.equal([])
      await page.close()
    })
  }

  it('ends by the button that its link leads to, without signing in', async () => {
    const { page, noise } = await stage.open(EMAIL, NARROW_DARK)
    await stage.chromium.context.clearCookies()
    await page.goto(endUrl())
    await page.getByRole('button', { name: 'End the weekly mail' }).click()
    await page.getByRole('heading', { name: 'The weekly mail has ended' }).waitFor()
    await drawn(page, 'ended')
    expect(noise).to.deep.equal([])
    await page.close()
    const account = await openAccount(WIDE)
    await account.section.getByText('You ended it.').waitFor()
    await drawn(account.page, 'account-ended')
    await account.page.close()
  })

  it('leads to its week on the Overview', async () => {
    const { page } = await stage.open(EMAIL, WIDE)
    const asked = page.waitForRequest((request) => request.url().includes('/overview?'))
    await page.goto(`${stage.url}/app/acme/overview?from=2026-11-16&to=2026-11-22`)
    const query = new URL((await asked).url()).searchParams
    expect([query.get('from'), query.get('to')]).to.deep.equal(['2026-11-16', '2026-11-22'])
    await page.close()
  })
})
