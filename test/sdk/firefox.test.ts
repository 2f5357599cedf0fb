import { expect } from 'chai'
import type { Page } from 'puppeteer-core'
import { LIMITS } from '../../domain/limits.ts'
import type { PuppeteerInstance } from './support/browsers.ts'
import { markersOnDisk, openFirefox } from './support/browsers.ts'
import { COMMAND, FILLED, INSTALL } from './support/command.ts'
import type { RecordingService } from './support/recording-service.ts'
import type { Site } from './support/site.ts'
import { openStage, type SdkStage } from './support/stage.ts'

describe('sdk in Firefox', function () {
  this.timeout(60_000)
  let stage: SdkStage
  let service: RecordingService
  let site: Site

  before(async () => {
    stage = await openStage()
    ;({ service, site } = stage)
  })
  after(() => stage?.close())
  beforeEach(() => service.reset())

  const script = (attributes = '') =>
    `<script async src="${service.url}/browser.js" data-project="acme-dev" ${attributes}></script>`
  const collected = () =>
    service.requests.filter(({ path: where }) => where.startsWith('/v1/')).map(({ path: where }) => where)

  /** Opens a page that fails the test if the SDK prints anything. */
  async function watched(firefox: PuppeteerInstance, noise: string[]): Promise<Page> {
    const page = await firefox.browser.newPage()
    // Firefox requests an icon that these pages do not have, and complains if a policy forbids it.
    const hear = (text: string) => text.includes('favicon') || noise.push(text)
    page.on('pageerror', (error) => hear(String(error)))
    page.on('console', (message) => hear(message.text()))
    return page
  }

  async function copied(page: Page): Promise<unknown> {
    const done = page.evaluate(
      `new Promise((resolve) => addEventListener('whence:copy', (event) => resolve(event.detail.filled), { once: true }))`,
    )
    await page.click('[data-whence-copy]')
    await done
    return page.evaluate('navigator.clipboard.readText()')
  }

  describe('in an ordinary window', () => {
    let firefox: PuppeteerInstance
    before(async () => (firefox = await openFirefox()))
    after(async () => firefox?.close())

    it('leaves an activated marker of 1,021 bytes on disk and fills the command', async () => {
      const noise: string[] = []
      const page = await watched(firefox, noise)
      await page.goto(site.add(script() + INSTALL))
      const [activation] = await service.waitFor('/v1/visits/activate')
      const marker = (await markersOnDisk(firefox.profile)).find((text) => text.includes(activation?.body.receipt))
      expect(Buffer.byteLength(marker ?? '')).to.equal(LIMITS.markerBytes)
      await page.evaluate('whence.handoff()')
      expect(await copied(page)).to.match(FILLED)
      await page.reload()
      const [, second] = await service.waitFor('/v1/visits', 2)
      expect(second?.body.previous_receipt).to.equal(activation?.body.receipt)
      await service.waitFor('/v1/visits/activate', 2)
      expect((await markersOnDisk(firefox.profile)).map((text) => text.length)).to.deep.equal([LIMITS.markerBytes])
      expect(noise).to.deep.equal([])
    })

    it('passes on the mark of a test that the address has, and says nothing of tests without one', async () => {
      const page = await firefox.browser.newPage()
      await page.goto(`${site.add(script())}#_whence_test=t1.abc.p_0123456789abcdef.00ff`)
      const [marked] = await service.waitFor('/v1/visits')
      expect(marked?.body.test).to.equal('t1.abc.p_0123456789abcdef.00ff')
      await page.goto(`${site.add(script())}#section`)
      const [, plain] = await service.waitFor('/v1/visits', 2)
      expect(plain?.body).to.not.have.property('test')
    })

    it('says that a script drives the browser', async () => {
      const page = await firefox.browser.newPage()
      await page.goto(site.add(script()))
      const [visit] = await service.waitFor('/v1/visits')
      expect(visit?.body.client.automation).to.equal(true)
    })

    it('counts each path once if data-spa is set', async () => {
      const page = await firefox.browser.newPage()
      await page.goto(site.add(script('data-spa')))
      await service.waitFor('/v1/visits/activate')
      await page.evaluate(`void history.pushState({}, '', '/firefox-spa')`)
      const all = await service.waitFor('/v1/visits', 2)
      expect(all[1]?.body.page_url).to.equal(`${site.origin}/firefox-spa`)
    })

    it('works under a policy that allows nothing but the service', async () => {
      const noise: string[] = []
      const page = await watched(firefox, noise)
      const policy = `default-src 'none'; script-src ${service.url}; connect-src ${service.url}`
      await page.goto(site.add(script() + INSTALL, { 'content-security-policy': policy }))
      await service.waitFor('/v1/handoffs')
      expect(noise).to.deep.equal([])
    })
  })

  describe('in a private window', () => {
    let firefox: PuppeteerInstance
    before(async () => (firefox = await openFirefox({ isPrivate: true })))
    after(async () => firefox?.close())

    it('records a visit that is never activated and breaks nothing, and a copied command carries its token', async () => {
      const noise: string[] = []
      const page = await watched(firefox, noise)
      await page.goto(site.add(script() + INSTALL))
      await page.hover('#install')
      const [handoff] = await service.waitFor('/v1/handoffs')
      expect(handoff?.body).to.have.property('receipt')
      await page.evaluate('whence.handoff()')
      expect(await copied(page)).to.match(FILLED)
      expect(collected().filter((path) => path !== '/v1/handoffs')).to.deep.equal([
        '/v1/projects/acme-dev/browser-config',
        '/v1/visits',
      ])
      expect(await markersOnDisk(firefox.profile)).to.deep.equal([])
      expect(noise).to.deep.equal([])
    })

    it('copies the plain command if the service is unreachable', async () => {
      service.misbehave.set('/v1/handoffs', 'hang')
      const page = await firefox.browser.newPage()
      await page.goto(site.add(script() + INSTALL))
      await page.hover('#install')
      await service.waitFor('/v1/handoffs')
      expect(await copied(page)).to.equal(COMMAND)
    })
  })
})
