import { expect } from 'chai'
import type { Browser } from 'puppeteer-core'
import { openChromiumWithHistory, openFirefox } from './support/browsers.ts'
import type { RecordingService } from './support/recording-service.ts'
import type { Site } from './support/site.ts'
import { openStage, type SdkStage } from './support/stage.ts'

describe('sdk and the history of a browser', function () {
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

  const script = () => `<script async src="${service.url}/browser.js" data-project="acme-dev"></script>`
  const BROWSERS: [string, () => Promise<{ browser: Browser; close: () => Promise<void> }>][] = [
    ['Chromium', openChromiumWithHistory],
    ['Firefox', () => openFirefox()],
  ]

  for (const [name, open] of BROWSERS) {
    it(`counts no page that comes back from the back/forward cache of ${name}`, async () => {
      const { browser, close } = await open()
      try {
        const page = await browser.newPage()
        // The page itself reports, because a driver may lose its hold on a page that leaves and comes back.
        const watch = `<script>addEventListener('pageshow', async ({ persisted }) => {
          if (!persisted) return
          await whence.start()
          await fetch('${service.url}/restored')
        })</script>`
        await page.goto(site.add(script() + watch))
        await service.waitFor('/v1/visits/activate')
        await page.goto(site.add('<script>onload = () => setTimeout(() => history.back())</script>'))
        await service.waitFor('/restored')
        expect(await service.waitFor('/v1/visits')).to.have.length(1)
      } finally {
        await close()
      }
    })
  }

  it('counts a page that Chromium has prerendered when it is shown, and not before', async () => {
    const { browser, close } = await openChromiumWithHistory()
    try {
      const page = await browser.newPage()
      const target = site.add(script())
      const rules = JSON.stringify({ prerender: [{ urls: [target], eagerness: 'immediate' }] })
      await page.goto(site.add(`<a href="${target}">Install</a><script type="speculationrules">${rules}</script>`))
      await service.waitFor('/browser.js')
      await service.waitFor('/browser.js')
      expect(service.requests.filter(({ path: where }) => where.startsWith('/v1/'))).to.deep.equal([])
      await page.click('a')
      await service.waitFor('/v1/visits/activate')
      expect(await page.evaluate('performance.getEntriesByType("navigation")[0].activationStart > 0')).to.equal(true)
      expect(await service.waitFor('/v1/visits')).to.have.length(1)
    } finally {
      await close()
    }
  })

  it('keeps nothing of a prerendered page whose visitor has refused by the time it is shown', async () => {
    const { browser, close } = await openChromiumWithHistory()
    try {
      const page = await browser.newPage()
      const refuse = `<script>window.whence = [() => setTimeout(async () => {
        whence.deny()
        await fetch('${service.url}/refused')
      }, 100)]</script>`
      const target = site.add(refuse + script())
      const rules = JSON.stringify({ prerender: [{ urls: [target], eagerness: 'immediate' }] })
      await page.goto(site.add(`<a href="${target}">Install</a><script type="speculationrules">${rules}</script>`))
      await service.waitFor('/refused')
      await page.click('a')
      await page.waitForFunction('performance.getEntriesByType("navigation")[0].activationStart > 0')
      // By then the page would have been counted.
      await page.evaluate('whence.start()')
      await page.evaluate(`fetch('${service.url}/shown')`)
      await service.waitFor('/shown')
      expect(await page.evaluate('Object.keys(localStorage)')).to.deep.equal([])
      expect(service.requests.filter(({ path: where }) => where.startsWith('/v1/'))).to.deep.equal([])
    } finally {
      await close()
    }
  })
})
