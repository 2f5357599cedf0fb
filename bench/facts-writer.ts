/**
 * Measures the facts-writer: `node bench/facts-writer.ts [runs] [records] [streaming | references | marks | attempts]`.
 *
 * Each run is a separate process on one core (taskset, Linux): it fills a real LMDB event log with visits, then times
 * how long the facts-writer takes until every one is committed: from the log on disk to chDB synced to disk, two rows
 * per record. Prints medians: records per second, CPU time per record, the longest block of the event loop, and
 * resident memory before and after. With a word the runs come in pairs, and the cost is the median of what each pair
 * differs by: `streaming`, with and without a log stream of the organisation, so that each record is in its backlog
 * too, and then what it takes to read the batches of the stream; `references`, with and without what lines of Logs are found by; `marks`, with and without marks of changed hours;
 * `attempts`, with and without an answered call of a webhook for every tenth record.
 */

import { SILENT_LOGGER } from '../runtime/logger.ts'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { startFactsWriter } from '../delivery/facts-writer/facts-writer.ts'
import { readBatch } from '../delivery/streams/batch-records.ts'
import { FACTS_WRITER_GROUP } from '../domain/collection/facts-lag.ts'
import { LIMITS } from '../domain/limits.ts'
import type { RowOf } from '../ports/facts/columns.ts'
import type { EventLog } from '../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../ports/event-log/lmdb/lmdb.ts'
import { clickhouseFacts } from '../ports/facts/clickhouse.ts'
import type { Facts } from '../ports/facts/facts.ts'
import type { OpenLaneRow } from '../ports/facts/streams.ts'
import { openChdb } from '../ports/facts/engine/connect-chdb.ts'
import { migrate } from '../ports/facts/migrate.ts'
import { openLmdb } from '../ports/shared/lmdb/environment.ts'
import { median, needTools, roundsFrom } from './support/rounds.ts'
import { visitEntry, webhookAttemptEntry } from './support/visit-entry.ts'

const MUST_PER_S = 20_000
const APPEND_ENTRIES = 500
const KIB_PER_MIB = 1024
/** More than installs usually are. */
const RECORDS_PER_ATTEMPT = 10
/** Records in a batch for a webhook, and in an object for a bucket. */
const READ_BATCHES = [LIMITS.streamBatchRecords, LIMITS.streamObjectRecords] as const

interface Run {
  readonly recordsPerS: number
  readonly cpuUs: number
  readonly heldMs: number
  readonly rest: Resident
  readonly end: Resident
  /** Wall time for each record that is read for a stream, in batches for webhooks and for buckets. */
  readonly readUs: readonly number[]
}

/**
 * Resident memory in MiB. LMDB maps its file, so parts of the log that were read count as resident until the memory is
 * needed.
 */
interface Resident {
  readonly all: number
  readonly anonymous: number
}

/** What a run does besides, or leaves out. */
type Change = 'none' | 'streaming' | 'no references' | 'no marks' | 'attempts'

/** The run without and the run with what is measured. */
const PAIRS: Readonly<Record<string, readonly [without: Change, withIt: Change]>> = {
  streaming: ['none', 'streaming'],
  references: ['no references', 'none'],
  marks: ['no marks', 'none'],
  attempts: ['none', 'attempts'],
}

const pair = PAIRS[process.argv[4] ?? '']
if (process.argv[2] === '--one')
  console.log(JSON.stringify(await measure(Number(process.argv[3]), process.argv[4] as Change)))
else if (pair !== undefined) await comparePairs(roundsFrom(process.argv[2], 3), Number(process.argv[3]), pair)
else await main(roundsFrom(process.argv[2], 3), Number(process.argv[3] ?? 200_000))

