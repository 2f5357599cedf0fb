import { expect } from 'chai'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../fixtures/until.ts'
import type { ChromiumInstance, PuppeteerInstance } from './support/browsers.ts'
import { openChromium, openFirefox } from './support/browsers.ts'
import type { RecordingService } from './support/recording-service.ts'
import { startRecordingService } from './support/recording-service.ts'
import type { Site } from './support/site.ts'
import { forgetVisitor, openStage, type SdkStage } from './support/stage.ts'

/** What both drivers' pages can do. */
interface Tab {
  goto(url: string): Promise<unknown>
  evaluate(source: string): Promise<unknown>
  close(): Promise<void>
}

describe('sdk, visitors who leave at once', function () {
  this.timeout(60_000)
  let bundle: string
  let stage: SdkStage
  let service: RecordingService
  let site: Site
  let tab: Tab

  before(async () => {
    stage = await openStage()
    ;({ bundle, service, site } = stage)
  })
  after(() => stage?.close())
  beforeEach(() => {
    service.reset()
    // GA4 and Google Ads are configured and blocked, as they are for many developers: their cookies never come.
    service.config = { measurementIds: ['G-A1'], providers: ['ga4', 'google_ads'] }
  })

  const script = (attributes = '', source = `${service.url}/browser.js`) =>
    `<script async src="${source}" data-project="acme-dev" ${attributes}></script>`
  const QUERY = '?utm_source=reddit&utm_campaign=launch&gclid=g1'
  const storage = () => tab.evaluate('JSON.stringify(Object.entries(localStorage))')
  const isRunning = () => until(() => tab.evaluate('!!window.whence?.scope'), { what: 'the script runs', everyMs: 5 })
  const visitsOf = async (url: string, count: number) =>
    (await service.waitFor('/v1/visits', count)).filter(({ body }) => body.page_url === url)

  function keepsItsLanding(stayMs: number): void {
    it(`keeps campaign and click identifiers after ${stayMs} ms on a slow network, and counts the page`, async () => {
      service.misbehave.set('/browser-config', { delayMs: 600 })
      const landing = site.add(script())
      const install = site.add(script())
      await tab.goto(landing + QUERY)
      await isRunning()
      await wait(stayMs)
      await tab.goto(install)
      await service.waitFor('/v1/visits/activate')
      const [second] = await visitsOf(install, 1)
      expect(second?.body.source).to.deep.include({
        utm: { source: 'reddit', campaign: 'launch' },
        click: 'gclid',
        page: landing,
      })
      expect(second?.body.identities.google_ads.gclid).to.equal('g1')
      const [first] = await visitsOf(landing, 2)
      expect(second?.body.source).to.deep.equal({ ...first?.body.source, carried: true })
    })
  }

  function isCountedAfterASecond(): void {
    it('is counted after a second on a slow link, although no part has come by then', async () => {
      for (const { url } of stage.manifest.files)
        if (url.startsWith('/browser/')) service.misbehave.set(url, { delayMs: 2_000 })
      const landing = site.add(script())
      await tab.goto(landing + QUERY)
      await isRunning()
      await wait(1_000)
      await tab.goto('about:blank')
      const [visit] = await service.waitFor('/v1/visits')
      expect(visit?.body).to.deep.include({ project: 'acme-dev', page_url: landing, gpc: false, entry: true })
      expect(visit?.body.source).to.deep.include({ utm: { source: 'reddit', campaign: 'launch' }, click: 'gclid' })
    })

    it('is counted after a second with what GA4 knows of them, although a reader has not come by then', async () => {
      for (const { url } of stage.manifest.files)
        if (url.startsWith('/browser/reader.')) service.misbehave.set(url, 'hang')
      const tags = `<script>document.cookie = '_ga=GA1.1.5.6'; document.cookie = '_ga_A1=GS1.1.77.1'</script>`
      await tab.goto(site.add(tags + script()) + QUERY)
      await service.waitFor('/browser-config')
      await wait(1_000)
      await tab.goto('about:blank')
      const [visit] = await service.waitFor('/v1/visits')
      expect(visit?.body.identities).to.deep.equal({ ga4: { 'G-A1': { client_id: '5.6', session_id: '77' } } })
      expect(visit?.body.client).to.have.property('timezone')
    })
  }

  describe('in Chromium', () => {
    let chromium: ChromiumInstance
    before(async () => (chromium = await openChromium()))
    after(async () => chromium?.close())
    beforeEach(async () => {
      tab = await chromium.context.newPage()
      await forgetVisitor(tab, site)
    })
    afterEach(async () => tab.close())

    for (const stayMs of [50, 200, 700, 1_500]) keepsItsLanding(stayMs)
    isCountedAfterASecond()

    it('keeps the landing before any request, although the service never answers', async () => {
      service.misbehave.set('/browser-config', 'hang')
      await tab.goto(site.add(script()) + QUERY)
      await isRunning()
      expect(await storage())
        .to.include('launch')
        .and.include('g1')
    })

    it('keeps it in memory alone until consent is given, and the landing is still that of the first moment', async () => {
      await tab.goto(site.add(script('data-consent="required"')) + QUERY)
      await isRunning()
      await tab.evaluate(`history.replaceState(null, '', location.pathname)`)
      expect(await storage()).to.equal('[]')
      await tab.evaluate('whence.grant()')
      const [visit] = await service.waitFor('/v1/visits')
      expect(visit?.body.source.utm).to.deep.equal({ source: 'reddit', campaign: 'launch' })
    })

    it('sends nothing on leaving if consent was not given', async () => {
      const landing = site.add(script('data-consent="required"'))
      await tab.goto(landing + QUERY)
      await isRunning()
      await tab.goto(site.add(script()))
      await service.waitFor('/v1/visits')
      expect(await visitsOf(landing, 1)).to.deep.equal([])
    })

    it('keeps its landing over the routes of a single-page application', async () => {
      const page = await chromium.context.newPage()
      tab = page
      await page.goto(site.add(script('data-spa')) + QUERY, { referer: 'https://news.example/item' })
      await service.waitFor('/v1/visits')
      await tab.evaluate(`history.pushState(null, '', '/route')`)
      const visits = await service.waitFor('/v1/visits', 2)
      expect(visits[1]?.body.page_url).to.match(/\/route$/)
      expect(visits[1]?.body.source).to.deep.equal({ ...visits[0]?.body.source, carried: true })
      expect(visits[1]?.body.source.referrer).to.equal('https://news.example/item')
    })

    it('uses a beacon below its own address if the browser has no requests that outlive a page', async () => {
      const proxied = await startRecordingService(bundle, '/w')
      try {
        const page = await chromium.context.newPage()
        await page.addInitScript('delete Request.prototype.keepalive')
        proxied.config = { measurementIds: ['G-A1'], providers: ['ga4'] }
        const { origin } = new URL(proxied.url)
        const own = `${origin}/site`
        await page.route(
          (url) => url.pathname === '/site',
          (route) => route.fulfill({ contentType: 'text/html', body: script('', `${proxied.url}/browser.js`) }),
        )
        await page.goto(`${own}${QUERY}`)
        await proxied.waitFor('/browser-config')
        await page.goto('about:blank')
        const [visit] = await proxied.waitFor('/v1/visits')
        expect(visit?.headers['content-type']).to.equal('application/json')
        expect(visit?.body.source.utm).to.deep.equal({ source: 'reddit', campaign: 'launch' })
      } finally {
        await proxied.close()
      }
    })
  })

  describe('in Firefox', () => {
    let firefox: PuppeteerInstance
    before(async () => (firefox = await openFirefox()))
    after(async () => firefox?.close())
    beforeEach(async () => {
      tab = await firefox.browser.newPage()
      await forgetVisitor(tab, site)
    })
    afterEach(async () => tab.close())

    for (const stayMs of [50, 200, 700, 1_500]) keepsItsLanding(stayMs)
    isCountedAfterASecond()
  })
})
