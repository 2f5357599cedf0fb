/** One way to look at pages in Chromium and in Firefox, whose drivers differ. */

import { until } from '../../../fixtures/until.ts'
import { openInFirefox } from './firefox.ts'
import { VIEWERS, type SheetPage, type SheetStage } from './sheets.ts'
import type { Look } from './looks.ts'
import { seriousFindings } from './stage.ts'

export const BROWSERS = ['Chromium', 'Firefox'] as const
export type Browser = (typeof BROWSERS)[number]

/** For a machine that does much else. */
const MOST_WAIT_MS = 60_000
const AGAIN_MS = 20

export interface Visitor {
  readonly goto: (address: string) => Promise<unknown>
  readonly evaluate: (script: string) => Promise<unknown>
  readonly shoot: (options: { readonly fullPage: boolean }) => Promise<Uint8Array>
  /** Errors, and words on the console. */
  readonly noise: readonly string[]
  /** What axe finds that is serious or worse. */
  readonly findings: () => Promise<readonly string[]>
  readonly close: () => Promise<unknown>
}

/** Nobody is somebody who has signed out: `showSheet` does that. */
export async function openVisitor(
  stage: SheetStage,
  browser: Browser,
  { viewer, look }: { readonly viewer: SheetPage['viewer']; readonly look: Look },
): Promise<Visitor> {
  const email = VIEWERS[viewer] ?? VIEWERS.guest
  if (browser === 'Firefox') {
    const { page, noise, findings, close } = await openInFirefox(stage, email, look)
    return {
      noise,
      findings,
      close,
      goto: (address) => page.goto(address),
      evaluate: (script) => page.evaluate(script),
      shoot: (options) => page.screenshot(options),
    }
  }
  const { page, noise } = await stage.open(email, look)
  return {
    noise,
    findings: () => seriousFindings(page),
    goto: (address) => page.goto(address),
    evaluate: (script) => page.evaluate(script),
    shoot: (options) => page.screenshot(options),
    close: () => page.close(),
  }
}

/** Opens the page and what lies over it, and waits until all of it is there. */
export async function showSheet(visitor: Visitor, stage: SheetStage, sheet: SheetPage): Promise<void> {
  const { viewer, click, ready = 'h1' } = sheet
  if (VIEWERS[viewer] === null) {
    await visitor.goto(`${stage.url}/sign-in`)
    await visitor.evaluate(
      `fetch('/api/sign-out', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' })`,
    )
    // What stands behind # is only read by a page that loads.
    await visitor.goto('about:blank')
  }
  await visitor.goto(stage.addressOf(sheet))
  await isThere(visitor, 'h1')
  await isLoaded(visitor)
  if (click !== undefined) {
    await isThere(visitor, click)
    await visitor.evaluate(`document.querySelector(${JSON.stringify(click)}).click()`)
  }
  await isThere(visitor, ready)
  await isLoaded(visitor)
  // The title has the focus after a click in the navigation, but nobody clicked.
  await visitor.evaluate('document.activeElement?.blur()')
}

function isThere(visitor: Visitor, selector: string): Promise<void> {
  return becomesTrue(visitor, `document.querySelector(${JSON.stringify(selector)}) !== null`)
}

function isLoaded(visitor: Visitor): Promise<void> {
  return becomesTrue(visitor, `document.querySelector('.loading') === null`)
}

async function becomesTrue({ evaluate }: Visitor, script: string): Promise<void> {
  await until(async () => (await evaluate(script)) === true, {
    what: script,
    withinMs: MOST_WAIT_MS,
    everyMs: AGAIN_MS,
  })
}
