/** Chromium and Firefox with one interface, each with the profile of a home folder in which the hook looks for it. */

import { existsSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Page as ChromiumPage } from 'playwright-core'
import puppeteer, { type Page as FirefoxPage } from 'puppeteer-core'

import { CHROMIUM_OF_PERSON } from '../../../bin/demo/chromium.ts'

export interface Window {
  /** Opens the address; resolves when its visit is recorded and its marker active, or when it is given up. */
  readonly visit: (url: string) => Promise<void>
  /** Opens an address whose script may never come. */
  readonly open: (url: string) => Promise<void>
  /** Waits for the token, clicks the copy button and gives what is on the clipboard. */
  readonly copyCommand: () => Promise<string>
  /** The same without a token to wait for: a page whose service is unreachable. */
  readonly copyWithoutService: () => Promise<string>
  /** The GA4 client ID that the page's cookie holds. */
  readonly clientId: () => Promise<string>
  /** The page's complaints: uncaught errors. */
  readonly complaints: readonly string[]
  readonly close: () => Promise<void>
}

export interface BrowserKind {
  readonly name: string
  /** What the hook calls it. */
  readonly hookName: string
  /** An ordinary window, in which a person seems to be; it reuses the profile of an earlier one. */
  readonly open: (home: string) => Promise<Window>
  /** One that says that a script drives it. */
  readonly openAutomated: (home: string) => Promise<Window>
  /** A private window of the same profile, in which a person seems to be. */
  readonly openPrivate: (home: string) => Promise<Window>
  /** Copies what websites stored in this browser to another home folder, as a backup would. */
  readonly copyStorage: (fromHome: string, toHome: string) => Promise<void>
}

const CHROMIUM = '/usr/bin/chromium'
const FIREFOX = '/usr/bin/firefox-esr'
const CHROMIUM_PROFILE = '.config/chromium'
const FIREFOX_PROFILE = '.mozilla/firefox/e2e.default'
const CHROMIUM_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const CLIPBOARD: ['clipboard-read', 'clipboard-write'] = ['clipboard-read', 'clipboard-write']

export const CHROMIUM_KIND: BrowserKind = {
  name: 'Chromium',
  hookName: 'chromium',
  open: async (home) => {
    const context = await launchChromium(home, [CHROMIUM_OF_PERSON])
    return windowOf(context.pages()[0] ?? (await context.newPage()), () => context.close())
  },
  openAutomated: async (home) => {
    const context = await launchChromium(home, [])
    return windowOf(context.pages()[0] ?? (await context.newPage()), () => context.close())
  },
  openPrivate: async (home) => {
    const context = await launchChromium(home, [CHROMIUM_OF_PERSON])
    const hidden = await context.browser()?.newContext({ permissions: CLIPBOARD })
    if (hidden === undefined) throw new Error('Chromium gave no private window')
    return windowOf(await hidden.newPage(), () => context.close())
  },
  copyStorage: (from, to) =>
    cp(join(from, CHROMIUM_PROFILE, 'Default/File System'), join(to, CHROMIUM_PROFILE, 'Default/File System'), {
      recursive: true,
      preserveTimestamps: true,
    }),
}

export const FIREFOX_KIND: BrowserKind = {
  name: 'Firefox',
  hookName: 'firefox',
  open: (home) => openFirefox(home, { isPrivate: false, isAutomated: false }),
  openAutomated: (home) => openFirefox(home, { isPrivate: false, isAutomated: true }),
  openPrivate: (home) => openFirefox(home, { isPrivate: true, isAutomated: false }),
  copyStorage: (from, to) =>
    cp(join(from, FIREFOX_PROFILE, 'storage'), join(to, FIREFOX_PROFILE, 'storage'), {
      recursive: true,
      preserveTimestamps: true,
    }),
}

async function launchChromium(home: string, more: readonly string[]) {
  mustBeThere(CHROMIUM, 'chromium')
  return chromium.launchPersistentContext(join(home, CHROMIUM_PROFILE), {
    executablePath: CHROMIUM,
    args: [...CHROMIUM_ARGUMENTS, ...more],
    permissions: CLIPBOARD,
  })
}

/**
 * What `CHROMIUM_OF_PERSON` is for Chromium: Firefox has no setting for it any more (`dom.webdriver.enabled` was removed), so a script that runs
 * before those of the page hides that the browser is driven.
 */
const HIDE_AUTOMATION_JS = `Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => false, configurable: true })`

interface FirefoxWindow {
  readonly isPrivate: boolean
  readonly isAutomated: boolean
}

async function openFirefox(home: string, { isPrivate, isAutomated }: FirefoxWindow): Promise<Window> {
  mustBeThere(FIREFOX, 'firefox-esr')
  const profile = join(home, FIREFOX_PROFILE)
  await mkdir(profile, { recursive: true })
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: FIREFOX,
    userDataDir: profile,
    extraPrefsFirefox: {
      'dom.events.testing.asyncClipboard': true,
      'browser.privatebrowsing.autostart': isPrivate,
      'datareporting.policy.dataSubmissionEnabled': false,
      'app.update.disabledForTesting': true,
    },
  })
  const page = (await browser.pages())[0] ?? (await browser.newPage())
  if (!isAutomated) await page.evaluateOnNewDocument(HIDE_AUTOMATION_JS)
  return windowOf(page, () => browser.close())
}

/** The two drivers agree on everything that is used here. */
function windowOf(page: ChromiumPage | FirefoxPage, close: () => Promise<void>): Window {
  const complaints: string[] = []
  const driven = page as ChromiumPage
  driven.on('pageerror', (error) => void complaints.push(String(error)))
  const copy = async (): Promise<string> => {
    await driven.click('[data-whence-copy]')
    await driven.waitForSelector('body[data-copied]')
    return await driven.evaluate<string>('navigator.clipboard.readText()')
  }
  const open = async (url: string): Promise<void> => {
    await driven.goto(url, { waitUntil: 'load' })
    await driven.evaluate(`document.addEventListener('whence:copy', () => { document.body.dataset.copied = 'yes' })`)
  }
  return {
    open,
    visit: async (url) => {
      await open(url)
      await driven.waitForFunction('window.whence && window.whence.start')
      await driven.evaluate('window.whence.start()')
    },
    copyCommand: async () => {
      await driven.evaluate('window.whence.handoff()')
      return copy()
    },
    copyWithoutService: async () => {
      await driven.evaluate(`navigator.clipboard.writeText('')`)
      await driven.click('[data-whence-copy]')
      await driven.waitForFunction(`navigator.clipboard.readText().then((text) => text !== '')`)
      return await driven.evaluate<string>('navigator.clipboard.readText()')
    },
    clientId: () => driven.evaluate<string>(`/_ga=GA1\\.1\\.(\\d+\\.\\d+)/.exec(document.cookie)[1]`),
    complaints,
    close,
  }
}

function mustBeThere(path: string, packageName: string): void {
  if (!existsSync(path)) throw new Error(`${path} is needed for this test (Debian: apt install ${packageName})`)
}
