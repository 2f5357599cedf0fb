/** Finds a Chromium on this machine and controls it: one profile in a home folder of its own, one page. */

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'

/** There is no browser, or it does not start; the message says what to do. */
export class ChromiumMissing extends Error {
  override readonly name = 'ChromiumMissing'
}

export interface ChromiumWindow {
  /** Such as `Chromium 148.0.7778.96`. */
  readonly version: string
  /** Opens the address and waits until its visit is recorded and the marker activated. */
  readonly visit: (url: string) => Promise<void>
  /** Clicks the page's copy button and returns the clipboard's content once the SDK has filled it. */
  readonly copyCommand: () => Promise<string>
  /** Another page of the same browser. */
  readonly openPage: () => Promise<Page>
  readonly close: () => Promise<void>
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome', 'microsoft-edge']
const MACOS_PATHS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
/** Disables the browser's own traffic and first-run pages. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const STEP_MS = 20_000

const ADVICE = [
  'This needs Chromium or Chrome on this machine. Debian and Ubuntu: sudo apt install chromium.',
  'Fedora: sudo dnf install chromium. macOS: brew install --cask chromium.',
  'If it is installed under another name, set CHROMIUM=/path/to/chromium.',
].join('\n')

/** @throws ChromiumMissing */
export async function findChromium(env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const named = env['CHROMIUM'] ?? ''
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  const candidates = named === '' ? [...onPath, ...MACOS_PATHS] : [named]
  for (const path of candidates) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  throw new ChromiumMissing(named === '' ? ADVICE : `CHROMIUM=${named} is not an executable program.\n${ADVICE}`)
}

/** The folder of Chromium's profiles below a home folder, where the hook looks. */
export function chromiumFolder(home: string): string {
  return process.platform === 'darwin'
    ? join(home, 'Library/Application Support/Chromium')
    : join(home, '.config/chromium')
}

/**
 * `navigator.webdriver` is then false, as in a browser that a person uses. The SDK says whether a script drives the browser, and page views of
 * such browsers count in no visit.
 * @internal
 */
export const CHROMIUM_OF_PERSON = '--disable-blink-features=AutomationControlled'

/** Starts the browser with the profile of this home folder. @throws ChromiumMissing */
export async function launchChromium(
  executablePath: string,
  home: string,
  visitor: 'person' | 'program',
): Promise<BrowserContext> {
  // A development dependency, which a production installation does not have.
  const { chromium } = await import('playwright-core').catch(() => {
    throw new ChromiumMissing('The package playwright-core is not installed: npm ci')
  })
  return chromium
    .launchPersistentContext(chromiumFolder(home), {
      executablePath,
      args: visitor === 'person' ? [...ARGUMENTS, CHROMIUM_OF_PERSON] : ARGUMENTS,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    .catch((error: unknown) => {
      throw new ChromiumMissing(`${executablePath} does not start: ${failureLine(error)}\n${ADVICE}`)
    })
}

/**
 * A window with the profile of this home folder, in which a person seems to be.
 * @throws ChromiumMissing
 */
export async function openChromium(executablePath: string, home: string): Promise<ChromiumWindow> {
  const context = await launchChromium(executablePath, home, 'person')
  const page = context.pages()[0] ?? (await context.newPage())
  page.setDefaultTimeout(STEP_MS)
  return {
    version: await browserVersion(context, page),
    visit: (url) => visit(page, url),
    copyCommand: () => copyCommand(page),
    async openPage() {
      const another = await context.newPage()
      another.setDefaultTimeout(STEP_MS)
      return another
    },
    close: () => context.close(),
  }
}

async function visit(page: Page, url: string): Promise<void> {
  const activated = page.waitForResponse(
    (response) => response.url().endsWith('/v1/visits/activate') && response.request().method() === 'POST',
  )
  const [answer] = await Promise.all([activated, page.goto(url)])
  if (!answer.ok()) throw new Error(`the service refused to activate the marker: status ${answer.status()}`)
}

async function copyCommand(page: Page): Promise<string> {
  // The copy uses the token that is loaded at the click; a person is slower than this script.
  await page.evaluate('window.whence.handoff()')
  await page.evaluate(`document.addEventListener('whence:copy', () => { document.body.dataset.copied = 'yes' })`)
  await page.locator('[data-whence-copy]').click()
  await page.waitForSelector('body[data-copied]')
  return page.evaluate<string>('navigator.clipboard.readText()')
}

async function browserVersion(context: BrowserContext, page: Page): Promise<string> {
  const session = await context.newCDPSession(page)
  const { product } = await session.send('Browser.getVersion')
  await session.detach()
  return product.replace('/', ' ').replace('HeadlessChrome', 'Chromium')
}

function failureLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0] ?? text
}
