/**
 * Takes pictures of every page in Chromium and Firefox, wide and narrow, light and dark, and lays them out as one sheet for each page in
 * docs/pictures: `npm run -s pictures`, or `npm run -s pictures -- funnel installs` for some.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Page } from 'playwright-core'

import { openChromium } from '../sdk/support/browsers.ts'
import { openInFirefox } from './support/firefox.ts'
import { DRAWN_PAGES, startSheetStage, VIEWERS, type SheetPage, type SheetStage } from './support/sheets.ts'
import type { Look } from './support/stage.ts'

const TARGET = join(import.meta.dirname, '../../docs/pictures')
const LOOKS: readonly Look[] = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 390, scheme: 'light' },
  { width: 390, scheme: 'dark' },
]
const BROWSERS = ['Chromium', 'Firefox'] as const
/** Of a shot's own size. */
const SCALE = 0.4
/** The rest of a long page is cut off. */
const MOST_HEIGHT_PX = 560
/** Below 200 KB for most sheets, with letters that can be read. */
const QUALITY = 78
const MOST_WAIT_MS = 20_000
const NARROW = 390

/** PNG files by the page's name, the browser and the look. */
type Shots = Map<string, Uint8Array>

const keyOf = (name: string, browser: string, { width, scheme }: Look): string =>
  `${name} ${browser} ${width} ${scheme}`

/** What both drivers can do. */
interface Driven {
  readonly goto: (address: string) => Promise<unknown>
  readonly evaluate: (script: string) => Promise<unknown>
  readonly isThere: (script: string) => Promise<unknown>
  readonly shoot: (options: { readonly fullPage: boolean }) => Promise<Uint8Array>
}

interface Shooting {
  readonly stage: SheetStage
  readonly page: Driven
  readonly look: Look
  readonly pages: readonly SheetPage[]
}

async function shootAll(browser: string, { stage, page, look, pages }: Shooting, shots: Shots): Promise<void> {
  const isThere = (selector: string): Promise<unknown> =>
    page.isThere(`document.querySelector(${JSON.stringify(selector)}) !== null`)
  for (const sheet of pages) {
    const { name, viewer, click, ready = 'h1', isWindow = false, isNarrow = false } = sheet
    if (isNarrow && look.width > NARROW) continue
    console.log(`${name}, ${browser}, ${look.width} wide, ${look.scheme}`)
    if (VIEWERS[viewer] === null) {
      await page.goto(`${stage.url}/sign-in`)
      await page.evaluate(
        `fetch('/api/sign-out', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' })`,
      )
      // What stands behind # is only read by a page that loads.
      await page.goto('about:blank')
    }
    await page.goto(stage.addressOf(sheet))
    await isThere('h1')
    await page.isThere(`document.querySelector('.loading') === null`)
    if (click !== undefined) {
      await isThere(click)
      await page.evaluate(`document.querySelector(${JSON.stringify(click)}).click()`)
    }
    await isThere(ready)
    await page.isThere(`document.querySelector('.loading') === null`)
    // The title has the focus after a click in the navigation, but nobody clicked.
    await page.evaluate('document.activeElement?.blur()')
    shots.set(keyOf(name, browser, look), await page.shoot({ fullPage: !isWindow }))
  }
}

/** Signed in as each viewer in turn; nobody comes last, from a page of somebody who then signs out. */
const TURNS: readonly (readonly [email: string, viewers: readonly SheetPage['viewer'][]])[] = [
  [VIEWERS.owner, ['owner']],
  [VIEWERS.guest, ['guest', 'nobody']],
]

async function shootInChromium(
  stage: SheetStage,
  look: Look,
  pages: readonly SheetPage[],
  shots: Shots,
): Promise<void> {
  for (const [email, viewers] of TURNS) {
    const { page } = await stage.open(email, look)
    const driven: Driven = {
      goto: (address) => page.goto(address),
      evaluate: (script) => page.evaluate(script),
      async isThere(script) {
        const untilMs = Date.now() + MOST_WAIT_MS
        while ((await page.evaluate(script)) !== true) {
          if (Date.now() > untilMs) throw new Error(`this never became true: ${script}`)
          await page.waitForTimeout(20)
        }
      },
      shoot: (options) => page.screenshot(options),
    }
    const own = pages.filter(({ viewer }) => viewers.includes(viewer))
    await shootAll('Chromium', { stage, page: driven, look, pages: own }, shots)
    await page.close()
  }
}

async function shootInFirefox(stage: SheetStage, look: Look, pages: readonly SheetPage[], shots: Shots): Promise<void> {
  for (const [email, viewers] of TURNS) {
    const { page, close } = await openInFirefox(stage, email, look)
    const driven: Driven = {
      goto: (address) => page.goto(address),
      evaluate: (script) => page.evaluate(script),
      isThere: (script) => page.waitForFunction(script),
      shoot: (options) => page.screenshot(options),
    }
    const own = pages.filter(({ viewer }) => viewers.includes(viewer))
    await shootAll('Firefox', { stage, page: driven, look, pages: own }, shots)
    await close()
  }
}

function sheetOf(name: string, shots: Shots): string {
  const rows = BROWSERS.map((browser) => {
    const row = LOOKS.flatMap((look) => {
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
const stage = await startSheetStage()
const shots: Shots = new Map()
try {
  for (const look of LOOKS) {
    await shootInChromium(stage, look, wanted, shots)
    await shootInFirefox(stage, look, wanted, shots)
  }
} finally {
  await stage.stop()
}
await layOut(wanted, shots)
