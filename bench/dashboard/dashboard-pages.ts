/**
 * How soon the pages show something in a real Chromium: the main thread's processor time of Logs until its 200 lines stand there, and
 * the time from the address to the first useful number of the Overview, of Live and of the funnel. The embedded program is on core 0,
 * with the facts of this many million visits (222,222 a day); the browser on core 1. In each round the browser's caches are empty.
 *
 * Use: node bench/dashboard/dashboard-pages.ts [rounds] [million visits] [folder of `make scale`, copied]
 */

import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, CDPSession, Page } from 'playwright-core'

import { findChromium } from '../../bin/demo/chromium.ts'
import { SCALE_ORGANIZATION } from '../../fixtures/scale/shape.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { signInAll } from '../support/dashboard-people.ts'
import { bareRate, startEmbedded, stop, waitFor } from '../support/http-load.ts'
import { median, needTools, roundsFrom } from '../support/rounds.ts'
import { fillFacts, SCALE_OWNER, SCALE_SECRET, writeScaleObjects } from '../support/scale-facts.ts'

const rounds = roundsFrom(process.argv[2], 5)
const millions = Number(process.argv[3] ?? 2)
const GOAL_CPU_MS = 400
const LINES = 200
const WAIT_MS = 60_000

/** Where a number stands, how its element is found, and how soon it should stand there. */
const NUMBERS = [
  { name: 'the Overview of 28 days', address: 'overview', selector: '.tiles strong', goalMs: 500 },
  { name: 'the Overview of 90 days', address: 'overview?period=Last90Days', selector: '.tiles strong', goalMs: 500 },
  { name: 'Live', address: 'live', selector: '.tiles dd', goalMs: 1_000 },
  { name: 'the funnel of 7 days', address: 'funnel', selector: 'main a .count', goalMs: 1_000 },
  { name: 'the funnel of 28 days', address: 'funnel?period=Last28Days', selector: 'main a .count', goalMs: 1_000 },
] as const

needTools('taskset')
process.env['WHENCE_SECRET'] = SCALE_SECRET
const from = process.argv[4]
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-pages-'))
try {
  await fillFacts(join(folder, 'data'), { visits: millions * 1_000_000, ...(from === undefined ? {} : { from }) })
  await measure()
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  // Everything that is started from here on runs on the other core than the program.
  spawnSync('taskset', ['-acp', '1', String(process.pid)])
  const bare = await bareRate(folder)
  const manifests = join(folder, 'manifests')
  await writeScaleObjects(manifests)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = startEmbedded(port, { folder, manifests })
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({
    executablePath: await findChromium(process.env),
    args: ['--no-sandbox', '--disable-gpu'],
  })
  try {
    await waitFor(`${url}/health`)
    const [cookie = ''] = await signInAll(url, join(folder, 'data'), [SCALE_OWNER])
    const visitor = { browser, url, cookie }
    const isQuick = [await measureLogs(visitor), await measureNumbers(visitor)].every(Boolean)
    say(`at a load of ${(loadavg()[0] ?? 0).toFixed(1)}, bare node:http ${bare.toFixed(0)}/s`)
    if (!isQuick) process.exitCode = 1
  } finally {
    await browser.close()
    await stop(child)
  }
}

interface Visitor {
  readonly browser: Browser
  readonly url: string
  readonly cookie: string
}

/** Does something in a page of a browser that has seen nothing yet. */
async function inNewBrowser<T>({ browser, url, cookie }: Visitor, act: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  try {
    const [name = '', value = ''] = cookie.split('=', 2)
    await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Lax' }])
    const page = await context.newPage()
    page.setDefaultTimeout(WAIT_MS)
    return await act(page)
  } finally {
    await context.close()
  }
}

async function measureLogs(visitor: Visitor): Promise<boolean> {
  const results: { readonly task: number; readonly script: number }[] = []
  for (let round = 0; round < rounds; round += 1)
    results.push(await inNewBrowser(visitor, (page) => logsOnce(page, visitor.url)))
  const shown = (times: readonly number[]): string => times.map((ms) => ms.toFixed(0)).join(', ')
  const tasks = results.map(({ task }) => task)
  const cpu = median(tasks)
  say(
    `Logs with ${LINES} rows: ${cpu.toFixed(0)} ms of the main thread's processor time (${shown(tasks)}; to reach: ${GOAL_CPU_MS})`,
  )
  say(`of that ${median(results.map(({ script }) => script)).toFixed(0)} ms for scripts`)
  return cpu <= GOAL_CPU_MS
}

async function logsOnce(page: Page, url: string): Promise<{ readonly task: number; readonly script: number }> {
  // The same process then shows the page that is measured: a new one would begin to count at another place.
  await page.goto(`${url}/sign-in`)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const before = await processorMs(session)
  await page.goto(`${url}/app/${SCALE_ORGANIZATION}/logs`)
  await page.locator(`tbody tr:nth-child(${LINES})`).waitFor()
  // Until it has been laid out and painted.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestIdleCallback(done)))')
  const after = await processorMs(session)
  return { task: after.task - before.task, script: after.script - before.script }
}

async function processorMs(session: CDPSession): Promise<{ readonly task: number; readonly script: number }> {
  const { metrics } = await session.send('Performance.getMetrics')
  const msOf = (wanted: string): number => (metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN) * 1_000
  return { task: msOf('TaskDuration'), script: msOf('ScriptDuration') }
}

async function measureNumbers(visitor: Visitor): Promise<boolean> {
  let isQuick = true
  for (const { name, address, selector, goalMs } of NUMBERS) {
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1)
      times.push(
        await inNewBrowser(visitor, (page) =>
          numberOnce(page, `${visitor.url}/app/${SCALE_ORGANIZATION}/${address}`, selector),
        ),
      )
    const all = times.map((ms) => ms.toFixed(0)).join(', ')
    say(`first number of ${name}: ${median(times).toFixed(0)} ms after the address (${all}; to reach: ${goalMs})`)
    isQuick &&= median(times) <= goalMs
  }
  return isQuick
}

/** Milliseconds from the beginning of the navigation until a number stands there. */
async function numberOnce(page: Page, address: string, selector: string): Promise<number> {
  await page.addInitScript(`(() => {
    const isThere = () => /\\d/.test(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '')
    window.firstNumber = new Promise((done) => {
      const look = () => (isThere() ? done(performance.now()) : requestAnimationFrame(look))
      requestAnimationFrame(look)
    })
  })()`)
  await page.goto(address)
  return page.evaluate<number>('window.firstNumber')
}

function say(text: string): void {
  console.log(text)
}
