/** The load of the HTTP benchmarks: 900-byte visits and install events by wrk on core 1, servers on core 0, medians. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import { urlIdOf } from '../test/support/requests.ts'

const CONNECTIONS = 64
/** Until the compiler has seen some 20,000 requests: before, a third more of the core goes into each. */
export const WARM_UP_S = 15
const ORGANIZATIONS = 16
/** Of the Enterprise plan; with fewer, the limit of 6,000 visits a minute and website would be what is measured. */
const WEBSITES_EACH = 25
const ROOT = new URL('..', import.meta.url).pathname

export interface Figures {
  readonly perSecond: number
  /** Requests for each second of processor time that the server used; not a number where its ID was not given. */
  readonly perCpuSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly non2xx: number
}

export type Load = 'visit' | 'event'

function websites(): string[] {
  return Array.from({ length: ORGANIZATIONS * WEBSITES_EACH }, (_, index) => `site-${index}`)
}

export function writeManifests(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const documents = Array.from({ length: ORGANIZATIONS }, (_, organization) =>
    [
      `apiVersion: whence.dev/v1alpha1\nkind: Organization\nmetadata: { name: org-${organization} }\nspec: { displayName: Org, plan: Enterprise }`,
      ...Array.from({ length: WEBSITES_EACH }, (_, index) => {
        const id = `site-${organization * WEBSITES_EACH + index}`
        return `apiVersion: whence.dev/v1alpha1\nkind: Website\nmetadata: { name: ${id} }\nspec: { organizationRef: { name: org-${organization} }, displayName: Site, primaryOrigin: 'https://acme.dev', providers: [ga4, google_ads] }`
      }),
    ].join('\n---\n'),
  )
  writeFileSync(join(folder, 'bench.yaml'), documents.join('\n---\n'))
}

/** One body, 900 bytes long but for the website's name. */
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

/** Each request has its own client address and a website drawn from all, so that no limit is what is measured. */
export function luaScript(load: Load): string {
  const bodies = websites().map((website) => (load === 'visit' ? visitOf(website) : website))
  const lines = bodies.map((body) => `bodies[#bodies + 1] = [==[${body}]==]`)
  const body =
    load === 'visit'
      ? 'local body = bodies[site]'
      : `local id = string.format("%08x%08x%08x", math.random(0, 2147483647), math.random(0, 2147483647), math.random(0, 2147483647))
  local body = '{"project":"' .. bodies[site] .. '","event_id":"' .. id .. '","installation_id":"' .. id .. '","event_type":"install_completed","receipts":[],"platform":"linux","arch":"x86_64","browsers":["chromium","firefox"],"timezone":"Europe/Berlin","language":"en"}'`
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

/** A program of this checkout on core 0. */
export function startPinned(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  return spawn('taskset', ['-c', '0', process.execPath, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  })
}

/** The embedded program on core 0, with its data in `folder`. */
export function startEmbedded(port: number, folder: string, manifests: string): ChildProcess {
  return startPinned([
    ...['bin/whence.ts', 'embedded', '--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0'],
    ...['--data', join(folder, 'data'), '--manifests', manifests],
    ...['--trust-proxy', '127.0.0.0/8', '--log-level', 'warn'],
  ])
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

export async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  await ended
}

/** `pid`: of the server. */
export function wrk(port: number, script: string, seconds: number, pid?: number): Figures {
  const args = [
    '-c',
    '1',
    'wrk',
    '-t1',
    `-c${CONNECTIONS}`,
    `-d${seconds}s`,
    '--latency',
    '-s',
    script,
    `http://127.0.0.1:${port}`,
  ]
  const cpuBeforeS = cpuSeconds(pid)
  const { stdout } = spawnSync('taskset', args, { encoding: 'utf8' })
  const cpuS = cpuSeconds(pid) - cpuBeforeS
  const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1] ?? 0)
  const latency = (percent: string): number => {
    const [, value = '0', unit = 'ms'] = new RegExp(`${percent}%\\s+([\\d.]+)(us|ms|s)`).exec(stdout) ?? []
    return Number(value) * (unit === 'us' ? 0.001 : unit === 's' ? 1_000 : 1)
  }
  return {
    perSecond: number(/Requests\/sec:\s+([\d.]+)/),
    perCpuSecond: number(/(\d+) requests in/) / cpuS,
    p50Ms: latency('50'),
    p99Ms: latency('99'),
    non2xx: number(/Non-2xx or 3xx responses: (\d+)/),
  }
}

/** Of user and system, of all threads; the kernel counts in hundredths of a second. */
function cpuSeconds(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

export function residentMb(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024
}

/** Of bare node:http, the ceiling of the same run. */
export async function measureBare(script: string, seconds: number): Promise<Figures> {
  const port = await freePort()
  const child = startPinned(['bench/bare-http.ts', String(port)])
  await wait(1_500)
  wrk(port, script, WARM_UP_S)
  const figures = wrk(port, script, seconds, child.pid)
  await stop(child)
  return figures
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
