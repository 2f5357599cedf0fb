/** Turns an entry of the event log into rows of the fact tables. */

import type { AlertRecord } from '../../domain/alerts/alert.ts'
import { unmatchedReason } from '../../domain/collection/unmatched-reason.ts'
import { countryOfZone } from '../../domain/zone-countries.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import { AUDIT_TYPES } from '../../domain/reasons.ts'
import { dashboardPlace } from '../../domain/logs/dashboard-place.ts'
import { referencesOf } from '../../domain/logs/references.ts'
import type { Visit } from '../../domain/collection/visit-fields.ts'
import type { InstallOutcome } from '../../domain/model.ts'
import type {
  ActivationRecord,
  ActivityRecord,
  DecisionRecord,
  DeliveryRecord,
  HandoffRecord,
  InstallRecord,
  LogRecord,
  ReplayRecord,
  RequestLog,
  WebhookAttemptRecord,
} from '../../domain/records.ts'
import type { SpendImportRecord, SpendRecord } from '../../domain/spend/spend-records.ts'
import type { FactTable, RowOf } from '../../ports/facts/columns.ts'
import { visitColumns } from '../../ports/facts/visits.ts'
import { copiedWins, firstRecordWins, firstWins, lastWins, latestWins, removedWins } from './row-versions.ts'

