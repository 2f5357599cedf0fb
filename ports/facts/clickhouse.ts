/** Facts in ClickHouse, over either way to connect: inserts checked rows by partition, and runs named queries. */

import { TABLE_COLUMNS } from './columns.ts'
import type { PartitionSpan } from './columns.ts'
import { settingsClause } from './connection.ts'
import type { EngineSettings, FactsConnection } from './connection.ts'
import { insertError, queryError } from './engine-codes.ts'
import { RowsRefused } from './facts.ts'
import type { FactRow, Facts, FactTable } from './facts.ts'
import { QUERIES } from './queries.ts'
import type { Query, QueryName, QueryParams, QueryRow } from './queries.ts'
import { encodeRows, OUT_OF_RANGE } from './tab-separated.ts'

export interface ClickHouseFactsOptions {
  readonly nowMs: () => number
}

/** Rows written as text before other work gets its turn: about 2 ms of them. */
const ROWS_PER_SLICE = 250

/**
 * Every setting an insert relies on, whatever the engine's defaults are: acknowledged means stored (no asynchronous
 * insert), nothing is dropped as a duplicate of another insert (the tables do that by key), and nothing is bent to fit.
 */
export const INSERT_SETTINGS: EngineSettings = {
  async_insert: 0,
  insert_deduplicate: 0,
  deduplicate_insert: 'disable',
  insert_deduplication_token: '',
  date_time_overflow_behavior: 'throw',
  input_format_allow_errors_num: 0,
  input_format_allow_errors_ratio: 0,
  input_format_null_as_default: 0,
  input_format_tsv_empty_as_default: 0,
  input_format_tsv_enum_as_number: 0,
  input_format_tsv_use_best_effort_in_schema_inference: 0,
  input_format_parallel_parsing: 0,
  max_insert_threads: 1,
  max_threads: 1,
}

const READ_SETTINGS: EngineSettings = {
  output_format_json_quote_64bit_integers: 0,
  max_threads: 1,
  use_skip_indexes_if_final: 1,
  use_skip_indexes_if_final_exact_mode: 1,
  do_not_merge_across_partitions_select_final: 0,
}
const LOOK_UP_SECONDS = 2
const REPORT_SECONDS = 30

export function clickhouseFacts(connection: FactsConnection, options: ClickHouseFactsOptions): Facts {
  let isReachable = true
  let lastInsertAtMs: number | null = null

  async function insertPartition(table: FactTable, rows: readonly FactRow[]): Promise<void> {
    const body = await encode(table, rows)
    const columns = Object.keys(TABLE_COLUMNS[table].columns)
    await connection.insert({ table, columns, settings: INSERT_SETTINGS, body })
  }

  return {
    async insert(table, rows) {
      try {
        for (const part of byPartition(table, rows)) await insertPartition(table, part)
      } catch (error) {
        const known = insertError(error)
        isReachable = known instanceof RowsRefused
        throw known
      }
      isReachable = true
      lastInsertAtMs = options.nowMs()
    },
    async run<Q extends QueryName>(name: Q, params: QueryParams<Q>) {
      const { sql, isUrgent } = QUERIES[name] as unknown as Query<QueryParams<Q>, QueryRow<Q>>
      const statement = `${sql(params)} ${readSettings(isUrgent)}`
      try {
        const rows = await connection.query(statement, params, { isUrgent })
        isReachable = true
        return rows as readonly QueryRow<Q>[]
      } catch (error) {
        isReachable = false
        throw queryError(error)
      }
    },
    health: () => ({ isReachable, lastInsertAtMs }),
    close: () => connection.close(),
  }
}

function readSettings(isUrgent: boolean): string {
  return settingsClause({ ...READ_SETTINGS, max_execution_time: isUrgent ? LOOK_UP_SECONDS : REPORT_SECONDS })
}

async function encode(table: FactTable, rows: readonly FactRow[]): Promise<readonly Uint8Array[]> {
  const body: Uint8Array[] = []
  for (let start = 0; start < rows.length; start += ROWS_PER_SLICE) {
    if (start > 0) await new Promise((resolve) => setImmediate(resolve))
    body.push(Buffer.from(encodeRows(table, rows, start, Math.min(start + ROWS_PER_SLICE, rows.length))))
  }
  return body
}

/** Splits rows by the table's partitions, so that each insert is atomic. Most often there is one. */
function byPartition(table: FactTable, rows: readonly FactRow[]): Iterable<readonly FactRow[]> {
  const { partitionedBy } = TABLE_COLUMNS[table]
  if (partitionedBy === null || rows.length === 0) return rows.length === 0 ? [] : [rows]
  const parts = new Map<string, FactRow[]>()
  for (const row of rows) {
    const partition = partitionOf(row[partitionedBy.column], partitionedBy.span)
    const part = parts.get(partition)
    if (part === undefined) parts.set(partition, [row])
    else part.push(row)
  }
  return parts.values()
}

const CHARS = { day: 'yyyy-mm-dd'.length, month: 'yyyy-mm'.length } as const

function partitionOf(time: unknown, span: PartitionSpan): string {
  const date = new Date(typeof time === 'number' ? time : NaN)
  if (Number.isNaN(date.getTime())) throw new RowsRefused(OUT_OF_RANGE)
  return date.toISOString().slice(0, CHARS[span])
}
