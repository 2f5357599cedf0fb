import { expect } from 'chai'
import type { Page } from 'playwright-core'
import type { ChromiumInstance, PuppeteerInstance } from './support/browsers.ts'
import { openChromium, openFirefox } from './support/browsers.ts'
import { COMMAND, INSTALL } from './support/command.ts'
import type { Recorded, RecordingService } from './support/recording-service.ts'
import type { Site } from './support/site.ts'
import { forgetVisitor, openStage, type SdkStage } from './support/stage.ts'

const DAY_MS = 86_400_000

describe('sdk, what an origin remembers of its visitor', function () {
  this.timeout(60_000)
  let stage: SdkStage
  let service: RecordingService
  let site: Site
  let chromium: ChromiumInstance
  let page: Page

  before(async () => {
    stage = await openStage()
    ;({ service, site } = stage)
    chromium = await openChromium()
  })
  after(async () => {
    await chromium?.close()
    await stage?.close()
  })
  beforeEach(async () => {
    page = await chromium.context.newPage()
    await forgetVisitor(page, site)
    service.reset()
  })
  afterEach(async () => {
    for (const each of chromium.context.pages().slice(1)) await each.close()
  })

  const script = (attributes = '') =>
    `<script async src="${service.url}/browser.js" data-project="acme-dev" ${attributes}></script>`
  const QUERY = '?utm_source=news&utm_campaign=launch&ref=hn&gclid=g1'
  const visitOf = async (url: string, count: number): Promise<Recorded['body']> =>
    (await service.waitFor('/v1/visits', count)).find(({ body }) => body.page_url === url)?.body
  /** Lands with a campaign; the visit that was sent. */
  async function land(more = ''): Promise<Recorded['body']> {
    const url = site.add(script() + more)
    await page.goto(url + QUERY)
    await service.waitFor('/v1/visits/activate')
    return visitOf(url, 1)
  }
  function expectCarried(later: Recorded['body'], first: Recorded['body']): void {
    expect(first).to.deep.include({ entry: true })
    expect(first.source).to.deep.include({ ref: 'hn', click: 'gclid', page: first.page_url })
    expect(first.source).to.not.have.property('carried')
    expect(later.source).to.deep.equal({ ...first.source, carried: true })
    expect(later).to.include({ sitting: first.sitting, entry: false })
  }

  it('keeps no marker under data-markers="off", sends the visit all the same, and a token links to it', async () => {
    const url = site.add(script('data-markers="off"') + INSTALL)
    await page.goto(url)
    const [visit] = await service.waitFor('/v1/visits')
    expect(visit?.body).to.deep.include({ page_url: url, entry: true })
    expect(visit?.body).to.include({ previous_receipt: null })
    await page.hover('#install')
    await service.waitFor('/v1/handoffs')
    await page.waitForFunction(`window.whence.fill('${COMMAND}').includes('wht_')`)
    expect(service.requests.map((request) => request.path)).to.not.include('/v1/visits/activate')
    const names = `(async () => { let count = 0; for await (const _ of (await navigator.storage.getDirectory()).keys()) count++; return count })()`
    expect(await page.evaluate(names)).to.equal(0)
  })

  describe('goes along', () => {
    for (const [how, click] of [
      ['target=_blank', () => page.click('a')],
      ['a middle click', () => page.click('a', { button: 'middle' })],
      [
        'a link without an opener',
        () => page.evaluate(`void window.open(document.querySelector('a').href, '_blank', 'noopener,noreferrer')`),
      ],
      ['a typed address in another tab', async () => (await chromium.context.newPage()).goto(install)],
    ] as const)
      it(`with ${how}`, async () => {
        install = site.add(script())
        const first = await land(`<a href="${install}" target="_blank" rel="noopener">Install</a>`)
        await click()
        expectCarried(await visitOf(install, 2), first)
      })
    let install: string

    it('in Firefox, too', async () => {
      const firefox: PuppeteerInstance = await openFirefox()
      try {
        const url = site.add(script())
        const tab = await firefox.browser.newPage()
        await tab.goto(url + QUERY)
        await service.waitFor('/v1/visits/activate')
        const next = site.add(script())
        await (await firefox.browser.newPage()).goto(next)
        expectCarried(await visitOf(next, 2), await visitOf(url, 2))
      } finally {
        await firefox.close()
      }
    })
  })

  it('is the landing the next day, in another sitting, by token and by marker', async () => {
    const first = await land()
    await page.evaluate(`{
      const kept = JSON.parse(localStorage['whence:acme-dev'])
      localStorage['whence:acme-dev'] = JSON.stringify({ ...kept, landed_at: kept.landed_at - ${DAY_MS}, seen_at: kept.seen_at - ${DAY_MS} })
    }`)
    const install = site.add(script())
    await page.goto(install)
    const later = await visitOf(install, 2)
    expect(later.source).to.deep.equal({ ...first.source, landed_at: first.source.landed_at - DAY_MS, carried: true })
    expect(later.entry).to.equal(true)
    expect(later.sitting)
      .to.match(/^[\w-]{22}$/)
      .and.not.equal(first.sitting)
    const [, activation] = await service.waitFor('/v1/visits/activate', 2)
    await page.evaluate('whence.handoff()')
    const [handoff] = await service.waitFor('/v1/handoffs')
    expect(handoff?.body.receipt).to.equal(activation?.body.receipt)
  })

  it('stays the same sitting over the routes of a document and a reload', async () => {
    const url = site.add(script('data-spa'))
    await page.goto(url + QUERY)
    await service.waitFor('/v1/visits/activate')
    await page.evaluate(`history.pushState(null, '', '/route-of-a-sitting')`)
    await service.waitFor('/v1/visits/activate', 2)
    await page.goto(url + QUERY)
    const visits = (await service.waitFor('/v1/visits', 3)).map(({ body }) => body)
    expect(new Set(visits.map(({ sitting }) => sitting as string)).size).to.equal(1)
    expect(visits.map(({ entry }) => entry as boolean)).to.deep.equal([true, false, false])
    expect(visits.map(({ source }) => !!source.carried)).to.deep.equal([false, true, false])
  })

  it('is nothing before consent, and goes with it', async () => {
    const asking = site.add(script('data-consent="required"'))
    await page.goto(asking + QUERY)
    await page.waitForFunction('window.whence?.scope')
    expect(await page.evaluate('Object.keys(localStorage)')).to.deep.equal([])
    await page.evaluate('whence.grant()')
    await service.waitFor('/v1/visits/activate')
    expect(await page.evaluate('Object.keys(localStorage)')).to.deep.equal(['whence:acme-dev'])
    await page.evaluate('whence.deny()')
    expect(await page.evaluate('Object.keys(localStorage)')).to.deep.equal([])
  })

  it('loses its click under Global Privacy Control, but not its name', async () => {
    await land()
    const next = await chromium.context.newPage()
    await next.addInitScript(`Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true })`)
    await next.goto(site.add(script()))
    await service.waitFor('/v1/visits', 2)
    expect(await next.evaluate(`JSON.parse(localStorage['whence:acme-dev'])`)).to.deep.include({
      clicks: {},
      click: 'gclid',
    })
  })

  it('is nothing after a refusal, though a token was requested before it', async () => {
    const page = await chromium.context.newPage()
    // The visit waits for the adapter, and the token for the visit.
    const slow = `<script>window.whence = [(w) => w.adapter('slow', () => new Promise((resolve) => (window.release = resolve)))]</script>`
    await page.goto(
      site.add(slow + script() + '<code data-whence-command>curl -fsSL https://acme.dev/i.sh | sh</code>'),
    )
    await page.waitForFunction('window.release')
    const token = await page.evaluate(`(async () => {
      const asked = whence.handoff()
      await new Promise((resolve) => setTimeout(resolve, 100))
      whence.deny()
      release({})
      return asked
    })()`)
    expect(token).to.equal(null)
    expect(await page.evaluate('Object.keys(localStorage)')).to.deep.equal([])
    expect(service.requests.filter(({ path }) => path === '/v1/handoffs')).to.deep.equal([])
  })

  for (const referer of ['https://news.example/item', undefined])
    it(`is nothing in a browser that blocks storage, which names no sitting, ${referer ? 'from a link' : 'at a typed address'}`, async () => {
      await page.addInitScript(
        `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })`,
      )
      const url = site.add(script('data-spa'))
      await page.goto(url + QUERY, referer ? { referer } : {})
      await service.waitFor('/v1/visits/activate')
      await page.evaluate(`history.pushState(null, '', '/route-without-storage')`)
      const next = site.add(script())
      await service.waitFor('/v1/visits/activate', 2)
      await page.evaluate(`location.href = '${next}'`)
      const visits = (await service.waitFor('/v1/visits', 3)).map(({ body }) => body)
      expect(visits[0].referrer).to.equal(referer)
      for (const visit of visits) expect(visit).to.not.have.property('sitting')
      expect(visits.map(({ entry }) => entry as unknown)).to.deep.equal([undefined, false, false])
      // The document still knows its own landing.
      expect(visits.map(({ source }) => source.utm.source as unknown)).to.deep.equal(['news', 'news', undefined])
    })

  it('names a sitting in a browser of 2021, too', async () => {
    await page.addInitScript(`
      delete Object.hasOwn
      delete Array.prototype.at
      delete String.prototype.at
      delete Crypto.prototype.randomUUID
      delete AbortSignal.timeout
      delete window.navigation`)
    const first = await land('<code data-whence-command>curl -fsSL https://acme.dev/i.sh | sh</code>')
    expect(first.sitting).to.match(/^[\w-]{22}$/)
    expect(await page.evaluate('whence.command(document.querySelector("code").innerText)')).to.match(/wht_/)
  })
})
