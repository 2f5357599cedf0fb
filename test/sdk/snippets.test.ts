import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import type { ChromiumInstance } from './support/browsers.ts'
import { openChromium } from './support/browsers.ts'
import type { Site } from './support/site.ts'
import { startSite } from './support/site.ts'

/** Pages of the documentation that show a copy button. */
const PAGES = ['docs/quickstart.md', 'docs/sdk.md', 'api/skills/references/website.md']

describe('snippets of the documentation', function () {
  this.timeout(60_000)
  let site: Site
  let chromium: ChromiumInstance

  before(async () => {
    site = await startSite()
    chromium = await openChromium()
  })
  after(async () => {
    await chromium?.close()
    await site?.close()
  })

  for (const name of PAGES) {
    const text = readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
    const snippets = [...text.matchAll(/```html\n(.*?)```/gs)].map(([, html = '']) => html)
    const withButton = snippets.filter((html) => html.includes('<button data-whence-copy'))

    it(`have a copy button in ${name} that copies although nothing of the service is there`, async () => {
      expect(withButton).to.have.length.above(0)
      for (const html of withButton) {
        const page = await chromium.context.newPage()
        await page.goto(site.add(html))
        await page.evaluate(`navigator.clipboard.writeText('before')`)
        await page.click('[data-whence-copy]')
        await page.waitForFunction(`navigator.clipboard.readText().then((text) => text !== 'before')`)
        expect(await page.evaluate('navigator.clipboard.readText()')).to.match(/^curl -fsSL https:\/\/.* \| sh$/)
        await page.close()
      }
    })
  }
})
