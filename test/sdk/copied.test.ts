import { expect } from 'chai'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { ChromiumInstance } from './support/browsers.ts'
import { openChromium } from './support/browsers.ts'
import { COMMAND, INSTALL } from './support/command.ts'
import type { RecordingService } from './support/recording-service.ts'
import type { Site } from './support/site.ts'
import { openStage, type SdkStage } from './support/stage.ts'

describe('sdk, what counts as copied', function () {
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
  const handoffs = () => service.requests.filter(({ path }) => path === '/v1/handoffs').map(({ body }) => body)
  const copies = () => handoffs().filter(({ copied }) => copied === true)
  const tokenIsHere = () => page.waitForFunction(`window.whence?.fill?.('${COMMAND}').includes('wht_')`)
  const open = async (body = INSTALL, attributes = '') => {
    await page.goto(site.add(`${script(attributes)}<p>Run</p>${body}<p>then go on</p><input>`))
    await tokenIsHere()
  }
  const select = () => page.evaluate('getSelection().selectAllChildren(document.querySelector("#install"))')

  it('is nothing that is only in view, or near the pointer', async () => {
    await open()
    await page.hover('#install')
    await page.focus('button')
    await wait(6_000)
    expect(copies()).to.deep.equal([])
    expect(handoffs()).to.have.length(1)
  })

  const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
    'the button': () => page.click('button'),
    'the button, by the keyboard': () => page.press('button', 'Enter'),
    'a selection and the keyboard': async () => {
      await select()
      await page.keyboard.press('Control+C')
    },
    'a selection of the whole page': async () => {
      await page.evaluate('getSelection().selectAllChildren(document.body)')
      await page.keyboard.press('Control+C')
    },
    // Browsers do not let a test press an entry of their menu; the page sees the same event.
    'the context menu': async () => {
      await select()
      await page.click('#install', { button: 'right' })
      await select()
      await page.evaluate('document.execCommand("copy")')
    },
    'a call of the page': () => page.evaluate('whence.copied()'),
  }
  for (const [way, copy] of Object.entries(WAYS))
    it(`is a command by ${way}, once for a page view, with the first form`, async () => {
      await open()
      await copy()
      await copy()
      await service.waitFor('/v1/handoffs', 2)
      await wait(200)
      const [asked] = handoffs()
      expect(copies()).to.deep.equal([{ ...asked, copied: true }])
      expect(asked).to.not.have.property('copied')
      expect(asked).to.have.property('receipt')
    })

  it('is a selected part of a command neither, nor other text', async () => {
    await open()
    await page.evaluate(
      `const { firstChild } = document.querySelector('#install'); getSelection().setBaseAndExtent(firstChild, 0, firstChild, 9)`,
    )
    await page.keyboard.press('Control+C')
    await page.evaluate('getSelection().selectAllChildren(document.querySelector("p"))')
    await page.keyboard.press('Control+C')
    await wait(300)
    expect(copies()).to.deep.equal([])
  })

  it('is no token, command or filling that the page asks for', async () => {
    await open()
    await page.evaluate(`whence.fill('${COMMAND}'); whence.command('${COMMAND}').then(() => whence.handoff())`)
    await wait(300)
    expect(copies()).to.deep.equal([])
  })

  for (const [what, leave] of [
    ['follows a link', (url: string) => `location.href = '${url}'`],
    ['closes the tab', () => 'window.close()'],
  ] as const)
    it(`is kept if the visitor ${what} at once`, async () => {
      const next = site.add('<p>next')
      await open()
      await page.evaluate(`document.querySelector('button').click(); ${leave(next)}`).catch(() => undefined)
      await service.waitFor('/v1/handoffs', 2)
      expect(copies()).to.have.length(1)
      page = await chromium.context.newPage()
    })

  it('is counted before its token has come, as long as the visit is recorded', async () => {
    service.misbehave.set('/v1/handoffs', 'hang')
    await page.goto(site.add(script() + INSTALL))
    await service.waitFor('/v1/visits/activate')
    await service.waitFor('/v1/handoffs')
    await page.click('button')
    await service.waitFor('/v1/handoffs', 2)
    expect(copies()).to.have.length(1)
  })

  it('is counted for each route of its own', async () => {
    await open(INSTALL, 'data-spa')
    await page.click('button')
    await service.waitFor('/v1/handoffs', 2)
    await page.evaluate(`history.pushState(null, '', '/route-of-copies')`)
    await service.waitFor('/v1/visits/activate', 2)
    await service.waitFor('/v1/handoffs', 3)
    await tokenIsHere()
    await page.click('button')
    await service.waitFor('/v1/handoffs', 4)
    const receipts = copies().map(({ receipt }) => receipt as string)
    expect(new Set(receipts).size).to.equal(2)
  })

  it('is nothing without consent', async () => {
    await page.goto(site.add(script('data-consent="required"') + INSTALL))
    await page.waitForFunction('window.whence?.scope')
    await wait(300)
    await page.click('button')
    await page.evaluate('whence.copied()')
    await wait(300)
    expect(service.requests.filter(({ path }) => path.startsWith('/v1/'))).to.deep.equal([])
  })

  it('asks for nothing in advance on a page that is not counted', async () => {
    await page.goto(site.add(script('data-manual')))
    await page.waitForFunction('window.whence?.scope')
    await page.evaluate('whence.prepare()')
    await wait(500)
    expect(service.requests.filter(({ path }) => path.startsWith('/v1/'))).to.deep.equal([])
    await page.evaluate('whence.start().then(() => whence.prepare())')
    await service.waitFor('/v1/handoffs')
    expect(handoffs()[0]).to.have.property('receipt')
  })
})
