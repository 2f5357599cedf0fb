/**
 * Takes pictures of every page in Chromium and Firefox, wide and narrow, light and dark, and lays them out as one sheet for each page in
 * docs/pictures: `npm run -s pictures`, or `npm run -s pictures -- funnel installs` for some.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Page } from 'playwright-core'

import { openChromium } from '../sdk/support/browsers.ts'
import { startExampleStage } from './support/example-stage.ts'
import {
  DRAWN_PAGES,
  isShown,
  startSheetStage,
  VIEWER_NAMES,
  type SheetPage,
  type SheetStage,
} from './support/sheets.ts'
import { ALL_LOOKS, type Look } from './support/looks.ts'
import { BROWSERS, openVisitor, showSheet, type Browser } from './support/visitor.ts'

const TARGET = join(import.meta.dirname, '../../docs/pictures')
/** Of a shot's own size. */
const SCALE = 0.4
/** The rest of a long page is cut off. */
const MOST_HEIGHT_PX = 560
/** Below 200 KB for most sheets, with letters that can be read. */
const QUALITY = 78

/** PNG files by the page's name, the browser and the look. */
type Shots = Map<string, Uint8Array>

interface Shooting {
  readonly browser: Browser
  readonly look: Look
}

const keyOf = (name: string, browser: string, { width, scheme }: Look): string =>
  `${name} ${browser} ${width} ${scheme}`

async function shootAll(
  stage: SheetStage,
  { browser, look }: Shooting,
  pages: readonly SheetPage[],
  shots: Shots,
): Promise<void> {
  for (const viewer of VIEWER_NAMES) {
    const own = pages.filter((page) => page.viewer === viewer && isShown(page, look))
    if (own.length === 0) continue
    const visitor = await openVisitor(stage, browser, { viewer, look })
    for (const sheet of own) {
      console.log(`${sheet.name}, ${browser}, ${look.width} wide, ${look.scheme}`)
      await showSheet(visitor, stage, sheet)
      shots.set(keyOf(sheet.name, browser, look), await visitor.shoot({ fullPage: sheet.isWindow !== true }))
    }
    await visitor.close()
  }
}

/** Stops the stage, too. */
async function shootIn(stage: SheetStage, pages: readonly SheetPage[], shots: Shots): Promise<void> {
  try {
    for (const look of ALL_LOOKS) for (const browser of BROWSERS) await shootAll(stage, { browser, look }, pages, shots)
  } finally {
    await stage.stop()
  }
}

function sheetOf(name: string, shots: Shots): string {
  const rows = BROWSERS.map((browser) => {
    const row = ALL_LOOKS.flatMap((look) => {
      const shot = shots.get(keyOf(name, browser, look))
      if (shot === undefined) return []
      const bytes = Buffer.from(shot).toString('base64')
      return `<div class="shot" style="width: ${look.width * SCALE}px"><img src="data:image/png;base64,${bytes}" alt=""></div>`
    })
    return `<h2>${browser}</h2><div class="row">${row.join('')}</div>`
  })
  return `<style>
    body { margin: 0; background: #8a8f8c; }
    main { display: inline-block; padding: 4px 12px 12px; }
    h2 { margin: 6px 0; font: 600 13px sans-serif; color: #fff; }
    .row { display: flex; gap: 12px; align-items: flex-start; }
    .shot { max-height: ${MOST_HEIGHT_PX}px; overflow: hidden; }
    img { display: block; width: 100%; }
  </style><main>${rows.join('')}</main>`
}

/** WebP, in which a sheet takes a third of what PNG takes. */
async function webp(page: Page): Promise<Buffer> {
  const box = await page.locator('main').boundingBox()
  if (box === null) throw new Error('there is no sheet')
  const session = await page.context().newCDPSession(page)
  const clip = { ...box, scale: 1 }
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY, clip })
  await session.detach()
  return Buffer.from(data, 'base64')
}

async function layOut(pages: readonly SheetPage[], shots: Shots): Promise<void> {
  mkdirSync(TARGET, { recursive: true })
  const chromium = await openChromium()
  try {
    const page = await chromium.context.newPage()
    await page.setViewportSize({ width: 1_500, height: 2 * MOST_HEIGHT_PX + 120 })
    for (const { name } of pages) {
      await page.setContent(sheetOf(name, shots))
      await page.evaluate('Promise.all([...document.images].map((image) => image.decode()))')
      const picture = await webp(page)
      writeFileSync(join(TARGET, `${name}.webp`), picture)
      console.log(`docs/pictures/${name}.webp: ${Math.ceil(picture.length / 1_024)} KB`)
    }
  } finally {
    await chromium.close()
  }
}

const named = process.argv.slice(2)
const unknown = named.filter((name) => !DRAWN_PAGES.some((page) => page.name === name))
if (unknown.length > 0) throw new Error(`there is no sheet of ${unknown.join(', ')}`)
const wanted = DRAWN_PAGES.filter(({ name }) => named.length === 0 || named.includes(name))
const shots: Shots = new Map()
/** Pages of figures show what an evaluator sees after `npm run -s example-data`; the others need what only tests make. */
const ofFigures = wanted.filter(({ isOfFigures }) => isOfFigures === true)
const others = wanted.filter(({ isOfFigures }) => isOfFigures !== true)
if (ofFigures.length > 0) await shootIn(await startExampleStage(), ofFigures, shots)
if (others.length > 0) await shootIn(await startSheetStage(), others, shots)
await layOut(wanted, shots)
