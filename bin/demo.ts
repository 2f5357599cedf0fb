/** `make demo`: shows automatically, with a real Chromium and the real hook, how a visit becomes a matched install. */

import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startGa4StandIn } from '../stand-ins/ga4.ts'
import { createLifecycle } from '../runtime/lifecycle.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/metrics.ts'
import { compileSettings, type RunOutcome } from '../runtime/settings/settings.ts'
import { ChromiumMissing, findChromium, openChromium, type ChromiumWindow } from './demo/chromium.ts'
import { findMarker, lastEventId, runAtHome } from './demo/machine.ts'
import { copyQuickstart, portLike, QUICKSTART_SITE_PORT } from './demo/quickstart.ts'
import { tourDashboard } from './demo/tour.ts'
import { printsUsage } from './terminal/usage.ts'
import { startExampleSite, type ExampleSite } from './example-site.ts'
import type { Process } from './wiring/process.ts'
import { startService, type Service } from './service.ts'
import { explainTool } from './tools/explain.ts'
import { version } from './wiring/version.ts'

const SDK = new URL('../sdk/dist/browser.js', import.meta.url)
const STOP_MS = 10_000
/** Where pictures of the dashboard go if the command line names no folder. */
const PICTURES = 'data/demo'
const DELIVERY_TRIES = 400
const DELIVERY_PAUSE_MS = 25

interface Stage {
  readonly run: RunOutcome<'embedded'>
  readonly service: Service
  readonly site: ExampleSite
  readonly folder: string
}

async function runDemo(): Promise<number> {
  const logLines: string[] = []
  const logger = createLogger({ program: 'demo', level: 'warn', write: (line) => void logLines.push(line) })
  const exit = (code: number): void => process.exit(code)
  const lifecycle = createLifecycle({ logger, stopDeadlineMs: STOP_MS, signals: process, exit })
  let code = 1
  try {
    const own = { logger, lifecycle, registry: createRegistry('demo', version()), nowMs: Date.now }
    code = (await showJourney(own)) ? 0 : 1
    if (code !== 0) writeLine('\nThe demo failed: see above.')
  } catch (error) {
    writeLine(`\n${error instanceof Error ? error.message : String(error)}`)
    if (!(error instanceof ChromiumMissing)) for (const line of logLines.slice(-10)) writeLine(line.trimEnd())
  }
  await lifecycle.stop('request')
  return code
}

/** All steps, for two installs. True if both installs were matched and delivered. */
async function showJourney(own: Process): Promise<boolean> {
  writeLine('Whence demo: a visit in a real browser becomes a matched install. Everything stays on this machine.')
  const chromium = await findChromium(process.env)
  await access(SDK).catch(() => {
    throw new Error('The SDK is not built yet: npm run build')
  })
  const stage = await setTheStage(own)
  const { site, service, folder } = stage
  const website = service.catalog.current().websites.keys().next().value ?? ''

  title('1. A visitor opens the website')
  const home = join(folder, 'visitor')
  const browser = await own.lifecycle.start(
    'chromium',
    () => openChromium(chromium, home),
    (opened) => opened.close(),
  )
  writeLine(`   ${browser.version} opens ${site.pageUrl}`)
  await browser.visit(site.pageUrl)
  const marker = await findMarker(home)
  if (marker === null) throw new Error('the page left no marker on disk')
  writeLine(`   The page left a marker of ${marker.bytes} bytes:`)
  writeLine(`   ${marker.path.replace(home, '~')}`)

  title('2. The visitor installs the product on the same machine')
  await install(site.command, home)
  title('3. Which visit did this install come from?')
  const isFirstRight = await showExplanation(stage, await lastEventId(home, website))

  title('4. A visitor copies the command from the page and runs it on another machine')
  const copied = await browser.copyCommand()
  const elsewhere = join(folder, 'another-machine')
  await install(copied, elsewhere)
  title('5. And where did that one come from?')
  const isSecondRight = await showExplanation(stage, await lastEventId(elsewhere, website))

  title('6. The same in the dashboard')
  for (const path of await tour(stage, browser)) writeLine(`   ${path}`)
  if (isFirstRight && isSecondRight)
    writeLine('\nBoth installs were matched to the visit and delivered. `make run` lets you do it by hand.')
  return isFirstRight && isSecondRight
}

