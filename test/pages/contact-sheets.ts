/**
 * Lays the pictures that the tests of the pages took out as one sheet for each page, into docs/pictures:
 * `WHENCE_PAGES=all WHENCE_PICTURES=FOLDER npx mocha test/pages/*.test.ts`, then `npm run -s pictures -- FOLDER`.
 */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { openChromium } from '../sdk/support/browsers.ts'

const TARGET = join(import.meta.dirname, '../../docs/pictures')
const LOOKS = ['1280-light', '1280-dark', '390-light', '390-dark'] as const
/** Of a shot's own size, so that a sheet stays below 200 KB. */
const SCALE = 0.4
/** The rest of a long page is cut off. */
const MOST_HEIGHT_PX = 560

/** Titles of pages of which there is a picture in every look. */
function titlesIn(files: readonly string[]): readonly string[] {
  const titles = files.flatMap((file) => /^(.+)-1280-light\.png$/.exec(file)?.[1] ?? [])
  return titles.filter((title) => LOOKS.every((look) => files.includes(`${title}-${look}.png`)))
}

function sheetOf(folder: string, title: string): string {
  const shots = LOOKS.map((look) => {
    const bytes = readFileSync(join(folder, `${title}-${look}.png`)).toString('base64')
    const width = Number(look.split('-')[0]) * SCALE
    return `<div class="shot" style="width: ${width}px"><img src="data:image/png;base64,${bytes}" alt=""></div>`
  })
  return `<style>
    body { margin: 0; background: #8a8f8c; }
    main { display: inline-flex; gap: 12px; padding: 12px; align-items: flex-start; }
    .shot { max-height: ${MOST_HEIGHT_PX}px; overflow: hidden; }
    img { display: block; width: 100%; }
  </style><main>${shots.join('')}</main>`
}

async function main(folder: string): Promise<void> {
  const titles = titlesIn(readdirSync(folder))
  if (titles.length === 0) throw new Error(`${folder} holds no page in every look`)
  mkdirSync(TARGET, { recursive: true })
  const chromium = await openChromium()
  try {
    const page = await chromium.context.newPage()
    await page.setViewportSize({ width: 1_500, height: MOST_HEIGHT_PX + 40 })
    for (const title of titles) {
      await page.setContent(sheetOf(folder, title))
      const name = `${title.toLowerCase().replaceAll(' ', '-')}.png`
      const picture = await page.locator('main').screenshot()
      writeFileSync(join(TARGET, name), picture)
      console.log(`docs/pictures/${name}: ${Math.ceil(picture.length / 1_024)} KB`)
    }
  } finally {
    await chromium.close()
  }
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('name the folder of the pictures')
await main(folder)
