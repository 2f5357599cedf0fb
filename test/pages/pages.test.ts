/** Every page in a real browser: it shows itself, nothing is blocked or logged, and axe finds nothing serious. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { PAGES } from '../../pages/shell/navigation.ts'
import { organizationOf } from '../dashboard/support/stage.ts'
import { seriousFindings, startPages, type Look, type PagesStage } from './support/stage.ts'

const LOOKS: readonly Look[] = [
  { width: 1280, scheme: 'light' },
  { width: 390, scheme: 'dark' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
]

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

describe('the pages', function () {
  this.timeout(120_000)
  let stage: PagesStage
  before(async () => {
    const manifests = organizationOf('acme', {
      members: { 'owner@acme.dev': 'Owner', 'viewer@acme.dev': 'Viewer', 'admin@acme.dev': 'Admin' },
    })
    stage = await startPages({ manifests })
  })
  after(() => stage?.stop())

  const looks = process.env['WHENCE_PAGES'] === 'all' ? LOOKS : null
  PAGES.forEach(({ to, title }, index) => {
    for (const look of looks ?? [LOOKS[index % LOOKS.length]!]) {
      it(`${title} shows itself, ${look.width} wide and ${look.scheme}`, async () => {
        const { page, noise } = await stage.open('owner@acme.dev', look)
        await page.goto(stage.url + to.replace('$organization', 'acme'))
        await page.getByRole('heading', { level: 1, name: title }).waitFor()
        await page.locator('.loading').waitFor({ state: 'detached' })
        if (PICTURES !== undefined) {
          mkdirSync(PICTURES, { recursive: true })
          await page.screenshot({ path: join(PICTURES, `${title}-${look.width}-${look.scheme}.png`), fullPage: true })
        }
        expect(await page.title()).to.equal(`${title} · Whence`)
        expect(await seriousFindings(page)).to.deep.equal([])
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect(overflow, 'scrolls sideways').to.be.at.most(0)
        expect(noise).to.deep.equal([])
        await page.close()
      })
    }
  })

  it('fit their budget', () => {
    const { script, style, preload, assets } = stage.manifest
    const sum = (names: readonly string[]): number =>
      assets.filter(({ name }) => names.includes(name)).reduce((all, { brotliBytes }) => all + brotliBytes, 0)
    const first = [script, style, ...preload]
    expect(sum(first)).to.be.at.most(220 * 1024)
    for (const { name, brotliBytes } of assets.filter((asset) => !first.includes(asset.name)))
      expect(brotliBytes, name).to.be.at.most(40 * 1024)
  })
})