/** Pictures of the dashboard's pages, in the folder that the command line names. */
async function tour({ service }: Stage, browser: ChromiumWindow): Promise<readonly string[]> {
  const [ownerOf = null] = service.catalog.current().organizations.keys()
  const link = await service.signInLink({ email: 'you@whence.example', ownerOf })
  return tourDashboard(await browser.openPage(), link, process.argv[2] ?? PICTURES)
}

/** The service, a stand-in for GA4 and the example website, on free ports, with a temporary folder. */
async function setTheStage(own: Process): Promise<Stage> {
  const { lifecycle } = own
  const folder = await lifecycle.start(
    'temporary folder',
    () => mkdtemp(join(tmpdir(), 'whence-demo-')),
    (path) => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  )
  const sitePort = await portLike(QUICKSTART_SITE_PORT)
  await copyQuickstart(join(folder, 'manifests'), sitePort)
  const ga4 = await lifecycle.start(
    'ga4 stand-in',
    () => startGa4StandIn({ port: 0 }),
    (server) => server.close(),
  )
  const run = settingsFor(folder, await portLike(0), ga4.url)
  const { settings } = run
  const logger = createLogger({ program: 'demo', level: 'error' })
  const began = performance.now()
  const service = await startService({ ...own, logger }, settings, {})
  const listen = { host: '127.0.0.1', port: sitePort }
  const options = { listen, catalog: service.catalog.current, baseUrl: settings.baseUrl, ga4Url: ga4.url }
  const site = await lifecycle.start(
    'example site',
    () => startExampleSite(options),
    (server) => server.close(),
  )
  writeLine(`The service runs at ${settings.baseUrl}, started in ${Math.round(performance.now() - began)} ms.`)
  return { run, service, site, folder }
}

function settingsFor(folder: string, port: number, ga4Url: string): RunOutcome<'embedded'> {
  const argv = ['--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0']
  argv.push('--data', join(folder, 'data'), '--manifests', join(folder, 'manifests'))
  const outcome = compileSettings('embedded', argv, { WHENCE_GA4_URL: ga4Url })
  if (outcome.kind !== 'run') throw new Error('the settings of the demo are wrong')
  return outcome
}

async function install(command: string, home: string): Promise<void> {
  writeLine(`   $ ${command}`)
  const began = performance.now()
  const text = await runAtHome(command, home)
  for (const line of text.split('\n')) if (line !== '') writeLine(`   ${line}`)
  writeLine(`   The hook took ${Math.round(performance.now() - began)} ms.`)
}

/** Waits for the delivery and prints the output of `whencectl explain`. True if the install is matched and delivered. */
async function showExplanation({ run, service }: Stage, eventId: string | null): Promise<boolean> {
  if (eventId === null) throw new Error('the hook reported no install')
  const isRight = await isMatchedAndDelivered(service, eventId)
  writeLine(`   $ npm run -s whencectl -- explain ${eventId}\n`)
  await explainTool({ ...run, positionals: [eventId], flags: new Map() })
  return isRight
}

async function isMatchedAndDelivered({ stores: { facts } }: Service, eventId: string): Promise<boolean> {
  for (let tries = 0; tries < DELIVERY_TRIES; tries++) {
    const [row] = await facts.run('installsByEventId', { event_id: eventId })
    const { organization = '', website = '' } = row ?? {}
    const deliveries = await facts.run('deliveriesOfInstall', { organization, website, event_id: eventId })
    const isSettled = deliveries.length > 0 && deliveries.every(({ status }) => status !== 'pending')
    if (row !== undefined && (isSettled || row.resolution !== 'matched')) {
      return row.resolution === 'matched' && deliveries.every(({ status }) => status === 'delivered')
    }
    await wait(DELIVERY_PAUSE_MS)
  }
  return false
}

function title(text: string): void {
  const isBold = process.stdout.isTTY && process.env['NO_COLOR'] === undefined
  writeLine(`\n${isBold ? `\u001b[1m${text}\u001b[0m` : text}`)
}

function writeLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

process.stdout.on('error', () => process.exit(1))
const USAGE = `Usage: npm run -s demo [-- FOLDER]

Shows by itself how a visit in a real Chromium becomes a matched install. Pictures of the dashboard go to FOLDER (default: ${PICTURES}).`
if (!printsUsage(process.argv.slice(2), USAGE)) process.exitCode = await runDemo()
