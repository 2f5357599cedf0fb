/**
 * What 64 made-up receipts cost, with 10 websites and with 10,000: processor time of the embedded service for each install event,
 * until nothing is left to do for it. The receipts are as expensive as possible: a genuine receipt of the same website with its MAC changed.
 * Services of both sizes run in parallel and get requests in turns; medians of the rounds; the limit is 1.2 times.
 *
 * Use: node bench/hostile/forged-receipts.ts [rounds] [events]
 */

import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { LIMITS } from '../../domain/limits.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { eventBody, newId, visitBody } from '../../fixtures/service/requests.ts'
import { cpuSeconds, cpuWhenQuiet, startEmbedded, stop } from '../support/http-load.ts'
import { median, needTools, roundsFrom } from '../support/rounds.ts'

const ROUNDS = roundsFrom(process.argv[2], 3)
/** Events of each kind in each round: all rounds together stay below the 1,200 a minute that each of the ten websites may have. */
const EVENTS = Number(process.argv[3] ?? 800)
const SIZES = [10, 10_000] as const
const WEBSITES_EACH = 25
const ASKED = 10
const AT_ONCE = 8
const BOUND = 1.2
const START_MS = 180_000
const KINDS = ['none', 'forged'] as const

interface Service {
  readonly child: ChildProcess
  readonly port: number
  readonly receipt: string
  readonly costsUs: Record<(typeof KINDS)[number], number[]>
}

let clients = 0
async function posted(port: number, path: string, body: object, origin?: string): Promise<Record<string, any>> {
  const number = clients++
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
  const headers = {
    'Content-Type': 'application/json',
    'X-Forwarded-For': address,
    ...(origin === undefined ? {} : { Origin: origin }),
  }
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await reply.text()
  if (reply.status !== 200) throw new Error(`${path} was answered ${reply.status}: ${text}`)
  return JSON.parse(text) as Record<string, any>
}

function manifests(websites: number): string {
  const version = 'apiVersion: whence.dev/v1alpha1'
  const organizations = Array.from(
    { length: Math.ceil(websites / WEBSITES_EACH) },
    (_, index) => `${version}\nkind: Organization\nmetadata: { name: org-${index} }\nspec: { plan: Enterprise }`,
  )
  const all = Array.from(
    { length: websites },
    (_, index) =>
      `${version}\nkind: Website\nmetadata: { name: site-${index} }\nspec: { organizationRef: { name: org-${Math.floor(index / WEBSITES_EACH)} }, primaryOrigin: 'https://acme.dev' }`,
  )
  return [...organizations, ...all].join('\n---\n')
}

async function start(folder: string, websites: number): Promise<Service> {
  const own = join(folder, String(websites))
  mkdirSync(join(own, 'manifests'), { recursive: true })
  writeFileSync(join(own, 'manifests', 'all.yaml'), manifests(websites))
  const port = await freePort()
  const child = startEmbedded(port, { folder: own, manifests: join(own, 'manifests') })
  const untilMs = Date.now() + START_MS
  while (
    !(await fetch(`http://127.0.0.1:${port}/health`).then(
      () => true,
      () => false,
    ))
  ) {
    if (Date.now() > untilMs) throw new Error(`the service with ${websites} websites does not answer`)
    await wait(100)
  }
  const { marker } = await posted(port, '/v1/visits', visitBody({ project: 'site-0' }), 'https://acme.dev')
  return { child, port, receipt: marker.receipt as string, costsUs: { none: [], forged: [] } }
}

/** The genuine one with another MAC, which are its last 22 characters. */
function forged(receipt: string): string[] {
  return Array.from(
    { length: LIMITS.receiptsPerInstall },
    () => receipt.slice(0, 26) + newId().slice(0, 16) + receipt.slice(-1),
  )
}

async function send(service: Service, kind: (typeof KINDS)[number]): Promise<void> {
  let sent = 0
  const work = async (): Promise<void> => {
    while (sent < EVENTS) {
      const receipts = kind === 'none' ? [] : forged(service.receipt)
      const event = eventBody({ project: `site-${sent++ % ASKED}`, receipts })
      const { candidate_count: candidates } = await posted(service.port, '/v1/events', event)
      if (candidates !== 0) throw new Error('a made-up receipt counted')
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/**
 * One service gets its events after the other, and each goes first in turn. Then both finish their work in parallel: each has its
 * own processor time, counted from when it was idle before.
 */
async function measure(kind: (typeof KINDS)[number], round = 0): Promise<void> {
  const all = round % 2 === 0 ? [...services.values()] : [...services.values()].reverse()
  const before = all.map(({ child }) => cpuSeconds(child.pid))
  for (const service of all) await send(service, kind)
  const after = await Promise.all(all.map(({ child }) => cpuWhenQuiet(child.pid)))
  for (const [index, service] of all.entries()) {
    const cpuS = (after[index] ?? Number.NaN) - (before[index] ?? Number.NaN)
    service.costsUs[kind].push((cpuS / EVENTS) * 1e6)
  }
}

needTools('taskset')
const folder = mkdtempSync(join(tmpdir(), 'whence-bench-'))
const services = new Map<number, Service>()
try {
  for (const size of SIZES) services.set(size, await start(folder, size))
  await Promise.all([...services.values()].map(({ child }) => cpuWhenQuiet(child.pid)))
  // Once for the compiler.
  for (const kind of KINDS) await measure(kind)
  for (const { costsUs } of services.values()) for (const kind of KINDS) costsUs[kind].length = 0
  for (let round = 0; round < ROUNDS; round++) for (const kind of KINDS) await measure(kind, round)
  for (const kind of KINDS) {
    const [few, many] = SIZES.map((size) => median(services.get(size)?.costsUs[kind] ?? []))
    const ratio = (many ?? Number.NaN) / (few ?? Number.NaN)
    const what = kind === 'none' ? 'no receipt' : `${LIMITS.receiptsPerInstall} made-up receipts`
    console.log(
      `an event with ${what}: ${few?.toFixed(0)} us with ${SIZES[0]} websites, ${many?.toFixed(0)} us with ${SIZES[1]}, ${ratio.toFixed(2)} times (load ${loadavg()[0]?.toFixed(1)})`,
    )
    if (kind === 'forged' && !(ratio <= BOUND)) process.exitCode = 1
  }
} finally {
  for (const { child } of services.values()) await stop(child)
  rmSync(folder, { recursive: true, force: true })
}
