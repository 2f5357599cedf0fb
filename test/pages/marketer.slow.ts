/** A new marketer, by visible links and buttons alone: from an invitation to what a campaign brought, and at which cost. */

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { WIDE } from './support/looks.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { CAMPAIGN_DAY, campaignTraffic } from './support/campaign-facts.ts'
import { startSpendWriter } from './support/spend-writer.ts'
import { startPages, type PagesStage } from './support/stage.ts'

const INSTALLS = { none: 0, three: 3, many: 3_000 } as const
type Team = keyof typeof INSTALLS
const TEAMS = ['none', 'three', 'many'] as const satisfies readonly Team[]
const COST = 600

describe('a new marketer', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  let writer: { readonly close: () => Promise<void> }
  before(async () => {
    facts = await openTestFacts()
    const launch = { source: 'google', campaign: 'launch' }
    const records = TEAMS.flatMap((organization) => {
      const installs = INSTALLS[organization]
      return campaignTraffic({
        organization,
        website: `${organization}-site`,
        ...launch,
        visits: 2 * installs,
        installs,
      })
    })
    await storeCounted(facts, records, Date.now)
    await rollUp({ facts, nowMs: Date.now })
    const manifests = TEAMS.map(
      (name) => organizationOf(name, { members: { [`${name}@acme.dev`]: 'Owner' } }) + websiteOf(`${name}-site`, name),
    )
    stage = await startPages({ manifests: manifests.join('---\n'), facts })
    writer = startSpendWriter(stage, facts)
  })
  after(async () => {
    await writer?.close()
    await stage?.stop()
    await facts?.close()
  })

  /** Accepts an invitation to a team; the Overview is what comes first, unless something is still to be set up. */
  async function join(team: Team) {
    const email = `marketer-of-${team}@acme.dev`
    const cookies = await stage.signIn(`${team}@acme.dev`)
    await stage.ask('POST', `/api/organizations/${team}/members`, { cookies, body: { email, role: 'Admin' } })
    const opened = await stage.open(email, WIDE)
    await opened.page.goto(stage.url)
    await opened.page.getByRole('button', { name: 'Join' }).click()
    const first = team === 'none' ? 'Checklist' : 'Overview'
    await opened.page.getByRole('heading', { level: 1, name: first }).waitFor()
    return opened
  }

  /** Goes on to Spend, imports what the campaign cost, and reads the first table. */
  async function spendOn(page: Page): Promise<string> {
    await page.getByRole('link', { name: 'Spend', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Spend' }).waitFor()
    const text = `day,source,campaign,amount,currency\n${CAMPAIGN_DAY},google,launch,${COST},EUR\n`
    const file = { name: 'ads.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
    await page.getByLabel('File', { exact: true }).setInputFiles(file)
    await page.getByRole('button', { name: 'Import' }).click()
    const euros = page.getByRole('region', { name: 'Spend in EUR' })
    await euros.waitFor()
    return (await euros.textContent()) ?? ''
  }

  it('learns what to do first where nothing was installed, and that spend joined nothing', async () => {
    const { page, noise } = await join('none')
    await page.getByText('1 of 8 steps are done').waitFor()
    await page.getByRole('group', { name: 'Where does the install command stand?' }).waitFor()
    expect(await spendOn(page)).to.include('Joined no visit and no install: €600.00')
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('sees where each of three installs came from, and what one cost', async () => {
    const { page, noise } = await join('three')
    const rows = page.locator('table.installs tbody tr').filter({ hasText: /google.*launch/ })
    await rows.first().waitFor()
    expect(await rows.count()).to.equal(3)
    expect(await spendOn(page)).to.include('€200.00')
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('reads at 3,000 what the campaign brought, by visits and installs, and what one cost', async () => {
    const { page, noise } = await join('many')
    const campaign = page.getByRole('region', { name: 'Campaign' }).getByRole('row').filter({ hasText: 'launch' })
    await campaign.waitFor()
    expect(await campaign.locator('td').first().textContent()).to.equal('6,000')
    expect(await campaign.locator('td').nth(1).textContent()).to.match(/^3,000/)
    const text = await spendOn(page)
    expect(text).to.include('6,000').and.to.include('€0.10')
    expect(text).to.include('3,000').and.to.include('€0.20')
    expect(noise).to.deep.equal([])
    await page.close()
  })
})