async function comparePairs(runs: number, records: number, changes: readonly [Change, Change]): Promise<void> {
  needTools('taskset')
  const costs: number[] = []
  const reads: (readonly number[])[] = []
  for (let run = 0; run < runs; run++) {
    // In every second pair the other one runs first: the speed of machines varies.
    const cpuUs = new Map<Change, number>()
    for (const change of run % 2 === 0 ? changes : changes.toReversed()) {
      const one = await runAlone(records, change)
      cpuUs.set(change, one.cpuUs)
      if (one.readUs.length > 0) reads.push(one.readUs)
    }
    const [without = NaN, withIt = NaN] = changes.map((change) => cpuUs.get(change))
    costs.push(withIt / without - 1)
    console.log(`${without.toFixed(1)} us CPU a record without ${process.argv[4]}, ${withIt.toFixed(1)} us with`)
  }
  console.log(`${process.argv[4]} cost ${(100 * median(costs)).toFixed(1)} % (load ${loadavg()[0]?.toFixed(1)})`)
  for (const [index, size] of reads.length === 0 ? [] : READ_BATCHES.entries()) {
    const us = median(reads.map((each) => each[index] ?? NaN))
    console.log(`reading a stream's batches of ${size}: ${us.toFixed(1)} us a record`)
  }
}

async function runAlone(records: number, change: Change): Promise<Run> {
  const self = fileURLToPath(import.meta.url)
  const words = ['-c', '0', process.execPath, self, '--one', String(records), change]
  const { stdout } = await promisify(execFile)('taskset', words)
  return JSON.parse(stdout) as Run
}

async function main(runs: number, records: number): Promise<void> {
  needTools('taskset')
  const results: Run[] = []
  for (let run = 0; run < runs; run++) results.push(await runAlone(records, 'none'))
  const middle = (pick: (run: Run) => number): number => median(results.map(pick))
  const rate = middle((run) => run.recordsPerS)
  const shown = (pick: (run: Run) => number, digits = 0): string => middle(pick).toFixed(digits)
  console.log(
    `${Math.round(rate).toLocaleString('en')} records/s on one core (must: ${MUST_PER_S.toLocaleString('en')})`,
  )
  console.log(
    `${shown((run) => run.cpuUs, 1)} us CPU a record: ${Math.round(1e6 / middle((run) => run.cpuUs))}/s if nothing else ran`,
  )
  console.log(`event loop held for ${shown((run) => run.heldMs, 1)} ms at most`)
  console.log(
    `resident: ${shown((run) => run.rest.all)} MiB before, ${shown((run) => run.end.all)} MiB after; of that not files: ` +
      `${shown((run) => run.rest.anonymous)} MiB before, ${shown((run) => run.end.anonymous)} MiB after`,
  )
  if (rate < MUST_PER_S) process.exitCode = 1
}

async function measure(records: number, change: Change): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-bench-'))
  const onFatal = (error: Error): void => {
    throw error
  }
  const environment = await openLmdb(join(folder, 'log'), { nowMs: Date.now, onFatal })
  const eventLog = await lmdbEventLog(environment)
  const connection = await openChdb(join(folder, 'facts'))
  await migrate(connection)
  if (change === 'no references') await connection.command('ALTER TABLE request_logs DROP INDEX refs')
  const facts = changed(clickhouseFacts(connection, { nowMs: Date.now }), change)
  try {
    await fill(eventLog, { topic: 'visits', records, entryOf: visitEntry })
    if (change === 'attempts') {
      const attempts = records / RECORDS_PER_ATTEMPT
      await fill(eventLog, { topic: 'webhook_attempts', records: attempts, entryOf: webhookAttemptEntry })
    }
    const isStreaming = change === 'streaming'
    if (isStreaming) await facts.insert('stream_progress', [streamOf('acme')])
    const rest = await resident()
    const run = await drain(eventLog, facts, records)
    const [counts] = await facts.run('counts', {})
    if (counts?.visits !== records || counts.request_logs !== records)
      throw new Error(`stored ${JSON.stringify(counts)}`)
    const open = await facts.run('openLanes', { organization: 'acme', lanes: 0 })
    const waiting = open.reduce((sum, lane) => sum + lane.records, 0)
    if (waiting !== (isStreaming ? records : 0)) throw new Error(`${waiting} records wait for the stream`)
    const end = await resident()
    const readUs: number[] = []
    for (const size of isStreaming ? READ_BATCHES : []) readUs.push(await readStream(facts, open, size))
    return { ...run, rest, end, readUs }
  } finally {
    await eventLog.close()
    await environment.close()
    await facts.close()
    await rm(folder, { recursive: true })
  }
}

