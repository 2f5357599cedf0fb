/** Alerts in a real browser: above the figures of Overview, on their own page with what was before, and the form of a webhook of the format Slack. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import type { AlertRecord } from '../../domain/alerts/alert.ts'
import { alertRecord, installRecord, rowsOf } from '../contract/fact-samples.ts'
import { LOOKS, WIDE } from './support/looks.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

const NOW_MS = Date.now()
/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']
const ADMIN = 'admin@acme.dev'

const of = { organization: 'acme', website: 'acme-site' }
const alert = (changes: Partial<AlertRecord>): AlertRecord => alertRecord({ ...of, ...changes })
const past = alert({ rule: 'MatchRateDown', value: 31, expected: 72, threshold: 20, atMs: NOW_MS - 9 * DAY_MS })
const ALERTS = [
  alert({ atMs: NOW_MS - 8 * HOUR_MS }),
  alert({ rule: 'NothingArrives', of: 'copies', value: 0, expected: 140, atMs: NOW_MS - 7 * HOUR_MS }),
  alert({ rule: 'DeliveriesFailing', value: 210, expected: 400, threshold: 20, atMs: NOW_MS - 6 * HOUR_MS }),
  alert({
    rule: 'QuotaNear',
    website: '',
    period: '2026-11',
    value: 812_000,
    expected: 1_000_000,
    threshold: 80,
    atMs: NOW_MS,
  }),
  past,
  { ...past, state: 'closed', end: 'usual', value: 70, atMs: NOW_MS - 8 * DAY_MS } as const,
]

describe('alerts on pages', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  before(async () => {
    facts = await openTestFacts()
    const installs = Array.from({ length: 40 }, (_, place) => {
      return installRecord({ ...of, receivedAtMs: NOW_MS - DAY_MS - place * HOUR_MS })
    })
    await storeCounted(facts, installs, Date.now)
    for (const [table, rows] of rowsOf(ALERTS)) await facts.insert(table, rows)
    const manifests =
      organizationOf('acme', { plan: 'Standard', members: { [ADMIN]: 'Admin' } }) + websiteOf('acme-site', 'acme')
    stage = await startPages({ manifests, facts })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  for (const look of LOOKS) {
    it(`are shown, ${look.width} wide and ${look.scheme}`, async () => {
      const { page, noise } = await stage.open(ADMIN, look)
      const shoot = async (name: string): Promise<void> => {
        expect(await seriousFindings(page), name).to.deep.equal([])
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name} fits`).to.equal(true)
        if (PICTURES === undefined) return
        mkdirSync(PICTURES, { recursive: true })
        await page.screenshot({ path: join(PICTURES, `${name}-${look.width}-${look.scheme}.png`), fullPage: true })
      }
      await page.goto(`${stage.url}/app/acme/overview`)
      await page.getByRole('list', { name: 'Open alerts' }).waitFor()
      expect(
        await page.getByRole('list', { name: 'Open alerts' }).getByRole('heading').allTextContents(),
      ).to.deep.equal(['The monthly quota is nearly used up', 'Deliveries are failing'])
      await shoot('overview')
      await page.getByRole('link', { name: '2 more alerts' }).click()
      await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
      await page.getByRole('heading', { name: 'Before' }).waitFor()
      expect(await page.getByRole('table').textContent()).to.include('It is as usual again.')
      await shoot('alerts')
      await page.goto(`${stage.url}/app/acme/webhooks/new`)
      await page.getByLabel('Messages in a Slack channel').check()
      await shoot('webhook')
      await page.close()
      expect(noise).to.deep.equal([])
    })
  }

  it('go to a channel of Slack whose address is shown nowhere', async () => {
    const { page } = await stage.open(ADMIN, WIDE)
    await page.goto(`${stage.url}/app/acme/webhooks/new`)
    await page.getByLabel('Messages in a Slack channel').check()
    await page.getByLabel('Address').fill('https://hooks.slack.com/services/T0/B0/canary')
    await page.getByLabel('An alert was opened').check()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'Open the webhook' }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.content()).not.to.include('canary')
    await page.close()
  })
})
