/** Fact tables in memory, and batches of the log that are written into them. */

import type { StreamBacklog } from '../../../delivery/facts-writer/stream-rows.ts'
import { encodeRecord, type LogRecord } from '../../../domain/records.ts'
import type { Batch } from '../../../ports/event-log/event-log.ts'
import { type FactTable } from '../../../ports/facts/columns.ts'
import { FactsUnavailable, RowsRefused, type FactRow, type Facts } from '../../../ports/facts/facts.ts'
import { requestRecord } from '../../contract/fact-samples.ts'

/** Keeps rows in memory. `refuses` says which rows the engine would not take; `charsOf` how long a row's text is. */
export class MemoryFacts {
  readonly rows = new Map<FactTable, FactRow[]>()
  /** Sizes of the inserts that were made, whole batches apart. */
  readonly inserts: number[] = []
  refuses: (row: FactRow) => boolean = () => false
  charsOf: (row: FactRow) => number = () => 100
  /** The insert of a single table that finds the engine away, counted from 0; those behind it succeed again. */
  awayAt = -1

  readonly facts = {
    startBatch: () => {
      const added: { table: FactTable; row: FactRow }[] = []
      const state = { chars: 0 }
      return {
        get chars() {
          return state.chars
        },
        add: (table: FactTable, row: FactRow) => {
          added.push({ table, row })
          state.chars += this.charsOf(row)
        },
        insert: async () => {
          if (added.some(({ row }) => this.refuses(row))) throw new RowsRefused('OUT_OF_RANGE')
          for (const { table, row } of added) this.#keep(table, [row])
        },
      }
    },
    insert: async (table: FactTable, rows: readonly FactRow[]) => {
      if (this.awayAt-- === 0) throw new FactsUnavailable('away')
      this.inserts.push(rows.length)
      if (rows.some((row) => this.refuses(row))) throw new RowsRefused('OUT_OF_RANGE')
      this.#keep(table, rows)
    },
    // Nothing was ever erased, and nobody streams.
    run: async () => [],
  } as unknown as Facts

  statuses(): readonly unknown[] {
    return (this.rows.get('request_logs') ?? []).map((row) => row['status'])
  }

  #keep(table: FactTable, rows: readonly FactRow[]): void {
    this.rows.set(table, [...(this.rows.get(table) ?? []), ...rows])
  }
}

/** Nobody streams. */
export const NO_BACKLOG: StreamBacklog = { collect: async () => ({ note: () => undefined, rows: () => [] }) }

export const batchOf = (records: readonly LogRecord[]): Batch => ({
  topic: 'requests',
  partition: 0,
  entries: records.map((record, offset) => ({ key: 'k', value: encodeRecord(record), offset, appendedAtMs: 0 })),
})
export const requests = (count: number): LogRecord[] =>
  Array.from({ length: count }, (_, index) => requestRecord({ status: 200 + index }))
