/**
 * Writes one batch of the event log into the fact tables, and separates what cannot become a fact.
 *
 * A row that the engine refuses is found by bisection and kept in `poison_records`; it never holds up the others.
 */

import { recordKey } from '../../domain/records.ts'
import { readRecord } from '../../domain/read-record.ts'
import type { Batch, StoredEntry } from '../../ports/event-log/event-log.ts'
import { RowsRefused } from '../../ports/facts/facts.ts'
import type { FactTable } from '../../ports/facts/columns.ts'
import type { FactRow, FactsBatches, FactsReader, FactsWriter } from '../../ports/facts/facts.ts'
import { countInstalls, type EventKey } from '../counting/count-installs.ts'
import type { Erasures } from './erasures.ts'
import type { HourMarks } from '../counting/hour-marks.ts'
import type { StreamBacklog } from './stream-rows.ts'
import { noteSpan } from '../../runtime/tracing.ts'
import { addFactRows, poisonRow } from './fact-rows.ts'
import type { AddRow, EntryPlace } from './fact-rows.ts'

export interface BatchReport {
  /** Entries from the front that are stored, as facts or as poison. */
  readonly done: number
  readonly rows: ReadonlyMap<FactTable, number>
}

/** Limit for the text of one batch, which bounds memory here and in the engine. */
const MAX_BATCH_CHARS = 32 * 1024 * 1024
/** Entries decoded before other work runs: about 3 ms of them. */
const ENTRIES_PER_SLICE = 100
/** Characters kept of an entry that could not become a fact. */
const MAX_POISON_CHARS = 65_536
const UNDECODABLE = 'UNDECODABLE'

interface BatchTools {
  readonly marks: HourMarks
  readonly erasures: Erasures
  readonly backlog: StreamBacklog
  readonly nowMs: () => number
}

/** Rejects with `FactsUnavailable`, and then the state of the batch is unknown; repeating it is safe. */
export async function writeBatch(
  facts: FactsReader & FactsWriter & FactsBatches,
  batch: Batch,
  tools: BatchTools,
): Promise<BatchReport> {
  await tools.erasures.refresh()
  const installs = new InstallKeys()
  const report = await writeFacts(facts, batch, { ...tools, installs })
  // After the facts, from which they are judged, and before the position moves on.
  await countInstalls(facts, installs.all(), tools)
  return report
}

async function writeFacts(facts: FactsWriter & FactsBatches, batch: Batch, tools: NotingTools): Promise<BatchReport> {
  try {
    return await writeAtOnce(facts, batch, tools)
  } catch (error) {
    if (!(error instanceof RowsRefused)) throw error
    return writeApart(facts, batch, tools)
  }
}

/** Events of a batch that were reported, or decided about. */
class InstallKeys {
  readonly #keys = new Map<string, EventKey>()

  note(table: FactTable, row: FactRow): void {
    if (table !== 'installs' && table !== 'install_decisions') return
    const key = { organization: String(row['organization']), website: String(row['website']) }
    const event_id = String(row['event_id'])
    this.#keys.set(recordKey(key, event_id), { ...key, event_id })
  }

