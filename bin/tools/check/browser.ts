/**
 * Opens the page in a real Chromium with a fresh profile, and follows what the SDK does. This records one page view, of an automated browser: it
 * counts in no visit of figures.
 */

import { setTimeout as wait } from 'node:timers/promises'
import type { BrowserContext, Page, Response } from 'playwright-core'
import { textOf, memberOf } from '../../../domain/strict-json.ts'
import { launchChromium } from '../../demo/chromium.ts'
import { checkArrivals } from './arrival.ts'
import { ok, problem, skipped, type Finding, type Tell } from './finding.ts'
import { failureToLoad, startsSdk, STEP_MS } from './opened.ts'
import type { PageSetup } from './page.ts'

const LOOK_MS = 50

interface BrowserCheckInput {
  readonly url: URL
  readonly setup: PageSetup | null
  /** The website's other origins. */
  readonly others: readonly string[]
  readonly executable: string
  readonly home: string
}

/** @throws ChromiumMissing */
export async function checkInBrowser(input: BrowserCheckInput, tell: Tell): Promise<void> {
  const context = await launchChromium(input.executable, input.home, 'program')
  try {
    await followPage(context, input, tell)
    const { setup, others } = input
    if (setup !== null) await checkArrivals(context, { setup, others }, tell)
  } finally {
    await context.close()
  }
}

async function followPage(context: BrowserContext, { url, setup }: BrowserCheckInput, tell: Tell): Promise<void> {
  const page = context.pages()[0] ?? (await context.newPage())
  const blocked = await watchPolicy(page)
  const answers: Response[] = []
  page.on('response', (each) => {
    if (each.request().method() === 'POST') answers.push(each)
  })
  const failure = await failureToLoad(page, url.href)
  if (failure !== null) return tell(problem('browser', `The browser does not load the page: ${failure}`))
  const hasSdk = await startsSdk(page)
  const isOurs = (each: string): boolean => setup === null || each.includes(new URL(setup.serviceUrl).host)
  // The visit comes up to two seconds after the SDK has started; a policy may let the script in and stop the visit.
  const recorded = hasSdk ? await answerTo('/v1/visits', answers, () => blocked.some(isOurs)) : null
  const forbidden = blocked.filter(isOurs)
  for (const each of forbidden)
    tell(problem('policy', `The page's Content Security Policy blocks ${each}: allow the service there.`))
  if (forbidden.length === 0) tell(ok('policy', 'No Content Security Policy interferes.'))
  if (!hasSdk)
    return tell(
      problem('visit', 'The SDK does not start on the page: is its script blocked, or waiting for a tag manager?'),
    )
  if (forbidden.length === 0 || recorded !== null) await followVisit(page, { recorded, answers }, tell)
}

/** How many install commands the page marks, or names on the script tag. `:is` ignores errors in the page's own selector. */
const MARKED_JS = `document.querySelectorAll(':is([data-whence-command],' +
  (document.querySelector('script[data-project][data-commands]')?.dataset.commands ?? '') + ')').length`

interface Followed {
  /** The answer to the visit; null if none was sent in time. */
  readonly recorded: Response | null
  readonly answers: readonly Response[]
}

async function followVisit(page: Page, { recorded, answers }: Followed, tell: Tell): Promise<void> {
  if (recorded === null) {
    return tell(
      skipped(
        'visit',
        'The SDK is loaded but sends no visit: it waits for consent (data-consent) or for a call (data-manual).',
      ),
    )
  }
  if (!recorded.ok()) return tell(await refusalFinding('visit', recorded))
  tell(ok('visit', 'A visit was recorded (one tracked event, of an automated browser: figures leave it out).'))
  const activated = await answerTo('/v1/visits/activate', answers)
  if (activated === null)
    return tell(
      problem('marker', 'No marker was written: something on the page keeps the browser from using its file storage.'),
    )
  if (!activated.ok()) return tell(await refusalFinding('activation', activated))
  tell(ok('marker', 'The marker was written and its receipt is active.'))
  const count = await page.evaluate<number>(MARKED_JS)
  tell(
    count > 0
      ? ok('commands', `${count} install command${count === 1 ? ' is' : 's are'} marked.`)
      : skipped(
          'commands',
          'No install command is marked with data-whence-command or named by data-commands: on the page that shows it, copying then carries no token.',
        ),
  )
}

async function refusalFinding(check: string, response: Response): Promise<Finding> {
  const body: unknown = await response.json().catch(() => ({}))
  return problem(check, `The service refuses it with status ${response.status()} ${textOf(memberOf(body, 'error'))}.`)
}

/** The answer to the first POST to a path; null if there is none in time, or if it cannot come any more. */
async function answerTo(
  path: string,
  answers: readonly Response[],
  isHopeless: () => boolean = () => false,
): Promise<Response | null> {
  const until = performance.now() + STEP_MS
  for (;;) {
    const answer = answers.find((each) => new URL(each.url()).pathname.endsWith(path))
    if (answer !== undefined || performance.now() > until || isHopeless()) return answer ?? null
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
