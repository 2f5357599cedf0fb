/** Facts in ClickHouse, over either way to connect: inserts checked rows by partition, and runs named queries. */

import { settingsClause } from './connection.ts'
import type { EngineSettings, FactsConnection } from './connection.ts'
import { insertError, queryError } from './engine-codes.ts'
import { RowsRefused } from './facts.ts'
import type { Facts } from './facts.ts'
import { QUERIES } from './queries.ts'
import type { Query, QueryName, QueryParams, QueryRow } from './queries.ts'
import { collectRows } from './row-batch.ts'
import type { CollectedRows } from './row-batch.ts'

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

  async function insertAll(rows: CollectedRows): Promise<void> {
    try {
      for (const statement of rows.statements(INSERT_SETTINGS)) await connection.insert(statement)
    } catch (error) {
      const known = insertError(error)
      isReachable = known instanceof RowsRefused
      throw known
    }
    isReachable = true
    lastInsertAtMs = options.nowMs()
  }

  return {
    startBatch() {
      const rows = collectRows()
      return {
        get chars() {
          return rows.chars
        },
        add: (table, row) => rows.add(table, row),
        insert: () => insertAll(rows),
      }
    },
    async insert(table, rows) {
      const collected = collectRows()
      for (const [index, row] of rows.entries()) {
        if (index > 0 && index % ROWS_PER_SLICE === 0) await new Promise((resolve) => setImmediate(resolve))
        collected.add(table, row)
      }
      await insertAll(collected)
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
