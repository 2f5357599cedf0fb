/** The pages that answer "why": figures whose every number can be followed, and one install with all that explains it. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'

import { DAY_MS } from '../../domain/durations.ts'
import { encodeRecord, type DeadLetter, type LogRecord } from '../../domain/records.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'
import { until } from '../../fixtures/until.ts'
import { openInFirefox } from './support/firefox.ts'
import { ALL_LOOKS, IS_WHOLE, NARROW, NARROW_DARK, WIDE, WIDE_DARK, type Look } from './support/looks.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'
import { HOSTILE, HOSTILE_NAME, jobOfEvent, REFUSED_EVENTS, whyFacts } from './support/why-facts.ts'
import { openWhyFacts, WHY_MANIFESTS, type WhyFacts } from './support/why-stage.ts'

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']
/** Yesterday and today, by the clock of UTC. */
const TWO_DAYS = `from=${new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)}`

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

  /** How many records of the last days, today included, are of this kind, counted without the service. */
  function counted(days: number, isMeant: (record: LogRecord) => boolean): number {
    const midnight = Math.floor(nowMs / DAY_MS) * DAY_MS
    return records.filter((record) => isMeant(record) && timeOf(record) >= midnight - (days - 1) * DAY_MS).length
  }

  async function holdsEverywhere(page: Page, noise: readonly string[]): Promise<void> {
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
    expect(await page.locator('main img').count()).to.equal(0)
    expect(noise).to.deep.equal([])
  }

  /** Opens it as it looks in one way, or in all ways if that is wanted. */
  async function look(
    address: string,
    name: string,
    looks: readonly Look[],
    act: (page: Page) => Promise<void>,
  ): Promise<void> {
    for (const one of IS_WHOLE || PICTURES !== undefined ? ALL_LOOKS : looks) {
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
      await page
        .getByRole('link', { name: `Visited Pages were viewed, without a break of half an hour ${visits}` })
        .waitFor()
      await page.getByRole('link', { name: new RegExp(`^Copied .* ${copied} `) }).waitFor()
    })
    const { page } = await stage.open('viewer@acme.dev', WIDE)
    for (const period of [`${TWO_DAYS}&website=acme-docs`, 'period=Last7Days']) {
      await page.goto(`${stage.url}/app/acme/funnel?${period}`)
      await page.locator('.funnel .count').nth(5).waitFor()
      for (const place of [0, 1, 2, 4, 5]) {
        const step = page.locator('.funnel a').nth(place)
        const shown = numberIn(await step.locator('.count').textContent())
        expect(shown, `step ${place}`).to.be.greaterThan(0)
        expect(await rowsBehind(page, step), `step ${place}, ${period}`).to.equal(shown)
      }
    }
    // Each hour or day, as the table below its picture has it, the cut ones too.
    for (const period of [`${TWO_DAYS}&bucket=hour`, 'period=Last7Days']) {
      await page.goto(`${stage.url}/app/acme/funnel?${period}`)
      await page.getByText('As a table').nth(5).waitFor()
      for (const place of [0, 4]) {
        const chart = page.locator('figure.columns').nth(place)
        const total = numberIn(await chart.locator('strong').textContent())
        const numbers = await chart.locator('td a').allTextContents()
        expect(numbers.length).to.be.greaterThan(0)
        expect(numbers.reduce((sum, text) => sum + numberIn(text), 0)).to.equal(total)
        const index = numbers.length - 1
        const text = numbers.at(-1) ?? ''
        expect(await rowsBehind(page, chart.locator('td a').nth(index))).to.equal(numberIn(text))
      }
    }
    await page.goto(`${stage.url}/app/acme/funnel?website=acme-blog`)
    await page.getByRole('heading', { name: 'No visit in this time' }).waitFor()
    await page.close()
  })

  it('lead from a visit to its lines of Logs and to its installs', async () => {
    await look('/app/acme/visits?step=first_run', 'Visits', [NARROW_DARK], async (page) => {
      await page.getByText('Got to “Ran”').waitFor()
      await page.locator('table.visits tbody tr').first().waitFor()
    })
    const { page } = await stage.open('owner@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/visits?step=first_run`)
    const row = page.locator('table.visits tbody tr').first()
    const file = page.waitForEvent('download')
    await row.waitFor()
    await page.getByRole('link', { name: 'Export exactly these' }).click()
    expect((await file).suggestedFilename()).to.equal('visits.csv')
    await row.getByRole('link', { name: /in Logs$/ }).click()
    await page.waitForURL('**/logs?reference=*')
    for (const kind of ['Visit', 'Activation', 'Token of a command', 'Install'])
      await page.getByRole('row').filter({ hasText: kind }).first().waitFor()
    await page.goBack()
    await row.getByRole('link', { name: 'its installs' }).click()
    await page.waitForURL('**/installs?*visit=*')
    await page.locator('table.installs').getByRole('link', { name: 'First run' }).waitFor()
    await page.close()
  })

  it('count visits by two filters at once, as the list of them holds', async () => {
    const { page } = await stage.open('viewer@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/visits?step=installed&filter=source:is:newsletter`)
    await page.locator('table.visits tbody tr').first().waitFor()
    const rows = await allRows(page, page.locator('table.visits tbody tr'))
    const tile = (title: string) =>
      page
        .locator('.tile')
        .filter({ has: page.getByText(title, { exact: true }) })
        .locator('dd')
    // It goes on by itself until all is counted.
    expect(rows).to.be.greaterThan(0)
    await until(async () => numberIn(await tile('Visited').textContent()) === rows)
    expect(numberIn(await tile('Installed').textContent())).to.equal(rows)
    expect(numberIn(await tile('Ran').textContent())).to.be.lessThan(rows + 1)
    await page.goto(`${stage.url}/app/acme/visits?step=first_run&filter=source:is:nobody`)
    await page.getByText('No visit fits these filters').waitFor()
    await until(async () => (await tile('Visited').textContent()) === '0')
    await page.close()
  })

  it('say why installs have no visit, what to do about it, and which they are', async () => {
    await look('/app/acme/match', 'Match rate', [WIDE_DARK], async (page) => {
      const expired = page.getByRole('listitem').filter({ hasText: 'The visit was too old' })
      await expired.getByText('What to do').waitFor()
    })
    const { page } = await stage.open('viewer@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/match?${TWO_DAYS}`)
    await page.locator('.figures').waitFor()
    const links = page.locator('.figures a:not([download]):not(.sort)')
    const count = await links.count()
    expect(count).to.be.greaterThan(10)
    for (let place = 0; place < count; place++) {
      const shown = numberIn(await links.nth(place).textContent())
      expect(await rowsBehind(page, links.nth(place)), `link ${place}`).to.equal(shown)
    }
    await page.close()
  })

  it('show what brings installs, with the visits that each number counts', async () => {
    await look('/app/acme/sources', 'Sources', [NARROW], async (page) => {
      await page.getByRole('rowheader', { name: HOSTILE }).waitFor()
    })
    const { page } = await stage.open('viewer@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/sources?by=campaign`)
    const rows = page.getByRole('row')
    for (const name of ['launch', 'No campaign', 'Total']) {
      const numbers = rows.filter({ has: page.getByRole('rowheader', { name }) }).getByRole('link')
      await numbers.first().waitFor()
      for (const place of [0, 1, 2]) {
        const shown = numberIn(await numbers.nth(place).textContent())
        expect(await rowsBehind(page, numbers.nth(place)), `${name} ${place}`).to.equal(shown)
      }
    }
    await page.close()
  })

  it('show which installs coding agents ran, and from which pages', async () => {
    await look('/app/acme/sources?by=agent', 'Agents', [WIDE], async (page) => {
      await page.getByRole('rowheader', { name: 'claude-code' }).waitFor()
      await page.getByRole('rowheader', { name: '/install' }).first().waitFor()
    })
    const { page } = await stage.open('viewer@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/sources?by=agent`)
    const links = page.locator('.figures a:not([download]):not(.sort)')
    await links.first().waitFor()
    for (let place = 0; place < (await links.count()); place++) {
      const shown = numberIn(await links.nth(place).textContent())
      expect(await rowsBehind(page, links.nth(place)), `link ${place}`).to.equal(shown)
    }
    await page.close()
  })

  it('show copied commands that several machines ran, with the page, and lead to the installs', async () => {
    await look('/app/acme/sources?by=command', 'Shared commands', [NARROW_DARK], async (page) => {
      await page.getByRole('rowheader', { name: '/docs/quickstart' }).first().waitFor()
    })
    const { page } = await stage.open('viewer@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/sources?by=command&period=Last90Days`)
    await page.getByText('These are of the last 31 days of the period').waitFor()
    const links = page.locator('table.sources tbody tr').first().getByRole('link')
    expect(await links.allTextContents()).to.deep.equal(['5', '5'])
    for (const place of [0, 1]) expect(await rowsBehind(page, links.nth(place))).to.equal(5)
    const file = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export exactly this' }).click()
    expect((await file).suggestedFilename()).to.equal('sources.json')
    await page.close()
  })

  it('lead from the checklist, from the month and from what is live to what they count', async () => {
    const { page } = await stage.open('viewer@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/checklist?website=acme-docs`)
    for (const words of [
      'visits',
      'visits with a marker',
      'visits with a copied command',
      'reported events',
      'matched installs',
    ]) {
      const link = page.getByRole('link', { name: new RegExp(`^[\\d,]+ ${words}$`) })
      const shown = numberIn(await link.textContent())
      expect(shown).to.be.greaterThan(0)
      expect(await rowsBehind(page, link), words).to.equal(shown)
    }
    await page.goto(`${stage.url}/app/acme/usage`)
    const days = page.locator('table.days tbody tr').last().getByRole('link')
    await days.first().waitFor()
    for (let place = 0; place < (await days.count()); place++) {
      const shown = numberIn(await days.nth(place).textContent())
      expect(await rowsBehind(page, days.nth(place)), `day ${place}`).to.equal(shown)
    }
    await page.goto(`${stage.url}/app/acme/live`)
    const visits = page.locator('.tile').filter({ hasText: 'Visits in 24 hours' }).getByRole('link')
    const shown = numberIn(await visits.textContent())
    expect(await rowsBehind(page, visits)).to.equal(shown)
    await page.close()
  })

  it('draw charts and pictures that stand out from their card, in both schemes', async () => {
    for (const look of [WIDE, WIDE_DARK]) {
      const { page } = await stage.open('viewer@acme.dev', look)
      await page.goto(`${stage.url}/app/acme/funnel`)
      await page.locator('.columns .some:not(.part)').first().waitFor()
      // In the last hour of a day the period of whole hours cuts no day; in the first ones nothing may have come in the part of a day.
      const hasPart = (await page.locator('.columns .some.part').count()) > 0
      const hour = new Date().getUTCHours()
      if (hour >= 6 && hour < 23) expect(hasPart).to.equal(true)
      const drawn = [
        '.columns .some:not(.part) fill',
        ...(hasPart ? ['.columns .some.part stroke'] : []),
        '.funnel .share-bar > span backgroundColor',
      ]
      const contrasts = await contrastsOf(page, '.columns', drawn)
      await page.goto(`${stage.url}/app/acme/match`)
      await page.locator('.share-bar.quiet > span').first().waitFor()
      Object.assign(contrasts, await contrastsOf(page, '.reasons .card', ['.share-bar.quiet > span backgroundColor']))
      await page.goto(`${stage.url}/app/acme/installs/acme-docs/event-picture`)
      await page.locator('.attempt.bad path').first().waitFor()
      const picture = [
        '.visit.chosen line stroke',
        '.visit:not(.chosen) circle stroke',
        '.picture .install fill',
        '.picture .mark fill',
        '.attempt.good fill',
        '.attempt.bad path stroke',
        '.attempt.next path stroke',
        '.delivery .deadline stroke',
        '.axis text fill',
        '.axis .middle stroke',
      ]
      Object.assign(contrasts, await contrastsOf(page, '.picture', picture))
      expect(Object.keys(contrasts)).to.have.lengthOf(drawn.length + 1 + picture.length)
      for (const [what, contrast] of Object.entries(contrasts))
        expect(contrast, `${what}, ${look.scheme}`).to.be.at.least(LEAST_CONTRAST)
      await page.close()
    }
  })

  it('list installs by what the address says, and lead on to each', async () => {
    await look('/app/acme/installs?resolution=unmatched&reason=expired', 'Installs filtered', [WIDE], async (page) => {
      await page.getByText('Why not: The visit was too old').waitFor()
      await page.getByRole('link', { name: 'Installed' }).first().waitFor()
    })
    await look('/app/acme/installs', 'Installs', [NARROW_DARK], async (page) => {
      await page.getByText(HOSTILE).first().waitFor()
    })
    const { page } = await stage.open('owner@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/installs?filter=path:is:homebrew&filter=source:is:google`)
    const file = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export exactly these' }).click()
    expect((await file).suggestedFilename()).to.equal('installs.csv')
    await page.getByRole('link', { name: 'Installed' }).first().press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Installed: homebrew' }).waitFor()
    await page.close()
  })

  it('show one install as a picture, in words, and as it came', async () => {
    await look('/app/acme/installs/acme-docs/event-picture', 'Install', [WIDE, NARROW_DARK], async (page) => {
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
    const { page } = await stage.open('viewer@acme.dev', WIDE)
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
      await page.getByRole('rowheader', { name: `Analytics ${HOSTILE_NAME}` }).waitFor()
    })
    const { page, noise } = await stage.open('owner@acme.dev', NARROW)
    await page.goto(`${stage.url}/app/acme/deliveries`)
    const failed = page.getByRole('listitem').filter({ hasText: 'The provider refused it for good' })
    await failed.getByText('7 can still be sent.').waitFor()
    const answers = page.getByRole('region', { name: 'What providers answered' })
    await answers.getByText(`Conversion action not found ${HOSTILE}`).waitFor()
    await page.getByRole('rowheader', { name: `Analytics ${HOSTILE_NAME}` }).waitFor()
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
    const { page, noise } = await stage.open('owner@acme.dev', WIDE)
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
    const { page, noise } = await stage.open('owner@acme.dev', NARROW)
    await page.goto(`${stage.url}/app/acme/streams/made-logs`)
    await page.getByRole('button', { name: 'Make a new secret' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await holdsEverywhere(page, noise)
    await page.close()
  })

  it('show whether webhooks arrive, what was given up, and make one whose secret is shown once', async () => {
    await look('/app/acme/streams', 'Streams and webhooks', [NARROW], async (page) => {
      await page.getByRole('link', { name: `News ${HOSTILE_NAME}` }).waitFor()
      await page.locator('.status.warn', { hasText: 'in 24 hours 1 delivered, 0 on their way, 1 given up' }).waitFor()
    })
    await look('/app/acme/webhooks/default/news', 'Webhook', [WIDE_DARK], async (page) => {
      await page.getByRole('heading', { name: 'Given up in seven days' }).waitFor()
      await page.getByText(`No room ${HOSTILE}`).waitFor()
    })
    const { page, noise } = await stage.open('owner@acme.dev', NARROW)
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
    const { page, noise, follow, go, see, findings, close } = await openInFirefox(stage, 'owner@acme.dev')
    try {
      const holds = async (): Promise<void> => {
        await page.waitForFunction(`document.querySelector('.loading') === null`)
        expect(await findings()).to.deep.equal([])
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
        expect(noise).to.deep.equal([])
      }
      await page.goto(`${stage.url}/app/acme/live`)
      await see('h1', 'Live')
      await go('f')
      await see('main a', `${counted(7, ({ kind }) => kind === 'visit')}`)
      await holds()
      await follow('main a', 'Installed')
      await see('.visits tbody tr', 'Installed')
      await holds()
      await follow('.visits a', 'its installs')
      await see('.installs tbody tr', 'Installed')
      await holds()
      await go('i')
      await follow('.installs a[href$="/event-picture"]', 'Installed')
      await see('table th', 'A newer visit replaced it')
      await holds()
      await follow('main a', 'Its lines of Logs')
      await page.waitForFunction(`location.pathname.endsWith('/logs')`)
      await follow('main button', ':')
      await see('aside pre', '"')
      await holds()
      await page.keyboard.press('Escape')
      await page.waitForFunction(`document.querySelector('aside') === null`)
      expect(await page.evaluate('document.activeElement.closest("table.lines") !== null'), 'focus').to.equal(true)
      for (const [letter, title] of [
        ['t', 'Match rate'],
        ['s', 'Sources'],
        ['d', 'Deliveries'],
        ['e', 'Streams and webhooks'],
        ['r', 'Resources'],
        ['m', 'Members'],
      ] as const) {
        await go(letter)
        await see('main h1', title)
        await holds()
      }
    } finally {
      await close()
    }
  })
})

/** Only the digits. */
function numberIn(text: string | null): number {
  return Number(/[\d,]+/.exec(text ?? '')?.[0].replaceAll(',', '') ?? Number.NaN)
}

/** How many rows a list has, once its older ones are there too: a busy machine shows it in more pieces, of which some have no rows. */
async function allRows(page: Page, rows: Locator): Promise<number> {
  const older = page.getByRole('button', { name: /^Older/ })
  while ((await older.count()) > 0) {
    const answered = page.waitForResponse((response) => new URL(response.url()).searchParams.has('cursor'))
    await older.click()
    await answered
    await until(
      async () => (await older.count()) === 0 || (await older.isEnabled({ timeout: 1_000 }).catch(() => false)),
    )
  }
  return rows.count()
}

/** Follows the link, counts the rows of the whole list, and goes back. */
async function rowsBehind(page: Page, link: Locator): Promise<number> {
  const from = page.url()
  // Some stand in the table below a chart.
  await page.evaluate(`document.querySelectorAll('main details').forEach((each) => (each.open = true))`)
  await link.click()
  await page.waitForURL(/\/(?:visits|installs)\?/)
  await page.locator('.loading').waitFor({ state: 'detached' })
  const rows = page.locator('table.installs tbody tr')
  await rows.or(page.locator('.empty')).first().waitFor()
  const count = await allRows(page, rows)
  await page.goBack()
  await page.waitForURL(from)
  await page.locator('.loading').waitFor({ state: 'detached' })
  await link.waitFor({ state: 'attached' })
  return count
}

/** What people can tell apart without reading it: WCAG 1.4.11. */
const LEAST_CONTRAST = 3

/** The contrast of each "selector property" with the background of `ground`. */
function contrastsOf(page: Page, ground: string, drawn: readonly string[]): Promise<Record<string, number>> {
  return page.evaluate<Record<string, number>>(`(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d')
    const luminance = (color) => {
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = color
      canvas.fillRect(0, 0, 1, 1)
      const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) => {
        const share = part / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const of = (selector, property) => luminance(getComputedStyle(document.querySelector(selector))[property])
    const back = of(${JSON.stringify(ground)}, 'backgroundColor')
    return Object.fromEntries(${JSON.stringify(drawn)}.map((each) => {
      const place = each.lastIndexOf(' ')
      const front = of(each.slice(0, place), each.slice(place + 1))
      return [each, (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05)]
    }))
  })()`)
}

function timeOf(record: LogRecord): number {
  if (record.kind === 'visit') return record.visit.issuedAtMs
  if (record.kind === 'handoff' || record.kind === 'activation') return record.issuedAtMs
  return record.kind === 'install' ? record.install.receivedAtMs : 0
}
