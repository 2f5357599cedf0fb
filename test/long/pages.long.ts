/** Every page in Chromium and Firefox, wide and narrow, light and dark, with facts in it: nothing scrolls sideways or is logged, and axe finds nothing serious. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { PAGES } from '../../pages/shell/navigation.ts'
import { isShown, SHEET_PAGES, startSheetStage, VIEWER_NAMES, type SheetStage } from '../pages/support/sheets.ts'
import { ALL_LOOKS } from '../pages/support/looks.ts'
import { BROWSERS, openVisitor, showSheet, type Visitor } from '../pages/support/visitor.ts'

/** Where pictures go, if somebody wants them. */
const PICTURES = process.env['WHENCE_PICTURES']

describe('the pages in both browsers', function () {
  this.timeout(300_000)
  let stage: SheetStage
  before(async () => (stage = await startSheetStage()))
  after(() => stage?.stop())

  it('are all of the navigation, and more', () => {
    const addresses = SHEET_PAGES.map(({ address }) => address)
    expect(addresses).to.include.members(PAGES.map(({ to }) => to.replace('$organization', 'acme')))
  })

  for (const browser of BROWSERS)
    for (const look of ALL_LOOKS)
      for (const viewer of VIEWER_NAMES)
        describe(`${browser}, ${look.width} wide and ${look.scheme}, to ${viewer}`, () => {
          let visitor: Visitor
          before(async () => {
            visitor = await openVisitor(stage, browser, { viewer, look })
          })
          after(() => visitor?.close())

          for (const sheet of SHEET_PAGES.filter((each) => each.viewer === viewer && isShown(each, look)))
            it(`show ${sheet.name}`, async () => {
              await showSheet(visitor, stage, sheet)
              if (PICTURES !== undefined) {
                mkdirSync(PICTURES, { recursive: true })
                const shot = await visitor.shoot({ fullPage: sheet.isWindow !== true })
                writeFileSync(join(PICTURES, `${sheet.name}-${look.width}-${look.scheme}-${browser}.png`), shot)
              }
              const isDark = await visitor.evaluate(`matchMedia('(prefers-color-scheme: dark)').matches`)
              expect(isDark).to.equal(look.scheme === 'dark')
              expect(await visitor.findings()).to.deep.equal([])
              const overflow = await visitor.evaluate('document.documentElement.scrollWidth - innerWidth')
              expect(overflow, 'scrolls sideways').to.be.at.most(0)
              // What strangers sent is text.
              expect(await visitor.evaluate(`document.querySelectorAll('main img').length`)).to.equal(0)
              // The sign-in page asks who is there; a browser logs the answer that nobody is.
              const heard = visitor.noise.filter((words) => viewer !== 'nobody' || !words.includes('401'))
              expect(heard).to.deep.equal([])
            })
        })
})
