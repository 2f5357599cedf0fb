/** Whoever takes a wrong turn while setting things up reads on the checklist which one it was. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { fetchPublicPage } from '../../delivery/outbound/page.ts'
import type { RequestLog } from '../../domain/records.ts'
import { testCertificate } from '../../fixtures/engines/certificate.ts'
import { installRecord, request, requestRecord, store, visitRecord } from '../contract/fact-samples.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { TlsServer } from '../delivery/support/tls-server.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { NARROW, NARROW_DARK, WIDE, WIDE_DARK, type Look } from './support/looks.ts'
import { seriousFindings, startPages, type PagesStage } from './support/stage.ts'

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']
const OWNER = { 'owner@acme.dev': 'Owner' } as const

describe('wrong turns while setting things up', function () {
  this.timeout(300_000)
  let facts: TestFacts
  let server: TlsServer
  let stage: PagesStage
  let html: string
  let policy: string
  before(async () => {
    facts = await openTestFacts()
    server = new TlsServer(testCertificate(['acme-site.example'], []), (_request, _body, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end(html)
    })
    await server.listen()
    stage = await startPages({
      manifests: [
        organizationOf('acme', { members: OWNER }) + websiteOf('acme-site', 'acme'),
        organizationOf('small', { members: OWNER }).replace('plan: Enterprise', 'plan: Free') +
          websiteOf('small-site', 'small'),
      ].join('---\n'),
      facts,
      fetchPage: (url, callMs) => fetchPublicPage(url, server.outbound({ callMs })),
    })
  })
  after(async () => {
    await stage?.stop()
    await server?.close()
    await facts?.close()
  })
  beforeEach(() => {
    html = ''
    policy = 'img-src *'
  })

  async function open(organization: string, look: Look): Promise<{ readonly page: Page; readonly noise: string[] }> {
    const opened = await stage.open('owner@acme.dev', look)
    await opened.page.goto(`${stage.url}/app/${organization}/checklist`)
    await opened.page.getByRole('heading', { level: 1, name: 'Checklist' }).waitFor()
    return opened
  }

  /** Keeps a picture if somebody wants it, and holds what holds on every page. */
  async function check(page: Page, noise: readonly string[], name: string): Promise<void> {
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true })
      await page.evaluate('scrollTo(0, 0)')
      await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
    }
    expect(await seriousFindings(page)).to.deep.equal([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
    expect(noise).to.deep.equal([])
  }

  const about = (more: Partial<RequestLog>): RequestLog =>
    request({ organization: 'acme', website: 'acme-site', receivedAtMs: Date.now(), ...more })
  const script = (more = '') =>
    `<!doctype html><script async src="${stage.url}/browser.js" data-project="acme-site" ${more}></script>`

  it('show an address that is not registered, a wrong install method and an old marker by what came in', async () => {
    const { page, noise } = await open('acme', WIDE)
    const refused = { status: 403, code: 'origin_not_allowed', origin: 'https://www.acme-site.example' }
    const lost = { method: 'GET', path: '/v1/projects/acme-site/paths/clii/report.sh', origin: '' }
    await store(facts, [
      requestRecord(about(refused)),
      requestRecord(about({ ...lost, status: 404, code: 'install_path_not_found' })),
    ])
    await page.getByText('A page on an address that is not registered sent a visit').waitFor()
    await page.getByText('https://www.acme-site.example').waitFor()
    await page.getByText('The installer’s line names an install method that does not exist').waitFor()
    const install = {
      organization: 'acme',
      website: 'acme-site',
      resolution: 'unmatched',
      receivedAtMs: Date.now(),
    } as const
    await storeCounted(
      facts,
      [installRecord({ ...install, verdicts: [{ visitId: null, issuedAtMs: null, verdict: 'expired' }] })],
      Date.now,
    )
    await page.getByText('The install found an old marker').waitFor()
    await check(page, noise, 'Wrong turns-1280-light')
    await page.getByRole('link', { name: 'Open the website' }).click()
    await page.waitForURL('**/app/acme/resources/Website/default/acme-site')
    await page.close()
  })

  it('show what sends no request by the source of the page: policy, consent, no script, another website', async () => {
    const { page, noise } = await open('acme', NARROW_DARK)
    const look = async (title: string): Promise<void> => {
      await page.getByRole('button', { name: 'Check the page' }).click()
      await page.getByText(title).waitFor()
    }
    expect(await page.getByLabel('No visit comes? Check a page').inputValue()).to.equal('https://acme-site.example/')
    await look('The script is missing')
    html = script('data-consent="required"')
    await look('The script waits for consent')
    html = script().replace('data-project="acme-site"', 'data-project="acme-sites"')
    await look('The script names another website')
    html = script()
    policy = "script-src 'self'"
    await look('The page’s Content Security Policy keeps the script out')
    await page.getByRole('radio', { name: 'VitePress' }).check()
    await page.getByRole('radio', { name: 'Homebrew' }).check()
    await page.getByRole('radio', { name: 'Tokens only' }).check()
    await page.getByText('So no install will be matched to a visit.').waitFor()
    await check(page, noise, 'Page check-390-dark')
    await page.getByLabel('No visit comes? Check a page').fill('https://elsewhere.example/')
    await look('The page is not on this website')
    await page.close()
  })

  it('show a script that the reader’s own browser keeps away, once a test visit is overdue', async () => {
    html = script()
    const { page } = await open('acme', WIDE_DARK)
    await page.route('**/browser.js*', (route) => route.abort('blockedbyclient'))
    await page.getByRole('button', { name: 'Make a test' }).click()
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Open the page' }).click(),
    ])
    await opened.close()
    await page.getByText('Waiting for the visit').waitFor()
    await page.getByText('An extension of this browser keeps the script away').waitFor()
    await page.getByText('No install command is marked on the page').waitFor()
    await check(page, [], 'Overdue test-1280-dark')
    await page.close()
  })

  it('follow a test that works, step by step', async () => {
    const { page, noise } = await open('acme', WIDE)
    await page.getByRole('button', { name: 'Make a test' }).click()
    await page.getByRole('link', { name: 'Open the page' }).waitFor()
    const sample = { organization: 'acme', website: 'acme-site' }
    await store(facts, [{ ...visitRecord({ ...sample, issuedAtMs: Date.now() }), request: about({}) }])
    await page.getByText('Its visit has come.').waitFor()
    await check(page, noise, 'Test-1280-light')
    await page.close()
  })

  it('show the plan Free before anything is tried', async () => {
    const { page, noise } = await open('small', NARROW)
    await page.getByText('The plan Free counts installs and matches none').waitFor()
    await check(page, noise, 'Free-390-light')
    await page.close()
  })
})
