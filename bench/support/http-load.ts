/**
 * The load of the HTTP benchmarks by wrk on core 1, servers on core 0: visits of 900 bytes, and install events of two
 * kinds.
 *
 * `event` is the cheapest kind: it carries no receipt, and its website has no destination, so nothing is resolved,
 * planned or delivered. `matched` is the expensive one: it carries the active receipt of a visit, its organisation has
 * an install path and its website a live GA4 destination, to which each of them is delivered.
 */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { urlIdOf } from '../../fixtures/service/requests.ts'
import { median, needTools } from './rounds.ts'

const CONNECTIONS = 64
/** The compiler needs some 20,000 requests; before that, each takes a third more of the core. */
export const WARM_UP_S = 15
const ORGANIZATIONS = 16
/** Of the Enterprise plan; with fewer, the limit of 6,000 visits per minute and website would be measured. */
const WEBSITES_EACH = 25
const ROOT = new URL('../..', import.meta.url).pathname

export interface Figures {
  readonly perSecond: number
  /** Requests per second of processor time of the server; NaN if its process ID was not given. */
  readonly perCpuSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly requests: number
}

export type Load = 'visit' | 'event' | 'matched'

/** A visit whose receipt is active. */
export interface Activated {
  readonly website: string
  readonly receipt: string
}

function websites(): string[] {
  return Array.from({ length: ORGANIZATIONS * WEBSITES_EACH }, (_, index) => `site-${index}`)
}

/** `matched`: with everything that makes an install event expensive, including the credential of its destinations. */
export function writeManifests(folder: string, load: Load = 'visit'): void {
  mkdirSync(folder, { recursive: true })
  const isDear = load === 'matched'
  const documents = Array.from({ length: ORGANIZATIONS }, (_, organization) =>
    [
      `apiVersion: whence.dev/v1alpha1\nkind: Organization\nmetadata: { name: org-${organization} }\nspec: { displayName: Org, plan: Enterprise }`,
      ...(isDear ? [installPathOf(organization)] : []),
      ...Array.from({ length: WEBSITES_EACH }, (_, index) => {
        const id = `site-${organization * WEBSITES_EACH + index}`
        const website = `apiVersion: whence.dev/v1alpha1\nkind: Website\nmetadata: { name: ${id} }\nspec: { organizationRef: { name: org-${organization} }, displayName: Site, primaryOrigin: 'https://acme.dev', providers: [ga4, google_ads] }`
        return isDear ? `${website}\n---\n${destinationOf(id)}` : website
      }),
    ].join('\n---\n'),
  )
  const secret = `apiVersion: v1\nkind: Secret\nmetadata: { name: ga4 }\nstringData: { key: only-for-measuring }`
  writeFileSync(join(folder, 'bench.yaml'), [...(isDear ? [secret] : []), ...documents].join('\n---\n'))
}

function installPathOf(organization: number): string {
  return `apiVersion: whence.dev/v1alpha1\nkind: InstallPath\nmetadata: { name: path-${organization} }\nspec: { organizationRef: { name: org-${organization} }, id: cli, displayName: CLI }`
}

function destinationOf(website: string): string {
  const ga4 = '{ measurementId: G-ABC1234567, apiSecretRef: { name: ga4, key: key } }'
  return `apiVersion: whence.dev/v1alpha1\nkind: Destination\nmetadata: { name: ga4-${website} }\nspec: { websiteRef: { name: ${website} }, provider: ga4, mode: Live, ga4: ${ga4} }`
}

const ACTIVATED = 2_000
const ACTIVATING_AT_ONCE = 32

/**
 * Makes visits at a running service and activates them, spread over all websites.
 * @throws if one is refused
 */
