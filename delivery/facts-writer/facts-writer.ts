/**
 * The facts-writer role: consumes every record topic and inserts the records into the fact tables.
 *
 * The position on the log moves only after every insert of a batch is acknowledged, and inserts can be repeated, so
 * killing this role at any moment loses nothing and duplicates nothing.
 */

import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

import { Counter, Gauge, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

import { unlessAborted, within } from '../../common/deadline.ts'
import { FACTS_WRITER_GROUP, hasReached } from '../../domain/collection/facts-lag.ts'
import { RECORD_TOPICS } from '../../domain/records.ts'
import type { Batch, BatchOutcome, Consumer, EventLog, LogProgress } from '../../ports/event-log/event-log.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { Logger } from '../../runtime/logger.ts'
import { writeBatch } from './fact-batch.ts'
import { createErasures } from './erasures.ts'
import { createHourMarks } from '../counting/hour-marks.ts'
import { createStreamBacklog } from './stream-rows.ts'
import type { BatchReport } from './fact-batch.ts'
import { consumeReadable } from '../version-guard.ts'

interface FactsWriterDeps {
  readonly eventLog: EventLog
  readonly facts: Facts
  readonly logger: Logger
  readonly nowMs: () => number
  readonly registry?: Registry
  readonly options?: Partial<FactsWriterOptions>
}

interface FactsWriterOptions {
  /** Most entries in one batch. */
  readonly maxEntries: number
  /** How long a small batch waits for more entries, in ms. */
  readonly lingerMs: number
  /**
   * How long to rest after a batch, in multiples of its duration, while the event loop is busy with other work. 0 for a
   * process that does nothing else.
   */
  readonly politeness: number
  /** The longest time that entries may gather after a batch of some size, in ms. */
  readonly gatherMs: number
  /**
   * The same while the event loop is busy. An insert of 2,000 entries costs 57 µs of processor time for each entry, including
   * merges; an insert of 8,000 costs less than half of that. This is a busy process's largest saving.
   */
  readonly busyGatherMs: number
  /** The older the oldest entry of a batch, the shorter the rest; from this age on there is none. */
  readonly maxLagMs: number
}

const DEFAULTS: FactsWriterOptions = {
  maxEntries: 10_000,
  lingerMs: 75,
  politeness: 2,
  gatherMs: 1_000,
  busyGatherMs: 4_000,
  maxLagMs: 10_000,
}
/** Below this size the system is nearly idle, and entries should appear at once. */
const GATHER_FROM_ENTRIES = 100
/** Share of the largest batch that is enough; the rest is room for a growing rate. */
const ENOUGH = 0.8
/** How busy the event loop must be, as a share of its time, before this role yields. */
const BUSY_UTILIZATION = 0.6
const MAX_REST_MS = 2_000
const RETRY_PAUSE_MS = { first: 250, max: 10_000 } as const

/** How long a stop waits for an insert in flight; one that takes longer may never end. */
const LAST_INSERT_MS = 3_000
/** How long a stop goes on writing what is on the log; longer than entries gather. */
const LAST_ENTRIES_MS = 5_000
const LOOK_EVERY_MS = 50
/** A log that does not say within this time how far this role has come is away. */
const LOG_ANSWERS_MS = 1_000

/** What the consumers of one role share. */
interface WriterState {
  /** Batches that failed in a row. */
  failures: number
  /** The role is to stop: nothing is worth waiting for. */
  isEnding: boolean
}

/**
 * Starts consuming. `close` first writes what was on the log when it was called, for some seconds at most and as long as the facts can be
 * written: whoever reads the facts of a process that stopped finds what it answered. It resolves when the current batches are committed
 * or abandoned: abandoned ones are redelivered to the next process, and closing the facts ends their insert.
 */
export async function startFactsWriter(deps: FactsWriterDeps): Promise<{ close(): Promise<void> }> {
  const options = { ...DEFAULTS, ...deps.options }
  const { maxEntries, lingerMs } = options
  const stopping = new AbortController()
  const state: WriterState = { failures: 0, isEnding: false }
  const handle = createHandler(deps, options, { stopping: stopping.signal, state })
  const { eventLog, logger, registry, nowMs } = deps
  const consume = consumeReadable({ eventLog, telemetry: { logger, registry }, nowMs })
  const consumers: Consumer[] = []
  const close = async (): Promise<void> => {
    state.isEnding = true
    const isStarted = consumers.length === RECORD_TOPICS.length
    if (isStarted) await within(untilCaughtUp(deps.eventLog, state), LAST_ENTRIES_MS).catch(() => undefined)
    const timer = setTimeout(() => stopping.abort(), LAST_INSERT_MS)
    await Promise.all(consumers.map((consumer) => consumer.close()))
    clearTimeout(timer)
  }
  try {
    for (const topic of RECORD_TOPICS) {
      consumers.push(await consume(topic, FACTS_WRITER_GROUP, handle, { maxEntries, lingerMs }))
    }
  } catch (error) {
    await close()
    throw error
  }
  return { close }
}

/** Resolves when everything that is on the log now is written, when that fails, or when the time is over. */
async function untilCaughtUp(eventLog: LogProgress, state: WriterState): Promise<void> {
  const endAtMs = performance.now() + LAST_ENTRIES_MS
  const isOver = (): boolean => state.failures > 0 || performance.now() >= endAtMs
  for (const topic of RECORD_TOPICS) {
    const progress = () => within(eventLog.progress(topic, FACTS_WRITER_GROUP), LOG_ANSWERS_MS)
    const { ends } = await progress()
    while (!isOver() && !hasReached((await progress()).done, ends)) await wait(LOOK_EVERY_MS)
  }
}

interface FinishedBatch {
  readonly entries: number
  /** Since the previous batch of the same topic and partition was read: the time in which the batch's entries arrived. */
  readonly sinceMs: number
  readonly tookMs: number
  readonly lagMs: number
  /** Share of its time that the event loop was busy meanwhile. */
  readonly utilization: number
}

/**
 * How long to rest after a batch, in ms: for other work of this process, and for more entries. 0 if this role lags.
 * @internal
 */
export function restAfter(batch: FinishedBatch, options: RestOptions): number {
  if (batch.lagMs >= options.maxLagMs) return 0
  const patience = 1 - batch.lagMs / options.maxLagMs
  const isBusy = batch.utilization >= BUSY_UTILIZATION
  const forOthers = isBusy ? Math.min(MAX_REST_MS, batch.tookMs * options.politeness * patience) : 0
  return Math.round(
    Math.max(forOthers, gatheringAfter(batch, isBusy ? options.busyGatherMs : options.gatherMs, options)),
  )
}

type RestOptions = Omit<FactsWriterOptions, 'lingerMs'>

/** Until about enough entries for a batch have arrived; 0 if this batch was full, as more of them may be waiting. */
function gatheringAfter(batch: FinishedBatch, mostMs: number, { maxEntries }: RestOptions): number {
  if (batch.entries < GATHER_FROM_ENTRIES || batch.entries >= maxEntries) return 0
  const enoughMs = (maxEntries * ENOUGH * batch.sinceMs) / batch.entries
  return Math.min(mostMs, Math.max(0, enoughMs - batch.tookMs))
}

/** How long to wait before the same batch is retried, after this many failures in a row. */
function retryPauseMs(failures: number): number {
  return Math.min(RETRY_PAUSE_MS.first * 2 ** Math.min(failures - 1, 10), RETRY_PAUSE_MS.max)
}

function createHandler(
  deps: FactsWriterDeps,
  options: FactsWriterOptions,
  { stopping, state }: { readonly stopping: AbortSignal; readonly state: WriterState },
): (batch: Batch) => Promise<BatchOutcome> {
  const { facts, logger, nowMs } = deps
  const metrics = createWriterMetrics(deps.registry)
  const tools = {
    nowMs,
    marks: createHourMarks(randomUUID(), nowMs),
    erasures: createErasures(facts),
    backlog: createStreamBacklog(deps),
  }
  let last: Promise<unknown> = Promise.resolve()
  /** When a batch last began, by topic and partition. */
  const begun = new Map<string, number>()

  function succeeded({ topic }: Batch, report: BatchReport): void {
    if (state.failures > 0) logger.info({ failures: state.failures }, 'facts are writable again')
    state.failures = 0
    metrics?.rows(report)
    const poison = report.rows.get('poison_records') ?? 0
    if (poison > 0) logger.error({ topic, rows: poison }, 'entries could not become facts')
  }

  function failed({ topic }: Batch, error: unknown): BatchOutcome {
    state.failures += 1
    const pauseMs = retryPauseMs(state.failures)
    const reason = error instanceof Error ? error.message : 'unknown'
    if (state.failures === 1) logger.warn({ topic, reason, pauseMs }, 'facts are not writable, retrying')
    return { done: 0, resumeAtMs: nowMs() + pauseMs }
  }

  async function handle(batch: Batch): Promise<BatchOutcome> {
    const startedAt = performance.now()
    const place = `${batch.topic}/${batch.partition}`
    const sinceMs = startedAt - (begun.get(place) ?? -Infinity)
    begun.set(place, startedAt)
    const loopAtStart = performance.eventLoopUtilization()
    let report: BatchReport
    try {
      report = await unlessAborted(stopping, () => writeBatch(facts, batch, tools))
    } catch (error) {
      return failed(batch, error)
    }
    succeeded(batch, report)
    const tookMs = performance.now() - startedAt
    const lagMs = Math.max(0, nowMs() - (batch.entries[0]?.appendedAtMs ?? nowMs()))
    metrics?.batch(tookMs, lagMs)
    const { utilization } = performance.eventLoopUtilization(loopAtStart)
    const restMs = restAfter({ entries: batch.entries.length, sinceMs, tookMs, lagMs, utilization }, options)
    return restMs > 0 && !state.isEnding ? { done: report.done, resumeAtMs: nowMs() + restMs } : { done: report.done }
  }

  // One batch at a time over all topics: it bounds the memory, and the engine would queue them anyway.
  return (batch) => {
    const mine = last.then(() => handle(batch))
    last = mine.catch(() => undefined)
    return mine
  }
}

interface Metrics {
  rows(report: BatchReport): void
  batch(tookMs: number, lagMs: number): void
}

const BATCH_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

function createWriterMetrics(registry: Registry | undefined): Metrics | null {
  if (registry === undefined) return null
  const registers = [registry]
  const rows = new Counter({
    name: 'whence_facts_rows_total',
    help: 'Rows inserted, by table; repeats count again.',
    labelNames: ['table'],
    registers,
  })
  const seconds = new Histogram({
    name: 'whence_facts_batch_seconds',
    help: 'Time from a batch of entries to its last acknowledged insert.',
    buckets: BATCH_BUCKETS_S,
    registers,
  })
  const lag = new Gauge({
    name: 'whence_facts_lag_seconds',
    help: 'Age of the oldest entry of the last batch when it was stored.',
    registers,
  })
  return {
    rows: (report) => {
      for (const [table, count] of report.rows) rows.inc({ table }, count)
    },
    batch: (tookMs, lagMs) => {
      seconds.observe(tookMs / 1000)
      lag.set(lagMs / 1000)
    },
  }
}
