/** The pages as they are built, in front of the dashboard's API over real parts, in a real browser. */

import { readFile, mkdtemp, rm } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Page } from 'playwright-core'

import { readPagesBundle } from '../../../dashboard/pages/assets.ts'
import { pageDocument } from '../../../dashboard/pages/document.ts'
import { pagesServer } from '../../../dashboard/pages/serve-pages.ts'
import { signInPages } from '../../../dashboard/sign-in/page.ts'
import type { PagesManifest } from '../../../common/pages-manifest.ts'
import { buildPages } from '../../../pages/build.ts'
import { startStage, type Stage, type StageOptions } from '../../dashboard/support/stage.ts'
import type { Look } from './looks.ts'
import { openChromium, type ChromiumInstance } from '../../sdk/support/browsers.ts'

export interface PagesStage extends Stage {
  readonly manifest: PagesManifest
  readonly chromium: ChromiumInstance
  /** A page in which this person is signed in; what must not happen on it is collected in `noise`. */
  readonly open: (email: string, look: Look) => Promise<{ readonly page: Page; readonly noise: string[] }>
}

/** For a machine that does much else. */
const MOST_WAIT_MS = 90_000
/** Compression that is quick: only a test of sizes needs the best. */
const QUICK_QUALITY = 3

interface PagesOptions extends StageOptions {
  /** The bundle is as small as users get it. */
  readonly isMeasured?: boolean
  /** The service's name as people read it. */
  readonly brand?: string
}

export async function startPages({
  isMeasured = false,
  brand = 'Whence',
  ...options
}: PagesOptions): Promise<PagesStage> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-pages-'))
  const manifest = await (isMeasured ? buildPages(folder) : buildPages(folder, QUICK_QUALITY))
  const parts = { brand, bundle: readPagesBundle(folder), nonce: () => randomBytes(18).toString('base64') }
  const pages = pagesServer(parts)
  const signIn = signInPages({ brand })
  const stage = await startStage({
    ...options,
    before: (req, res) => signIn(req, res) || pages(req, res),
    shareDocument: () => pageDocument(parts, true),
  })
  const chromium = await openChromium()
  return {
    ...stage,
    manifest,
    chromium,
    async open(email, { width, scheme }) {
      const cookie = await stage.signIn(email)
      const [name = '', value = ''] = cookie.split('=', 2)
      await chromium.context.clearCookies()
      await chromium.context.addCookies([{ name, value, url: stage.url, httpOnly: true, sameSite: 'Lax' }])
      const page = await chromium.context.newPage()
      page.setDefaultTimeout(MOST_WAIT_MS)
      await page.setViewportSize({ width, height: width === 390 ? 844 : 800 })
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      return { page, noise: await listen(page) }
    },
    async stop() {
      await chromium.close()
      await stage.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Errors, words on the console, and what the policy blocks. */
async function listen(page: Page): Promise<string[]> {
  const noise: string[] = []
  page.on('pageerror', (error) => noise.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') noise.push(`console: ${message.text()}`)
  })
  return noise
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly impact: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }[]
}

/** What axe finds that is serious or worse, a line each. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  const source = await readFile(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
  const { violations } = await page.evaluate<AxeResult>(`(() => { ${source}; return axe.run(document) })()`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`))
}
