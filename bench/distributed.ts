/**
 * Measures `whencectl api` on a real Kafka and a real Redis, and the facts-writer behind it: `node bench/distributed.ts
 * [visit] [event] [outage] [lag]`, by default all of them; with `--rounds 3 --seconds 10` for the first two,
 * `--outage-seconds 60` and `--lag-seconds 300`.
 *
 * visit, event (the cheapest one: no receipt, no destination; `bench/http.ts` has the expensive one): durable requests
 * per second of one api process, of the embedded service and of bare node:http in turns (server on core 0, wrk on core
 * 1; the broker and Redis run on both), and the same per second of the server's processor time, which other load on the
 * machine hardly affects; once with all memory of the machine and once with that of the chart's pod. outage: resident
 * memory of that api before and in an outage of the broker under full load. lag: that of the facts-writer under a
 * steady rate of visits, and how long it takes to clear; ClickHouse is its engine behind the tests' HTTP fixture, which
 * shares the machine as well.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { EventLog } from '../ports/event-log/event-log.ts'
import { kafkaEventLog } from '../ports/event-log/kafka/kafka.ts'
import { startEngines } from '../fixtures/engines/engines.ts'
import { kafkaJars } from '../fixtures/engines/kafka.ts'
import { startProgram } from '../fixtures/service/programs.ts'
import { freePort } from '../fixtures/engines/free-port.ts'
import { apiOptions } from './support/chart-options.ts'
import { fillRedis, startApi, type Server } from './support/filled-redis.ts'
import {
  luaScript,
  measureBare,
  residentMb,
  startEmbedded,
  stop,
  waitFor,
  WARM_UP_S,
  writeManifests,
  wrk,
  type Figures,
  type Load,
} from './support/http-load.ts'
import { median, needTools, roundsFrom } from './support/rounds.ts'
import { visitEntry } from './support/visit-entry.ts'

const PARTS = ['visit', 'event', 'outage', 'lag'] as const
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '10' },
    'outage-seconds': { type: 'string', default: '60' },
    'lag-seconds': { type: 'string', default: '300' },
  },
})
const rounds = roundsFrom(values.rounds, 3)
const seconds = Number(values.seconds)
const outageS = Number(values['outage-seconds'])
const lagS = Number(values['lag-seconds'])
const MOST_OUTAGE_MB = 64
const MOST_LAG_S = 10
const RATE_PER_S = 5_000
const STEP_MS = 50
const MOST_WAIT_S = 120
/** Just after an outage the broker has a backlog. */
const APPEND_MS = 30_000

const unknown = positionals.filter((word) => !PARTS.some((part) => part === word))
if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}; there are: ${PARTS.join(', ')}`)
needTools('wrk', 'taskset', 'java', 'redis-server')
const jars = await kafkaJars()
if (jars === null) throw new Error('not measured: there is no Kafka')
const folder = mkdtempSync(join(tmpdir(), 'whence-bench-'))
const manifests = join(folder, 'manifests')
writeManifests(manifests)
const engines = await startEngines({ jars, partitions: 12, onProgress: (what) => console.log(`  starting ${what}`) })
try {
  await fillRedis(engines)
  for (const part of PARTS.filter((each) => positionals.length === 0 || positionals.includes(each))) {
    if (part === 'outage') await measureOutage()
    else if (part === 'lag') await measureLag()
    else await measureLoad(part)
  }
} finally {
  await engines.stop()
  rmSync(folder, { recursive: true, force: true })
}

function scriptOf(load: Load): string {
  const script = join(folder, `${load}.lua`)
  writeFileSync(script, luaScript(load))
  return script
}

async function measureLoad(load: Load): Promise<void> {
  const script = scriptOf(load)
  const bare: Figures[] = []
  const embedded: Figures[] = []
  const own: Measured[] = []
  const inPod: Measured[] = []
  for (let round = 0; round < rounds; round++) {
    bare.push(await measureBare(script, seconds))
    embedded.push(await measureEmbedded(script))
    own.push(await measured(await startApi(engines, { manifests }), script))
    inPod.push(await measured(await startApi(engines, { manifests, nodeOptions: apiOptions() }), script))
    const last = { bare: bare.at(-1), embedded: embedded.at(-1), own: own.at(-1), inPod: inPod.at(-1) }
    console.log(`  ${load}: ${JSON.stringify(last)}`)
  }
  tell(`durable ${load}s on Kafka and Redis`, own, bare)
  tellMemory(own)
  tell(`the same with the memory of the chart's pod`, inPod, bare)
  tellMemory(inPod)
  tell(`durable ${load}s embedded`, embedded, bare)
}

interface Measured extends Figures {
  readonly restMb: number
  readonly loadMb: number
}

function tellMemory(runs: readonly Measured[]): void {
  const of = (key: keyof Measured): number => median(runs.map((each) => each[key]))
  console.log(`  resident: at rest ${of('restMb').toFixed(0)} MB, after load ${of('loadMb').toFixed(0)} MB`)
}

async function measured({ child, port }: Server, script: string): Promise<Measured> {
  try {
    const restMb = residentMb(child.pid)
    wrk(port, script, WARM_UP_S)
    return { ...wrk(port, script, seconds, { pid: child.pid }), restMb, loadMb: residentMb(child.pid) }
  } finally {
    await stop(child)
  }
}

