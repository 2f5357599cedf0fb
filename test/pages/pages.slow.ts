/** Every page in a real browser: it is shown, nothing is blocked or logged, and axe finds nothing serious. */

import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page, Route } from 'playwright-core'

import { trafficOfDay } from '../../bin/example-data/traffic.ts'
import { DAY_MS, hourOf } from '../../domain/durations.ts'
import type { LogRecord } from '../../domain/records.ts'
import { LIMITS } from '../../domain/limits.ts'
import { ROLE_ACTIONS } from '../../domain/people/roles.ts'
import { PAGES } from '../../pages/shell/navigation.ts'
import { activityRecord, requestRecord, store } from '../contract/fact-samples.ts'
import { until } from '../../fixtures/until.ts'
import type { StripeStandIn } from '../../fixtures/service/stripe.ts'
import { billingOver, startStripe } from '../dashboard/support/billing.ts'
import { ALL_LOOKS, IS_WHOLE, LOOKS, NARROW, NARROW_DARK, WIDE, WIDE_DARK } from './support/looks.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { otherWorld, REPLACEMENTS, TRANSLATED, translation } from './support/other-world.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

const WEBSITE = `---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: acme-docs }
spec: { organizationRef: { name: acme }, displayName: Documentation, primaryOrigin: 'https://docs.acme.example', providers: [ga4] }
`

/** What strangers may send: markup, right to left, four-byte characters. */
const HOSTILE = '<img src=x onerror=alert(1)> \u202eabc \u{1f600}'

function requestOf(index: number) {
  const receivedAtMs = Date.now() - index * 40_000
  const [path, status, code] = (
    [
      ['/v1/visits', 201, ''],
      ['/v1/visits/activate', 200, ''],
      ['/v1/events', 200, ''],
      ['/v1/visits', 400, 'invalid_field'],
    ] as const
  )[index % 4]!
  return requestRecord({
    website: 'acme-docs',
    organization: 'acme',
    receivedAtMs,
    path,
    status,
    code,
    origin: 'https://docs.acme.example',
    id: receivedAtMs.toString(16).padStart(12, '0') + index.toString(16).padStart(16, '0'),
    body: JSON.stringify({ project: 'acme-docs', url: HOSTILE }),
  })
}

const LATEST = { website: 'acme-docs', organization: 'acme', path: '/v1/handoffs', status: 200, code: '' }

const TRIAL = { website: 'trial-site', organization: 'trial' }

/** The traffic of the 24 hours before this one as `npm run -s example-data` fills it in: Live looks back so far at any time of the day. */
function madeUp(): readonly LogRecord[] {
  const untilMs = hourOf(Date.now())
  const dayMs = untilMs - DAY_MS
  const filledIn = { ...TRIAL, type: 'example_data', subject: TRIAL.website, atMs: Date.now() } as const
  return [...trafficOfDay({ ...TRIAL, seed: 1, dayMs, untilMs, keyId: 3 }), activityRecord(filledIn)]
}
/** Whether an element has the focus, evaluated in its page. */
const HAS_FOCUS = (element: unknown): boolean =>
  element ===
  (globalThis as unknown as { readonly document: { readonly activeElement: unknown } }).document.activeElement

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