export async function activatedVisits(port: number): Promise<readonly Activated[]> {
  const all = websites()
  const done: Activated[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < ACTIVATED) {
      const number = next++
      const website = all[number % all.length] ?? ''
      const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`
      const { marker } = (await posted(port, '/v1/visits', visitOf(website), address)) as { marker: Activated }
      const body = JSON.stringify({ project: website, receipt: marker.receipt })
      await posted(port, '/v1/visits/activate', body, address)
      done.push({ website, receipt: marker.receipt })
    }
  }
  await Promise.all(Array.from({ length: ACTIVATING_AT_ONCE }, work))
  return done
}

async function posted(port: number, path: string, body: string, address: string): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json', Origin: 'https://acme.dev', 'X-Forwarded-For': address }
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
  const text = await reply.text()
  if (reply.status !== 200) throw new Error(`${path} was answered ${reply.status}: ${text}`)
  return JSON.parse(text)
}

/** One body, 900 bytes long except for the website's name. */
function visitOf(website: string): string {
  const pageUrl = 'https://acme.dev/docs/getting-started/install'
  const visit = {
    project: website,
    url_id: urlIdOf(pageUrl),
    page_url: `${pageUrl}?utm_source=newsletter&utm_campaign=launch`,
    referrer: 'https://news.example/item?id=1',
    identities: {
      ga4: { 'G-ABC1234567': { client_id: '1234567890.1790000000', session_id: '1790000100' } },
      google_ads: { gclid: 'EAIaIQobChMI5-Xr0d2AgwMVj4xQBh0YQwEREAAYASAAEgJk8_D_BwE' },
    },
    source: {
      referrer: 'https://news.example/',
      utm: { source: 'newsletter', medium: 'email', campaign: 'launch' },
      landed_at: 1_790_000_000_000,
    },
    gpc: false,
    client: {
      brands: [{ brand: 'Chromium', version: '156' }],
      mobile: false,
      platform: 'Linux',
      architecture: 'x86',
      bitness: '64',
      timezone: 'Europe/Berlin',
      language: 'en-GB',
      padding: '',
    },
  }
  const length = JSON.stringify(visit).length
  visit.client.padding = 'installers for everybody, '.repeat(40).slice(0, Math.max(0, 900 - length))
  return JSON.stringify(visit)
}

/**
 * Each request has its own client address and a random website, so that no limit is measured; matched events draw from
 * `activated`.
 */
export function luaScript(load: Load, activated: readonly Activated[] = []): string {
  if ((load === 'matched') !== activated.length > 0) throw new Error('matched events need visits, and others need none')
  const bodies = load === 'matched' ? activated.map(heldBy) : websites().map(load === 'visit' ? visitOf : unheld)
  const lines = bodies.map((body) => `bodies[#bodies + 1] = [==[${body}]==]`)
  const body =
    load === 'visit'
      ? 'local body = bodies[site]'
      : `local id = string.format("%08x%08x%08x", math.random(0, 2147483647), math.random(0, 2147483647), math.random(0, 2147483647))
  local body = bodies[site] .. '"event_id":"' .. id .. '","installation_id":"' .. id .. '","event_type":"install_completed","platform":"linux","arch":"x86_64","browsers":["chromium","firefox"],"timezone":"Europe/Berlin","language":"en"}'`
  const origin = load === 'visit' ? '\n  headers["Origin"] = "https://acme.dev"' : ''
  return `bodies = {}
${lines.join('\n')}
local seed = os.time()
function setup(thread) seed = seed + 1 end
function init(args) math.randomseed(tonumber(string.sub(tostring({}), 8), 16) % 2147483647) end
function request()
  local site = math.random(#bodies)
  ${body}
  local headers = { ["Content-Type"] = "application/json" }${origin}
  headers["X-Forwarded-For"] = math.random(1, 223) .. "." .. math.random(0, 255) .. "." .. math.random(0, 255) .. "." .. math.random(0, 255)
  return wrk.format("POST", "/v1/${load === 'visit' ? 'visits' : 'events'}", headers, body)
end
`
}

/** The beginning of an install event that matches. */
function heldBy({ website, receipt }: Activated): string {
  return `{"project":"${website}","install_path":"cli","receipts":["${receipt}"],`
}

/** The beginning of one without a receipt. */
function unheld(website: string): string {
  return `{"project":"${website}","receipts":[],`
}

/** A program of this checkout, or of another one in `tree`, on core 0. */
export function startPinned(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  tree: string = ROOT,
): ChildProcess {
  return spawn('taskset', ['-c', '0', process.execPath, ...args], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  })
}

interface EmbeddedOptions {
  readonly folder: string
  readonly manifests: string
  readonly ga4Url?: string
  /** More of its command line. */
  readonly words?: readonly string[]
  /** Another checkout than this one. */
  readonly tree?: string
}

/** The embedded program on core 0, with its data in `folder`. */
export function startEmbedded(
  port: number,
  { folder, manifests, ga4Url, words: more = [], tree }: EmbeddedOptions,
): ChildProcess {
  const words = [
    'bin/whencectl.ts',
    'embedded',
    '--listen',
    `127.0.0.1:${port}`,
    '--metrics-listen',
    '127.0.0.1:0',
    '--data',
    join(folder, 'data'),
    '--manifests',
    manifests,
    '--trust-proxy',
    '127.0.0.0/8',
    '--log-level',
    'warn',
    ...more,
  ]
  return startPinned(words, ga4Url === undefined ? {} : { WHENCE_GA4_URL: ga4Url }, tree)
}

export async function waitFor(url: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    try {
      await fetch(url)
      return
    } catch {
      await wait(50)
    }
  }
  throw new Error(`${url} does not answer`)
}

