/** Every page in Firefox, wide and narrow, light and dark, with facts in it: nothing scrolls sideways or is logged, and axe finds nothing serious. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { PAGES } from '../../pages/shell/navigation.ts'
import { openInFirefox, type FirefoxVisitor } from '../pages/support/firefox.ts'
import { startPages, type Look, type PagesStage } from '../pages/support/stage.ts'
import { whyFacts } from '../pages/support/why-facts.ts'
import { openWhyFacts, WHY_MANIFESTS, type WhyFacts } from '../pages/support/why-stage.ts'

const LOOKS: readonly Look[] = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
  { width: 390, scheme: 'dark' },
]
/** Pages of single objects, which the navigation does not name. */
const SINGLE = ['installs/acme-docs/event-picture', 'streams/archive', 'webhooks/default/news', 'new/Website']
/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

describe('the pages in Firefox', function () {
  this.timeout(300_000)
  const nowMs = Date.now()
  let why: WhyFacts
  let stage: PagesStage
  before(async () => {
    why = await openWhyFacts(whyFacts(nowMs, 2), nowMs)
    stage = await startPages({ manifests: WHY_MANIFESTS, facts: why.facts })
  })
  after(async () => {
    await stage?.stop()
    await why?.close()
  })

  const addresses = [
    ...PAGES.map(({ to, title }) => ({ address: to.replace('$organization', 'acme'), name: title })),
    ...SINGLE.map((page) => ({ address: `/app/acme/${page}`, name: page.replaceAll('/', '-') })),
  ]
  for (const look of LOOKS)
    describe(`${look.width} wide and ${look.scheme}`, () => {
      let firefox: FirefoxVisitor
      before(async () => (firefox = await openInFirefox(stage, 'owner@acme.dev', look)))
      after(() => firefox?.close())

      for (const { address, name } of addresses)
        it(`show ${name}`, async () => {
          const { page, noise, findings } = firefox
          await page.goto(stage.url + address)
          await page.waitForSelector('main h1')
          await page.waitForFunction(`document.querySelector('.loading') === null`)
          if (PICTURES !== undefined) {
            mkdirSync(PICTURES, { recursive: true })
            const path = join(PICTURES, `${name}-${look.width}-${look.scheme}-firefox.png`) as `${string}.png`
            await page.screenshot({ path, fullPage: true })
          }
          expect(await page.evaluate(`matchMedia('(prefers-color-scheme: dark)').matches`)).to.equal(
            look.scheme === 'dark',
          )
          expect(await findings()).to.deep.equal([])
          expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 'scrolls').to.be.at.most(0)
          expect(noise).to.deep.equal([])
        })
    })
})
