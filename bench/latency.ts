/**
 * How long an install takes, from the answer to its report, until its row is in ClickHouse and its request at a
 * provider: for the embedded service, and for separate processes on Kafka, Redis and ClickHouse over HTTP, idle except
 * for one event at a time, with a stand-in that records. For one event the row is polled every 20 ms, which is part of
 * the figure; for the next the request, without queries of ClickHouse.
 *
 * Use: node bench/latency.ts [events] [embedded|distributed]
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { connectTools } from '../bin/tools/control.ts'
import type { ToolBackend } from '../bin/tools/live.ts'
import { startDistributed } from '../fixtures/service/distributed.ts'
import { kafkaJars } from '../fixtures/engines/kafka.ts'
import { hasRedisServer } from '../fixtures/engines/redis.ts'
import { eventBody, newId, send, visitBody } from '../fixtures/service/requests.ts'
import { MANIFESTS, TEST_ORIGIN } from '../fixtures/service/service.ts'
import { freePort } from '../fixtures/engines/free-port.ts'

const EVENTS = Number(process.argv[2] ?? 200)
const WARM_UP = 10
const LOOK_EVERY_MS = 20
const PATIENCE_MS = 30_000
const ROOT = new URL('..', import.meta.url).pathname

/** When the stand-in received each request, in order; it answers like GA4. */
const arrivals: number[] = []

type Facts = Pick<ToolBackend, 'run'>

/** A running service, and a way to query its ClickHouse. */
interface Target {
  readonly url: string
  readonly facts: Facts
  readonly stop: () => Promise<unknown>
}

const TARGETS = {
  embedded: { start: startEmbedded, goalMs: 1_000 },
  distributed: { start: startOnEngines, goalMs: 2_000 },
} as const

async function main(): Promise<void> {
  const only = process.argv[3]
  const provider = createHttpServer((request, response) => {
    arrivals.push(performance.now())
    request.resume().on('end', () => response.writeHead(204).end())
  })
  const providerUrl = `http://127.0.0.1:${await listening(provider)}`
  for (const [name, { start, goalMs }] of Object.entries(TARGETS)) {
    if (only !== undefined && only !== name) continue
    const target = await start(providerUrl)
    try {
      await measure(name, target, goalMs)
    } finally {
      await target.stop()
    }
  }
  provider.close()
}

async function measure(name: string, { url, facts }: Target, goalMs: number): Promise<void> {
  for (let event = 0; event < WARM_UP; event += 1) await measured(url, facts, event)
  const figures = { row: [] as number[], request: [] as number[] }
  for (let event = 0; event < EVENTS; event += 1) {
    const what = event % 2 === 0 ? 'row' : 'request'
    figures[what].push((await measured(url, facts, WARM_UP + event))[what])
    if ((event + 1) % 50 === 0) console.log(`${event + 1} of ${EVENTS}`)
  }
  report(`${name}: to its row in ClickHouse`, figures.row, goalMs)
  report(`${name}: to its request at the provider`, figures.request, goalMs)
  console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`)
}

async function measured(url: string, facts: Facts, index: number): Promise<{ row: number; request: number }> {
  // One visitor each: otherwise the limits per address would be measured.
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': `198.51.100.${index % 250}` }
  const ask = async (path: string, body: object, origin: string | null) => {
    const reply = await send(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body), origin })
    if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${reply.text}`)
    return reply.body
  }
  const visit = await ask('/v1/visits', visitBody(), TEST_ORIGIN)
  const { receipt, project } = visit['marker'] as { receipt: string; project: string }
  await ask('/v1/visits/activate', { project, receipt }, TEST_ORIGIN)
  const eventId = newId()
  const before = arrivals.length
  await ask('/v1/events', eventBody({ event_id: eventId, receipts: [receipt] }), null)
  const answeredAtMs = performance.now()
  const isRequested = (): Promise<boolean> => Promise.resolve(arrivals.length > before)
  const isStored = async (): Promise<boolean> =>
    (await facts.run('installsByEventId', { event_id: eventId })).length > 0
  if (index % 2 === 1) await moment(isRequested)
  const rowAtMs = await moment(isStored)
  await moment(isRequested)
  return { row: rowAtMs - answeredAtMs, request: Math.max(0, (arrivals[before] ?? 0) - answeredAtMs) }
}

async function moment(isReached: () => Promise<boolean>): Promise<number> {
  const endsAtMs = performance.now() + PATIENCE_MS
  while (!(await isReached())) {
    if (performance.now() > endsAtMs) throw new Error('an event did not arrive within 30 s')
    await wait(LOOK_EVERY_MS)
  }
  return performance.now()
}

function report(what: string, figures: readonly number[], goalMs: number): void {
  const sorted = [...figures].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const isReached = at(0.99) < goalMs
  const words = `p50 ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms, most ${at(1).toFixed(0)} ms`
  console.log(`${what}: ${words}; p99 under ${goalMs / 1_000} s: ${isReached ? 'yes' : 'NO'}`)
  if (!isReached) process.exitCode = 1
}

async function startEmbedded(providerUrl: string): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'whence-latency-'))
  const port = await freePort()
  const manifests = join(folder, 'manifests')
  mkdirSync(manifests)
  for (const [name, text] of Object.entries(MANIFESTS)) writeFileSync(join(manifests, name), text)
  const words = ['embedded', '--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0']
  const where = ['--data', join(folder, 'data'), '--manifests', manifests, '--trust-proxy', '127.0.0.1/32']
  const env = { ...process.env, WHENCE_GA4_URL: providerUrl, WHENCE_LOG_LEVEL: 'warn' }
  const program = spawn(process.execPath, [join(ROOT, 'bin/whencectl.ts'), ...words, ...where], {
    env,
    stdio: 'inherit',
  })
  const stop = async (): Promise<void> => {
    await stopped(program)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    return { url: `http://127.0.0.1:${port}`, facts: await connected(join(folder, 'data')), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startOnEngines(providerUrl: string): Promise<Target> {
  const jars = await kafkaJars(console.log)
  if (jars === null || !hasRedisServer()) {
    throw new Error('not measured: Java, Maven and redis-server are needed (sh test/install-tools.sh)')
  }
  const env = { WHENCE_GA4_URL: providerUrl, WHENCE_TRUST_PROXY: '127.0.0.1/32', WHENCE_LOG_LEVEL: 'info' }
  return startDistributed({ engines: { jars }, env })
}

async function connected(data: string): Promise<ToolBackend> {
  let tools: ToolBackend | null = null
  const endsAtMs = Date.now() + PATIENCE_MS
  while (tools === null) {
    if (Date.now() > endsAtMs) throw new Error('the service did not start')
    await wait(50)
    tools = await connectTools(data)
  }
  return tools
}

function stopped(program: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (program.exitCode !== null) return resolve()
    program.once('exit', () => resolve())
    program.kill('SIGTERM')
  })
}

function listening(server: Server | HttpServer): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

await main()