/** For a server that answers no GET. */
async function connectable(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch {
      await wait(50)
    } finally {
      socket.destroy()
    }
  }
  throw new Error(`nothing listens on ${port}`)
}

export async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  await ended
}

/**
 * `pid`: of the server. A run with answers other than 2xx gives no figure of the service's capacity, so it counts as
 * failed; `mayFail` is for a fault whose answers are not measured.
 *
 * @throws if wrk is missing or fails, and unless every answer was 2xx
 */
export function wrk(port: number, script: string, seconds: number, more: WrkOptions = {}): Figures {
  needTools('wrk', 'taskset')
  const { pid, mayFail = false } = more
  const load = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', '-s', script]
  const cpuBeforeS = cpuSeconds(pid)
  const { stdout, stderr, status } = spawnSync('taskset', ['-c', '1', 'wrk', ...load, `http://127.0.0.1:${port}`], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`wrk ended with ${String(status)}: ${stderr}`)
  const cpuS = cpuSeconds(pid) - cpuBeforeS
  const figures = figuresOf(stdout, cpuS)
  const failed = /Non-2xx or 3xx responses: \d+|Socket errors: .*/.exec(stdout)?.[0]
  if (failed !== undefined && !mayFail) throw new Error(`not every request was answered well: ${failed}`)
  return figures
}

export interface WrkOptions {
  readonly pid?: number | undefined
  readonly mayFail?: boolean
}

/**
 * Parses wrk's output.
 * @throws if a figure is missing
 */
export function figuresOf(printed: string, cpuS: number): Figures {
  const number = (pattern: RegExp): number => {
    const found = pattern.exec(printed)?.[1]
    if (found === undefined) throw new Error(`wrk did not print ${pattern.source}:\n${printed}`)
    return Number(found)
  }
  const latency = (percent: string): number => {
    const value = number(new RegExp(`${percent}%\\s+([\\d.]+)(?:us|ms|s)`))
    const unit = new RegExp(`${percent}%\\s+[\\d.]+(us|ms|s)`).exec(printed)?.[1]
    return value * (unit === 'us' ? 0.001 : unit === 's' ? 1_000 : 1)
  }
  const requests = number(/(\d+) requests in/)
  if (requests === 0) throw new Error('not one request was answered')
  return {
    perSecond: number(/Requests\/sec:\s+([\d.]+)/),
    perCpuSecond: requests / cpuS,
    p50Ms: latency('50'),
    p99Ms: latency('99'),
    requests,
  }
}

const QUIET_S = 3
const QUIET_SHARE = 0.1
const MOST_WAIT_S = 300

/** Processor seconds of a process once it has finished all its work. */
export async function cpuWhenQuiet(pid: number | undefined): Promise<number> {
  let before = cpuSeconds(pid)
  let quietS = 0
  for (let second = 0; second < MOST_WAIT_S; second++) {
    await wait(1_000)
    const now = cpuSeconds(pid)
    quietS = now - before < QUIET_SHARE ? quietS + 1 : 0
    before = now
    if (quietS === QUIET_S) return now
  }
  throw new Error(`the service is still busy ${MOST_WAIT_S} s after the load`)
}

/** Of user and system, of all threads; the kernel counts in hundredths of a second. */
export function cpuSeconds(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

export function residentMb(pid: number | undefined): number {
  return statusMb(pid, /VmRSS:\s+(\d+)/)
}

/** The resident pages that have a file behind them: code, and what LMDB maps of its log, which the kernel takes back when it needs room. */
export function residentFilesMb(pid: number | undefined): number {
  return statusMb(pid, /RssFile:\s+(\d+)/)
}

function statusMb(pid: number | undefined, line: RegExp): number {
  return Number(line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024
}

/** For bare node:http, the ceiling of the same run. */
export async function measureBare(script: string, seconds: number): Promise<Figures> {
  const port = await freePort()
  const child = startPinned(['bench/support/bare-http.ts', String(port)])
  await connectable(port)
  wrk(port, script, WARM_UP_S)
  const figures = wrk(port, script, seconds, { pid: child.pid })
  await stop(child)
  return figures
}

/**
 * Requests per second of bare node:http with 900-byte visits: it makes machines, and hours of one machine, comparable.
 */
export async function bareRate(folder: string): Promise<number> {
  const script = join(folder, 'bare.lua')
  writeFileSync(script, luaScript('visit'))
  const port = await freePort()
  const child = startPinned(['bench/support/bare-http.ts', String(port)])
  await connectable(port)
  wrk(port, script, WARM_UP_S)
  const rates = [1, 2, 3].map(() => wrk(port, script, BARE_S).perSecond)
  await stop(child)
  return median(rates)
}

const BARE_S = 4
