/** The parameters of queries, and the rows that they return: times are Unix ms, JSON columns are text, absent text is empty. */

import type { OwnedWebsite } from '../../domain/model.ts'
import type { ReadRank } from '../../domain/limits.ts'
import { selectFrom, type DerivedTable, type FactTable, type RowsOf } from './columns.ts'

export type QueryParameters = Readonly<Record<string, string | number | readonly string[] | readonly number[]>>

/** Who waits for a statement: a request, a person who looks at a page, or a tool or role. */
export type Turn = 'look-up' | 'page' | 'report'

/** Who is charged for the engine's time that a statement uses. */
export interface StatementShare {
  readonly rank: ReadRank
  readonly organization: string
  /** ID of a person; empty if several share it, or nobody waits. */
  readonly person: string
}

export const VISIT = selectFrom('visits')
export type VisitRow = RowsOf<typeof VISIT>

/** The state of one receipt; unknown receipts have no row. */
export interface ReceiptFactsRow {
  readonly visit_id: string
  readonly is_recorded: boolean
  readonly is_active: boolean
  readonly is_revoked: boolean
  readonly is_handoff_only: boolean
  /** Empty if the page held no receipt before. */
  readonly previous_visit_id: string
}

/** Which receipt a visit's own receipt replaced; empty if the page held none. */
export type PreviousVisitRow = Pick<VisitRow, 'organization' | 'website' | 'visit_id' | 'previous_visit_id'>

/** The history of one receipt; times are null if the facts do not have them. */
export interface ReceiptHistoryRow extends OwnedWebsite {
  readonly visit_id: string
  readonly activated_at_ms: number | null
  readonly revoked_at_ms: number | null
  /** Empty if the page held no receipt before, or the visit is unknown. */
  readonly previous_visit_id: string
}

export const INSTALL = selectFrom('installs')
export type InstallRow = RowsOf<typeof INSTALL>

/** Columns of a pending install that a decision replaces. */
export const DECIDED_COLUMNS = [
  'resolution',
  'selection_policy',
  'candidate_count',
  'visit_id',
  'visit_issued_at',
  'gpc',
  'verdicts',
  'reason',
  'deliveries',
  'answer',
] as const

/** `effect`: 1 activated, 2 revoked. */
export interface ActivationRow extends OwnedWebsite {
  readonly visit_id: string
  readonly effect: number
  readonly issued_at_ms: number
}

export interface InstallationCountRow {
  readonly installations: number
}

/** The part of an install that the hot state remembers. */
export const SETTLED_INSTALL = selectFrom('installs', [
  'organization',
  'website',
  'event_id',
  'installation_id',
  'received_at',
  'resolution',
  'answer',
  'visit_id',
  'visit_issued_at',
  'gpc',
])
export type SettledInstallRow = RowsOf<typeof SETTLED_INSTALL>

/** `resolution` is `matched` or `pending`; the latter has no visit. */
export const INSTALLATION_VISIT = selectFrom('installs', [
  'organization',
  'website',
  'installation_id',
  'event_id',
  'received_at',
  'resolution',
  'visit_id',
  'visit_issued_at',
  'gpc',
])
export type InstallationVisitRow = RowsOf<typeof INSTALLATION_VISIT>

export const DISPATCHED_JOB = selectFrom('deliveries', [
  'organization',
  'website',
  'event_id',
  'destination',
  'status',
  'install_received_at',
])
export type DispatchedJobRow = RowsOf<typeof DISPATCHED_JOB>

/** Which record of an event came first. */
export type FirstInstallRow = Pick<
  InstallRow,
  | 'organization'
  | 'website'
  | 'event_id'
  | 'received_at_ms'
  | 'request_id'
  | 'installation_id'
  | 'event_type'
  | 'visit_id'
  | 'answer'
>

/** The decision about an install that was pending. */
export const DECISION = selectFrom('install_decisions', [
  'organization',
  'website',
  'event_id',
  'installation_id',
  'received_at',
  ...DECIDED_COLUMNS,
])
export type DecisionRow = RowsOf<typeof DECISION>

export const DELIVERY = selectFrom('deliveries')
export type DeliveryRow = RowsOf<typeof DELIVERY>

export const ATTEMPT = selectFrom('attempts')
export type AttemptRow = RowsOf<typeof ATTEMPT>

export const HANDOFF = selectFrom('handoffs')
export type HandoffRow = RowsOf<typeof HANDOFF>

/** Without the hashes by which the line is found. */
export const REQUEST_LOG = selectFrom('request_logs', [
  'website',
  'received_at',
  'id',
  'organization',
  'kind',
  'duration_ms',
  'method',
  'path',
  'status',
  'code',
  'origin',
  'user_agent',
  'address_hash',
  'body',
  'body_form',
  'body_bytes',
  'is_redacted',
])
export type RequestLogRow = RowsOf<typeof REQUEST_LOG>

export const ACTIVITY = selectFrom('activity')
export type ActivityRow = RowsOf<typeof ACTIVITY>

export const POISON = selectFrom('poison_records', [
  'log_topic',
  'log_partition',
  'log_offset',
  'fact_table',
  'reason',
  'value',
  'found_at',
])
export type PoisonRow = RowsOf<typeof POISON>

export interface UsageRow {
  readonly visits: number
  readonly installs: number
}

export interface OrganizationUsageRow {
  readonly organization: string
  readonly events: number
}

export interface DestinationStateRow extends OwnedWebsite {
  readonly destination: string
  /** `destination_paused` or `destination_resumed`. */
  readonly latest_type: string
  readonly since_ms: number
}

/** The activity of one website within a period. */
export interface TrafficRow extends OwnedWebsite {
  readonly visits: number
  readonly installs: number
  readonly matched: number
  /** Looked up, decided, and without a visit. */
  readonly unmatched: number
}

/** Rows that a reader sees in each table; one per natural key, except for poison records. */
export type CountsRow = { readonly [T in Exclude<FactTable, DerivedTable>]: number }

/** The progress of a log stream. */
export const STREAM_STANDING = selectFrom('stream_progress', [
  'organization',
  'stream',
  'seen_at',
  'state',
  'behind',
  'oldest_at',
  'delivered_at',
  'failing_since',
  'last_error',
  'delivered',
  'dropped',
  'progress',
])
export type StreamStandingRow = RowsOf<typeof STREAM_STANDING>
