/**
 * Measures durable appends on the LMDB log: `node bench/event-log.ts [runs] [seconds]`.
 *
 * Prints, per number of appends in flight, the medians of several runs: appends a second, CPU time per append of the
 * whole process, main-thread time per append, and the 99th percentile of the latency. Values are JSON of 1.5 KB. For one
 * core run it under `taskset -c 0`.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Entry, EventLog } from '../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../ports/event-log/lmdb/lmdb.ts'
import { openLmdb } from '../ports/shared/lmdb/environment.ts'
import { median, roundsFrom } from './support/rounds.ts'

const DEPTHS = [1, 16, 64, 256, 1_024]
const FILLER = 'field=value; '.repeat(40)
const runs = roundsFrom(process.argv[2], 5)
const seconds = Number(process.argv[3] ?? 2)

interface Run {
  readonly appendsPerS: number
  readonly cpuUs: number
  readonly mainUs: number
  readonly p99Ms: number
}

/** Made beforehand: the cost of encoding JSON is not the log's. */
const visits = Array.from({ length: 4_096 }, (_, number) => visit(number))

for (const depth of DEPTHS) {
  const results: Run[] = []
  for (let run = 0; run < runs; run++) results.push(await measure(depth))
  const middle = (pick: (run: Run) => number): number => median(results.map(pick))
  const columns = [
    `${String(depth).padStart(5)} in flight`,
    `${Math.round(middle((run) => run.appendsPerS)).toLocaleString('en')} appends/s`,
    `${middle((run) => run.cpuUs).toFixed(1)} us CPU`,
    `${middle((run) => run.mainUs).toFixed(1)} us main thread`,
    `p99 ${middle((run) => run.p99Ms).toFixed(2)} ms`,
  ]
  console.log(columns.join('  '))
}

async function measure(depth: number): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-bench-'))
  const onFatal = (error: Error): void => {
    throw error
  }
  const environment = await openLmdb(folder, { nowMs: Date.now, onFatal })
  const log = await lmdbEventLog(environment)
  try {
    await load(log, depth, 300)
    return await load(log, depth, seconds * 1000)
  } finally {
    await log.close()
    await environment.close()
    await rm(folder, { recursive: true })
  }
}

async function load(log: EventLog, depth: number, forMs: number): Promise<Run> {
  const latencies: number[] = []
  const startMs = performance.now()
  const cpu = process.cpuUsage()
  const turns = performance.eventLoopUtilization()
  const one = async (): Promise<void> => {
    while (performance.now() - startMs < forMs) {
      const beganMs = performance.now()
      await log.append('visits', [visits[latencies.length % visits.length] ?? visit(0)], { deadlineMs: 10_000 })
      latencies.push(performance.now() - beganMs)
    }
  }
  await Promise.all(Array.from({ length: depth }, one))
  const count = latencies.length
  const used = process.cpuUsage(cpu)
  return {
    appendsPerS: (count / (performance.now() - startMs)) * 1000,
    cpuUs: (used.user + used.system) / count,
    mainUs: (performance.eventLoopUtilization(turns).active * 1000) / count,
    p99Ms: latencies.toSorted((left, right) => left - right)[Math.floor(count * 0.99)] ?? Number.NaN,
  }
}

/** About the size of a visit with its request log; part of it differs each time, as in reality. */
function visit(number: number): Entry {
  const id = ((number * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0').repeat(4)
  const client = Array.from({ length: 12 }, (_, index) => [`fact_${index}`, `${id.slice(index)} of some length`])
  const request = { id, path: '/v1/visits', body: `${id}${FILLER}`, origin: 'https://acme.dev', addressHash: id }
  const visit = { visitId: id, pageUrl: 'https://acme.dev/docs/install', client: Object.fromEntries(client) }
  return { key: `acme-dev:${id}`, value: JSON.stringify({ v: 1, kind: 'visit', request, visit }) }
}
