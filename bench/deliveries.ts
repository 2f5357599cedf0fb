/**
 * Measures the delivery worker: `node bench/deliveries.ts [runs] [deliveries] [waiting]`; the target is 1,000,000
 * waiting, the default 100,000.
 *
 * Each run is a separate process: it fills a real LMDB log with jobs of ten destinations, then times how long the
 * worker takes until each is delivered and recorded; the provider's stand-in is another process. Prints medians:
 * deliveries per second, CPU time per delivery of the worker's process, and the resulting rate on one core; the same
 * with many others waiting in a tier, and their memory; and the same with one of ten destinations never answering, with
 * the rate and the 99th percentile of the nine others relative to a run without it.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { destinationKey, type Destination } from '../domain/catalog.ts'
import { encodeRecord, recordKey, type DeliveryRecord, type Job, type Topic } from '../domain/records.ts'
import { ga4 } from '../delivery/providers/ga4.ts'
import { meta } from '../delivery/providers/meta.ts'
import { startGa4StandIn } from '../stand-ins/ga4.ts'
import { startMetaStandIn } from '../stand-ins/meta.ts'
import { startWorker } from '../delivery/worker/worker.ts'
import type { Entry, EventLog } from '../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../ports/event-log/lmdb/lmdb.ts'
import { lmdbHotState } from '../ports/hot-state/lmdb/lmdb.ts'
import { openLmdb } from '../ports/shared/lmdb/environment.ts'
import { SILENT_LOGGER } from '../runtime/logger.ts'
import { adJob } from '../fixtures/delivery/ad-install.ts'
import { API_SECRET, catalogOf, destinationOf, HOUR_MS, visitOf, WEBSITE } from '../fixtures/delivery/builders.ts'
import { jobOf } from '../fixtures/delivery/jobs.ts'
import { median } from './support/rounds.ts'

const DESTINATIONS = 10
const APPEND_ENTRIES = 500
const KIB_PER_MIB = 1_024
/** The first destination's measurement ID, which the stand-in never answers to. */
const HOLE = 'G-BENCH0'
const WARM_UP = 2_000
const PATIENCE_MS = 300_000

type ProviderName = 'ga4' | 'meta'
interface Plan {
  readonly provider: ProviderName
  readonly deliveries: number
  readonly waiting: number
  readonly hasHole: boolean
}

interface Run {
  readonly perS: number
  readonly cpuUs: number
  readonly p99Ms: number
  /** Private memory of the process in MiB, after the run. */
  readonly mib: number
}

const [mode = '3', second = '', third = ''] = process.argv.slice(2)
if (mode === '--one') console.log(JSON.stringify(await measure(JSON.parse(second) as Plan)))
else if (mode === '--fill') await fill(second, JSON.parse(third) as Plan)
else if (mode === '--stand-in') await standIn(second as ProviderName)
else await main(Number(mode), Number(second === '' ? 20_000 : second), Number(third === '' ? 100_000 : third))

async function main(runs: number, deliveries: number, waiting: number): Promise<void> {
  const base = { deliveries, waiting: 0, hasHole: false }
  show('many in a request (2,000/s and core to reach)', await medians(runs, { ...base, provider: 'meta' }))
  const alone = await medians(runs, { ...base, provider: 'ga4' })
  show('one in a request (500/s and core to reach)', alone)
  const crowded = await medians(runs, { ...base, provider: 'ga4', waiting })
  show(`the same, ${waiting.toLocaleString('en')} waiting in a tier`, crowded)
  console.log(`  memory for them: ${(crowded.mib - alone.mib).toFixed(0)} MiB (100 MB for 1,000,000 to reach)`)
  console.log(`  CPU per delivery: ${(crowded.cpuUs / alone.cpuUs).toFixed(2)} of that without (1.10 to reach)`)
  await compareHole(runs, { ...base, provider: 'ga4' })
}

/** Each run with the hole follows one without it, so that other load on the machine affects both. */
async function compareHole(runs: number, plan: Plan): Promise<void> {
  const pairs: { alone: Run; holed: Run }[] = []
  for (let run = 0; run < runs; run += 1)
    pairs.push({ alone: await medians(1, plan), holed: await medians(1, { ...plan, hasHole: true }) })
  show('the same, one destination of ten a black hole', middleOf(pairs.map(({ holed }) => holed)))
  const rate = median(pairs.map(({ alone, holed }) => holed.perS / alone.perS))
  const p99 = median(pairs.map(({ alone, holed }) => holed.p99Ms / alone.p99Ms))
  console.log(`  rate of the nine others: ${rate.toFixed(2)} of that without (0.9 to reach)`)
  console.log(`  their p99: ${p99.toFixed(2)} of that without (2 to reach)`)
}