/** The position of an entry on the log; every row carries it for tracing. */
export interface EntryPlace {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

export type AddRow = <T extends FactTable>(table: T, row: RowOf<T>) => void

/** Passes every row of one record to `add`. Equal records at equal positions give equal rows. */
export function addFactRows(record: LogRecord, place: EntryPlace, add: AddRow): void {
  switch (record.kind) {
    case 'visit':
      add('visits', visitRow(record.visit, record.retentionDays, place))
      break
    case 'activation':
      addActivation(record, place, add)
      break
    case 'handoff':
      addHandoff(record, place, add)
      break
    case 'install':
      add('installs', installRow(record, place))
      break
    case 'request':
      break
    case 'install_decision':
      add('install_decisions', decisionRow(record, place))
      return
    case 'delivery':
      addDelivery(record, place, add)
      return
    case 'activity':
      addActivity(record, place, add)
      return
    default:
      addRowsBeside(record, place, add)
      return
  }
  add('request_logs', requestLogRow(record, place))
}

type RecordBeside = Extract<LogRecord, { readonly kind: 'replay' | 'webhook_attempt' | 'spend' | 'alert' }>

/** What is neither collected nor delivered. */
function addRowsBeside(record: RecordBeside, place: EntryPlace, add: AddRow): void {
  switch (record.kind) {
    case 'replay':
      add('decision_replays', replayRow(record, place))
      return
    case 'webhook_attempt':
      add('webhook_attempts', webhookAttemptRow(record, place))
      return
    case 'spend':
      addSpend(record, place, add)
      return
    case 'alert':
      add('alerts', alertRow(record, place))
      return
    default:
      throw new Error('record of unknown kind')
  }
}

/** The row for an entry, or one row of it, that could not become a fact. `table` is empty for a whole entry. */
export function poisonRow(
  place: EntryPlace,
  poison: { readonly table: FactTable | ''; readonly reason: string; readonly value: string },
  foundAtMs: number,
): RowOf<'poison_records'> {
  return {
    ...trace(place),
    fact_table: poison.table,
    reason: poison.reason,
    value: poison.value,
    found_at: foundAtMs,
    retention_days: LIMITS.logRetentionDays.fallback,
    row_version: 0,
  }
}

function visitRow(visit: Visit, retentionDays: number, place: EntryPlace): RowOf<'visits'> {
  return {
    ...visitColumns(visit),
    retention_days: retentionDays,
    ...trace(place),
    row_version: firstWins(visit.issuedAtMs, place.offset),
  }
}

/** The receipt that became active, and the one that it revoked: each is found by its own visit ID. */
function addActivation(record: ActivationRecord, place: EntryPlace, add: AddRow): void {
  const shared = {
    organization: record.organization,
    website: record.website,
    effective_at: record.activatedAtMs,
    caused_by_visit_id: record.visitId,
    retention_days: record.retentionDays,
    ...trace(place),
    row_version: firstWins(record.activatedAtMs, place.offset),
  }
  add('activations', { ...shared, visit_id: record.visitId, effect: 'activated', issued_at: record.issuedAtMs })
  if (record.revokedVisitId === null || record.revokedIssuedAtMs === null) return
  add('activations', {
    ...shared,
    visit_id: record.revokedVisitId,
    effect: 'revoked',
    issued_at: record.revokedIssuedAtMs,
  })
}

function addHandoff(record: HandoffRecord, place: EntryPlace, add: AddRow): void {
  if (record.visit !== null) add('visits', visitRow(record.visit, record.retentionDays, place))
  add('handoffs', {
    organization: record.organization,
    website: record.website,
    visit_id: record.visitId,
    issued_at: record.issuedAtMs,
    asked_at: record.askedAtMs,
    gpc: record.gpc,
    is_handoff_only: record.isHandoffOnly,
    is_copied: record.isCopied,
    retention_days: record.retentionDays,
    ...trace(place),
    row_version: copiedWins(record.isCopied, record.askedAtMs, place.offset),
  })
}

function installRow({ install, request, retentionDays }: InstallRecord, place: EntryPlace): RowOf<'installs'> {
  return {
    website: install.website,
    event_id: install.eventId,
    organization: install.organization,
    installation_id: install.installationId,
    event_type: install.eventType,
    received_at: install.receivedAtMs,
    install_path: install.installPath ?? '',
    platform: install.platform,
    arch: install.arch,
    browsers: install.browsers,
    default_browser: install.defaultBrowser,
    timezone: install.timezone,
    language: install.language,
    agent: install.agent ?? '',
    product_version: install.productVersion,
    place: install.place,
    country: countryOfZone(install.timezone),
    is_ci: install.isCi,
    is_container: install.isContainer,
    is_test: install.isTest,
    ...outcomeColumns(install),
    request_id: request.id,
    retention_days: retentionDays,
    ...trace(place),
    row_version: firstWins(install.receivedAtMs, place.offset),
  }
}

function decisionRow(record: DecisionRecord, place: EntryPlace): RowOf<'install_decisions'> {
  return {
    website: record.website,
    event_id: record.eventId,
    organization: record.organization,
    installation_id: record.installationId,
    received_at: record.receivedAtMs,
    decided_at: record.decidedAtMs,
    ...outcomeColumns(record),
    retention_days: record.retentionDays,
    ...trace(place),
    row_version: firstRecordWins(record.receivedAtMs, place.offset),
  }
}

function outcomeColumns(outcome: InstallOutcome) {
  return {
    resolution: outcome.resolution,
    selection_policy: outcome.selectionPolicy,
    candidate_count: outcome.candidateCount,
    visit_id: outcome.visitId ?? '',
    visit_issued_at: outcome.visitIssuedAtMs,
    gpc: outcome.gpc,
    verdicts: JSON.stringify(outcome.verdicts),
    reason: unmatchedReason(outcome) ?? '',
    deliveries: JSON.stringify(outcome.deliveries),
    answer: JSON.stringify(outcome.answer),
  }
}

type RecordWithRequest = Extract<LogRecord, { readonly request: RequestLog }>

function requestLogRow(record: RecordWithRequest, place: EntryPlace): RowOf<'request_logs'> {
  const { request } = record
  const isOfDashboard = record.kind === 'request' && record.isOfDashboard === true
  return {
    website: isOfDashboard ? dashboardPlace(request.organization) : request.website,
    received_at: request.receivedAtMs,
    id: request.id,
    organization: request.organization,
    // What Logs show: what the request caused, or whose it was.
    kind: isOfDashboard ? 'dashboard' : record.kind,
    duration_ms: request.durationMs,
    method: request.method,
    path: request.path,
    status: request.status,
    code: request.code,
    origin: request.origin,
    user_agent: request.userAgent,
    address_hash: request.addressHash,
    body: request.body,
    body_form: request.bodyForm,
    body_bytes: request.bodyBytes,
    refs: referencesOf(record),
    is_redacted: request.isRedacted,
    retention_days: request.logRetentionDays,
    ...trace(place),
    row_version: firstWins(request.receivedAtMs, place.offset),
  }
}

function addDelivery(record: DeliveryRecord, place: EntryPlace, add: AddRow): void {
  const shared = {
    organization: record.organization,
    website: record.website,
    event_id: record.eventId,
    destination: record.destination,
    job_id: record.jobId,
    provider: record.provider,
    ...trace(place),
  }
  add('deliveries', {
    ...shared,
    status: record.status,
    reason: record.reason,
    session_mode: record.sessionMode,
    detail: record.detail,
    attempts: record.attempts,
    changed_at: record.atMs,
    next_attempt_at: record.nextAttemptAtMs,
    deadline_at: record.deadlineAtMs,
    install_received_at: record.installReceivedAtMs,
    retention_days: record.retentionDays,
    row_version: latestWins(record.status, record.atMs, place.offset, record.corrects),
  })
  const { attempt } = record
  if (attempt === null) return
  add('attempts', {
    ...shared,
    attempt_id: attempt.attemptId,
    number: attempt.number,
    started_at: attempt.startedAtMs,
    duration_ms: attempt.durationMs,
    request_url: attempt.requestUrl,
    request_body: attempt.requestBody,
    response_status: attempt.responseStatus,
    response_body: attempt.responseBody,
    outcome: attempt.outcome,
    code: attempt.code,
    next_step: attempt.nextStep,
    retention_days: record.logRetentionDays,
    row_version: firstWins(attempt.startedAtMs, place.offset),
  })
}

/** The entry that members see, and the choice about a mail that it may tell of, which is kept for longer. */
function addActivity(record: ActivityRecord, place: EntryPlace, add: AddRow): void {
  add('activity', activityRow(record, place))
  const { organization, mailDigest: digest, atMs, type } = record
  if (digest === undefined) return
  add('mail_choices', {
    organization,
    digest,
    chosen_at: atMs,
    is_ended: type === 'weekly_mail_ended',
    ...trace(place),
    row_version: lastWins(atMs, place.offset),
  })
}

function activityRow(record: ActivityRecord, place: EntryPlace): RowOf<'activity'> {
  return {
    organization: record.organization,
    noticed_at: record.atMs,
    id: record.id,
    website: record.website,
    type: record.type,
    subject: record.subject,
    message: record.message,
    actor: record.actor ?? '',
    manager: record.manager ?? '',
    fields: record.fields ?? [],
    retention_days: Math.max(record.logRetentionDays, AUDIT_TYPES.has(record.type) ? LIMITS.auditRetentionDays : 0),
    ...trace(place),
    row_version: firstWins(record.atMs, place.offset),
  }
}

function replayRow(record: ReplayRecord, place: EntryPlace): RowOf<'decision_replays'> {
  const { website, id, organization, askedAtMs, policy, sinceMs, untilMs } = record
  return {
    website,
    id,
    organization,
    asked_at: askedAtMs,
    policy: policy.policy,
    window_ms: policy.windowMs,
    is_tokens_only: policy.isTokensOnly,
    since: sinceMs,
    until: untilMs,
    session: record.session,
    retention_days: LIMITS.replayKeepMs / DAY_MS,
    ...trace(place),
    row_version: firstWins(askedAtMs, place.offset),
  }
}

function webhookAttemptRow(record: WebhookAttemptRecord, place: EntryPlace): RowOf<'webhook_attempts'> {
  const { organization, webhook, messageId, number, type, website, state, status, error, answer, body } = record
  return {
    organization,
    webhook,
    message_id: messageId,
    number,
    type,
    website,
    state,
    status,
    error,
    answer,
    body,
    happened_at: record.happenedAtMs,
    started_at: record.startedAtMs,
    duration_ms: record.durationMs,
    next_attempt_at: record.nextAttemptAtMs,
    retention_days: record.logRetentionDays,
    ...trace(place),
    // An attempt with a number that exists already was repeated after a crash: the later outcome counts.
    row_version: lastWins(record.startedAtMs, place.offset),
  }
}

/** A row for each line of a file, or one for its import. */
function addSpend(record: SpendRecord, place: EntryPlace, add: AddRow): void {
  if (record.holds === 'import') {
    add('spend_imports', spendImportRow(record, place))
    return
  }
  const { organization, website, importId: import_id, retentionDays: retention_days } = record
  const row_version = firstWins(record.importedAtMs, place.offset)
  for (const [line, day, source, campaign, currency, amount] of record.rows) {
    const own = { organization, website, day, import_id, line, source, campaign, currency, amount }
    add('spend_rows', { ...own, retention_days, ...trace(place), row_version })
  }
}

function spendImportRow(record: SpendImportRecord, place: EntryPlace): RowOf<'spend_imports'> {
  const { organization, website, id, fileName, rows, isRemoved } = record
  return {
    organization,
    website,
    id,
    imported_at: record.importedAtMs,
    imported_by: record.importedBy,
    file_name: fileName,
    rows,
    first_day: record.firstDayMs,
    last_day: record.lastDayMs,
    totals: JSON.stringify(record.totals),
    is_removed: isRemoved,
    retention_days: record.retentionDays,
    ...trace(place),
    row_version: removedWins(isRemoved, record.importedAtMs, place.offset),
  }
}

function alertRow(record: AlertRecord, place: EntryPlace): RowOf<'alerts'> {
  const { organization, website, id, state, rule, of: arrival, period, atMs: at, end = '' } = record
  const { value, expected, threshold, catalogNumber: catalog_number } = record
  const told = { at, value, expected, threshold, end, catalog_number }
  const own = { organization, website, id, state, rule, arrival, period, ...told }
  const row_version = firstWins(at, place.offset)
  return { ...own, retention_days: LIMITS.alertDays, ...trace(place), row_version }
}

function trace(place: EntryPlace) {
  return { log_topic: place.topic, log_partition: place.partition, log_offset: place.offset }
}
