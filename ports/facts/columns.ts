/** The columns of every fact table as the adapter writes them; a test holds them against the migrated tables. */

import type { FactTable } from './facts.ts'

/**
 * How a value is checked and written. `time` is Unix ms; `nullable time` takes null. What does not fit is refused here,
 * because the engine wraps integers that are too large without a word.
 */
export type ColumnType =
  'text' | 'texts' | 'flag' | 'uint16' | 'uint32' | 'uint64' | 'float' | 'time' | 'nullable time' | 'effect'

/** How far one insert may reach: an insert into several partitions of a table is not atomic. */
export type PartitionSpan = 'month' | 'day'

export interface TableColumns {
  readonly columns: Readonly<Record<string, ColumnType>>
  /** The time column that decides the partition; null where the table has only one. */
  readonly partitionedBy: { readonly column: string; readonly span: PartitionSpan } | null
}

const TRACE = { log_topic: 'text', log_partition: 'uint32', log_offset: 'uint64', row_version: 'uint64' } as const
const KEPT = { retention_days: 'uint16', ...TRACE } as const

export const TABLE_COLUMNS: { readonly [T in FactTable]: TableColumns } = {
  visits: {
    columns: {
      website: 'text',
      visit_id: 'text',
      organization: 'text',
      issued_at: 'time',
      url_id: 'text',
      origin: 'text',
      page_url: 'text',
      referrer: 'text',
      source_referrer: 'text',
      landed_at: 'nullable time',
      utm_source: 'text',
      utm_medium: 'text',
      utm_campaign: 'text',
      utm_term: 'text',
      utm_content: 'text',
      utm_id: 'text',
      identities: 'text',
      client: 'text',
      gpc: 'flag',
      is_handoff_only: 'flag',
      previous_visit_id: 'text',
      ...KEPT,
    },
    partitionedBy: { column: 'issued_at', span: 'month' },
  },
  activations: {
    columns: {
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
      website: 'text',
      visit_id: 'text',
      issued_at: 'time',
      asked_at: 'time',
      gpc: 'flag',
      is_handoff_only: 'flag',
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
      resolution: 'text',
      selection_policy: 'text',
      candidate_count: 'uint16',
      visit_id: 'text',
      visit_issued_at: 'nullable time',
      gpc: 'flag',
      verdicts: 'text',
      deliveries: 'text',
      answer: 'text',
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
      resolution: 'text',
      selection_policy: 'text',
      candidate_count: 'uint16',
      visit_id: 'text',
      visit_issued_at: 'nullable time',
      gpc: 'flag',
      verdicts: 'text',
      deliveries: 'text',
      answer: 'text',
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
      ...KEPT,
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
}