describe('the pages', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: PagesStage
  let stripe: StripeStandIn
  before(async () => {
    const manifests = organizationOf('acme', {
      members: { 'owner@acme.dev': 'Owner', 'viewer@acme.dev': 'Viewer', 'admin@acme.dev': 'Admin' },
    })
    const trial =
      organizationOf('trial', { members: { 'trial@acme.dev': 'Owner' } }) + websiteOf(TRIAL.website, 'trial')
    facts = await openTestFacts()
    stripe = await startStripe(Date.now)
    const { url } = stripe
    stage = await startPages({
      manifests: `${manifests}${WEBSITE}---\n${trial}`,
      facts,
      supportMail: 'help@whence.test',
      billing: () => billingOver(url),
      isMeasured: true,
    })
    await store(facts, [...Array.from({ length: 40 }, (_, index) => requestOf(index)), ...madeUp()])
  })
  after(async () => {
    await stage?.stop()
    await stripe?.close()
    await facts?.close()
  })

  PAGES.forEach(({ to, title }, index) => {
    for (const look of IS_WHOLE ? ALL_LOOKS : [ALL_LOOKS[index % ALL_LOOKS.length]!]) {
      it(`${title} is shown, ${look.width} wide and ${look.scheme}`, async () => {
        const { page, noise } = await stage.open('owner@acme.dev', look)
        await page.goto(stage.url + to.replace('$organization', 'acme'))
        await page.getByRole('heading', { level: 1, name: title }).waitFor()
        await page.locator('.loading').waitFor({ state: 'detached' })
        if (PICTURES !== undefined) {
          mkdirSync(PICTURES, { recursive: true })
          await page.screenshot({ path: join(PICTURES, `${title}-${look.width}-${look.scheme}.png`), fullPage: true })
        }
        expect(await page.title()).to.equal(`${title} · Whence`)
        expect(await seriousFindings(page)).to.deep.equal([])
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect(overflow, 'scrolls sideways').to.be.at.most(0)
        expect(noise).to.deep.equal([])
        await page.close()
      })
    }
  })

  it('give their lists as files for a spreadsheet', async () => {
    for (const [organization, list, head] of [
      ['trial', 'activity', 'time,what,message,about,by,website'],
      ['acme', 'members', 'who,role,state'],
      ['acme', 'logs', 'time,what,method,path,destination,website,status,code,milliseconds,request'],
    ] as const) {
      const email = organization === 'trial' ? 'trial@acme.dev' : 'owner@acme.dev'
      const { page, noise } = await stage.open(email, WIDE)
      await page.goto(`${stage.url}/app/${organization}/${list}`)
      const file = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Download as CSV' }).click()
      const download = await file
      expect(download.suggestedFilename()).to.equal(`${list}.csv`)
      const [first, ...lines] = (await readFile(await download.path(), 'utf8')).trim().split(/\r?\n/)
      expect(first).to.equal(head)
      expect(lines.length).to.be.greaterThan(0)
      expect(noise).to.deep.equal([])
      await page.close()
    }
  })

  it('show what strangers sent as text, with everything that is known of one line', async () => {
    const { page, noise } = await stage.open('viewer@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/logs?status=4xx`)
    await page.getByRole('button', { name: /:/ }).first().click()
    const panel = page.getByRole('complementary', { name: 'One line of Logs' })
    await panel.locator('pre').waitFor()
    expect(await panel.locator('pre').first().textContent()).to.include(HOSTILE)
    expect(await page.locator('main img').count()).to.equal(0)
    expect(await panel.textContent()).to.include('invalid_field')
    expect(await seriousFindings(page)).to.deep.equal([])
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, 'Line-1280-light.png') })
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('open a line by keyboard, whose panel has the focus until Escape gives it back', async () => {
    for (const address of ['logs', 'live']) {
      const { page, noise } = await stage.open('viewer@acme.dev', WIDE)
      await page.goto(`${stage.url}/app/acme/${address}`)
      const rows = page.locator('table.lines').getByRole('button')
      await rows.nth(1).focus()
      await page.keyboard.press('Enter')
      const panel = page.getByRole('complementary', { name: 'One line of Logs' })
      await panel.locator('h3').first().waitFor()
      await page.keyboard.press('Tab')
      expect(await panel.getByRole('button', { name: 'Close' }).evaluate(HAS_FOCUS)).to.equal(true)
      await page.keyboard.press('Escape')
      await panel.waitFor({ state: 'detached' })
      expect(await rows.nth(1).evaluate(HAS_FOCUS)).to.equal(true)
      // A line that replaces another gives the focus back to its own row.
      await rows.nth(2).click()
      await rows.nth(3).click()
      await panel.waitFor()
      await panel.getByRole('button', { name: 'Close' }).press('Enter')
      await until(() => rows.nth(3).evaluate(HAS_FOCUS))
      expect(noise).to.deep.equal([])
      await page.close()
    }
  })

  it('have a menu on a phone that covers the page, scrolls to its end, and closes', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const { page, noise } = await stage.open('viewer@acme.dev', { width: 390, scheme })
      await page.goto(`${stage.url}/app/acme/usage`)
      const menu = page.getByRole('navigation', { name: 'Pages' })
      const button = page.getByRole('button', { name: 'Navigation' })
      for (const height of [844, 480]) {
        await page.setViewportSize({ width: 390, height })
        await button.click()
        const box = await menu.boundingBox()
        expect(Math.round((box?.y ?? 0) + (box?.height ?? 0)), 'where it ends').to.equal(height)
        const last = menu.getByRole('link').last()
        await last.scrollIntoViewIfNeeded()
        const end = await last.boundingBox()
        expect((end?.y ?? height) + (end?.height ?? 0), 'where its last link ends').to.be.at.most(height)
        if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `Menu-${height}-${scheme}.png`) })
        expect(await seriousFindings(page)).to.deep.equal([])
        await page.keyboard.press('Escape')
        await menu.waitFor({ state: 'hidden' })
        expect(await button.evaluate(HAS_FOCUS)).to.equal(true)
      }
      await button.click()
      await menu.getByRole('link', { name: 'Plan and usage' }).click()
      await menu.waitFor({ state: 'hidden' })
      expect(noise).to.deep.equal([])
      await page.close()
    }
  })

  it('lead to their filter by one key', async () => {
    const { page } = await stage.open('viewer@acme.dev', WIDE)
    for (const address of ['funnel', 'match', 'sources', 'deliveries', 'installs', 'logs', 'activity']) {
      await page.goto(`${stage.url}/app/acme/${address}`)
      await page.locator('main [data-filter]').first().waitFor()
      await page.locator('.loading').waitFor({ state: 'detached' })
      await page.keyboard.press('/')
      expect(await page.locator('main [data-filter]').first().evaluate(HAS_FOCUS), address).to.equal(true)
    }
    await page.close()
  })

  it('say what every role may do, and how this session began and ends', async () => {
    const { page } = await stage.open('owner@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/members`)
    const roles = page.getByRole('region', { name: 'What each role may do' })
    const shown = await roles.innerText()
    for (const { what } of Object.values(ROLE_ACTIONS)) expect(shown).to.include(what)
    await page.goto(`${stage.url}/app/acme/account`)
    const session = page.getByRole('region', { name: 'This session' })
    await session.getByText('by a link from the operator of the service').waitFor()
    const times = await session.locator('time').all()
    const moments = await Promise.all(
      times.map(async (time) => Date.parse((await time.getAttribute('datetime')) ?? '')),
    )
    expect(moments).to.have.length(2)
    expect(moments[1]! - moments[0]!).to.equal(LIMITS.dashboardSessionMs)
    await session.getByRole('button', { name: 'Sign out here' }).click()
    await page.getByLabel('E-mail address').waitFor()
    await page.close()
  })

  it('keep their filters only in the address', async () => {
    const { page } = await stage.open('viewer@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/logs`)
    await page.getByRole('table').waitFor()
    const all = await page.locator('tbody tr').count()
    await page.getByRole('combobox', { name: 'Status' }).or(page.getByLabel('Status')).first().click()
    await page.getByRole('option', { name: '4xx' }).click()
    await page.waitForURL('**/logs?status=4xx')
    const rows = page.locator('tbody tr')
    await until(async () => {
      const count = await rows.count()
      return count > 0 && count < all
    })
    const narrowed = await page.locator('tbody tr').count()
    await page.reload()
    await page.locator('tbody tr').first().waitFor()
    expect(await page.locator('tbody tr').count()).to.equal(narrowed)
    await page.close()
  })

  it('show what another policy would have decided, with sources that strangers named as text', async () => {
    const asked = { website: 'acme-docs', id: 'replay-one', organization: 'acme', asked_at: Date.now() }
    const place = { log_topic: 'replays', log_partition: 0, log_offset: 0, row_version: 1, retention_days: 7 }
    const period = { since: Date.now() - 86_400_000, until: Date.now() }
    await facts.insert('decision_replays', [
      {
        ...asked,
        ...place,
        ...period,
        policy: 'first_visit',
        window_ms: 30 * 86_400_000,
        is_tokens_only: false,
        session: '',
      },
    ])
    const change = {
      eventId: 'event-one',
      receivedAtMs: Date.now(),
      visitId: 'a',
      replayedVisitId: 'b',
      selectionPolicy: 'latest_visit',
      source: 'search',
      replayedPolicy: 'first_visit',
      replayedSource: HOSTILE,
    }
    const sources = [
      { source: 'search', lost: 1, gained: 0 },
      { source: HOSTILE, lost: 0, gained: 1 },
    ]
    const result = {
      installs: 4,
      matched: 2,
      replayedMatched: 3,
      notDecided: 0,
      changed: 1,
      sources,
      changes: [change],
    }
    await facts.insert('decision_replay_results', [
      {
        organization: 'acme',
        website: 'acme-docs',
        id: 'replay-one',
        made_at: Date.now(),
        state: 'done',
        installs: 4,
        reached: period.until,
        result: JSON.stringify(result),
        retention_days: 7,
        row_version: 1,
      },
    ])
    for (const look of LOOKS) {
      const { page, noise } = await stage.open('viewer@acme.dev', look)
      await page.goto(`${stage.url}/app/acme/what-if`)
      await page.getByRole('link', { name: /\d/ }).last().click()
      await page.getByText('75.0 %').waitFor()
      expect(await page.locator('main').textContent())
        .to.include('50.0 %')
        .and.to.include(HOSTILE)
      expect(await page.locator('main img').count()).to.equal(0)
      expect(await seriousFindings(page)).to.deep.equal([])
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      expect(overflow, 'scrolls sideways').to.be.at.most(0)
      if (PICTURES !== undefined)
        await page.screenshot({ path: join(PICTURES, `Outcome-${look.width}-${look.scheme}.png`), fullPage: true })
      expect(noise).to.deep.equal([])
      await page.close()
    }
  })

  it('cancel a replay that waits, for Admins and not for Viewers, and say that it was cancelled', async () => {
    const place = { log_topic: 'replays', log_partition: 0, log_offset: 1, row_version: 1, retention_days: 7 }
    const key = { organization: 'acme', website: 'acme-docs', id: 'replay-two' }
    await facts.insert('decision_replays', [
      {
        ...key,
        ...place,
        asked_at: Date.now(),
        since: 1,
        until: 2,
        policy: 'first_visit',
        window_ms: 30 * 86_400_000,
        is_tokens_only: false,
        session: '',
      },
    ])
    const address = `${stage.url}/app/acme/what-if?replay=${key.id}`
    const viewer = await stage.open('viewer@acme.dev', WIDE)
    await viewer.page.goto(address)
    await viewer.page.getByText('Begins within seconds.').waitFor()
    expect(await viewer.page.getByRole('button', { name: 'Cancel' }).count()).to.equal(0)
    await viewer.page.close()
    const { page, noise } = await stage.open('admin@acme.dev', WIDE)
    await page.goto(address)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('It stops within seconds.').waitFor()
    await facts.insert('decision_replay_results', [
      {
        ...key,
        made_at: Date.now(),
        state: 'failed',
        installs: 0,
        reached: 1,
        retention_days: 7,
        row_version: 1,
        result: JSON.stringify({ starts: 1, failure: 'cancelled' }),
      },
    ])
    await page.getByText('It was cancelled, and has no result.').waitFor()
    await page.getByRole('cell', { name: 'cancelled' }).waitFor()
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('go on after the browser has translated them, and show what is new', async () => {
    const link = (name: RegExp) => (page: Page) => page.getByRole('link', { name }).first().click()
    const button = (name: RegExp) => (page: Page) =>
      page.getByRole('main').getByRole('button', { name }).first().click()
    const option =
      (name: string, label = 'Status') =>
      async (page: Page) => {
        await page.getByRole('combobox', { name: label }).or(page.getByLabel(label)).first().click()
        await page.getByRole('option', { name }).click()
      }
    const ways: readonly (readonly [string, readonly ((page: Page) => Promise<void>)[]])[] = [
      ...['funnel', 'sources'].map(
        (address) =>
          [`trial/${address}`, [option('Today', 'Period'), option('28 days', 'Period'), button(/Copy link/)]] as const,
      ),
      ['acme/logs', [option('4xx'), button(/:/), button(/Copy as curl/), button(/Close/)]],
      ['trial/resources', [link(/New.*website/)]],
      ['acme/members', [button(/Invite/)]],
    ]
    const untranslated =
      "[...document.querySelectorAll('code, pre, kbd')].filter((each) => !each.closest('[translate=no]')).length"
    for (const [address, steps] of ways) {
      const email = address.startsWith('trial') ? 'trial@acme.dev' : 'owner@acme.dev'
      const plain = await stage.open(email, WIDE)
      const { page, noise } = await stage.open(email, WIDE)
      const textOf = async (shown: Page) =>
        ((await shown.locator('main').textContent()) ?? '').replaceAll(TRANSLATED, '')
      for (const each of [plain.page, page]) {
        await each.goto(`${stage.url}/app/${address}`)
        await each.locator('main h1').waitFor()
        await each.locator('.loading').waitFor({ state: 'detached' })
      }
      const inOtherWorld = await otherWorld(page)
      for (const step of steps) {
        await until(async () => (await textOf(page)) === (await textOf(plain.page)))
        await step(plain.page)
        await inOtherWorld(translation('body', REPLACEMENTS.replaced))
        expect(await page.locator('main font').count(), 'texts that are translated').to.be.above(0)
        await step(page)
      }
      await until(async () => (await textOf(page)) === (await textOf(plain.page)))
      expect(await page.evaluate(untranslated), 'code that would be translated').to.equal(0)
      expect(noise, address).to.deep.equal([])
      await page.close()
      await plain.page.close()
    }
  })

  it('send a support request with what was shown, and only on request', async () => {
    const { page, noise } = await stage.open('viewer@acme.dev', NARROW)
    await page.goto(`${stage.url}/app/acme/support`)
    await page.getByRole('textbox').fill('Where are my figures?')
    const shown = await page.locator('pre').textContent()
    expect(shown).to.include('"role": "Viewer"')
    await page.getByRole('button', { name: 'Send the request' }).click()
    await page.getByText('Your request is on its way').waitFor()
    await until(async () => stage.mails.some((mail) => mail.includes('Where are my figures?')))
    const mail = stage.mails.find((each) => each.includes('Where are my figures?')) ?? ''
    for (const line of shown?.split('\n') ?? []) expect(mail).to.include(line.trim())
    await page.getByRole('button', { name: 'Write another one' }).click()
    await page.getByRole('checkbox').uncheck()
    await page.getByRole('textbox').fill('And my installs?')
    await page.getByRole('button', { name: 'Send the request' }).click()
    await until(async () => stage.mails.some((each) => each.includes('And my installs?')))
    const second = stage.mails.find((each) => each.includes('And my installs?')) ?? ''
    expect(second).not.to.include('"role"')
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('offer plans to an owner whose organisation is managed here, and say why not to others', async () => {
    const spec = { displayName: 'Paying', plan: 'Free' }
    await stage.writer.create({ kind: 'Organization', namespace: 'default', name: 'paying', spec })
    const member = { organizationRef: { name: 'paying' }, email: 'owner@acme.dev', role: 'Owner' }
    await stage.writer.create({ kind: 'Member', namespace: 'default', name: 'paying-owner', spec: member })
    const { page, noise } = await stage.open('owner@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/usage`)
    await page.getByText('managed elsewhere').waitFor()
    await page.goto(`${stage.url}/app/paying/usage`)
    await page.getByRole('button', { name: 'Subscribe to Enterprise' }).waitFor()
    expect(await page.getByRole('button', { name: 'Subscribe to Free' }).count()).to.equal(0)
    expect(await seriousFindings(page)).to.deep.equal([])
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, 'Billing.png'), fullPage: true })
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('keep working in eight tabs of one browser, which opens few connections to one service', async () => {
    const { page: first } = await stage.open('viewer@acme.dev', WIDE)
    const tabs = [first]
    while (tabs.length < 8) tabs.push(await stage.chromium.context.newPage())
    for (const tab of tabs) {
      await tab.goto(`${stage.url}/app/acme/live`)
      await tab.locator('.pulse:is([data-state=live], [data-state=polling])').waitFor()
    }
    await store(facts, [requestRecord({ ...LATEST, receivedAtMs: Date.now() })])
    for (const tab of tabs) {
      await tab.bringToFront()
      await tab.getByText(LATEST.path).first().waitFor()
      expect(await tab.evaluate<number>(`fetch('/api/me').then(({ status }) => status)`)).to.equal(200)
    }
    for (const tab of tabs) await tab.close()
  })

  it('say what became of new lines: polled without a stream, not readable, and no longer allowed', async () => {
    const { page } = await stage.open('viewer@acme.dev', WIDE)
    const polls: string[] = []
    let status = 200
    await page.route('**/logs/tail?*', (route) => route.fulfill({ status: 429, body: '{"error":"rate_limited"}' }))
    await page.goto(`${stage.url}/app/acme/logs?since=1&path=/v1/visits`)
    await page.locator('table.lines').waitFor()
    await page.route('**/acme/logs?*', async (route) => {
      polls.push(route.request().url())
      if (status === 200) return route.continue()
      await route.fulfill({ status, body: '{"error":"whatever"}' })
    })
    await page.getByRole('button', { name: 'Follow' }).click()
    await page.getByText('New lines appear here every five seconds').waitFor()
    expect(new URL(polls[0] ?? '').searchParams.getAll('since')).to.have.lengthOf(1)
    expect(new URL(polls[0] ?? '').searchParams.get('path')).to.equal('/v1/visits')
    status = 503
    await page.getByText('New lines cannot be read at the moment').waitFor()
    status = 401
    await page.getByText('Ended: you are signed out').waitFor()
    const asked = polls.length
    await page.waitForTimeout(6_000)
    expect(polls.length, 'nobody asks on').to.equal(asked)
    await page.close()
  })

  it('say on Live that its figures cannot be read, while new lines still come', async () => {
    const { page } = await stage.open('viewer@acme.dev', NARROW_DARK)
    await page.route('**/acme/funnel*', (route) => route.fulfill({ status: 503, body: '{"error":"unavailable"}' }))
    await page.goto(`${stage.url}/app/acme/live`)
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).to.contain('A part of the service is unavailable')
    await page.locator('.pulse[data-state=live]').waitFor()
    expect(await seriousFindings(page)).to.deep.equal([])
    await page.close()
  })

  it('end a read of figures that somebody stops, and ask again on request', async () => {
    const { page, noise } = await stage.open('viewer@acme.dev', NARROW)
    const held: Route[] = []
    const failed: string[] = []
    page.on('requestfailed', (request) => failed.push(new URL(request.url()).pathname))
    await page.route('**/api/organizations/acme/funnel*', (route) => void held.push(route))
    await page.goto(`${stage.url}/app/acme/funnel`)
    await page.getByText('Loading the funnel takes longer than usual').waitFor()
    expect(await seriousFindings(page)).to.deep.equal([])
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped.').waitFor()
    await until(() => failed.includes('/api/organizations/acme/funnel'))
    expect(held).to.have.lengthOf(1)
    await page.getByRole('button', { name: 'Ask again' }).click()
    await until(() => held.length === 2)
    await held[1]?.continue()
    await page.getByRole('heading', { name: 'No visit in this time' }).waitFor()
    expect(await page.getByRole('button', { name: 'Stop' }).count()).to.equal(0)
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('search bodies step by step by themselves, say how far they are, and stop on request', async () => {
    const { page, noise } = await stage.open('viewer@acme.dev', WIDE_DARK)
    let steps = 0
    let holds = false
    await page.route('**/api/organizations/acme/logs?*text=*', async (route) => {
      steps += 1
      // The tenth one never comes: it is the one that is stopped.
      if (steps === 10) return void (holds = true)
      const body = { records: [], searchedBackTo: Date.now() - steps * 3_600_000, next: `step-${steps}` }
      await route.fulfill({ json: body })
    })
    await page.goto(`${stage.url}/app/acme/logs?text=nothing-like-this`)
    await page.getByText('Searching … done back to').waitFor()
    await until(() => holds)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Searched back to').waitFor()
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(steps).to.equal(10)
    await page.getByRole('button', { name: 'Older lines' }).click()
    await until(() => steps > 12)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Older lines' }).waitFor()
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('say wherever they count made-up traffic, which completes no step of the checklist', async () => {
    const { page, noise } = await stage.open('trial@acme.dev', NARROW_DARK)
    await page.goto(`${stage.url}/app/trial/checklist`)
    await page.getByRole('heading', { level: 1, name: 'Checklist' }).waitFor()
    await page.getByText('Made-up traffic completes no step here').waitFor()
    await page.getByText('1 of 8 steps are done').waitFor()
    expect(await seriousFindings(page)).to.deep.equal([])
    for (const address of [
      'overview',
      'live',
      'funnel',
      'match',
      'sources',
      'sources?by=agent',
      'sources?by=command',
    ]) {
      await page.goto(`${stage.url}/app/trial/${address}`)
      await page.getByText('These numbers count made-up traffic, too.').waitFor()
    }
    expect(await seriousFindings(page)).to.deep.equal([])
    await page.goto(`${stage.url}/app/trial/funnel?period=Last28Days`)
    await page.getByText('made-up.example').waitFor()
    expect(noise).to.deep.equal([])
    await page.close()
  })

  it('receive somebody who is invited, and who is not signed in yet', async () => {
    const cookies = await stage.signIn('owner@acme.dev')
    const body = { email: 'guest@acme.dev', role: 'Viewer' }
    await stage.ask('POST', '/api/organizations/acme/members', { cookies, body })
    const secret = (): string | undefined => /#invitation=([0-9a-f]+)/.exec(stage.mails.at(-1) ?? '')?.[1]
    await until(() => secret() !== undefined)
    for (const look of LOOKS) {
      const { page, noise } = await stage.open('guest@acme.dev', look)
      const holds = async (): Promise<void> => {
        expect(await seriousFindings(page)).to.deep.equal([])
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect(overflow, 'scrolls sideways').to.be.at.most(0)
      }
      await page.goto(stage.url)
      await page.getByRole('button', { name: 'Join' }).waitFor()
      await holds()
      expect(noise).to.deep.equal([])
      await stage.chromium.context.clearCookies()
      for (const address of ['/sign-in', `/sign-in#invitation=${secret()}`]) {
        await page.goto('about:blank')
        await page.goto(stage.url + address)
        await page.locator('#by-mail button').waitFor()
        await holds()
      }
      await page.goto('about:blank')
      await page.goto(`${stage.url}/sign-in#link=${'a'.repeat(43)}`)
      await page.locator('#by-link button').waitFor()
      expect(await page.getByText('Code from the mail').isVisible(), 'a label without its field').to.equal(false)
      await holds()
      // A browser logs that nobody is signed in.
      expect(noise.filter((words) => !words.includes('401'))).to.deep.equal([])
      await page.close()
    }
  })

  it('fit their budget: what the first page needs before it runs, and what each other one needs on top', async () => {
    const { script, style, preload, assets } = stage.manifest
    const sum = (names: readonly string[]): number =>
      assets.filter(({ name }) => names.includes(name)).reduce((all, { brotliBytes }) => all + brotliBytes, 0)
    const texts = new Map<string, string>()
    for (const { name } of assets) texts.set(name, await (await fetch(`${stage.url}/assets/${name}`)).text())
    // A file that is imported at once is named behind `from` or `import`, one that is imported later in brackets.
    const named = (name: string, pattern: RegExp): readonly string[] =>
      [...(texts.get(name) ?? '').matchAll(pattern)].map(([, file = '']) => file)
    const neededBy = (file: string): readonly string[] => {
      const found = new Set([file])
      for (const each of found) for (const name of named(each, /(?:from|import)"\.\/([\w-]+\.js)"/g)) found.add(name)
      return [...found]
    }
    const first = neededBy(script)
    expect([...first].sort()).to.deep.equal([script, ...preload].sort())
    expect(sum([...first, style])).to.be.at.most(220 * 1024)
    const pages = [...new Set(first.flatMap((name) => named(name, /import\("\.\/([\w-]+\.js)"\)/g)))]
    expect(pages).to.have.length.greaterThan(15)
    for (const page of pages) {
      const further = neededBy(page).filter((name) => !first.includes(name))
      expect(sum(further), further.join())
        .to.be.at.most(40 * 1024)
        .and.be.greaterThan(0)
    }
    const reached = new Set([...first, ...pages.flatMap(neededBy)])
    expect(assets.map(({ name }) => name).filter((name) => name !== style && !reached.has(name))).to.deep.equal([])
  })
})
