import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { until } from '../../fixtures/until.ts'
import { buildSdk } from '../../sdk/build.ts'
import type { ChromiumInstance } from './support/browsers.ts'
import { openChromium } from './support/browsers.ts'
import { COMMAND, INSTALL } from './support/command.ts'
import type { RecordingService } from './support/recording-service.ts'
import type { Site } from './support/site.ts'
import { openStage, type SdkStage } from './support/stage.ts'

const SENTENCE_MS = 30_000

describe('sdk with data-debug', function () {
  this.timeout(60_000)
  let bundle: string
  let stage: SdkStage
  let service: RecordingService
  let site: Site
  let chromium: ChromiumInstance
  let page: Page
  let sentences: string[]

  before(async () => {
    stage = await openStage()
    ;({ bundle, service, site } = stage)
    chromium = await openChromium()
  })
  after(async () => {
    await chromium?.close()
    await stage?.close()
  })
  beforeEach(async () => {
    service.reset()
    sentences = []
    page = await chromium.context.newPage()
    page.on('console', (message) => {
      if (message.text().startsWith('[whence]')) sentences.push(message.text())
    })
  })
  afterEach(() => page.close())

  const script = (attributes = '') =>
    `<script async src="${service.url}/browser.js" data-project="acme-dev" data-debug ${attributes}></script>`

  /** Resolves when the sentence was said; rejects with what was said instead. */
  async function says(words: RegExp): Promise<void> {
    const what = (): string => `${String(words)} is said, and not only ${sentences.join(' | ') || 'nothing'}`
    await until(() => sentences.some((sentence) => words.test(sentence)), { what, withinMs: SENTENCE_MS, everyMs: 20 })
  }

  it('says step by step what works', async () => {
    await page.goto(site.add(script() + INSTALL))
    for (const words of [
      /knows the website "acme-dev"/,
      /visit is recorded/,
      /marker is written and active/,
      /token is here/,
    ])
      await says(words)
    expect(sentences).to.have.length(4)
  })

  it('names the website that the service does not know', async () => {
    service.misbehave.set('/browser-config', { status: 404, body: '{"error":"website_not_found"}' })
    await page.goto(site.add(script()))
    await says(/website_not_found.*No website has the ID "acme-dev".*data-project/)
  })

  it('says that the script tag has no website', async () => {
    await page.goto(site.add(`<script async src="${service.url}/browser.js" data-debug></script>`))
    await says(/no data-project/)
  })

  it('names the origin that is registered for another website only', async () => {
    service.misbehave.set('/v1/visits', { status: 403, body: '{"error":"origin_not_allowed"}' })
    await page.goto(site.add(script()))
    await says(new RegExp(`origin_not_allowed.*Add ${site.origin} to the additionalDomains`))
  })

  it('distinguishes an unregistered origin from an unreachable service', async () => {
    service.misbehave.set('/browser-config', 'withoutCors')
    await page.goto(site.add(script()))
    await says(new RegExp(`${site.origin} is registered for no website`))
    await page.route(`${service.url}/v1/**`, (route) => route.abort('blockedbyclient'))
    await page.goto(site.add(script()))
    await says(/cannot be reached: an extension blocks it, or the service is down/)
  })

  it('says that the policy of the page is in the way', async () => {
    const policy = `script-src ${service.url}; connect-src 'self'`
    await page.goto(site.add(script(), { 'content-security-policy': policy }))
    await says(/Content Security Policy blocks.*connect-src/)
  })

  it('says that no marker can be kept', async () => {
    await page.addInitScript(
      `StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('no', 'SecurityError'))`,
    )
    await page.goto(site.add(script()))
    await says(/cannot keep a marker \(SecurityError\)/)
  })

  it('says that the browser is Safari, and what still works there', async () => {
    await page.addInitScript(
      `Object.defineProperty(Navigator.prototype, 'vendor', { get: () => 'Apple Computer, Inc.' })`,
    )
    await page.goto(site.add(script()))
    await says(/Safari keeps no marker.*copied command/)
  })

  it('says that consent is missing, denied or misspelt', async () => {
    await page.goto(site.add(script('data-consent="required"')))
    await says(/Waiting for consent: call whence\.grant\(\)/)
    await page.goto(site.add(script('data-consent="denied"')))
    await says(/data-consent is "denied"/)
    await page.goto(site.add(script('data-consent="yes"')))
    await says(/data-consent="yes" is not known/)
  })

  it('says that Global Privacy Control leaves identities out', async () => {
    await page.addInitScript(`Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true })`)
    await page.goto(site.add(script()))
    await says(/Global Privacy Control: only GA4/)
  })

  it('says that the page is not secure, waits for a call, or has a button without its command', async () => {
    await page.goto(site.add(`${script('data-manual')}<button data-whence-copy="#away">Copy</button>`))
    await says(/Waiting for whence\.start\(\)/)
    await says(/data-whence-copy="#away" matches no element/)
    await says(/No install command is marked/)
    await page.addInitScript(`Object.defineProperty(window, 'isSecureContext', { value: false })`)
    await page.goto(site.add(script()))
    await says(/not secure.*https/)
  })

  it('speaks on pages with nonces and Trusted Types', async () => {
    const policy = `script-src 'nonce-n1'; connect-src ${service.url}; require-trusted-types-for 'script'; trusted-types whence`
    await page.goto(site.add(script('nonce="n1"') + INSTALL, { 'content-security-policy': policy }))
    await says(/Trusted Types block the parts.*'allow-duplicates'/)
    const wider = `${policy} 'allow-duplicates'`
    await page.goto(site.add(script('nonce="n1"') + INSTALL, { 'content-security-policy': wider }))
    await says(/token is here/)
  })

  it('loads nothing else on a page that pins the bytes of the script', async () => {
    const { integrity, immutableUrl } = (await buildSdk(bundle)).files[0] ?? {}
    const pinned = `<script async src="${service.url}${immutableUrl}" integrity="${integrity}" crossorigin="anonymous" data-project="acme-dev" data-debug></script>`
    await page.goto(site.add(pinned))
    await service.waitFor('/activate')
    expect(service.requests.map((each) => each.path)).not.to.include('/browser.debug.js')
    expect(sentences).to.deep.equal([])
  })

  it('is silent without data-debug, whatever goes wrong', async () => {
    service.misbehave.set('/v1/visits', { status: 200, body: 'null' })
    await page.goto(
      site.add(`<script async src="${service.url}/browser.js" data-project="acme-dev"></script>${COMMAND}`),
    )
    await service.waitFor('/v1/visits')
    await page.waitForLoadState('load')
    expect(sentences).to.deep.equal([])
  })
})
