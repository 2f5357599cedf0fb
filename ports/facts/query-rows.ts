/** The rows that queries return: times are Unix ms, JSON columns are text, absent text is empty. */

export interface VisitRow {
  readonly website: string
  readonly visit_id: string
  readonly organization: string
  readonly issued_at_ms: number
  readonly url_id: string
  readonly origin: string
  readonly page_url: string
  readonly referrer: string
  readonly source_referrer: string
  readonly landed_at_ms: number | null
  readonly utm_source: string
  readonly utm_medium: string
  readonly utm_campaign: string
  readonly utm_term: string
  readonly utm_content: string
  readonly utm_id: string
  /** JSON of `Identities`. */
  readonly identities: string
  /** JSON of `Visit.client`. */
  readonly client: string
  readonly gpc: boolean
  readonly is_handoff_only: boolean
  readonly previous_visit_id: string
}

/** What is known of one receipt; receipts of which nothing is known have no row. */
export interface ReceiptFactsRow {
  readonly visit_id: string
  readonly is_recorded: boolean
  readonly is_active: boolean
  readonly is_revoked: boolean
  readonly is_handoff_only: boolean
  /** Empty where the page held no receipt before. */
  readonly previous_visit_id: string
}

/** Which receipt a visit's own replaced; empty where the page held none. */
export type PreviousVisitRow = Pick<VisitRow, 'website' | 'visit_id' | 'previous_visit_id'>

/** The story of one receipt; times are null where the facts do not know of it. */
export interface ReceiptHistoryRow {
  readonly website: string
  readonly visit_id: string
  readonly activated_at_ms: number | null
  readonly revoked_at_ms: number | null
  /** Empty where the page held no receipt before, or the visit is not known. */
  readonly previous_visit_id: string
}

export interface InstallRow {
  readonly website: string
  readonly event_id: string
  readonly organization: string
  readonly installation_id: string
  readonly event_type: string
  readonly received_at_ms: number
  readonly install_path: string
  readonly platform: string
  readonly arch: string
  readonly browsers: readonly string[]
  readonly default_browser: string
  readonly timezone: string
  readonly language: string
  readonly resolution: string
  readonly selection_policy: string
  readonly candidate_count: number
  readonly visit_id: string
  readonly visit_issued_at_ms: number | null
  readonly gpc: boolean
  /** JSON of `CandidateVerdict[]`. */
  readonly verdicts: string
  /** JSON of `DeliveryPlan[]`. */
  readonly deliveries: string
  /** JSON of `InstallAnswer`. */
  readonly answer: string
  readonly request_id: string
}

/** `effect`: 1 activated, 2 revoked. */
export interface ActivationRow {
  readonly website: string
  readonly visit_id: string
  readonly effect: number
  readonly issued_at_ms: number
}

/** What the hot state remembers of an install. */
export type SettledInstallRow = Pick<
  InstallRow,
  | 'website'
  | 'event_id'
  | 'installation_id'
  | 'received_at_ms'
  | 'resolution'
  | 'answer'
  | 'visit_id'
  | 'visit_issued_at_ms'
  | 'gpc'
>

/** `resolution` is `matched` or `pending`; the latter has no visit. */
export type InstallationVisitRow = Pick<
  InstallRow,
  | 'website'
  | 'installation_id'
  | 'event_id'
  | 'received_at_ms'
  | 'resolution'
  | 'visit_id'
  | 'visit_issued_at_ms'
  | 'gpc'
>

export interface JobKeyRow {
  readonly website: string
  readonly event_id: string
  readonly destination: string
  readonly status: string
}

export interface DispatchedJobRow extends JobKeyRow {
  /** When the record of the install that it comes from was received; 0 where the first release wrote it. */
  readonly install_received_at_ms: number
}

/** Which record of an event came first. */
export type FirstInstallRow = Pick<
  InstallRow,
  'website' | 'event_id' | 'received_at_ms' | 'request_id' | 'installation_id' | 'event_type' | 'visit_id' | 'answer'
>

/** What became of an install that was pending. */
export type DecisionRow = Pick<
  InstallRow,
  | 'website'
  | 'event_id'
  | 'received_at_ms'
  | 'resolution'
  | 'selection_policy'
  | 'candidate_count'
  | 'visit_id'
  | 'visit_issued_at_ms'
  | 'gpc'
  | 'verdicts'
  | 'deliveries'
  | 'answer'
>

export interface DeliveryRow extends JobKeyRow {
  readonly job_id: string
  readonly organization: string
  readonly provider: string
  readonly reason: string
  readonly session_mode: string
  readonly detail: string
  readonly attempts: number
  readonly changed_at_ms: number
  readonly next_attempt_at_ms: number | null
  readonly deadline_at_ms: number | null
}

export interface AttemptRow {
  readonly website: string
  readonly event_id: string
  readonly destination: string
  readonly attempt_id: string
  readonly job_id: string
  readonly provider: string
  readonly number: number
  readonly started_at_ms: number
  readonly duration_ms: number
  readonly request_url: string
  readonly request_body: string
  readonly response_status: number
  readonly response_body: string
  readonly outcome: string
  readonly code: string
  readonly next_step: string
}

export interface HandoffRow {
  readonly website: string
  readonly visit_id: string
  readonly issued_at_ms: number
  readonly asked_at_ms: number
  readonly gpc: boolean
  readonly is_handoff_only: boolean
}

export interface RequestLogRow {
  readonly id: string
  readonly received_at_ms: number
  readonly website: string
  readonly organization: string
  readonly kind: string
  readonly duration_ms: number
  readonly method: string
  readonly path: string
  readonly status: number
  readonly code: string
  readonly origin: string
  readonly user_agent: string
  readonly address_hash: string
  readonly body: string
  readonly body_form: string
  readonly body_bytes: number
  readonly is_redacted: boolean
}

export interface ActivityRow {
  readonly id: string
  readonly noticed_at_ms: number
  readonly organization: string
  readonly website: string
  readonly type: string
  readonly subject: string
  readonly message: string
}

export interface PoisonRow {
  readonly log_topic: string
  readonly log_partition: number
  readonly log_offset: number
  readonly fact_table: string
  readonly reason: string
  readonly value: string
  readonly found_at_ms: number
}

export interface UsageRow {
  readonly visits: number
  readonly installs: number
}

export interface OrganizationUsageRow {
  readonly organization: string
  readonly events: number
}

export interface DestinationStateRow {
  readonly website: string
  readonly destination: string
  /** `destination_paused` or `destination_resumed`. */
  readonly latest_type: string
  readonly since_ms: number
}

/** What a website had within a period. */
export interface TrafficRow {
  readonly website: string
  readonly visits: number
  readonly installs: number
  readonly matched: number
}

/** Rows that a reader sees in each table; poison aside, one per natural key. */
export interface CountsRow {
  readonly visits: number
  readonly activations: number
  readonly handoffs: number
  readonly installs: number
  readonly install_decisions: number
  readonly deliveries: number
  readonly attempts: number
  readonly request_logs: number
  readonly activity: number
  readonly poison_records: number
}
