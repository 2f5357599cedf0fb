/** The pages by which people set things up: each does in a real browser what it is for, and says so. */

import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { activationRecord, installRecord, store, visitRecord } from '../contract/fact-samples.ts'
import { organizationOf, SECRET } from '../dashboard/support/stage.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

const WEBSITE = `---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: acme-docs }
spec: { organizationRef: { name: acme }, displayName: Documentation, primaryOrigin: 'https://docs.acme.example', providers: [ga4] }
`

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

/** An ID of a visit that was issued now. */
function visitIdNow(): string {
  const keyId = createKeyring([SECRET]).currentKeyId
  return `${keyId.toString(16).padStart(2, '0')}${Date.now().toString(16).padStart(12, '0')}${'0'.repeat(18)}`
}

describe('the pages by which people set things up', function () {
  this.timeout(120_000)
  let folder: string
  let facts: Facts
  let stage: PagesStage
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-facts-'))
    const connection = await openChdb(folder)
    await migrate(connection)
    facts = clickhouseFacts(connection, { nowMs: Date.now })
    const members = { 'owner@acme.dev': 'Owner', 'viewer@acme.dev': 'Viewer' }
    stage = await startPages({ manifests: `${organizationOf('acme', { members })}${WEBSITE}`, facts })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Keeps a picture if somebody wants it, and holds what holds on every page. */
  async function check(page: Page, noise: readonly string[], name: string): Promise<void> {
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true })
      await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
    }
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(noise).to.deep.equal([])
  }

  it('begin with the checklist, which traffic alone makes green', async () => {
    const { page, noise } = await stage.open('owner@acme.dev', { width: 1280, scheme: 'light' })
    await page.goto(stage.url)
    await page.waitForURL('**/app/acme/checklist')
    const step = (title: string) =>
      page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) })
    const script = step('The script is on your website')
    await script.getByText('waiting for it').waitFor()
    await script.getByRole('button', { name: 'Copy the script tag' }).click()
    await script.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).to.equal(
      `<script async src="${stage.url}/browser.js" data-project="acme-docs"></script>`,
    )
    const about = { website: 'acme-docs', visitId: visitIdNow(), issuedAtMs: Date.now() }
    await store(facts, [visitRecord({ ...about, organization: 'acme' }), activationRecord(about)])
    await page.getByText('3 of 8 steps are done').waitFor()
    await check(page, noise, 'Checklist half-1280-light')
    const matched = { resolution: 'matched', selectionPolicy: 'latest_visit', visitId: about.visitId } as const
    await store(facts, [installRecord({ ...matched, website: 'acme-docs', receivedAtMs: Date.now() })], 10)
    await step('An install is matched to its visit').getByRole('link', { name: '1 matched install' }).waitFor()
    await page.goto(stage.url)
    await page.waitForURL('**/app/acme/live')
    await page.close()
  })
})