function show(what: string, { perS, cpuUs, p99Ms, mib }: Run): void {
  const figures = [
    `${Math.round(perS).toLocaleString('en')} deliveries/s`,
    `${cpuUs.toFixed(0)} us CPU each`,
    `${Math.round(1_000_000 / cpuUs).toLocaleString('en')}/s and core`,
    `p99 ${p99Ms.toFixed(0)} ms`,
    `${mib.toFixed(0)} MiB`,
  ]
  console.log(`${what}: ${figures.join(', ')}`)
}

async function medians(runs: number, plan: Plan): Promise<Run> {
  const results: Run[] = []
  for (let run = 0; run < runs; run += 1) {
    const self = fileURLToPath(import.meta.url)
    const profiling = process.execArgv.filter((option) => option.startsWith('--cpu-prof'))
    const child = spawn(process.execPath, ['--expose-gc', ...profiling, self, '--one', JSON.stringify(plan)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    results.push(JSON.parse(await textOf(child)) as Run)
  }
  return middleOf(results)
}

function middleOf(results: readonly Run[]): Run {
  const middle = (pick: (run: Run) => number): number => median(results.map(pick))
  return {
    perS: middle((run) => run.perS),
    cpuUs: middle((run) => run.cpuUs),
    p99Ms: middle((run) => run.p99Ms),
    mib: middle((run) => run.mib),
  }
}

async function textOf(child: ChildProcess): Promise<string> {
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`a run ended with ${code}`)
  return text
}

/** Prints its address, and answers until it is ended. */
async function standIn(provider: ProviderName): Promise<void> {
  const options = { port: 0, keep: 1 }
  const standIn = provider === 'ga4' ? await startGa4StandIn(options) : await startMetaStandIn(options)
  standIn.fail(HOLE, { kind: 'hang' })
  process.stdout.write(standIn.url)
}

function destinations(provider: ProviderName): Destination[] {
  return Array.from({ length: DESTINATIONS }, (_, number) => {
    const settings = provider === 'ga4' ? { measurementId: `G-BENCH${number}` } : { pixelId: `10${number}` }
    return destinationOf({ id: `bench-${number}`, provider, settings })
  })
}

/** Takes turns over the destinations; jobs of the first one are not measured if it is a black hole. */
function jobsOf(plan: Plan, count: number, first = 0): Job[] {
  const nowMs = Date.now()
  const issuedAtMs = nowMs - HOUR_MS
  const all = destinations(plan.provider)
  const templates = all.map((destination) => {
    const install = { eventId: 'event', receivedAtMs: nowMs }
    if (plan.provider === 'ga4') {
      const identities = { ga4: { [String(destination.settings['measurementId'])]: { client_id: '7.7' } } }
      return jobOf({ visit: visitOf({ issuedAtMs, identities }), destination, install })
    }
    const identities = { meta: { fbp: `fb.1.${issuedAtMs}.271828` } }
    return adJob(destination, { identities, visit: { issuedAtMs, landedAtMs: issuedAtMs }, install })
  })
  return Array.from({ length: count }, (_, index) => {
    const template = templates[index % templates.length]
    if (template === undefined) throw new Error('no destinations')
    const number = first + index
    const jobId = number.toString(16).padStart(32, '0')
    return { ...template, jobId, install: { ...template.install, eventId: `event-${number}` } }
  })
}

async function append(log: EventLog, topic: Topic, jobs: readonly Job[]): Promise<void> {
  for (let from = 0; from < jobs.length; from += APPEND_ENTRIES) {
    const entries: Entry[] = jobs
      .slice(from, from + APPEND_ENTRIES)
      .map((job) => ({ key: recordKey(job, job.jobId), value: encodeRecord(job) }))
    await log.append(topic, entries, { deadlineMs: 60_000 })
  }
}

async function measure(plan: Plan): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-bench-'))
  const stranger = spawn(process.execPath, [fileURLToPath(import.meta.url), '--stand-in', plan.provider], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = (await once(stranger.stdout, 'data')) as [Buffer]
  const self = fileURLToPath(import.meta.url)
  const filled = [folder, JSON.stringify(plan)]
  // By a separate process, whose memory is not measured.
  const filler = spawn(process.execPath, [self, '--fill', ...filled], { stdio: ['ignore', 'pipe', 'inherit'] })
  await textOf(filler)
  try {
    return await withStore(folder, ({ log, hotState }) => deliver({ plan, log, hotState, url: url.toString() }))
  } finally {
    stranger.kill()
    await rm(folder, { recursive: true })
  }
}

async function fill(folder: string, plan: Plan): Promise<void> {
  await withStore(folder, async ({ log }) => {
    for (let from = 0; from < plan.waiting; from += APPEND_ENTRIES * 20) {
      const waiting = jobsOf(plan, Math.min(APPEND_ENTRIES * 20, plan.waiting - from), 1_000_000_000 + from)
      const dueAtMs = Date.now() + 2 * HOUR_MS
      await append(
        log,
        `deliver.${plan.provider}.2h`,
        waiting.map((job) => ({ ...job, dueAtMs })),
      )
    }
  })
}

type Store = Pick<Stage, 'log' | 'hotState'>

async function withStore<T>(folder: string, use: (store: Store) => Promise<T>): Promise<T> {
  const onFatal = (error: Error): void => {
    throw error
  }
  const environment = await openLmdb(folder, { nowMs: Date.now, onFatal })
  const log = await lmdbEventLog(environment)
  const hotState = await lmdbHotState(environment)
  try {
    return await use({ log, hotState })
  } finally {
    await log.close()
    await hotState.close()
    await environment.close()
  }
}

interface Stage {
  readonly plan: Plan
  readonly log: EventLog
  readonly hotState: Awaited<ReturnType<typeof lmdbHotState>>
  readonly url: string
}

async function deliver({ plan, log, hotState, url }: Stage): Promise<Run> {
  const all = destinations(plan.provider)
  const catalog = catalogOf(all)
  const credentials = new Map(
    all.map((each) => [
      destinationKey({ organization: 'acme', website: WEBSITE }, each.id),
      { apiSecret: API_SECRET, accessToken: 'token' },
    ]),
  )
  const jobs = jobsOf(plan, plan.deliveries).filter((job) => plan.hasHole || isWell(job))
  // A few beforehand, so that code is compiled and connections are open.
  const beforehand = jobsOf(plan, WARM_UP, 2_000_000_000).filter(isWell)
  await append(log, `deliver.${plan.provider}`, beforehand)
  let told = 0
  const counting: EventLog = {
    append: async (topic, entries, options) => {
      await log.append(topic, entries, options)
      if (topic === 'deliveries') told += entries.filter(({ value }) => isDelivered(value)).length
    },
    consume: (...parts) => log.consume(...parts),
    read: (...parts) => log.read(...parts),
    readLast: (...parts) => log.readLast(...parts),
    lag: () => log.lag(),
    progress: (...parts) => log.progress(...parts),
    health: () => log.health(),
    close: () => log.close(),
  }
  const worker = await startWorker(
    { provider: plan.provider === 'ga4' ? ga4 : meta, baseUrl: url, exchangeMs: 3_000 },
    {
      eventLog: counting,
      hotState,
      catalog: { current: () => catalog, credentials: () => credentials },
      nowMs: Date.now,
      random: Math.random,
      telemetry: { logger: SILENT_LOGGER },
    },
  )
  const expected = jobs.filter(isWell).length
  await reached(() => told >= beforehand.length)
  const before = told
  const startedAtMs = Date.now()
  const cpu = process.cpuUsage()
  await append(log, `deliver.${plan.provider}`, jobs)
  await reached(() => told - before >= expected)
  const used = process.cpuUsage(cpu)
  const tookMs = Date.now() - startedAtMs
  const mib = await privateMib()
  const p99Ms = await latency99(log, startedAtMs)
  await worker.close()
  return { perS: (expected * 1_000) / tookMs, cpuUs: (used.user + used.system) / expected, p99Ms, mib }
}

function isWell({ destination }: Job): boolean {
  return destination !== 'bench-0'
}

/** Searches the record's text, because decoding it here would be measured too. */
function isDelivered(value: string): boolean {
  return value.includes('"status":"delivered"')
}

async function reached(isMet: () => boolean): Promise<void> {
  const endsAtMs = Date.now() + PATIENCE_MS
  while (!isMet()) {
    if (Date.now() > endsAtMs) throw new Error('the deliveries were not made in time')
    await sleep(2)
  }
}

/** The 99th percentile of the time since `sinceMs` over the recorded deliveries. All were enqueued at once. */
async function latency99(log: EventLog, sinceMs: number): Promise<number> {
  const latencies: number[] = []
  for await (const entries of log.readLast('deliveries', { entries: 1_000_000 })) {
    for (const { value } of entries) {
      const record = JSON.parse(value) as DeliveryRecord
      if (record.status === 'delivered' && record.atMs >= sinceMs) latencies.push(record.atMs - sinceMs)
    }
  }
  return latencies.toSorted((left, right) => left - right)[Math.floor(latencies.length * 0.99)] ?? Number.NaN
}

/** The log's mapped file belongs to the page cache. */
async function privateMib(): Promise<number> {
  globalThis.gc?.()
  const status = await readFile('/proc/self/status', 'utf8')
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]) / KIB_PER_MIB
}