  all(): readonly EventKey[] {
    return [...this.#keys.values()]
  }
}

interface NotingTools extends BatchTools {
  readonly installs: InstallKeys
}

/**
 * The path of every healthy batch. Rows become text as they are made, so that little is held in memory until the insert.
 */
async function writeAtOnce(
  facts: FactsBatches,
  batch: Batch,
  { marks, erasures, backlog, installs, nowMs }: NotingTools,
): Promise<BatchReport> {
  const collected = facts.startBatch()
  const rows = new Map<FactTable, number>()
  const hours = marks.collect()
  const streams = await backlog.collect(batch)
  const traces: string[] = []
  const startMs = nowMs()
  let done = 0
  const add: AddRow = (table, row) => {
    collected.add(table, row)
    hours.note(table, row)
    installs.note(table, row)
    const entry = batch.entries[done]
    if (entry !== undefined) streams.note(table, row, entry)
    rows.set(table, (rows.get(table) ?? 0) + 1)
  }
  for (const entry of batch.entries) {
    if (collected.chars >= MAX_BATCH_CHARS) break
    if (done > 0 && done % ENTRIES_PER_SLICE === 0) await turn()
    const parent = addRows(entry, { place: entryPlace(batch, entry), add, erasures })
    if (parent !== undefined) traces.push(parent)
    done += 1
  }
  for (const row of streams.rows()) collected.add('stream_pointers', row)
  for (const mark of hours.rows()) collected.add('hour_marks', mark)
  await collected.insert()
  hours.stored()
  for (const parent of traces) noteSpan({ name: 'insert', parent, startMs, endMs: nowMs() })
  return { done, rows }
}

interface EntryRows {
  readonly place: EntryPlace
  readonly add: AddRow
  readonly erasures: Erasures
}

/**
 * Adds nothing for a record that names something erased. Returns the trace that the record belongs to, if there is one.
 *
 * @throws RowsRefused if the entry is not one of ours or a value is out of range; some rows may then be added
 */
function addRows(entry: StoredEntry, { place, add, erasures }: EntryRows): string | undefined {
  const reading = readRecord('fact', entry.value)
  if (reading.kind !== 'record') throw new RowsRefused(UNDECODABLE)
  try {
    const kept = erasures.kept(reading.record)
    if (kept === null) return undefined
    addFactRows(kept, place, add)
    return 'traceparent' in kept ? kept.traceparent : undefined
  } catch (error) {
    throw error instanceof RowsRefused ? error : new RowsRefused(UNDECODABLE)
  }
}

/** Rows of one table with the entry each came from, at equal positions. */
interface TableRows {
  readonly rows: FactRow[]
  readonly sources: StoredEntry[]
}

/** The path of a batch with an unreadable entry or a refused row: all other rows are inserted, and these are kept apart. */
async function writeApart(facts: FactsWriter, batch: Batch, tools: NotingTools): Promise<BatchReport> {
  const { marks, nowMs, erasures, backlog, installs } = tools
  const poison: FactRow[] = []
  const keep = (entry: StoredEntry, table: FactTable | '', reason: string): void => {
    const value = entry.value.slice(0, MAX_POISON_CHARS)
    poison.push(poisonRow(entryPlace(batch, entry), { table, reason, value }, nowMs()))
  }
  const entries = withinChars(batch.entries)
  const counts = new Map<FactTable, number>()
  const hours = marks.collect()
  const streams = await backlog.collect(batch)
  for (const [table, { rows, sources }] of await gather(batch, entries, { keep, erasures })) {
    const refused = await insertOrIsolate(facts, table, rows)
    const isRefused = new Set(refused.map(({ index }) => index))
    for (const [index, row] of rows.entries()) {
      hours.note(table, row)
      if (!isRefused.has(index)) installs.note(table, row)
      const entry = sources[index]
      if (entry !== undefined && !isRefused.has(index)) streams.note(table, row, entry)
    }
    for (const { index, engineCode } of refused) {
      const entry = sources[index]
      if (entry !== undefined) keep(entry, table, engineCode)
    }
    counts.set(table, rows.length - refused.length)
  }
  await insertOrIsolate(facts, 'stream_pointers', streams.rows())
  await facts.insert('poison_records', poison)
  await facts.insert('hour_marks', hours.rows())
  hours.stored()
  return { done: entries.length, rows: counts.set('poison_records', poison.length) }
}

interface GatherTools {
  readonly keep: (entry: StoredEntry, table: '', reason: string) => void
  readonly erasures: Erasures
}

async function gather(
  batch: Batch,
  entries: readonly StoredEntry[],
  { keep, erasures }: GatherTools,
): Promise<ReadonlyMap<FactTable, TableRows>> {
  const tables = new Map<FactTable, TableRows>()
  for (const [index, entry] of entries.entries()) {
    if (index > 0 && index % ENTRIES_PER_SLICE === 0) await turn()
    const own: (readonly [FactTable, FactRow])[] = []
    try {
      const add: AddRow = (table, row) => own.push([table, row])
      addRows(entry, { place: entryPlace(batch, entry), add, erasures })
    } catch {
      keep(entry, '', UNDECODABLE)
      continue
    }
    for (const [table, row] of own) {
      const found = tables.get(table) ?? { rows: [], sources: [] }
      tables.set(table, found)
      found.rows.push(row)
      found.sources.push(entry)
    }
  }
  return tables
}

/** As many entries from the front as fit the text limit of a batch, and at least one. */
function withinChars(entries: readonly StoredEntry[]): readonly StoredEntry[] {
  let chars = 0
  const end = entries.findIndex((entry, index) => (chars += entry.value.length) > MAX_BATCH_CHARS && index > 0)
  return end === -1 ? entries : entries.slice(0, end)
}

interface Refused {
  readonly index: number
  readonly engineCode: string
}

/** Inserts all rows except those the engine refuses, which it finds by bisection: some 28 inserts for one in 10,000. */
async function insertOrIsolate(
  facts: FactsWriter,
  table: FactTable,
  rows: readonly FactRow[],
): Promise<readonly Refused[]> {
  const refused: Refused[] = []
  const open: { readonly start: number; readonly end: number }[] = [{ start: 0, end: rows.length }]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const { start, end } = part
    try {
      await facts.insert(table, rows.slice(start, end))
    } catch (error) {
      if (!(error instanceof RowsRefused)) throw error
      const middle = Math.floor((start + end) / 2)
      if (end - start === 1) refused.push({ index: start, engineCode: error.engineCode })
      else open.push({ start: middle, end }, { start, end: middle })
    }
  }
  return refused
}

function entryPlace(batch: Batch, entry: StoredEntry): EntryPlace {
  return { topic: batch.topic, partition: batch.partition, offset: entry.offset }
}

/** Lets other work run on the event loop. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