/** Facts whose batches leave something out. The references are still made, and only not written. */
function changed(facts: Facts, change: Change): Facts {
  if (change !== 'no references' && change !== 'no marks') return facts
  return {
    ...facts,
    startBatch: () => {
      const batch = facts.startBatch()
      return {
        ...batch,
        get chars() {
          return batch.chars
        },
        add: (table, row) => {
          if (change === 'no marks' && table === 'hour_marks') return
          batch.add(table, change === 'no references' && table === 'request_logs' ? { ...row, refs: [] } : row)
        },
      }
    },
  }
}

async function drain(eventLog: EventLog, facts: Parameters<typeof startFactsWriter>[0]['facts'], records: number) {
  const quiet = { ...SILENT_LOGGER, info: () => undefined, warn: console.warn, error: console.error }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  const role = await startFactsWriter({ eventLog, facts, logger: quiet, nowMs: Date.now, options: { politeness: 0 } })
  while (await isBehind(eventLog)) await sleep(5)
  const tookMs = performance.now() - startedAt
  delay.disable()
  const used = process.cpuUsage(cpu)
  await role.close()
  return {
    recordsPerS: (records / tookMs) * 1000,
    cpuUs: (used.user + used.system) / records,
    heldMs: delay.max / 1e6,
  }
}

/** Reads every batch of this size as the role `streams` does before it sends it. */
async function readStream(facts: Facts, lanes: readonly OpenLaneRow[], size: number): Promise<number> {
  const form = { websites: [], kinds: [], minStatus: 0, includeBodies: true, compress: false }
  let count = 0
  const startedAt = performance.now()
  for (const { lane, first, last } of lanes)
    for (let after = first - 1; after < last; after += size) {
      const borders = [{ lane, after, through: Math.min(last, after + size) }]
      const plan = {
        id: '',
        borders,
        gaps: [],
        records: size,
        bytes: 0,
        form,
        plannedAtMs: Date.now(),
        oldestMs: Date.now(),
      }
      const { records, missing } = await readBatch(facts, 'acme', plan)
      if (missing > 0) throw new Error(`${missing} records are missing`)
      count += records.length
    }
  return ((performance.now() - startedAt) * 1_000) / count
}

async function isBehind(eventLog: EventLog): Promise<boolean> {
  const lags = (await eventLog.lag()).filter(({ group }) => group === FACTS_WRITER_GROUP)
  return lags.length === 0 || lags.some(({ entries }) => entries > 0)
}

function streamOf(organization: string): RowOf<'stream_progress'> {
  const now = Date.now()
  return {
    organization,
    stream: 'default/logs',
    seen_at: now,
    state: 'Delivering',
    behind: 0,
    oldest_at: null,
    delivered_at: null,
    failing_since: null,
    last_error: '',
    delivered: 0,
    dropped: 0,
    progress: '{}',
    row_version: 1,
  }
}

interface Filling {
  readonly topic: 'visits' | 'webhook_attempts'
  readonly records: number
  readonly entryOf: typeof visitEntry
}

async function fill(eventLog: EventLog, { topic, records, entryOf }: Filling): Promise<void> {
  const nowMs = Date.now()
  for (let start = 0; start < records; start += APPEND_ENTRIES) {
    const count = Math.min(APPEND_ENTRIES, records - start)
    const entries = Array.from({ length: count }, (_, index) => entryOf(start + index, nowMs))
    await eventLog.append(topic, entries, { deadlineMs: 30_000 })
  }
}

async function resident(): Promise<Resident> {
  const status = await readFile('/proc/self/status', 'utf8')
  const mib = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / KIB_PER_MIB
  return { all: mib('VmRSS'), anonymous: mib('RssAnon') }
}
