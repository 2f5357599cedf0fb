/** Opens the page in a real Chromium with a fresh profile, and follows what the SDK does. This records one visit. */

import { setTimeout as wait } from 'node:timers/promises'
import type { Page, Response } from 'playwright-core'
import { launchChromium } from '../../demo/chromium.ts'
import { ok, problem, skipped, type Finding, type Tell } from './finding.ts'
import type { PageSetup } from './page.ts'

const LOAD_MS = 30_000
/** A visit waits up to two seconds for the cookies of tags, and the service has eight to answer. */
const STEP_MS = 12_000
const LOOK_MS = 50
/** The name of the SDK's interface, which pages use to start it, for example after consent. */
const INTERFACE_JS = 'typeof window.whence?.scope'

interface BrowserCheckInput {
  readonly url: URL
  readonly setup: PageSetup | null
  readonly executable: string
  readonly home: string
}

/** @throws ChromiumMissing */
export async function checkInBrowser({ url, setup, executable, home }: BrowserCheckInput, tell: Tell): Promise<void> {
  const context = await launchChromium(executable, home)
  try {
    const page = context.pages()[0] ?? (await context.newPage())
    const blocked = await watchPolicy(page)
    const answers: Response[] = []
    page.on('response', (each) => {
      if (each.request().method() === 'POST') answers.push(each)
    })
    try {
      await page.goto(url.href, { waitUntil: 'load', timeout: LOAD_MS })
    } catch (error) {
      return tell(problem('browser', `The browser does not load the page: ${String(error).split('\n')[0] ?? ''}`))
    }
    const hasSdk = await page.waitForFunction(`${INTERFACE_JS} === 'function'`, undefined, { timeout: STEP_MS }).then(
      () => true,
      () => false,
    )
    const forbidden = blocked.filter((each) => setup === null || each.includes(new URL(setup.serviceUrl).host))
    for (const each of forbidden)
      tell(problem('policy', `The page's Content Security Policy blocks ${each}: allow the service there.`))
    if (forbidden.length === 0) tell(ok('policy', 'No Content Security Policy is in the way.'))
    if (!hasSdk)
      return tell(
        problem('visit', 'The SDK does not start on the page: is its script blocked, or waiting for a tag manager?'),
      )
    await followVisit(page, answers, tell)
  } finally {
    await context.close()
  }
}

async function followVisit(page: Page, answers: readonly Response[], tell: Tell): Promise<void> {
  const recorded = await answerTo('/v1/visits', answers)
  if (recorded === null) {
    return tell(
      skipped(
        'visit',
        'The SDK is there and sends no visit: it waits for consent (data-consent) or for a call (data-manual).',
      ),
    )
  }
  if (!recorded.ok()) return tell(await refused('visit', recorded))
  tell(ok('visit', 'A visit was recorded (this one counts as one tracked event).'))
  const activated = await answerTo('/v1/visits/activate', answers)
  if (activated === null)
    return tell(
      problem('marker', 'No marker was written: something on the page keeps the browser from using its file storage.'),
    )
  if (!activated.ok()) return tell(await refused('activation', activated))
  tell(ok('marker', 'The marker was written and its receipt is active.'))
  const count = await page.locator('[data-whence-command]').count()
  tell(
    count > 0
      ? ok('commands', `${count} install command${count === 1 ? ' is' : 's are'} marked.`)
      : skipped(
          'commands',
          'No install command is marked with data-whence-command: on the page that shows it, copying then carries no token.',
        ),
  )
}

async function refused(check: string, response: Response): Promise<Finding> {
  const body = (await response.json().catch(() => ({}))) as { readonly error?: unknown }
  return problem(
    check,
    `The service refuses it with status ${response.status()} ${typeof body.error === 'string' ? body.error : ''}.`,
  )
}

/** The answer to the first POST to a path; null if there is none in time. */
async function answerTo(path: string, answers: readonly Response[]): Promise<Response | null> {
  const until = performance.now() + STEP_MS
  for (;;) {
    const answer = answers.find((each) => new URL(each.url()).pathname.endsWith(path))
    if (answer !== undefined || performance.now() > until) return answer ?? null
    await wait(LOOK_MS)
  }
}

/** Collects what the page's policy blocks, as `directive address`. */
async function watchPolicy(page: Page): Promise<string[]> {
  const blocked: string[] = []
  await page.exposeFunction('whenceCheckBlocked', (each: string) => blocked.push(each))
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    whenceCheckBlocked(event.effectiveDirective + ' ' + event.blockedURI))`)
  return blocked
}
