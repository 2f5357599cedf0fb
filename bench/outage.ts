/**
 * One provider of five down, in real time: `node bench/outage.ts [seconds] [installs a second]`.
 *
 * Dispatch and all five workers in one process on a real LMDB log, the stand-ins in another. Installs come at a steady
 * rate while all is well, while one provider answers 503, and while it does not answer at all; each part with its own
 * process and log. Prints the 99th percentile for the four other providers, from an install's entry on the log to the
 * record of its delivery, and its ratio to the first part: at most 2 is allowed.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { decodeRecord, type DeliveryRecord, type InstallRecord } from '../domain/records.ts'
import { startGa4StandIn } from '../stand-ins/ga4.ts'
import { startGoogleAdsStandIn } from '../stand-ins/google-ads.ts'
import { startGoogleOauthStandIn } from '../stand-ins/google-oauth.ts'
import { startMetaStandIn } from '../stand-ins/meta.ts'
import type { Fault } from '../stand-ins/server.ts'
import { startTiktokStandIn } from '../stand-ins/tiktok.ts'
import { startXStandIn } from '../stand-ins/x.ts'
import type { EventLog } from '../ports/event-log/event-log.ts'
import { isAtProvider, startFive, type FiveOptions } from '../fixtures/delivery/five-providers.ts'
import { openStore } from '../fixtures/delivery/harness.ts'

type Urls = FiveOptions['urls']
interface Part {
  readonly seconds: number
  readonly perS: number
  readonly fault: Fault | null
}
interface Figures {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly late: number
}

/** The rate stays below Google's 300 requests a minute, which would otherwise be measured. */
const DOWN = 'meta'
const EVERY_MS = 50
const WARM_UP = 40
const PATIENCE_MS = 60_000
const MOST_RATIO = 2
const SELF = fileURLToPath(import.meta.url)

const [mode = '30', second = '3'] = process.argv.slice(2)
if (mode === '--stand-ins') await standIns(JSON.parse(second) as Fault | null)
else if (mode === '--one') console.log(JSON.stringify(await measure(JSON.parse(second) as Part)))
else await main(Number(mode), Number(second))

async function main(seconds: number, perS: number): Promise<void> {
  const part = { seconds, perS }
  const well = await run({ ...part, fault: null })
  show('all five are well', well)
  for (const [what, fault] of [
    ['answers 503', { kind: 'status', status: 503 }],
    ['does not answer', { kind: 'hang' }],
  ] as const) {
    const ill = await run({ ...part, fault })
    show(`${DOWN} ${what}`, ill)
    const ratio = ill.p99Ms / well.p99Ms
    console.log(`  p99 of the others: ${ratio.toFixed(2)} of that without (${MOST_RATIO} at most)`)
    if (ratio > MOST_RATIO) process.exitCode = 1
  }
  console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`)
}

function show(what: string, { p50Ms, p99Ms, late }: Figures): void {
  console.log(`${what}: the four others p50 ${p50Ms} ms, p99 ${p99Ms} ms; not with their provider at the end: ${late}`)
}

async function run(part: Part): Promise<Figures> {
  const child = spawn(process.execPath, [SELF, '--one', JSON.stringify(part)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`a part ended with ${code}`)
  return JSON.parse(text) as Figures
}

/** Prints their addresses, and answers until it is ended. */
async function standIns(fault: Fault | null): Promise<void> {
  const options = { port: 0, keep: 1 }
  const meta = await startMetaStandIn(options)
  meta.fail('*', fault)
  const others = [startGa4StandIn, startGoogleAdsStandIn, startTiktokStandIn, startXStandIn]
  const [ga4, googleAds, tiktok, x] = await Promise.all(others.map((start) => start(options)))
  const oauth = await startGoogleOauthStandIn(options)
  const urls = { ga4: ga4?.url, google_ads: googleAds?.url, google_oauth: oauth.url, meta: meta.url }
  process.stdout.write(JSON.stringify({ ...urls, tiktok: tiktok?.url, x: x?.url }))
}

async function measure({ seconds, perS, fault }: Part): Promise<Figures> {
  const child = spawn(process.execPath, [SELF, '--stand-ins', JSON.stringify(fault)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const folder = await mkdtemp(join(tmpdir(), 'whence-bench-'))
  const store = await openStore(folder, Date.now)
  try {
    const [said] = (await once(child.stdout, 'data')) as [Buffer]
    const urls = JSON.parse(said.toString()) as Urls
    const five = await startFive({ store, nowMs: Date.now, urls })
    await five.report(WARM_UP)
    await allThere(store.log, WARM_UP)
    const startedAtMs = Date.now()
    let reported = 0
    while (reported < seconds * perS) {
      const due = Math.min(seconds * perS, Math.floor(((Date.now() - startedAtMs) * perS) / 1_000))
      if (due > reported) await five.report(due - reported)
      reported = Math.max(reported, due)
      await wait(EVERY_MS)
    }
    const late = await allThere(store.log, WARM_UP + reported)
    const waits = (await waitsSince(store.log, startedAtMs)).sort((left, right) => left - right)
    await five.stop()
    const at = (share: number): number => waits[Math.floor(waits.length * share)] ?? Number.NaN
    return { p50Ms: at(0.5), p99Ms: at(0.99), late }
  } finally {
    child.kill()
    await store.close()
    await rm(folder, { recursive: true })
  }
}

/** Waits until the four others have all `installs`; returns how many deliveries are missing at the time-out. */
async function allThere(log: EventLog, installs: number): Promise<number> {
  const endsAtMs = Date.now() + PATIENCE_MS
  const there = new Set<string>()
  let offset = 0
  while (there.size < installs * 4 && Date.now() < endsAtMs) {
    const entries = await log.read('deliveries', offset, 10_000)
    for (const { value } of entries) {
      const record = decodeRecord<DeliveryRecord>(value)
      if (record.provider !== DOWN && isAtProvider(record)) there.add(record.jobId)
    }
    offset += entries.length
    if (entries.length === 0) await wait(EVERY_MS)
  }
  return installs * 4 - there.size
}

/** In ms, for the installs received since then. */
async function waitsSince(log: EventLog, sinceMs: number): Promise<number[]> {
  const takenInAtMs = new Map<string, number>()
  for await (const { value } of entriesOf(log, 'installs')) {
    const { install } = decodeRecord<InstallRecord>(value)
    if (install.receivedAtMs >= sinceMs) takenInAtMs.set(install.eventId, install.receivedAtMs)
  }
  const waits = new Map<string, number>()
  for await (const { value } of entriesOf(log, 'deliveries')) {
    const record = decodeRecord<DeliveryRecord>(value)
    const fromMs = takenInAtMs.get(record.eventId)
    if (fromMs === undefined || record.provider === DOWN || !isAtProvider(record)) continue
    if (!waits.has(record.jobId)) waits.set(record.jobId, record.atMs - fromMs)
  }
  return [...waits.values()]
}

async function* entriesOf(log: EventLog, topic: 'installs' | 'deliveries'): AsyncGenerator<{ readonly value: string }> {
  for (let offset = 0; ;) {
    const entries = await log.read(topic, offset, 10_000)
    if (entries.length === 0) return
    yield* entries
    offset += entries.length
  }
}
