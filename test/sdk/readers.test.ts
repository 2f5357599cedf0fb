import { expect } from 'chai'
import type { Page } from 'playwright-core'
import type { ChromiumInstance } from './support/browsers.ts'
import { openChromium } from './support/browsers.ts'
import type { RecordingService } from './support/recording-service.ts'
import { openStage, type SdkStage } from './support/stage.ts'

/** All that a website with GA4 and an advertising provider loads before its visit is sent, with brotli. */
const BEFORE_VISIT_BYTES = 4_800

describe('sdk, what a website with providers loads', function () {
  this.timeout(60_000)
  let stage: SdkStage
  let service: RecordingService
  let chromium: ChromiumInstance
  let page: Page

  before(async () => {
    stage = await openStage()
    ;({ service } = stage)
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

  const script = () => `<script async src="${service.url}/browser.js" data-project="acme-dev"></script>`
  /** Distinct files that were asked for before the visit was. */
  const filesBeforeVisit = () => {
    const asked = service.requests.map(({ path }) => path)
    const before = asked.slice(0, asked.indexOf('/v1/visits')).filter((path) => path.startsWith('/browser'))
    return stage.manifest.files.filter(({ url }) => before.includes(url))
  }

  const names = () => filesBeforeVisit().map(({ url }) => url.replace(/\..*/, ''))

  it('is the core and the recorder without providers', async () => {
    service.config = { measurementIds: [], providers: [] }
    await page.goto(stage.site.add(script()))
    await service.waitFor('/v1/visits/activate')
    expect(names()).to.have.members(['/browser', '/browser/recorder'])
  })

  for (const provider of ['google_ads', 'meta', 'tiktok', 'x'])
    it(`is little with GA4 and ${provider}, whose identifiers are sent`, async () => {
      service.config = { measurementIds: ['G-A1'], providers: ['ga4', provider] }
      const cookies = ['_ga=GA1.1.5.6', '_ga_A1=GS2.1.s77$o1', '_fbp=fb.1.1.1', '_ttp=t']
      await page.goto(
        `${stage.site.add(`<script>${cookies.map((each) => `document.cookie='${each}';`).join('')}</script>${script()}`)}?gclid=a&fbclid=b&ttclid=c&twclid=d`,
      )
      const [visit] = await service.waitFor('/v1/visits')
      // The last request of the page: the next test begins without any of it.
      await service.waitFor('/v1/visits/activate')
      expect(Object.keys(visit?.body.identities as object)).to.deep.equal(['ga4', provider])
      expect(visit?.body.identities.ga4).to.deep.equal({ 'G-A1': { client_id: '5.6', session_id: '77' } })
      const files = filesBeforeVisit()
      expect(names()).to.have.members(['/browser', '/browser/readers', '/browser/recorder'])
      expect(files.reduce((sum, { brotliBytes }) => sum + brotliBytes, 0)).to.be.at.most(BEFORE_VISIT_BYTES)
    })

  it('keeps no visit that cannot have it', async () => {
    service.config = { measurementIds: ['G-A1'], providers: ['ga4'] }
    const readers = stage.manifest.files.find(({ url }) => url.includes('readers'))
    service.misbehave.set(readers?.url ?? '', { status: 500, body: '' })
    await page.goto(stage.site.add(script()))
    await service.waitFor('/v1/visits/activate')
    expect(service.requests.some(({ path }) => path === readers?.url)).to.equal(true)
  })
})
