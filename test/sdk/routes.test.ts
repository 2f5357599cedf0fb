import { expect } from 'chai'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { until } from '../../fixtures/until.ts'
import type { ChromiumInstance } from './support/browsers.ts'
import { openChromium } from './support/browsers.ts'
import { COMMAND, FILLED, INSTALL } from './support/command.ts'
import type { RecordingService } from './support/recording-service.ts'
import type { Site } from './support/site.ts'
import { fileOf, openStage, type SdkStage } from './support/stage.ts'

describe('sdk, pages that change after they have loaded', function () {
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
    service.reset()
    page = await chromium.context.newPage()
  })
  afterEach(() => page.close())

  const script = (attributes = '') =>
    `<script async src="${service.url}/browser.js" data-project="acme-dev" ${attributes}></script>`
  const go = (path: string) => page.evaluate(`history.pushState(null, '', '${path}')`)
  const paths = (count: number) =>
    service
      .waitFor('/v1/visits', count)
      .then((visits) => visits.map(({ body }) => new URL(body.page_url as string).pathname))

  describe('routes that follow each other quickly', () => {
    // GA4's tag is blocked, as it is for many developers: each visit would wait for its cookies.
    beforeEach(() => (service.config = { measurementIds: ['G-A1'], providers: ['ga4'] }))

    it('are each counted once, with the path that was shown', async () => {
      const url = site.add(script('data-spa'))
      await page.goto(url)
      await service.waitFor('/browser-config')
      for (const path of ['/home', '/pricing', '/docs', '/install']) {
        await go(path)
        await wait(50)
      }
      const shown = [new URL(url).pathname, '/home', '/pricing', '/docs', '/install']
      expect(await paths(5)).to.have.members(shown)
      const bodies = (await service.waitFor('/v1/visits', 5)).map(({ body }) => body)
      expect(new Set(bodies.map(({ url_id }) => url_id as string)).size).to.equal(5)
    })

    it('are all counted if the visitor leaves at once', async () => {
      const url = site.add(script('data-spa'))
      await page.goto(url)
      await service.waitFor('/browser-config')
      for (const path of ['/one', '/two', '/three']) await go(path)
      await wait(700)
      await page.goto('about:blank')
      expect(await paths(4)).to.have.members([new URL(url).pathname, '/one', '/two', '/three'])
    })
  })

  it('keep the ID of a registered page while the path is the same', async () => {
    await page.goto(
      site.add(`${script('data-spa data-page-id="install" data-consent="required"')}<a href="#x">to x</a>`),
    )
    await page.waitForFunction('window.whence?.scope')
    await page.evaluate('history.replaceState({ router: 1 }, "", location.href)')
    await page.click('a')
    await page.evaluate('whence.grant()')
    const [visit] = await service.waitFor('/v1/visits')
    expect(visit?.body.url_id).to.equal('install')
    await go('/elsewhere')
    const [, second] = await service.waitFor('/v1/visits', 2)
    expect(second?.body.url_id).to.match(/^url_/)
  })

  describe('a command that is there later', () => {
    const late = (body: string) =>
      `setTimeout(() => { document.body.insertAdjacentHTML('beforeend', \`${body}\`) }, 600)`
    const partAt = (name: string) => fileOf(stage.manifest, `/browser/${name}`).url
    const tokenIsHere = () => page.waitForFunction(`whence.fill('${COMMAND}').includes('wht_')`)
    const copied = () => page.evaluate('navigator.clipboard.readText()')

    for (const [when, html, insert] of [
      ['is inserted after the page has loaded', '', `${late(INSTALL)}`],
      ['is shown by a route', '', `history.pushState(null, '', '/install-route'); ${late(INSTALL)}`],
      [
        'is marked after the page has loaded',
        INSTALL.replace('data-whence-command', ''),
        `setTimeout(() => document.querySelector('#install').setAttribute('data-whence-command', ''), 600)`,
      ],
    ] as const)
      it(`is copied with its token by the first tap if it ${when}`, async () => {
        await page.goto(site.add(`${script('data-spa')}${html}`))
        await service.waitFor('/v1/visits/activate')
        await page.evaluate(insert)
        // In view, before anybody comes near it.
        await tokenIsHere()
        await page.evaluate('navigator.clipboard.writeText("")')
        await page.evaluate(
          'document.querySelector("button").dispatchEvent(new MouseEvent("click", { bubbles: true }))',
        )
        await page.waitForFunction('navigator.clipboard.readText().then((text) => text !== "")')
        expect(await copied()).to.match(FILLED)
      })

    it('is found while the visit still waits for the cookies of a tag that is blocked', async () => {
      service.config = { measurementIds: ['G-A1'], providers: ['ga4'] }
      await page.goto(site.add(script()))
      await service.waitFor('/browser-config')
      await page.evaluate(late(INSTALL))
      await service.waitFor(partAt('extras'))
      expect(service.requests.filter(({ path }) => path === '/v1/visits')).to.deep.equal([])
    })

    for (const consent of ['required', 'denied'])
      it(`is copied, without a token, by a button that does nothing itself, on a page with consent "${consent}"`, async () => {
        await page.goto(site.add(script(`data-consent="${consent}"`)))
        await service.waitFor(partAt('keeper'))
        await page.evaluate(late(INSTALL))
        await service.waitFor(partAt('extras'))
        await page.evaluate('navigator.clipboard.writeText("")')
        const click = `document.querySelector('button').dispatchEvent(new MouseEvent('click', { bubbles: true }))`
        const isCopied = async () => (await page.evaluate(click)) && (await copied()) === COMMAND
        await until(isCopied, { what: 'the plain command is copied' })
        expect(service.requests.filter(({ path }) => path.startsWith('/v1/'))).to.deep.equal([])
      })

    it('is copied by the keyboard with its token', async () => {
      await page.goto(site.add(script()))
      await service.waitFor('/v1/visits/activate')
      await page.evaluate(late(INSTALL))
      await tokenIsHere()
      await page.evaluate('getSelection().selectAllChildren(document.querySelector("#install"))')
      await page.keyboard.press('Control+C')
      expect(await copied()).to.match(FILLED)
    })

    it('makes no page load anything if none comes', async () => {
      await page.goto(site.add(`${script()}<pre>${COMMAND}</pre>`))
      await service.waitFor('/v1/visits/activate')
      await page.evaluate(late('<p>more</p>'))
      await wait(900)
      expect(service.requests.filter(({ path }) => path.startsWith('/browser/extras'))).to.deep.equal([])
    })
  })
})
