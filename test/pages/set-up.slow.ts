/** The pages by which people set things up: each does in a real browser what it is for, and reports it. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { createKeyring } from '../../runtime/keyring.ts'
import { activationRecord, activityRecord, installRecord, store, visitRecord } from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { NARROW, NARROW_DARK, WIDE, WIDE_DARK } from './support/looks.ts'
import { organizationOf, SECRET } from '../dashboard/support/stage.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'
import { HOSTILE, HOSTILE_NAME } from './support/why-facts.ts'

const WEBSITE = `---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: acme-docs }
spec: { organizationRef: { name: acme }, displayName: Documentation, primaryOrigin: 'https://docs.acme.example', providers: [ga4] }
`

/** What strangers may send: markup, right to left, four-byte characters. */

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

/** An ID of a visit that was issued now. */
function visitIdNow(): string {
  const keyId = createKeyring([SECRET]).currentKeyId
  return `${keyId.toString(16).padStart(2, '0')}${Date.now().toString(16).padStart(12, '0')}${'0'.repeat(18)}`
}

describe('the pages by which people set things up', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let stage: PagesStage
  before(async () => {
    facts = await openTestFacts()
    const members = { 'owner@acme.dev': 'Owner', 'member@acme.dev': 'Member', 'viewer@acme.dev': 'Viewer' }
    stage = await startPages({ manifests: `${organizationOf('acme', { members })}${WEBSITE}`, facts })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  /** Keeps a picture if somebody wants it, and holds what holds on every page. */
  async function check(page: Page, noise: readonly string[], name: string): Promise<void> {
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true })
      await page.evaluate('scrollTo(0, 0)')
      await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
    }
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
    // Browsers log each answer that is no success: a refusal that is asked for here, and a statement that a busy machine gave up.
    expect(noise.filter((line) => !/status of (400|503)/.test(line))).to.deep.equal([])
  }

  it('begin with the checklist, which only traffic makes green', async () => {
    const { page, noise } = await stage.open('owner@acme.dev', WIDE)
    await page.goto(stage.url)
    await page.waitForURL('**/app/acme/overview')
    await page.getByRole('heading', { level: 2, name: 'The script is on your website' }).waitFor()
    await page.getByRole('link', { name: 'checklist', exact: true }).click()
    const step = (title: string) =>
      page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) })
    const script = step('The script is on your website')
    await script.getByText('waiting for it').waitFor()
    // Nothing is chosen before the reader chooses.
    expect(await page.getByRole('radio', { checked: true }).count()).to.equal(0)
    await script.getByText('Answer the questions above').waitFor()
    await page.getByRole('radio', { name: 'Plain HTML' }).check()
    await page.getByRole('radio', { name: 'curl' }).check()
    await page.getByRole('radio', { name: 'Tokens and markers' }).check()
    await page.getByText('A token: the copied command names its visit').waitFor()
    await script.getByRole('button', { name: 'Copy the script' }).click()
    await script.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).to.equal(
      `<script async src="${stage.url}/browser.js" data-project="acme-docs"></script>`,
    )
    const about = { website: 'acme-docs', visitId: visitIdNow(), issuedAtMs: Date.now() }
    await store(facts, [visitRecord({ ...about, organization: 'acme' }), activationRecord(about)])
    await page.getByText('3 of 8 steps are done').waitFor()
    const copying = step('Visitors copy the install command')
    await page.getByLabel('Your install command').pressSequentially('curl https://acme.example/get?a=1&b=2 | sh')
    await copying.getByText('data-whence-command>curl https://acme.example/get?a=1&amp;b=2 | sh</pre>').waitFor()
    await step('The installer reports').locator('summary').click()
    await step('The installer reports').getByText('--max-time 5').waitFor()
    await check(page, noise, 'Checklist half-1280-light')
    const matched = { resolution: 'matched', selectionPolicy: 'latest_visit', visitId: about.visitId } as const
    await storeCounted(facts, [installRecord({ ...matched, website: 'acme-docs', receivedAtMs: Date.now() })], Date.now)
    await step('An install is matched to its visit').getByRole('link', { name: '1 matched install' }).waitFor()
    await page.close()
  })

  it('show the link of an invitation if the service sends no mail', async () => {
    const { page, noise } = await stage.open('owner@acme.dev', NARROW)
    const link = `${stage.url}/sign-in#invitation=${'a'.repeat(43)}`
    await page.route('**/api/organizations/acme/members', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 201, json: { name: 'guest', link } })
        : route.fallback(),
    )
    await page.goto(`${stage.url}/app/acme/members`)
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('E-mail address').fill('guest@acme.dev')
    await page.getByRole('button', { name: 'Send the invitation' }).click()
    await page.getByRole('dialog').getByText(link).waitFor()
    await check(page, noise, 'Invitation to pass on-390-light')
    await page.close()
  })

  it('make an API key, show it once to be copied, and revoke it', async () => {
    const { page, noise } = await stage.open('owner@acme.dev', NARROW_DARK)
    await page.goto(`${stage.url}/app/acme/keys`)
    await page.getByText('There is no key yet.').waitFor()
    await page.getByRole('button', { name: 'New key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Grafana')
    await dialog.getByRole('checkbox', { name: /Installs:/ }).check()
    await check(page, noise, 'New key-390-dark')
    await dialog.getByRole('button', { name: 'Make the key' }).click()
    await dialog.getByRole('button', { name: 'Copy the key' }).click()
    await dialog.getByRole('button', { name: 'Copied' }).waitFor()
    const key = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(key).to.match(/^whk_[\w-]{43}$/)
    const statusNow = async (): Promise<number> =>
      (await fetch(`${stage.url}/v1/installs`, { headers: { Authorization: `Bearer ${key}` } })).status
    expect(await statusNow()).to.equal(200)
    await dialog.getByRole('button', { name: 'Close' }).click()
    const row = page.getByRole('row', { name: /Grafana/ })
    await row.getByText('In force').waitFor()
    expect(await page.content()).not.to.include(key)
    await check(page, noise, 'API keys-390-dark')
    await row.getByRole('button', { name: 'Revoke Grafana' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('There is no key yet.').waitFor()
    expect(await statusNow()).to.equal(401)
    await page.close()
    const viewer = await stage.open('viewer@acme.dev', WIDE)
    await viewer.page.goto(`${stage.url}/app/acme/keys`)
    await viewer.page.getByText('There is no key yet.').waitFor()
    expect(await viewer.page.getByRole('button', { name: 'New key' }).count()).to.equal(0)
    await viewer.page.close()
  })

  it('create an object by a form that says what is wrong with which field, and remove it', async () => {
    const { page, noise } = await stage.open('owner@acme.dev', WIDE_DARK)
    await page.goto(`${stage.url}/app/acme/resources`)
    await page.getByRole('link', { name: 'New website' }).click()
    await page.getByLabel('Name', { exact: true }).fill('shop')
    const origin = page.getByLabel('Primary origin')
    await origin.fill('https://shop.acme.example')
    const days = page.getByLabel('Retention days')
    await days.fill('12')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.locator('[id="/spec/retentionDays-error"]').getByText('12 is below 30').waitFor()
    await check(page, noise, 'New website refused-1280-dark')
    await days.fill('90')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.waitForURL('**/app/acme/resources/Website/default/shop')
    await page.getByText('Active', { exact: true }).waitFor()
    await page.getByText(/Live in collection after [\d,]+ ms\./).waitFor()
    expect(await page.locator('pre').textContent()).to.include('primaryOrigin: "https://shop.acme.example"')
    await page.getByRole('button', { name: 'Remove' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.waitForURL('**/app/acme/resources')
    await page.getByRole('link', { name: 'shop' }).waitFor({ state: 'detached' })
    await page.close()
  })

  it('combine two changes if somebody else was faster', async () => {
    const owner = await stage.signIn('owner@acme.dev')
    const at = '/api/organizations/acme/resources/InstallPath'
    const spec = { organizationRef: { name: 'acme' } }
    await stage.ask('POST', at, { cookies: owner, body: { name: 'cli', spec } })
    const { page } = await stage.open('owner@acme.dev', NARROW)
    await page.goto(`${stage.url}/app/acme/resources/InstallPath/default/cli`)
    await page.getByLabel('Name that people see').fill('Command line')
    const { body } = await stage.ask('GET', `${at}/default/cli`, { cookies: owner })
    const headers = { 'If-Match': `"${String(body['version'])}"` }
    await stage.ask('PUT', `${at}/default/cli`, { cookies: owner, headers, body: { spec: { ...spec, paused: true } } })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('They changed: Paused. You changed: Name that people see.').waitFor()
    await check(page, [], 'Conflict-390-light')
    await page.getByRole('button', { name: 'Put my changes on top' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/Saved\. Live in collection after [\d,]+ ms\./).waitFor()
    const { body: after } = await stage.ask('GET', `${at}/default/cli`, { cookies: owner })
    expect([after['spec'].paused, after['spec'].displayName]).to.deep.equal([true, 'Command line'])
    await page.close()
  })

  it('show what Git manages read-only, with the patch to commit instead of a button to save', async () => {
    for (const [width, scheme] of [
      [1280, 'light'],
      [390, 'dark'],
    ] as const) {
      const { page } = await stage.open('owner@acme.dev', { width, scheme })
      await page.goto(`${stage.url}/app/acme/resources/Website/default/acme-docs`)
      const shown = page.getByLabel('Name that people see')
      await shown.waitFor()
      expect(await shown.isDisabled()).to.equal(true)
      await page.getByText('all.yaml manages fields of this object.').waitFor()
      expect(await page.locator('form button[type=submit]').count()).to.equal(0)
      await check(page, [], `Managed by Git-${width}-${scheme}`)
      await page.getByRole('button', { name: 'Change managed fields' }).click()
      await shown.fill('Docs')
      await page.getByRole('button', { name: 'Get the patch' }).click()
      const notice = page.getByRole('alert')
      await notice.getByText('Managed by all.yaml: nothing was changed here').waitFor()
      expect(await notice.textContent())
        .to.include('kubectl patch website.whence.dev acme-docs')
        .and.include('displayName: Docs')
      await check(page, [], `Patch for Git-${width}-${scheme}`)
      await page.close()
    }
  })

  it('offer no change that the role or the service would refuse', async () => {
    const { page: owner } = await stage.open('owner@acme.dev', WIDE)
    await owner.goto(`${stage.url}/app/acme/resources/Organization/default/acme`)
    await owner.getByLabel('Name that people see').waitFor()
    expect(await owner.getByText('Billing').count()).to.equal(0)
    await owner.close()
    const { page: member } = await stage.open('member@acme.dev', WIDE)
    await member.goto(`${stage.url}/app/acme/resources`)
    await member.getByRole('link', { name: 'New install path' }).waitFor()
    for (const kind of ['website', 'log stream', 'webhook'])
      expect(await member.getByRole('link', { name: `New ${kind}` }).count(), kind).to.equal(0)
    await member.goto(`${stage.url}/app/acme/new/Website`)
    await member.getByText('Your role does not allow this').waitFor()
    const owns = await stage.signIn('owner@acme.dev')
    const spec = { displayName: 'Blog', primaryOrigin: 'https://blog.acme.example' }
    const body = { name: 'blog', spec: { ...spec, organizationRef: { name: 'acme' } } }
    await stage.ask('POST', '/api/organizations/acme/resources/Website', { cookies: owns, body })
    await member.goto(`${stage.url}/app/acme/resources/Website/default/blog`)
    const title = member.getByLabel('Name that people see')
    await title.waitFor()
    expect(await title.isDisabled()).to.equal(true)
    expect(await member.getByRole('button', { name: 'Remove', exact: true }).count()).to.equal(0)
    await member.getByRole('button', { name: 'Add to pages' }).click()
    await member.getByLabel('ID').fill('install')
    await member.getByLabel('Address').fill('https://blog.acme.example/install')
    await member.getByRole('button', { name: 'Save' }).click()
    await member.getByText(/^Saved\./).waitFor()
    await member.close()
  })

  it('change and remove a webhook, whose secret stays', async () => {
    const owns = await stage.signIn('owner@acme.dev')
    const body = {
      name: 'news',
      displayName: HOSTILE_NAME,
      url: 'https://news.example/hook',
      events: ['install.matched'],
    }
    await stage.ask('POST', '/api/organizations/acme/webhooks', { cookies: owns, body })
    const at = '/api/organizations/acme/resources/Webhook/default/news'
    const { body: before } = await stage.ask('GET', at, { cookies: owns })
    const { page, noise } = await stage.open('owner@acme.dev', NARROW_DARK)
    await page.goto(`${stage.url}/app/acme/resources`)
    await page.getByRole('table', { name: 'Webhooks' }).getByRole('link', { name: 'news' }).click()
    await page.getByRole('link', { name: 'State, attempts and secret' }).click()
    await page.getByRole('heading', { level: 1, name: HOSTILE_NAME }).waitFor()
    await page.getByRole('link', { name: 'news' }).click()
    await page.getByLabel('Address').fill('https://news.example/other')
    await page.getByLabel('A delivery failed for good').check()
    await check(page, noise, 'Webhook changed-390-dark')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^Saved\./).waitFor()
    const { body: after } = await stage.ask('GET', at, { cookies: owns })
    expect(after['spec']).to.deep.equal({
      ...before['spec'],
      url: 'https://news.example/other',
      events: ['install.matched', 'delivery.failed'],
    })
    await page.getByRole('link', { name: 'State, attempts and secret' }).click()
    await page.getByText('https://news.example/other').waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.waitForURL('**/app/acme/resources')
    await page.getByText('There is no webhook yet.').waitFor()
    await page.close()
  })

  it('check what holds without a choice, and write what was chosen', async () => {
    const { page } = await stage.open('owner@acme.dev', WIDE)
    await page.goto(`${stage.url}/app/acme/new/LogStream`)
    const bodies = page.getByRole('checkbox', { name: 'Include bodies' })
    const yaml = page.locator('.beside pre')
    await bodies.waitFor()
    expect(await bodies.isChecked()).to.equal(true)
    expect(await page.getByRole('checkbox', { name: 'Paused' }).isChecked()).to.equal(false)
    await bodies.uncheck()
    expect(await yaml.textContent()).to.include('includeBodies: false')
    await bodies.check()
    expect(await yaml.textContent()).to.include('includeBodies: true')
    await page.goto(`${stage.url}/app/acme/new/Destination`)
    await page.getByRole('checkbox', { name: 'Installed' }).waitFor()
    expect(await page.locator('form').textContent()).to.not.match(/install_completed|block must/)
    await page.close()
  })

  it('accept credentials and never show them again', async () => {
    const { page } = await stage.open('owner@acme.dev', NARROW_DARK)
    await page.goto(`${stage.url}/app/acme/new/Destination`)
    await page.getByLabel('Name', { exact: true }).fill('ga4-main')
    await page.getByRole('textbox', { name: 'Website' }).or(page.getByLabel('Website')).first().click()
    await page.getByRole('option', { name: 'acme-docs' }).click()
    await page.getByLabel('Provider').first().click()
    await page.getByRole('option', { name: 'GA4' }).click()
    await page.getByLabel('Measurement ID').fill('G-ABC1234567')
    await page.getByLabel('api-secret').fill('top secret value')
    await check(page, [], 'New destination-390-dark')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.waitForURL('**/resources/Destination/default/ga4-main')
    await page.getByText('Active', { exact: true }).waitFor()
    expect(await page.locator('pre').textContent()).to.match(/apiSecretRef:\s+name: s-[0-9a-f]{16}\s+key: api-secret/)
    expect(await page.content()).to.not.include('top secret value')
    await page.close()
  })

  it('tell what happened in words, as text, and find it by its kind', async () => {
    const about = { organization: 'acme', website: 'acme-docs', atMs: Date.now() }
    await store(facts, [
      activityRecord({ ...about, id: 'a1', type: 'origin_not_registered', subject: HOSTILE, message: HOSTILE }),
      activityRecord({ ...about, id: 'a2', type: 'export', subject: 'somebody', message: '12 records.' }),
    ])
    const { page, noise } = await stage.open('viewer@acme.dev', WIDE_DARK)
    await page.goto(`${stage.url}/app/acme/activity`)
    await page.getByText('12 records.').waitFor()
    await page.getByRole('link', { name: HOSTILE }).waitFor()
    // Each stands by itself: its direction of writing must not turn our own words around.
    expect(await page.locator('.activity bdi').count()).to.equal(4)
    await check(page, noise, 'Activity entries-1280-dark')
    await page.getByRole('combobox', { name: 'What' }).or(page.getByLabel('What')).first().click()
    await page.getByRole('option', { name: 'Records were downloaded' }).click()
    await page.waitForURL('**/activity?type=export')
    await page.getByRole('link', { name: HOSTILE }).waitFor({ state: 'detached' })
    expect(await page.locator('main img').count()).to.equal(0)
    await page.close()
  })
})
