/**
 * The columns of every fact table, declared once: rows, encodings and reads follow. A test compares them with the
 * migrated tables.
 */

import { keysOf } from '../../domain/typed-keys.ts'
import { ALERT_TABLES } from './alert-tables.ts'
import { KEPT, selectList, type Columns, type InsertRow, type ReadColumn, type ReadRow } from './column-types.ts'
import { COUNTED_INSTALL_COLUMNS } from './counted-install-columns.ts'
import { SPEND_TABLES } from './spend-tables.ts'
import { STREAM_TABLES } from './stream-tables.ts'
import { VISIT_COLUMNS } from './visits.ts'

/** How much one insert may cover: an insert into several partitions of a table is not atomic. */
type PartitionSpan = 'month' | 'day'

interface TableColumns {
  readonly columns: Columns
  /** The time column that decides the partition; null if the table has only one. */
  readonly partitionedBy: { readonly column: string; readonly span: PartitionSpan } | null
}

/** The decision about an install, made at once or later. */
const OUTCOME = {
  resolution: 'text',
  selection_policy: 'text',
  candidate_count: 'uint16',
  visit_id: 'text',
  visit_issued_at: 'nullable time',
  gpc: 'flag',
  verdicts: 'text',
  reason: 'text',
  deliveries: 'text',
  answer: 'text',
} as const

export const TABLE_COLUMNS = {
  visits: {
    columns: { ...VISIT_COLUMNS, ...KEPT },
    partitionedBy: { column: 'issued_at', span: 'month' },
  },
  activations: {
    columns: {
      organization: 'text',
      website: 'text',
      visit_id: 'text',
      effect: 'effect',
      issued_at: 'time',
      effective_at: 'time',
      caused_by_visit_id: 'text',
      ...KEPT,
    },
    partitionedBy: { column: 'issued_at', span: 'month' },
  },
  handoffs: {
    columns: {
      organization: 'text',
      website: 'text',
      visit_id: 'text',
      issued_at: 'time',
      asked_at: 'time',
      gpc: 'flag',
      is_handoff_only: 'flag',
      is_copied: 'flag',
      ...KEPT,
    },
    partitionedBy: { column: 'issued_at', span: 'month' },
  },
  installs: {
    columns: {
      website: 'text',
      event_id: 'text',
      organization: 'text',
      installation_id: 'text',
      event_type: 'text',
      received_at: 'time',
      install_path: 'text',
      platform: 'text',
      arch: 'text',
      browsers: 'texts',
      default_browser: 'text',
      timezone: 'text',
      language: 'text',
      agent: 'text',
      product_version: 'text',
      place: 'text',
      country: 'text',
      is_ci: 'flag',
      is_container: 'flag',
      is_test: 'flag',
      ...OUTCOME,
      request_id: 'text',
      ...KEPT,
    },
    partitionedBy: null,
  },
  install_decisions: {
    columns: {
      website: 'text',
      event_id: 'text',
      organization: 'text',
      installation_id: 'text',
      received_at: 'time',
      decided_at: 'time',
      ...OUTCOME,
      ...KEPT,
    },
    partitionedBy: null,
  },
  deliveries: {
    columns: {
      website: 'text',
      event_id: 'text',
      destination: 'text',
      job_id: 'text',
      organization: 'text',
      provider: 'text',
      status: 'text',
      reason: 'text',
      session_mode: 'text',
      detail: 'text',
      attempts: 'uint32',
      changed_at: 'time',
      next_attempt_at: 'nullable time',
      deadline_at: 'nullable time',
      install_received_at: 'time',
      ...KEPT,
    },
    partitionedBy: null,
  },
  attempts: {
    columns: {
      website: 'text',
      event_id: 'text',
      destination: 'text',
      attempt_id: 'text',
      job_id: 'text',
      organization: 'text',
      provider: 'text',
      number: 'uint32',
      started_at: 'time',
      duration_ms: 'float',
      request_url: 'text',
      request_body: 'text',
      response_status: 'uint16',
      response_body: 'text',
      outcome: 'text',
      code: 'text',
      next_step: 'text',
      ...KEPT,
    },
    partitionedBy: { column: 'started_at', span: 'month' },
  },
  request_logs: {
    columns: {
      website: 'text',
      received_at: 'time',
      id: 'text',
      organization: 'text',
      kind: 'text',
      duration_ms: 'float',
      method: 'text',
      path: 'text',
      status: 'uint16',
      code: 'text',
      origin: 'text',
      user_agent: 'text',
      address_hash: 'text',
      body: 'text',
      body_form: 'text',
      body_bytes: 'uint32',
      is_redacted: 'flag',
      refs: 'uint64s',
      ...KEPT,
    },
    partitionedBy: { column: 'received_at', span: 'day' },
  },
  activity: {
    columns: {
      organization: 'text',
      noticed_at: 'time',
      id: 'text',
      website: 'text',
      type: 'text',
      subject: 'text',
      message: 'text',
      actor: 'text',
      manager: 'text',
      fields: 'texts',
      ...KEPT,
    },
    partitionedBy: null,
  },
  mail_choices: {
    columns: {
      organization: 'text',
      digest: 'text',
      chosen_at: 'time',
      is_ended: 'flag',
      log_topic: 'text',
      log_partition: 'uint32',
      log_offset: 'uint64',
      row_version: 'uint64',
    },
    partitionedBy: null,
  },
  decision_replays: {
    columns: {
      website: 'text',
      id: 'text',
      organization: 'text',
      asked_at: 'time',
      policy: 'text',
      window_ms: 'uint64',
      is_tokens_only: 'flag',
      since: 'time',
      until: 'time',
      session: 'text',
      ...KEPT,
    },
    partitionedBy: null,
  },
  decision_replay_results: {
    columns: {
      organization: 'text',
      website: 'text',
      id: 'text',
      made_at: 'time',
      state: 'text',
      installs: 'uint64',
      reached: 'time',
      result: 'text',
      retention_days: 'uint16',
      row_version: 'uint64',
    },
    partitionedBy: null,
  },
  poison_records: {
    columns: {
      log_topic: 'text',
      log_partition: 'uint32',
      log_offset: 'uint64',
      fact_table: 'text',
      reason: 'text',
      value: 'text',
      found_at: 'time',
      retention_days: 'uint16',
      row_version: 'uint64',
    },
    partitionedBy: null,
  },
  website_hours: {
    columns: {
      organization: 'text',
      website: 'text',
      hour: 'time',
      marks_read: 'texts',
      visits: 'cells',
      source: 'cells',
      medium: 'cells',
      channel: 'cells',
      campaign: 'cells',
      term: 'cells',
      content: 'cells',
      referrer: 'cells',
      landing_page: 'cells',
      page: 'cells',
      pages_seen: 'cells',
      visitor_platform: 'cells',
      source_campaign: 'cells',
      page_views: 'cells',
      visitor_kind: 'cells',
      events: 'cells',
      delivery: 'cells',
      retention_days: 'uint16',
      row_version: 'uint64',
    },
    partitionedBy: { column: 'hour', span: 'month' },
  },
  visit_hours: {
    columns: {
      organization: 'text',
      website: 'text',
      began: 'time',
      sitting: 'text',
      hour: 'time',
      is_gone: 'flag',
      pages: 'texts',
      is_activated: 'flag',
      is_copied: 'flag',
      is_started: 'flag',
      has_first_run: 'flag',
      installed_at: 'nullable time',
      agents: 'texts',
      retention_days: 'uint16',
      row_version: 'uint64',
    },
    partitionedBy: { column: 'began', span: 'month' },
  },
  counted_installs: { columns: COUNTED_INSTALL_COLUMNS, partitionedBy: null },
  erasures: {
    columns: {
      organization: 'text',
      website: 'text',
      digest: 'text',
      reference: 'uint64',
      erased_at: 'time',
      row_version: 'uint64',
    },
    partitionedBy: null,
  },
  ...STREAM_TABLES,
  webhook_attempts: {
    columns: {
      organization: 'text',
      webhook: 'text',
      message_id: 'text',
      number: 'uint32',
      type: 'text',
      website: 'text',
      happened_at: 'time',
      started_at: 'time',
      duration_ms: 'float',
      state: 'text',
      status: 'uint16',
      error: 'text',
      answer: 'text',
      next_attempt_at: 'nullable time',
      body: 'text',
      ...KEPT,
    },
    partitionedBy: { column: 'happened_at', span: 'month' },
  },
  ...SPEND_TABLES,
  ...ALERT_TABLES,
  /** Inserted last, so that a mark exists only after its facts. */
  hour_marks: {
    columns: {
      organization: 'text',
      website: 'text',
      hour: 'time',
      writer: 'text',
      made_at: 'time',
      row_version: 'uint64',
    },
    partitionedBy: null,
  },
} as const satisfies Readonly<Record<string, TableColumns>>

