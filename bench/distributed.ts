/**
 * Measures `whence api` on a real Kafka and a real Redis, and the facts-writer behind it:
 * `node bench/distributed.ts [rounds] [seconds] [outage seconds] [lag seconds]`.
 *
 * Prints durable visits and install events a second of one api process with their ratio to bare node:http of the same
 * rounds (server on core 0, wrk on core 1; the broker and Redis run on both); the resident memory of that process before
 * and in an outage of the broker under full load; the facts-writer's lag under a steady rate of visits, and how long it
 * takes to be gone. ClickHouse is its engine behind the tests' HTTP fixture, which shares the machine as well.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { EventLog } from '../ports/event-log/event-log.ts'
import { kafkaEventLog } from '../ports/event-log/kafka.ts'
import { startEngines, type Engines } from '../test/support/engines.ts'
import { kafkaJars } from '../test/support/kafka.ts'
import { startProgram } from '../test/support/programs.ts'
import {
  freePort,
  luaScript,
  measureBare,
  median,
  residentMb,
  startPinned,
  stop,
  waitFor,
  writeManifests,
  wrk,
  type Figures,
  type Load,
} from './http-load.ts'
import { visitEntry } from './visit-entry.ts'

const [rounds = 3, seconds = 10, outageS = 60, lagS = 300] = process.argv.slice(2).map(Number)
const RATE_PER_S = 5_000
const STEP_MS = 50
const SECRET = 'only-for-measuring-only-for-measuring'
const MOST_WAIT_S = 120
/** Just after an outage the broker has much to take. */
const APPEND_MS = 30_000

const jars = await kafkaJars()
if (jars === null) process.exit(1)
const folder = mkdtempSync(join(tmpdir(), 'whence-bench-'))
const manifests = join(folder, 'manifests')
writeManifests(manifests)
const engines = await startEngines({ jars, partitions: 12 })
try {
  for (const load of ['visit', 'event'] as const) await measureLoad(load)
  await measureOutage()
  await measureLag()
} finally {
  await engines.stop()
  rmSync(folder, { recursive: true, force: true })
}

function settingsOf({ env }: Engines): Readonly<Record<string, string>> {
  return { ...env, WHENCE_SECRET: SECRET, WHENCE_TRUST_PROXY: '127.0.0.0/8', WHENCE_LOG_LEVEL: 'error' }
}

async function startApi() {
  const port = await freePort()
  const words = ['bin/whence.ts', 'api', '--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0']
  const child = startPinned([...words, '--manifests', manifests], settingsOf(engines))
  await waitFor(`http://127.0.0.1:${port}/health`)
  return { port, child }
}

function scriptOf(load: Load): string {
  const script = join(folder, `${load}.lua`)
  writeFileSync(script, luaScript(load))
  return script
}

async function measureLoad(load: Load): Promise<void> {
  const script = scriptOf(load)
  const bare: Figures[] = []
  const own: (Figures & { readonly restMb: number; readonly loadMb: number })[] = []
  for (let round = 0; round < rounds; round++) {
    bare.push(await measureBare(script, seconds))
    const { port, child } = await startApi()
    const restMb = residentMb(child.pid)
    wrk(port, script, 2)
    own.push({ ...wrk(port, script, seconds), restMb, loadMb: residentMb(child.pid) })
    await stop(child)
    console.log(`  ${load}: ${JSON.stringify(own.at(-1))}`)
  }
  const of = (key: keyof (typeof own)[number]): number => median(own.map((each) => each[key]))
  const ceiling = median(bare.map(({ perSecond }) => perSecond))
  const ratio = (of('perSecond') / ceiling).toFixed(2)
  console.log(
    `durable ${load}s on Kafka and Redis: ${of('perSecond').toFixed(0)}/s, ${ratio} of bare node:http (${ceiling.toFixed(0)}/s)`,
  )
  console.log(
    `  p50 ${of('p50Ms').toFixed(1)} ms, p99 ${of('p99Ms').toFixed(1)} ms, not 2xx: ${own.reduce((sum, { non2xx }) => sum + non2xx, 0)}`,
  )
  console.log(`  resident: at rest ${of('restMb').toFixed(0)} MB, after load ${of('loadMb').toFixed(0)} MB`)
}

/** A wrk that runs in this process's way would keep it from looking: the load comes in short pieces. */
async function measureOutage(): Promise<void> {
  const script = scriptOf('visit')
  const { port, child } = await startApi()
  wrk(port, script, Math.min(10, outageS))
  const beforeMb = residentMb(child.pid)
  engines.kafka.pause()
  let mostMb = 0
  for (let second = 0; second < outageS; second += 2) {
    wrk(port, script, 2)
    mostMb = Math.max(mostMb, residentMb(child.pid))
  }
  engines.kafka.resume()
  await stop(child)
  console.log(
    `memory of an api in a broker's outage of ${outageS} s under load: ${beforeMb.toFixed(0)} MB before, ${mostMb.toFixed(0)} MB at most`,
  )
}

async function measureLag(): Promise<void> {
  const log = await kafkaEventLog(engines.kafkaSettings)
  const env = { ...engines.env, WHENCE_METRICS_LISTEN: '127.0.0.1:0', WHENCE_LOG_LEVEL: 'info' }
  const writer = startProgram(['delivery', '--role', 'facts-writer'], { env })
  await writer.ready
  await caughtUp(log)
  let mostEntries = 0
  let appended = 0
  const watch = setInterval(() => {
    void lagOf(log).then((entries) => (mostEntries = Math.max(mostEntries, entries)))
  }, 1_000)
  const startedMs = performance.now()
  while (performance.now() - startedMs < lagS * 1_000) {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * RATE_PER_S) - appended
    const entries = Array.from({ length: due }, () => visitEntry((appended += 1), Date.now()))
    await log.append('visits', entries, { deadlineMs: APPEND_MS })
    await wait(STEP_MS)
  }
  const reached = appended / ((performance.now() - startedMs) / 1_000)
  const lastEntries = await lagOf(log)
  const goneS = await caughtUp(log)
  clearInterval(watch)
  await writer.end('SIGTERM')
  await log.close()
  console.log(
    `lag of the facts-writer over ${lagS} s at ${reached.toFixed(0)} visits/s: ${mostEntries} entries at most, ${lastEntries} at the end, gone after ${goneS.toFixed(1)} s`,
  )
}

async function lagOf(log: EventLog): Promise<number> {
  const rows = await log.lag()
  return rows.filter(({ group }) => group === 'facts-writer').reduce((sum, { entries }) => sum + entries, 0)
}

/** Seconds until nothing waits. */
async function caughtUp(log: EventLog): Promise<number> {
  const startedMs = performance.now()
  while ((await lagOf(log)) > 0) {
    if (performance.now() - startedMs > MOST_WAIT_S * 1_000) throw new Error('the facts-writer does not catch up')
    await wait(STEP_MS)
  }
  return (performance.now() - startedMs) / 1_000
}
