/** The pages in Firefox, which another driver than Chromium's must follow: as a person who uses the keyboard goes through them. */

import { readFile } from 'node:fs/promises'

import type { KeyInput, Page } from 'puppeteer-core'

import { openFirefox } from '../../sdk/support/browsers.ts'
import { WIDE, type Look } from './looks.ts'
import type { PagesStage } from './stage.ts'

/** For a machine that does much else. */
const MOST_WAIT_MS = 90_000

/** No page of ours has as many elements that take the focus. */
const MOST_TABS = 300

export interface FirefoxVisitor {
  readonly page: Page
  /** Errors, and words on the console. */
  readonly noise: readonly string[]
  /** Goes on with Tab to the first element of this selector whose text has these words, and presses Enter. */
  readonly follow: (selector: string, words: string) => Promise<void>
  /** Opens a page of the navigation: `g` and its letter. */
  readonly go: (letter: string) => Promise<void>
  /** Waits for an element of this selector whose text has these words. */
  readonly see: (selector: string, words: string) => Promise<void>
  /** What axe finds that is serious or worse, each by its rule. */
  readonly findings: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

/** Firefox with a page in which this person is signed in. */
export async function openInFirefox(
  stage: Pick<PagesStage, 'url' | 'signIn'>,
  email: string,
  { width, scheme }: Look = WIDE,
): Promise<FirefoxVisitor> {
  const firefox = await openFirefox({ scheme })
  const page = await firefox.browser.newPage()
  page.setDefaultTimeout(MOST_WAIT_MS)
  await page.setViewport({ width, height: width === 390 ? 844 : 800 })
  const [name = '', value = ''] = (await stage.signIn(email)).split('=', 2)
  await firefox.browser.setCookie({ name, value, domain: new URL(stage.url).hostname, path: '/', httpOnly: true })
  const noise: string[] = []
  page.on('pageerror', (error) => noise.push(`error: ${String(error)}`))
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) noise.push(`console: ${message.text()}`)
  })
  const has = (selector: string, words: string): string =>
    `[...document.querySelectorAll(${JSON.stringify(selector)})].find((each) => each.textContent.includes(${JSON.stringify(words)}))`
  const see = async (selector: string, words: string): Promise<void> => {
    await page.waitForFunction(`${has(selector, words)} !== undefined`)
  }
  return {
    page,
    noise,
    see,
    follow: async (selector, words) => {
      await see(selector, words)
      for (let tabs = 0; !(await page.evaluate(`${has(selector, words)} === document.activeElement`)); tabs++) {
        if (tabs === MOST_TABS) throw new Error(`Tab does not lead to ${selector} with ${words}`)
        await page.keyboard.press('Tab')
      }
      await page.keyboard.press('Enter')
    },
    go: async (letter) => {
      await page.keyboard.press('g')
      await page.keyboard.press(letter as KeyInput)
    },
    findings: async () => {
      const source = await readFile(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
      const found = await page.evaluate(`(async () => { ${source}; return (await axe.run(document)).violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')) })()`)
      return found as readonly string[]
    },
    close: firefox.close,
  }
}
