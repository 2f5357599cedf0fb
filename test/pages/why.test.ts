/** The pages that answer "why": figures whose every number can be followed, and one install with all that explains it. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { encodeRecord, type DeadLetter, type LogRecord } from '../../domain/records.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'
import { openInFirefox } from './support/firefox.ts'
import { seriousFindings, startPages, type Look, type PagesStage } from './support/stage.ts'
import { HOSTILE, jobOfEvent, REFUSED_EVENTS, whyFacts } from './support/why-facts.ts'
import { openWhyFacts, WHY_MANIFESTS, type WhyFacts } from './support/why-stage.ts'

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
  let why: WhyFacts
  let stage: PagesStage
  before(async () => {
    why = await openWhyFacts(records, nowMs)
    stage = await startPages({ manifests: WHY_MANIFESTS, facts: why.facts })
  })
  after(async () => {
    await stage?.stop()
    await why?.close()
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

  it('show a funnel whose numbers are those of the facts, each with a link to what it counts', async () => {
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

  it('show copied commands that several machines ran, with the page, and lead to the installs', async () => {
    await look('/app/acme/sources?by=command', 'Shared commands', [NARROW_DARK], async (page) => {
      await page.getByRole('rowheader', { name: '/docs/quickstart' }).first().waitFor()
    })
    const { page } = await stage.open('viewer@acme.dev', WIDE_LIGHT)
    await page.goto(`${stage.url}/app/acme/sources?by=command&days=90`)
    await page.getByText('These are of the last 30 days').waitFor()
    await page.getByRole('row').getByRole('link', { name: '5', exact: true }).first().click()
    await page.getByText('Matched to visit:').waitFor()
    await page.locator('.installs tbody tr').nth(4).waitFor()
    expect(await page.locator('.installs tbody tr').count()).to.equal(5)
    await page.close()
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

  it('show deliveries by destination and by cause, in the words of providers, and send failed ones again', async () => {
    const letters = REFUSED_EVENTS.map((eventId) => {
      const place = { website: 'acme-docs', organization: 'acme', destination: 'acme-ads', jobId: jobOfEvent(eventId) }
      const job = { ...jobOf({ install: { eventId } }), ...place, deadlineAtMs: nowMs + 3_600_000 }
      const letter: DeadLetter = { v: 1, job, reason: 'refused: http_400', failedAtMs: nowMs }
      return { key: job.jobId, value: encodeRecord(letter) }
    })
    await stage.eventLog.append('dead-letters', letters)
    await look('/app/acme/deliveries', 'Deliveries', [NARROW_DARK], async (page) => {
      await page.getByRole('rowheader', { name: `Analytics ${HOSTILE}` }).waitFor()
    })
    const { page, noise } = await stage.open('owner@acme.dev', NARROW_LIGHT)
    await page.goto(`${stage.url}/app/acme/deliveries`)
    const failed = page.getByRole('listitem').filter({ hasText: 'The provider refused it for good' })
    await failed.getByText('7 can still be sent.').waitFor()
    const answers = page.getByRole('region', { name: 'What providers answered' })
    await answers.getByText(`Conversion action not found ${HOSTILE}`).waitFor()
    await page.getByRole('rowheader', { name: `Analytics ${HOSTILE}` }).waitFor()
    await holdsEverywhere(page, noise)
    await failed.getByRole('button', { name: 'Send again to acme-ads' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).press('Enter')
    await page.getByText('7 sent again.').waitFor()
    const sent = await stage.eventLog.read('deliver.ga4', 0, 10)
    expect(sent.map(({ value }) => JSON.parse(value).jobId)).to.have.members(REFUSED_EVENTS.map(jobOfEvent))
    await page.close()
  })

  it('show whether log streams arrive, and have them send a test and skip pending records', async () => {
    await look('/app/acme/streams/archive', 'Stream', [NARROW_DARK], async (page) => {
      await page.getByText(/^Failing for .*: http_503; 12 records are left to send/).waitFor()
      await page.getByText(`Down for maintenance ${HOSTILE}`).waitFor()
      await page.getByText('It was too far behind, so the oldest were dropped: 7 records, from').waitFor()
    })
    const { page, noise } = await stage.open('owner@acme.dev', WIDE_LIGHT)
    await page.goto(`${stage.url}/app/acme/streams`)
    await page.getByRole('link', { name: 'Archive' }).press('Enter')
    await page.getByRole('button', { name: 'Send a test' }).press('Enter')
    await page.getByText('A test is on its way').waitFor()
    await page.getByRole('button', { name: 'Skip pending records' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Skip pending records' }).press('Enter')
    await page.getByText('They are skipped within seconds.').waitFor()
    await holdsEverywhere(page, noise)
    await page.close()
  })

  it('give a log stream another secret, which is shown once', async () => {
    const owner = await stage.signIn('owner@acme.dev')
    const webhook = { url: 'https://made.example/logs', secretRef: { name: 'archive', key: 'secret' } }
    const body = { name: 'made-logs', spec: { organizationRef: { name: 'acme' }, webhook } }
    expect(
      (await stage.ask('POST', '/api/organizations/acme/resources/LogStream', { cookies: owner, body })).status,
    ).to.equal(201)
    const { page, noise } = await stage.open('owner@acme.dev', NARROW_LIGHT)
    await page.goto(`${stage.url}/app/acme/streams/made-logs`)
    await page.getByRole('button', { name: 'Make a new secret' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await holdsEverywhere(page, noise)
    await page.close()
  })

  it('show whether webhooks arrive, what was given up, and make one whose secret is shown once', async () => {
    await look('/app/acme/streams', 'Streams and webhooks', [NARROW_LIGHT], async (page) => {
      await page.getByRole('link', { name: `News ${HOSTILE}` }).waitFor()
      await page.getByText('in 24 hours 1 delivered, 0 on their way, 1 given up').waitFor()
    })
    await look('/app/acme/webhooks/default/news', 'Webhook', [WIDE_DARK], async (page) => {
      await page.getByRole('heading', { name: 'Given up in seven days' }).waitFor()
      await page.getByText(`No room ${HOSTILE}`).waitFor()
    })
    const { page, noise } = await stage.open('owner@acme.dev', NARROW_LIGHT)
    await page.goto(`${stage.url}/app/acme/webhooks/new`)
    await page.getByLabel('Address').fill('https://made.example/hook')
    await page.getByLabel(/An install was matched/).check()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await holdsEverywhere(page, noise)
    await page.getByRole('link', { name: 'Open the webhook' }).click()
    await page.getByRole('heading', { name: 'Attempts' }).waitFor()
    expect(await page.getByText(/whsec_/).count()).to.equal(0)
    await page.close()
  })

  it('lead in Firefox, by keyboard, from the funnel to one install, its lines of Logs and their bodies', async () => {
    const { page, noise, follow, see, findings, close } = await openInFirefox(stage, 'owner@acme.dev')
    try {
      const holds = async (): Promise<void> => {
        await page.waitForFunction(`document.querySelector('.loading') === null`)
        expect(await findings()).to.deep.equal([])
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
        expect(noise).to.deep.equal([])
      }
      await page.goto(`${stage.url}/app/acme/funnel`)
      await see('main a', `${counted(7, ({ kind }) => kind === 'visit')}`)
      await holds()
      await follow('main a', 'Installed')
      await see('.installs tbody tr', 'Installed')
      await holds()
      await page.goto(`${stage.url}/app/acme/installs/acme-docs/event-picture`)
      await see('table th', 'A newer visit replaced it')
      await holds()
      await follow('main a', 'Its lines of Logs')
      await page.waitForFunction(`location.pathname.endsWith('/logs')`)
      await follow('main button', ':')
      await see('aside pre', '"')
      await holds()
      for (const address of ['match', 'sources', 'deliveries', 'streams', 'resources', 'members']) {
        await page.goto(`${stage.url}/app/acme/${address}`)
        await page.waitForSelector('main h1')
        await holds()
      }
    } finally {
      await close()
    }
  })
})

function timeOf(record: LogRecord): number {
  if (record.kind === 'visit') return record.visit.issuedAtMs
  if (record.kind === 'handoff' || record.kind === 'activation') return record.issuedAtMs
  return record.kind === 'install' ? record.install.receivedAtMs : 0
}
