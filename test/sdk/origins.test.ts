/** A landing goes along to the website's other origins, in both browsers; links and addresses are afterwards as they were. */

import { expect } from 'chai'
import type { Page } from 'puppeteer-core'
import type { PuppeteerInstance } from './support/browsers.ts'
import { openChromiumWithHistory, openFirefox } from './support/browsers.ts'
import type { Recorded, RecordingService } from './support/recording-service.ts'
import { startSite, type Site } from './support/site.ts'
import { openStage, type SdkStage } from './support/stage.ts'

const BROWSERS: readonly (readonly [string, () => Promise<PuppeteerInstance>])[] = [
  ['Chromium', openChromiumWithHistory],
  ['Firefox', openFirefox],
]
const QUERY = '?utm_source=news&utm_campaign=launch&gclid=g1'

for (const [name, open] of BROWSERS)
  describe(`sdk across origins, in ${name}`, function () {
    this.timeout(60_000)
    let stage: SdkStage
    let service: RecordingService
    let site: Site
    let instance: PuppeteerInstance
    let page: Page

    before(async () => {
      stage = await openStage()
      ;({ service, site } = stage)
      instance = await open()
    })
    after(async () => {
      await instance?.close()
      await stage?.close()
    })
    beforeEach(async () => {
      page = await instance.browser.newPage()
      for (const origin of [site.origin, site.foreignOrigin]) {
        await page.goto(site.add('').replace(site.origin, origin))
        await page.evaluate('localStorage.clear()')
      }
      service.reset()
      service.config = { measurementIds: [], providers: ['ga4', 'google_ads'] }
      service.site = { origins: [site.origin, site.foreignOrigin], ignoredReferrers: [], crossOrigin: 'Carry' }
    })
    afterEach(async () => {
      for (const each of (await instance.browser.pages()).slice(1)) await each.close()
    })

    const script = (attributes = '') =>
      `<script async src="${service.url}/browser.js" data-project="acme-dev" ${attributes}></script>`
    /** A page of the other origin. */
    const addOther = (body = script(), headers: Record<string, string> = {}) =>
      site.add(body, headers).replace(site.origin, site.foreignOrigin)
    const visitOf = async (url: string, count = 2): Promise<Recorded['body']> =>
      (await service.waitFor('/v1/visits', count)).find(({ body }) => body.page_url === url)?.body
    /** Lands on the first origin with a campaign, and waits until links can carry it. */
    async function land(body: string, attributes = ''): Promise<Recorded['body']> {
      const url = site.add(script(attributes) + body)
      await page.goto(url + QUERY)
      await service.waitFor('/v1/visits/activate')
      // The first call asks for the origins, unless the page has asked already.
      await page.waitForFunction(`window.whence.link('${site.foreignOrigin}/').includes('_whence')`)
      return visitOf(url, 1)
    }
    const hrefIn = (tab: Page) => tab.evaluate('location.href') as Promise<string>
    /** The tab that shows the address, once its keeper has looked after it. */
    async function tabAt(url: string): Promise<Page> {
      const target = await instance.browser.waitForTarget((each) => each.url().startsWith(url), { timeout: 20_000 })
      const tab = await target.page()
      if (tab === null) throw new Error(`no tab at ${url}`)
      return tab
    }
    function expectCarried(later: Recorded['body'], first: Recorded['body']): void {
      expect(first.source).to.deep.include({ utm: { source: 'news', campaign: 'launch' } })
      expect(later.source).to.deep.include({
        utm: first.source.utm,
        landed_at: first.source.landed_at,
        page: first.source.page,
        click: 'gclid',
        carried: true,
      })
      expect(later).to.include({ sitting: first.sitting, entry: false })
      expect(later.identities.google_ads).to.include({ gclid: 'g1' })
    }

    describe('a landing', () => {
      for (const [how, attributes, use] of [
        ['a click', '', () => page.click('a')],
        ['a click into another tab', 'target="_blank"', () => page.click('a')],
        ['a click without a referrer', 'rel="noreferrer"', () => page.click('a')],
        ['a middle click', '', () => page.click('a', { button: 'middle' })],
        ['the keyboard', '', async () => (await page.focus('a'), page.keyboard.press('Enter'))],
        ['a click by a script', '', () => page.evaluate(`document.querySelector('a').click()`)],
      ] as const)
        it(`goes along with ${how}, and link and address are as they were`, async () => {
          const other = addOther()
          const first = await land(`<p><a ${attributes} href="${other}">Install</a></p>`)
          const before = await page.evaluate(`document.querySelector('p').innerHTML`)
          await use()
          const later = await visitOf(other)
          expectCarried(later, first)
          const tab = await tabAt(other)
          expect(await hrefIn(tab)).to.equal(other)
          if (tab.url() !== page.url() || attributes.includes('_blank'))
            expect(await page.evaluate(`document.querySelector('p').innerHTML`)).to.equal(before)
        })

      it('goes along in the query of a link with a fragment, of which no byte changes', async () => {
        const other = addOther()
        const link = `${other}?a=%20b&c#section:~:text=x`
        const first = await land(`<a href="${link}">Install</a>`)
        await page.click('a')
        expectCarried(await visitOf(other), first)
        expect(await hrefIn(page)).to.equal(`${other}?a=%20b&c#section`)
      })

      it('goes along in the query if the script tag says so', async () => {
        const other = addOther()
        const first = await land(`<a href="${other}">Install</a>`, 'data-carry="query"')
        await page.click('a')
        expectCarried(await visitOf(other), first)
        expect(site.asked.filter((path) => other.endsWith(path.replace(/\?.*/, ''))).join()).to.match(
          /\?_whence=1[\w-]+$/,
        )
      })

      it('survives a redirect of the other origin', async () => {
        const other = addOther()
        const redirect = addOther('', { location: other })
        const first = await land(`<a href="${redirect}">Install</a>`)
        await page.click('a')
        expectCarried(await visitOf(other), first)
        expect(await hrefIn(page)).to.equal(other)
      })

      it('goes along with a form that opens an address', async () => {
        const other = addOther()
        const first = await land(`<form action="${other}"><input name="q" value="x"><button>Search</button></form>`)
        await page.click('button')
        expectCarried(await visitOf(other), first)
        expect(await hrefIn(page)).to.equal(`${other}?q=x`)
      })

      it('goes along with a form that is posted, over the redirect that answers it, and changes nothing of what is sent', async () => {
        const other = addOther()
        const posted = addOther('', { location: other })
        const first = await land(
          `<form method="post" action="${posted}"><input name="q" value="x"><button>Sign up</button></form>`,
        )
        await page.click('button')
        expectCarried(await visitOf(other), first)
        expect(await hrefIn(page)).to.equal(other)
        const { pathname } = new URL(posted)
        expect(site.asked.filter((asked) => asked.split('?')[0] === pathname)).to.deep.equal([pathname])
      })

      it('goes along with an address that a script opens', async () => {
        const other = addOther()
        const first = await land('')
        await page.evaluate(`void window.open(whence.link('${other}'), '_blank', 'noopener,noreferrer')`)
        expectCarried(await visitOf(other), first)
      })

      it('goes on to the next page of the other origin, and comes back', async () => {
        const back = site.add(script())
        const next = addOther(`${script()}<a href="${back}">Back</a>`)
        const other = addOther(`${script()}<a href="${next.replace(site.foreignOrigin, '')}">Next</a>`)
        const first = await land(`<a href="${other}">Docs</a>`)
        await page.click('a')
        await visitOf(other)
        await service.waitFor('/v1/visits/activate', 2)
        await page.click('a')
        await visitOf(next, 3)
        await service.waitFor('/v1/visits/activate', 3)
        await page.waitForFunction(`window.whence.link('${back}').includes('_whence')`)
        await page.click('a')
        const last = await visitOf(back, 4)
        expect(last.source).to.deep.include({ utm: first.source.utm, landed_at: first.source.landed_at, carried: true })
        expect(last).to.include({ sitting: first.sitting, entry: false })
      })
    })

    describe('nothing goes along', () => {
      const REFUSED: readonly (readonly [string, (other: string) => string])[] = [
        ['to a file', (other) => `<a href="${other}.zip">Get</a>`],
        ['to a download', (other) => `<a download href="${other}">Get</a>`],
        ['to an address that is signed', (other) => `<a href="${other}?X-Amz-Signature=abc#x">Get</a>`],
        ['within the origin', (other) => `<a href="${other.replace(site.foreignOrigin, '')}#x">Get</a>`],
      ]
      for (const [where, link] of REFUSED)
        it(where, async () => {
          const other = addOther('')
          await land(link(other))
          const put = await page.evaluate(`(() => {
            const link = document.querySelector('a')
            const seen = []
            new MutationObserver(() => seen.push(link.outerHTML)).observe(link, { attributes: true })
            link.addEventListener('click', (event) => event.preventDefault())
            link.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))
            link.click()
            return new Promise((resolve) => setTimeout(() => resolve(seen)))
          })()`)
          expect(put).to.deep.equal([])
        })

      it('if the website does not want it', async () => {
        const other = addOther()
        const first = await land(`<a href="${other}">Install</a>`)
        service.site = { ...service.site, crossOrigin: 'Disabled' }
        await page.click('a')
        const later = await visitOf(other)
        expect(later.source.utm).to.deep.equal({})
        expect(later.sitting).to.not.equal(first.sitting)
        expect(await hrefIn(page)).to.equal(other)
      })

      it('after a refusal', async () => {
        const other = addOther()
        await land(`<a href="${other}">Install</a>`)
        await page.evaluate('whence.deny()')
        expect(await page.evaluate(`whence.link('${other}')`)).to.equal(other)
        await page.click('a')
        expect((await visitOf(other)).source.utm).to.deep.equal({})
      })

      it('before consent, on either side, but the address is plain at once', async () => {
        const other = addOther(script('data-consent="required"'))
        await land(`<a href="${other}">Install</a>`)
        await page.click('a')
        await page.waitForFunction('window.whence?.scope')
        expect(await hrefIn(page)).to.equal(other)
        expect(await page.evaluate('Object.keys(localStorage)')).to.deep.equal([])
        expect(await page.evaluate(`whence.link('${site.origin}/')`)).to.equal(`${site.origin}/`)
        await page.evaluate('whence.grant()')
        expect((await visitOf(other)).source).to.deep.include({ carried: true })
      })

      it('of a click under Global Privacy Control', async () => {
        await page.evaluateOnNewDocument(
          `Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true })`,
        )
        const other = addOther()
        await land(`<a href="${other}">Install</a>`)
        const link = String(await page.evaluate(`whence.link('${other}')`))
        expect(Buffer.from(link.replace(/.*_whence=1/, ''), 'base64url').toString()).to.not.include('g1')
      })
    })

    describe('the address', () => {
      it('is plain again after a router has put it back, with the state that the router keeps', async () => {
        const router = `<script>
          const came = location.href
          history.replaceState({ key: 1 }, '')
          addEventListener('load', () => setTimeout(() => history.replaceState({ key: 2 }, '', came)))
          window.route = () => history.pushState({ key: 3 }, '', came.replace('#', '?next#'))</script>`
        const other = addOther(router + script())
        const first = await land(`<a href="${other}">Install</a>`)
        await page.click('a')
        expectCarried(await visitOf(other), first)
        await page.waitForFunction(`!location.href.includes('_whence') && history.state.key === 2`)
        const hasNavigation = await page.evaluate('!!window.navigation')
        if (!hasNavigation) return
        await page.evaluate('route()')
        await page.waitForFunction(`location.href === '${other}?next' && history.state.key === 3`)
      })

      for (const [how, begin] of [
        ['that reads it', ''],
        ['that writes it as a path', `history.replaceState(null, '', '#/' + location.hash.slice(1))`],
      ] as const)
        it(`shows a router by fragment ${how} what it would show without it`, async () => {
          const router = `<h1></h1><script>
          ${begin}
          const show = () => {
            const path = location.hash.slice(1) || '/'
            document.querySelector('h1').textContent = path === '/' ? 'Home' : 'Not found'
          }
          addEventListener('popstate', show)
          show()</script>`
          const other = addOther(router + script())
          const first = await land(`<a href="${other}">Install</a>`)
          await page.click('a')
          expectCarried(await visitOf(other), first)
          await page.waitForFunction(`document.querySelector('h1')?.textContent === 'Home'`)
          expect(await hrefIn(page)).to.equal(other)
        })
    })

    describe('a referrer alone', () => {
      it('replaces what is remembered only if it is a source', async () => {
        const landed = site.add(script())
        await page.goto(landed + QUERY)
        await service.waitFor('/v1/visits/activate')
        const start = (to: string) => addOther(`<a href="${to}">On</a>`)
        const ignored = site.add(script())
        service.site = { origins: [site.origin], ignoredReferrers: ['127.0.0.1'], crossOrigin: 'Carry' }
        await page.goto(start(ignored))
        await page.click('a')
        expect((await visitOf(ignored)).source).to.deep.include({ utm: { source: 'news', campaign: 'launch' } })
        await service.waitFor('/v1/visits/activate', 2)
        const counted = site.add(script())
        service.site = { origins: [site.origin], ignoredReferrers: [], crossOrigin: 'Carry' }
        await page.goto(start(counted))
        await page.click('a')
        expect((await visitOf(counted, 3)).source).to.deep.include({ utm: {}, referrer: `${site.foreignOrigin}/` })
        await service.waitFor('/v1/visits/activate', 3)
        expect(await page.evaluate(`JSON.parse(localStorage['whence:acme-dev']).referrer`)).to.equal(
          `${site.foreignOrigin}/`,
        )
      })
    })

    describe('the shared cookie', () => {
      let sibling: Site
      before(async () => (sibling = await startSite()))
      after(() => sibling?.close())

      it('takes the landing to a typed address of another host below the domain, until a refusal', async () => {
        const share = 'data-share="localhost"'
        service.site = { ...service.site, origins: [site.origin, sibling.origin] }
        const url = site.add(script(share))
        await page.goto(url + QUERY)
        await service.waitFor('/v1/visits/activate')
        const typed = sibling.add(script(share))
        await page.goto(typed)
        expectCarried(await visitOf(typed), await visitOf(url))
        await service.waitFor('/v1/visits/activate', 2)
        expect(await page.evaluate('document.cookie')).to.match(/whence_acme-dev=1[\w-]+/)
        await page.evaluate('whence.deny()')
        await page.waitForFunction(`!document.cookie.includes('whence_')`)
      })
    })
  })