export type FactTable = keyof typeof TABLE_COLUMNS
/** In the order in which a batch is inserted. */
export const FACT_TABLES = keysOf(TABLE_COLUMNS)

/** Tables that are not facts: made from facts, requested about them, or lists of erased data. */
export const DERIVED_TABLES = [
  'website_hours',
  'visit_hours',
  'counted_installs',
  'hour_marks',
  'decision_replays',
  'decision_replay_results',
  'erasures',
  'stream_pointers',
  'stream_progress',
  'webhook_attempts',
  'mail_choices',
  'spend_rows',
  'spend_imports',
  'alerts',
] as const
export type DerivedTable = (typeof DERIVED_TABLES)[number]

type ColumnsOf<T extends FactTable> = (typeof TABLE_COLUMNS)[T]['columns']
/** A row of this table as it is inserted. */
export type RowOf<T extends FactTable> = InsertRow<ColumnsOf<T>>

/** Columns that a query reads of one table: their SELECT list and the type of their rows. */
interface Selection<R> {
  readonly sql: string
  /** Never set; carries the type of the rows. */
  readonly row?: R
}
export type RowsOf<R> = R extends Selection<infer Row> ? Row : never

/** Selects the named columns; without names, everything that queries return of the table. */
export function selectFrom<
  T extends FactTable,
  N extends keyof ColumnsOf<T> & string = ReadColumn<ColumnsOf<T>> & keyof ColumnsOf<T>,
>(table: T, names?: readonly N[]): Selection<ReadRow<ColumnsOf<T>, N>> {
  const columns: Columns = TABLE_COLUMNS[table].columns
  return { sql: selectList(columns, names) }
}
