/** `whencectl check URL`: opens a page as a visitor would, and reports step by step what works and what to fix. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommandArguments, RunOutcome } from '../../runtime/settings/settings.ts'
import { useProxyForFetch } from '../wiring/outbound.ts'
import { ChromiumMissing, findChromium } from '../demo/chromium.ts'
import { checkInBrowser } from './check/browser.ts'
import { checkCrossing } from './check/crossing.ts'
import { problem, skipped, type Finding } from './check/finding.ts'
import { findSetup, type PageSetup } from './check/page.ts'
import { checkService } from './check/service.ts'
import { complain, print, printJson } from '../terminal/output.ts'

const SIGNS = { ok: 'ok     ', problem: 'PROBLEM', skipped: 'skipped' } as const
const EXIT_USAGE = 2

/** Exits with 0 if there are no problems, with 1 if there are, and with 2 if the page cannot be opened. */
export async function checkTool(run: RunOutcome<'check'>, env: NodeJS.ProcessEnv): Promise<number> {
  useProxyForFetch(run.settings)
  const url = URL.parse(run.positionals[0] ?? '')
  if (url === null || !/^https?:$/.test(url.protocol)) {
    complain('whencectl check: give the full address of a page, such as https://acme.dev/install\n')
    return EXIT_USAGE
  }
  const isJson = run.flags.has('--json')
  let problems = 0
  const tell = (finding: Finding): void => {
    if (finding.outcome === 'problem') problems++
    if (isJson) printJson([finding])
    else print(`${SIGNS[finding.outcome]}  ${finding.words}\n`)
  }
  const setup = await findSetup(url, tell)
  const named = withFlags(setup, run)
  let others: readonly string[] = []
  if (named === null) {
    tell(
      problem('script', 'Without the script tag the service and the website are unknown: set --service and --website.'),
    )
  } else {
    await checkService({ ...named, origin: url.origin, path: run.flags.get('--path') }, tell)
    others = await checkCrossing({ ...named, origin: url.origin }, tell)
  }
  await inBrowser({ url, setup: named, others, run, env }, tell)
  if (!isJson) print(problems === 0 ? '\nNo problems found.\n' : `\n${problems} to fix.\n`)
  return problems === 0 ? 0 : 1
}

function withFlags(setup: PageSetup | null, run: CommandArguments): PageSetup | null {
  const website = run.flags.get('--website') ?? setup?.website
  const service = run.flags.get('--service') ?? setup?.serviceUrl
  if (website === undefined || service === undefined) return null
  const serviceUrl = service.endsWith('/') ? service : `${service}/`
  return { website, serviceUrl, carriesInQuery: setup?.carriesInQuery === true }
}

interface BrowserCheck {
  readonly url: URL
  readonly setup: PageSetup | null
  readonly others: readonly string[]
  readonly run: CommandArguments
  readonly env: NodeJS.ProcessEnv
}

async function inBrowser(
  { url, setup, others, run, env }: BrowserCheck,
  tell: (finding: Finding) => void,
): Promise<void> {
  const what = 'whether a Content Security Policy interferes, and whether visit, marker and activation succeed'
  if (run.flags.has('--no-browser')) return tell(skipped('browser', `Not checked: ${what}.`))
  const home = await mkdtemp(join(tmpdir(), 'whence-check-'))
  try {
    const executable = await findChromium(env)
    await checkInBrowser({ url, setup, others, executable, home }, tell)
  } catch (error) {
    if (!(error instanceof ChromiumMissing)) throw error
    tell(
      skipped('browser', `Not checked, because there is no Chromium: ${what}. ${error.message.replaceAll('\n', ' ')}`),
    )
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
}
