import { expect } from 'chai'
import { READERS } from '../../sdk/readers/index.ts'
import { openChromium, openFirefox } from './support/browsers.ts'
import { BEFORE_VISIT_BYTES } from './support/budgets.ts'
import type { RecordingService } from './support/recording-service.ts'
import { forgetVisitor, openStage, type SdkStage } from './support/stage.ts'

const COOKIES = ['_ga=GA1.1.5.6', '_ga_A1=GS2.1.s77$o1', '_fbp=fb.1.1.1', '_ttp=t']

/** What both drivers' pages can do. */
interface Tab {
  goto(url: string): Promise<unknown>
  evaluate(source: string): Promise<unknown>
  close(): Promise<void>
}
interface Browser {
  readonly newTab: () => Promise<Tab>
  readonly close: () => Promise<void>
}

const BROWSERS: Readonly<Record<string, () => Promise<Browser>>> = {
  Chromium: async () => {
    const { context, close } = await openChromium()
    return { newTab: () => context.newPage(), close }
  },
  Firefox: async () => {
    const { browser, close } = await openFirefox()
    return { newTab: () => browser.newPage(), close }
  },
}

describe('sdk, what a website with providers loads', function () {
  this.timeout(60_000)
  let stage: SdkStage
  let service: RecordingService

  before(async () => {
    stage = await openStage()
    ;({ service } = stage)
  })
  after(() => stage?.close())

  const pageOf = (before = '') =>
    stage.site.add(`${before}<script async src="${service.url}/browser.js" data-project="acme-dev"></script>`)
  /** Distinct files that were asked for before the visit was. */
  const filesBeforeVisit = () => {
    const asked = service.requests.map(({ path }) => path)
    const before = asked.slice(0, asked.indexOf('/v1/visits')).filter((path) => path.startsWith('/browser'))
    return stage.manifest.files.filter(({ url }) => before.includes(url))
  }
  const names = () => filesBeforeVisit().map(({ url }) => url.replace(/\..*/, ''))
  const bytes = () => filesBeforeVisit().reduce((sum, { brotliBytes }) => sum + brotliBytes, 0)
  const readers = () => stage.manifest.files.filter(({ url }) => url.startsWith('/browser/reader.'))

  for (const [name, open] of Object.entries(BROWSERS))
    describe(`in ${name}`, () => {
      let browser: Browser
      let tab: Tab
      before(async () => (browser = await open()))
      after(async () => browser?.close())
      beforeEach(async () => {
        service.reset()
        tab = await browser.newTab()
        await forgetVisitor(tab, stage.site)
        service.reset()
      })
      afterEach(() => tab.close())

      for (const [name, measurementIds] of [
        ['no provider', []],
        ['GA4', ['G-A1']],
      ] as const)
        it(`is the core and the recorder with ${name}, and no cookie is read without one`, async () => {
          service.config = { measurementIds: [...measurementIds], providers: [] }
          const watch = `Object.defineProperty(Document.prototype, 'cookie', { get() { window.wasRead = true; return '' } })`
          await tab.goto(pageOf(`<script>${watch}</script>`))
          // The last request of the page: the next test begins without any of it.
          await service.waitFor('/v1/visits/activate')
          expect(names()).to.have.members(['/browser', '/browser/recorder'])
          expect(bytes()).to.be.at.most(BEFORE_VISIT_BYTES)
          expect(await tab.evaluate('!!window.wasRead')).to.equal(measurementIds.length > 0)
        })

      for (const provider of Object.keys(READERS))
        it(`is little with GA4 and ${provider}, whose identifiers are sent`, async () => {
          service.config = { measurementIds: ['G-A1'], providers: ['ga4', provider] }
          const tags = `<script>${COOKIES.map((each) => `document.cookie='${each}';`).join('')}</script>`
          await tab.goto(`${pageOf(tags)}?gclid=a&fbclid=b&ttclid=c&twclid=d`)
          const [visit] = await service.waitFor('/v1/visits')
          await service.waitFor('/v1/visits/activate')
          expect(Object.keys(visit?.body.identities as object)).to.deep.equal(['ga4', provider])
          expect(visit?.body.identities.ga4).to.deep.equal({ 'G-A1': { client_id: '5.6', session_id: '77' } })
          expect(Object.values(visit?.body.identities[provider] as object)).to.include.oneOf(['a', 'b', 'c', 'd'])
          expect(names()).to.have.members(['/browser', '/browser/recorder', '/browser/reader'])
          expect(bytes()).to.be.at.most(BEFORE_VISIT_BYTES)
        })

      it('is asked for at once: the configuration beside the recorder, and then all readers together', async () => {
        service.config = { measurementIds: [], providers: Object.keys(READERS) }
        for (const { url } of readers()) service.misbehave.set(url, 'hang')
        const recorder = stage.manifest.files.find(({ url }) => url.startsWith('/browser/recorder.'))?.url ?? ''
        service.misbehave.set(recorder, { delayMs: 500 })
        await tab.goto(pageOf())
        await service.waitFor('/browser-config')
        const asked = () => service.requests.map(({ path }) => path)
        expect(asked().filter((path) => path === recorder)).to.have.length.at.most(1)
        // None of them has been answered.
        for (const { url } of readers()) await service.waitFor(url)
        await service.waitFor('/v1/visits/activate')
      })

      it('keeps no visit that cannot have it', async () => {
        service.config = { measurementIds: ['G-A1'], providers: ['ga4', 'x'] }
        for (const { url } of readers()) service.misbehave.set(url, { status: 500, body: '' })
        await tab.goto(`${pageOf(`<script>document.cookie='_ga=GA1.1.5.6'</script>`)}?twclid=d`)
        const [visit] = await service.waitFor('/v1/visits')
        expect(visit?.body.identities).to.deep.equal({ ga4: { 'G-A1': { client_id: '5.6', session_id: '77' } } })
        await service.waitFor('/v1/visits/activate')
        expect(service.requests.filter(({ path }) => path.startsWith('/browser/reader.'))).to.have.length(1)
      })
    })
})
