/**
 * The facts-writer role: consumes every record topic and inserts what it says into the fact tables.
 *
 * The position on the log moves only after every insert of a batch is acknowledged, and inserts can be repeated, so
 * killing this role at any moment loses nothing and shows nothing twice. A row that the engine refuses is found by
 * halving, kept in `poison_records`, and never holds up the others.
 */

import { performance } from 'node:perf_hooks'

import { Counter, Gauge, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

import { RECORD_TOPICS, decodeRecord } from '../domain/records.ts'
import type { LogRecord } from '../domain/records.ts'
import type { Batch, BatchOutcome, Consumer, EventLog } from '../ports/event-log/event-log.ts'
import { RowsRefused } from '../ports/facts/facts.ts'
import type { FactRow, Facts, FactTable } from '../ports/facts/facts.ts'
import type { Logger } from '../runtime/logger.ts'
import { addFactRows, poisonRow } from './fact-rows.ts'
import type { EntryPlace } from './fact-rows.ts'

export interface FactsWriterDeps {
  readonly eventLog: EventLog
  readonly facts: Facts
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly nowMs: () => number
  readonly registry?: Registry
  readonly options?: Partial<FactsWriterOptions>
}

export interface FactsWriterOptions {
  /** Most entries in one batch. */
  readonly maxEntries: number
  /** How long a small batch waits for more entries, in ms. */
  readonly lingerMs: number
  /**
   * How long to rest after a batch, in multiples of the time it took, while the event loop is busy with other work.
   * 0 for a process that does nothing else.
   */
  readonly politeness: number
  /** The older the oldest entry of a batch, the shorter the rest; from this age on there is none. */
  readonly maxLagMs: number
}

export const FACTS_WRITER_GROUP = 'facts-writer'

const DEFAULTS: FactsWriterOptions = { maxEntries: 10_000, lingerMs: 75, politeness: 2, maxLagMs: 10_000 }
/** Entries decoded before other work gets its turn: about 3 ms of them. */
const ENTRIES_PER_SLICE = 100
/** Share of its time the event loop must be busy before this role makes room. */
const BUSY_UTILIZATION = 0.6
const MAX_REST_MS = 2_000
const RETRY_PAUSE_MS = { first: 250, max: 10_000 } as const
/** Characters kept of an entry that could not become a fact. */
const MAX_POISON_CHARS = 65_536

/** Starts consuming. `stop` resolves when the batches in hand are finished and committed. */
export async function startFactsWriter(deps: FactsWriterDeps): Promise<{ stop(): Promise<void> }> {
  const options = { ...DEFAULTS, ...deps.options }
  const writer = createWriter(deps, options)
  const consumers: Consumer[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(consumers.map((consumer) => consumer.stop()))
  }
  try {
    for (const topic of RECORD_TOPICS) {
      const { maxEntries, lingerMs } = options
      consumers.push(await deps.eventLog.consume(topic, FACTS_WRITER_GROUP, writer, { maxEntries, lingerMs }))
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

function createWriter(deps: FactsWriterDeps, options: FactsWriterOptions): (batch: Batch) => Promise<BatchOutcome> {
  const metrics = createMetrics(deps.registry)
  let failures = 0
  let lastBatch: Promise<unknown> = Promise.resolve()

  async function handle(batch: Batch): Promise<BatchOutcome> {
    const startedAt = performance.now()
    const loopAtStart = performance.eventLoopUtilization()
    const oldestAtMs = batch.entries[0]?.appendedAtMs ?? deps.nowMs()
    try {
      await writeBatch(deps, batch, metrics)
    } catch (error) {
      failures += 1
      const pauseMs = Math.min(RETRY_PAUSE_MS.first * 2 ** (failures - 1), RETRY_PAUSE_MS.max)
      const reason = error instanceof Error ? error.name : 'unknown'
      if (failures === 1)
        deps.logger.warn({ topic: batch.topic, reason, pauseMs }, 'facts are not writable, trying again')
      return { done: 0, resumeAtMs: deps.nowMs() + pauseMs }
    }
    if (failures > 0) deps.logger.info({ failures }, 'facts are writable again')
    failures = 0
    const tookMs = performance.now() - startedAt
    const lagMs = Math.max(0, deps.nowMs() - oldestAtMs)
    metrics?.batch(tookMs, lagMs)
    const { utilization } = performance.eventLoopUtilization(loopAtStart)
    const restMs = restAfter({ tookMs, lagMs, utilization }, options)
    return { done: batch.entries.length, ...(restMs > 0 ? { resumeAtMs: deps.nowMs() + restMs } : {}) }
  }

  // One batch at a time over all topics: it bounds the memory, and the engine would queue them anyway.
  return (batch) => {
    const mine = lastBatch.then(() => handle(batch))
    lastBatch = mine.catch(() => undefined)
    return mine
  }
}

/** How long to make room for other work of this process, in ms: nothing while it is idle or we are late. */
export function restAfter(
  work: { readonly tookMs: number; readonly lagMs: number; readonly utilization: number },
  options: Pick<FactsWriterOptions, 'politeness' | 'maxLagMs'>,
): number {
  if (work.utilization < BUSY_UTILIZATION || work.lagMs >= options.maxLagMs) return 0
  const patience = 1 - work.lagMs / options.maxLagMs
  return Math.min(MAX_REST_MS, Math.round(work.tookMs * options.politeness * patience))
}

/** Rows of one table with the entry each came from, at equal positions. */
interface TableRows {
  readonly rows: FactRow[]
  readonly sources: number[]
}

async function writeBatch(deps: FactsWriterDeps, batch: Batch, metrics: Metrics | null): Promise<void> {
  const poison: FactRow[] = []
  const tables = await buildRows(deps, batch, poison)
  for (const [table, { rows, sources }] of tables) {
    await insertOrIsolate(deps.facts, table, rows, (index, code) => {
      const entry = batch.entries[sources[index] ?? 0]
      const place = { topic: batch.topic, partition: batch.partition, offset: entry?.offset ?? 0 }
      const value = entry?.value.slice(0, MAX_POISON_CHARS) ?? ''
      poison.push(poisonRow(place, { table, reason: `refused: ${code}`, value }, deps.nowMs()))
    })
    metrics?.rows(table, rows.length)
  }
  if (poison.length === 0) return
  await deps.facts.insert('poison_records', poison)
  metrics?.rows('poison_records', poison.length)
  deps.logger.error(
    { topic: batch.topic, partition: batch.partition, entries: poison.length },
    'entries could not become facts',
  )
}

async function buildRows(deps: FactsWriterDeps, batch: Batch, poison: FactRow[]): Promise<Map<FactTable, TableRows>> {
  const tables = new Map<FactTable, TableRows>()
  for (const [index, entry] of batch.entries.entries()) {
    if (index > 0 && index % ENTRIES_PER_SLICE === 0) await new Promise((resolve) => setImmediate(resolve))
    const place: EntryPlace = { topic: batch.topic, partition: batch.partition, offset: entry.offset }
    const rows = rowsOf(entry.value, place)
    if (rows === null) {
      const value = entry.value.slice(0, MAX_POISON_CHARS)
      poison.push(poisonRow(place, { table: '', reason: 'undecodable', value }, deps.nowMs()))
      continue
    }
    for (const [table, row] of rows) {
      let found = tables.get(table)
      if (found === undefined) tables.set(table, (found = { rows: [], sources: [] }))
      found.rows.push(row)
      found.sources.push(index)
    }
  }
  return tables
}

/** All rows of an entry, or null where it cannot be read; never some of them. */
function rowsOf(value: string, place: EntryPlace): readonly (readonly [FactTable, FactRow])[] | null {
  const rows: (readonly [FactTable, FactRow])[] = []
  try {
    addFactRows(decodeRecord<LogRecord>(value), place, (table, row) => rows.push([table, row]))
  } catch {
    return null
  }
  return rows
}

/** Inserts all rows but those the engine refuses, which it finds by halving: some 28 inserts for one in 10,000. */
async function insertOrIsolate(
  facts: Facts,
  table: FactTable,
  rows: readonly FactRow[],
  onRefused: (index: number, engineCode: string) => void,
): Promise<void> {
  const open: { readonly start: number; readonly end: number }[] = [{ start: 0, end: rows.length }]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const { start, end } = part
    try {
      await facts.insert(table, start === 0 && end === rows.length ? rows : rows.slice(start, end))
    } catch (error) {
      if (!(error instanceof RowsRefused)) throw error
      const middle = Math.floor((start + end) / 2)
      if (end - start === 1) onRefused(start, error.engineCode)
      else open.push({ start: middle, end }, { start, end: middle })
    }
  }
}

interface Metrics {
  rows(table: FactTable, count: number): void
  batch(tookMs: number, lagMs: number): void
}

const BATCH_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

function createMetrics(registry: Registry | undefined): Metrics | null {
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
    rows: (table, count) => rows.inc({ table }, count),
    batch: (tookMs, lagMs) => {
      seconds.observe(tookMs / 1000)
      lag.set(lagMs / 1000)
    },
  }
}