async function measureEmbedded(script: string): Promise<Figures> {
  const data = mkdtempSync(join(folder, 'embedded-'))
  const port = await freePort()
  const child = startEmbedded(port, { folder: data, manifests })
  await waitFor(`http://127.0.0.1:${port}/health`)
  return measured({ child, port }, script)
}

function tell(what: string, figures: readonly Figures[], bare: readonly Figures[]): void {
  const of = (key: keyof Figures, some = figures): number => median(some.map((each) => each[key]))
  const parts = (['perSecond', 'perCpuSecond'] as const).map((key) => {
    const unit = key === 'perSecond' ? '/s' : ' per CPU second'
    const ratio = (of(key) / of(key, bare)).toFixed(2)
    return `${of(key).toFixed(0)}${unit} (${ratio} of bare node:http, ${of(key, bare).toFixed(0)})`
  })
  console.log(`${what}: ${parts.join(', ')}`)
  console.log(`  p50 ${of('p50Ms').toFixed(1)} ms, p99 ${of('p99Ms').toFixed(1)} ms, every answer 2xx`)
}

/** wrk blocks this process and with it the measurements: so the load comes in short pieces. */
async function measureOutage(): Promise<void> {
  const script = scriptOf('visit')
  const { port, child } = await startApi(engines, { manifests })
  let beforeMb = 0
  let mostMb = 0
  try {
    wrk(port, script, WARM_UP_S)
    beforeMb = residentMb(child.pid)
    engines.kafka.pause()
    for (let second = 0; second < outageS; second += 2) {
      wrk(port, script, 2, { mayFail: true })
      mostMb = Math.max(mostMb, residentMb(child.pid))
      if (second % 10 === 8) console.log(`  ${second + 2} s: ${residentMb(child.pid).toFixed(0)} MB`)
    }
  } finally {
    engines.kafka.resume()
    await stop(child)
  }
  const verdict = mostMb - beforeMb <= MOST_OUTAGE_MB ? 'reached' : 'missed'
  console.log(
    `memory of an api in a broker's outage of ${outageS} s under load: ${beforeMb.toFixed(0)} MB before, ${mostMb.toFixed(0)} MB at most`,
  )
  console.log(`  at most ${MOST_OUTAGE_MB} MB more: ${verdict} (${(mostMb - beforeMb).toFixed(0)})`)
}

async function measureLag(): Promise<void> {
  const log = await kafkaEventLog(engines.kafkaSettings)
  const env = { ...engines.env, WHENCE_METRICS_LISTEN: '127.0.0.1:0', WHENCE_LOG_LEVEL: 'info' }
  const writer = startProgram(['delivery', '--role', 'facts-writer'], { env })
  try {
    await writer.ready
    await caughtUp(log)
    await loadAndTell(log)
  } finally {
    await writer.end('SIGTERM')
    await log.close()
  }
}

async function loadAndTell(log: EventLog): Promise<void> {
  let mostEntries = 0
  const startedMs = performance.now()
  const watch = setInterval(() => {
    void lagOf(log).then((entries) => {
      mostEntries = Math.max(mostEntries, entries)
      const second = Math.round((performance.now() - startedMs) / 1_000)
      if (second % 15 === 0) console.log(`  ${second} s: ${entries} entries behind`)
    })
  }, 1_000)
  const perS = await visitsAt(log, startedMs).finally(() => clearInterval(watch))
  const lastEntries = await lagOf(log)
  const goneS = await caughtUp(log)
  console.log(
    `lag of the facts-writer over ${lagS} s at ${perS.toFixed(0)} visits/s: ${mostEntries} entries at most, ${lastEntries} at the end, gone after ${goneS.toFixed(1)} s`,
  )
  console.log(`  gone within ${MOST_LAG_S} s: ${goneS <= MOST_LAG_S ? 'reached' : 'missed'}`)
}

/** Returns the rate that was reached. */
async function visitsAt(log: EventLog, startedMs: number): Promise<number> {
  let appended = 0
  while (performance.now() - startedMs < lagS * 1_000) {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * RATE_PER_S) - appended
    // A backlog left by a busy machine is sent in pieces that fit the queue to Kafka.
    const entries = Array.from({ length: Math.min(due, RATE_PER_S) }, () => visitEntry((appended += 1), Date.now()))
    await log.append('visits', entries, { deadlineMs: APPEND_MS })
    await wait(STEP_MS)
  }
  return appended / ((performance.now() - startedMs) / 1_000)
}

async function lagOf(log: EventLog): Promise<number> {
  const rows = await log.lag()
  return rows.filter(({ group }) => group === 'facts-writer').reduce((sum, { entries }) => sum + entries, 0)
}

/** Seconds until the lag is gone. */
async function caughtUp(log: EventLog): Promise<number> {
  const startedMs = performance.now()
  while ((await lagOf(log)) > 0) {
    if (performance.now() - startedMs > MOST_WAIT_S * 1_000) throw new Error('the facts-writer does not catch up')
    await wait(STEP_MS)
  }
  return (performance.now() - startedMs) / 1_000
}
