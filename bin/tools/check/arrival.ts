/** Opens another origin of the website as a link does that carries a landing: its page may read the fragment, or put it back. */

import type { BrowserContext, Page } from 'playwright-core'
import { PROBE } from './crossing.ts'
import { ok, problem, type Finding, type Tell } from './finding.ts'
import { becomesTrue, failureToLoad, startsSdk } from './opened.ts'
import type { PageSetup } from './page.ts'

const ADVICE = 'put data-carry="query" on the script tags of the website\'s other origins'

/** What is opened here is not counted: the service gets no visit. */
export async function checkArrivals(
  context: BrowserContext,
  { setup, others }: { readonly setup: PageSetup; readonly others: readonly string[] },
  tell: Tell,
): Promise<void> {
  for (const other of others) {
    const page = await context.newPage()
    try {
      await page.route(`${setup.serviceUrl}v1/**`, (route) => route.abort())
      tell(await arrivalFinding(page, other, setup))
    } finally {
      await page.close()
    }
  }
}

async function arrivalFinding(page: Page, other: string, { carriesInQuery }: PageSetup): Promise<Finding> {
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  // Routers change the address without loading another.
  const shown: string[] = []
  page.on('framenavigated', (frame) => shown.push(frame.url()))
  const address = `${other}/${carriesInQuery ? '?' : '#'}${PROBE}`
  const notLoaded = await failureToLoad(page, address)
  if (notLoaded !== null) return problem('crossing', `The browser does not load ${address}: ${notLoaded}`)
  if (!(await startsSdk(page)))
    return problem(
      'crossing',
      `${other}/ does not load the SDK: what links carry is lost there, and stays in the address.`,
    )
  const isPlain = await becomesTrue(page, `!location.href.includes('_whence')`)
  const failure = errors.find((each) => each.includes('_whence'))
  if (failure !== undefined) return problem('crossing', `${other}/ fails on what links carry (${failure}): ${ADVICE}.`)
  if (!carriesInQuery && shown.some((each) => /#[!/]/.test(each)))
    return problem('crossing', `${other}/ reads the fragment of its address as a route: ${ADVICE}.`)
  return isPlain
    ? ok('crossing', `${other}/ takes what links carry, and its address is plain again.`)
    : problem('crossing', `A script of ${other}/ puts _whence back into the address each time it is taken off.`)
}
