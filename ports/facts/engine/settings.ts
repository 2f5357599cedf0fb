/** The engine settings that inserts and queries rely on; each statement carries its own, whatever the session has. */

import { textOf, memberOf } from '../../../domain/strict-json.ts'
import { settingsClause } from './connection.ts'
import type { EngineSettings, EngineTables, TableLayout } from './connection.ts'
import type { Turn } from '../query-rows.ts'

/**
 * An acknowledged insert is stored (no asynchronous insert), no row is dropped as a duplicate of another insert (the tables
 * remove duplicates by key), and no value is skipped, defaulted or adjusted to fit.
 */
const INSERT_SETTINGS: EngineSettings = {
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
  input_format_parallel_parsing: 0,
  max_insert_threads: 1,
  max_threads: 1,
}

const QUERY_SETTINGS: EngineSettings = {
  output_format_json_quote_64bit_integers: 0,
  max_threads: 1,
  use_skip_indexes_if_final: 1,
  use_skip_indexes_if_final_exact_mode: 1,
  // Merges parts across partitions too: keys never span partitions, but no query relies on that.
  do_not_merge_across_partitions_select_final: 0,
}

/** Of a statement that nothing but a tool or a role waits for. */
const PATIENT: EngineSettings = { max_execution_time: 30 }
/** For look-ups within a request, bounded by seconds, and for everything else. */
const LOOK_UP_SETTINGS: EngineSettings = { ...QUERY_SETTINGS, max_execution_time: 2 }
/**
 * For pages of the dashboard. Tables that they read have partitions that are a function of their key, so that parts of
 * different months hold no row in common: merging them costs three times as much.
 */
const PAGE_SETTINGS: EngineSettings = {
  ...LOOK_UP_SETTINGS,
  do_not_merge_across_partitions_select_final: 1,
}
const REPORT_SETTINGS: EngineSettings = { ...QUERY_SETTINGS, ...PATIENT }

/** Tables that are read by position, or that decide about installs: a row that a replica shows late would be missed for good. */
const QUORUM_TABLES: readonly string[] = [
  'stream_pointers',
  'stream_progress',
  'visits',
  'activations',
  'installs',
  'install_decisions',
  'counted_installs',
  'visit_hours',
]

/** Further settings of an insert into this table, on replicas: a majority holds it before it is acknowledged. */
export function quorumOf(table: string, { isReplicated = false }: TableLayout = {}): EngineSettings {
  // Inserts one after the other; otherwise sequential reads would not know which ones are complete.
  return isReplicated && QUORUM_TABLES.includes(table) ? { insert_quorum: 'auto', insert_quorum_parallel: 0 } : {}
}

/** Further settings of a statement that must see all acknowledged rows, on replicas; appended to its SETTINGS clause. */
export function sequenceOf(isSequential: boolean, { isReplicated = false }: TableLayout = {}): string {
  return isReplicated && isSequential ? ', select_sequential_consistency = 1' : ''
}

interface SupportedSettings {
  readonly insert: EngineSettings
  /** Settings of queries, as a clause. */
  readonly clauses: Readonly<Record<Turn, string>>
  /** The same with the time of a report. */
  readonly patientClauses: Readonly<Record<Turn, string>>
}

/** Leaves out settings unknown to this engine's version, which would refuse the whole statement. */
export async function readSupportedSettings(connection: EngineTables): Promise<SupportedSettings> {
  const names = Object.keys({ ...INSERT_SETTINGS, ...PAGE_SETTINGS })
  const statement = 'SELECT name FROM system.settings WHERE name IN {names:Array(String)} LIMIT 100'
  const rows = await connection.query(statement, { names }, { turn: 'look-up' })
  const known = new Set(rows.map((row) => textOf(memberOf(row, 'name'))))
  const supported = (settings: EngineSettings): EngineSettings =>
    Object.fromEntries(Object.entries(settings).filter(([name]) => known.has(name)))
  const report = settingsClause({ ...supported(REPORT_SETTINGS), ...connection.yielding })
  const page = { ...supported(PAGE_SETTINGS), ...connection.yielding }
  return {
    insert: supported(INSERT_SETTINGS),
    clauses: { 'look-up': settingsClause(supported(LOOK_UP_SETTINGS)), page: settingsClause(page), report },
    patientClauses: { 'look-up': report, page: settingsClause({ ...page, ...supported(PATIENT) }), report },
  }
}
