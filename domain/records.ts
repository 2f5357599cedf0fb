/** The entries of the event log: what each topic carries. One request is one record. */

import { memberOf, isObject } from './strict-json.ts'
import { keysOf } from './typed-keys.ts'
import type { AlertRecord } from './alerts/alert.ts'
import type { LogEnds } from './collection/facts-lag.ts'
import type { ReplayPolicy } from './collection/replay-decision.ts'
import type { Visit } from './collection/visit-fields.ts'
import type {
  BodyForm,
  DeliveryStatus,
  Install,
  InstallOutcome,
  OwnedWebsite,
  Plan,
  SessionMode,
  VisitId,
  WebhookMessageType,
  WebsiteId,
} from './model.ts'
import type { ProviderId } from './providers/index.ts'
import type { Letter } from './people/letters.ts'
import type { WeeklySummary } from './people/weekly-summary.ts'
import type { ActivityType, AttemptOutcome, DeadLetterReason, DeliveryReason, NextStepText } from './reasons.ts'
import type { SpendRecord } from './spend/spend-records.ts'

/** Topics whose records become facts, in chronological order. */
export const RECORD_TOPICS = [
  'visits',
  'activations',
  'handoffs',
  'installs',
  'install_decisions',
  'requests',
  'deliveries',
  'activity',
  'replays',
  'webhook_attempts',
  'spend',
  'alerts',
] as const
export type RecordTopic = (typeof RECORD_TOPICS)[number]

type JobTopic = `deliver.${ProviderId}` | `deliver.${ProviderId}.${TierName}`
/**
 * Installs (`dispatch`) and activations (`state`) that wait for facts do so in tiers, as do mails and webhook events that were
 * not accepted. Jobs that failed for good go to `dead-letters`.
 */
export type Topic =
  RecordTopic | JobTopic | `dispatch.${TierName}` | `state.${TierName}` | MailTopic | WebhookTopic | 'dead-letters'
type MailTopic = 'mail' | `mail.${TierName}`
type WebhookTopic = 'webhooks' | `webhooks.${TierName}`

/** Topics in which jobs wait for retries and holds; jitter is added when a job enters one. */
export const TIERS = { '5s': 5, '30s': 30, '5m': 300, '30m': 1_800, '2h': 7_200, '6h': 21_600, '24h': 86_400 } as const
export type TierName = keyof typeof TIERS
export const TIER_NAMES = keysOf(TIERS)
/** The tiers in which activations and mails wait; a hold never exceeds half an hour. */
export const WAITING_TIERS = ['5s', '30s', '5m', '30m'] as const satisfies readonly TierName[]

/** The request-log part of a record. Addresses are keyed hashes, and so are receipts and tokens inside the body. */
export interface RequestLog {
  /** 28 hex digits: 12 of the Unix time in ms, 16 random; unique, and ascending with time. */
  readonly id: string
  readonly receivedAtMs: number
  readonly durationMs: number
  /** Empty if the request named no existing website. */
  readonly website: WebsiteId
  readonly organization: string
  readonly method: string
  readonly path: string
  readonly status: number
  /** The error code; empty for a success. */
  readonly code: string
  readonly origin: string
  readonly userAgent: string
  readonly addressHash: string
  readonly body: string
  readonly bodyForm: BodyForm
  readonly bodyBytes: number
  readonly isRedacted: boolean
  readonly logRetentionDays: number
}

/** W3C trace context of what caused a record, if that is traced: whoever goes on with the record does so in its trace. */
interface Traced {
  readonly traceparent?: string
}

interface RecordBase extends Traced {
  readonly v: 1
  readonly request: RequestLog
}

export interface VisitRecord extends RecordBase {
  readonly kind: 'visit'
  readonly visit: Visit
  readonly retentionDays: number
}

export interface ActivationRecord extends RecordBase, OwnedWebsite {
  readonly kind: 'activation'
  readonly visitId: VisitId
  readonly issuedAtMs: number
  readonly activatedAtMs: number
  readonly revokedVisitId: VisitId | null
  readonly revokedIssuedAtMs: number | null
  /**
   * True if neither the hot state nor Facts had its visit, so that the receipt it revokes is unknown. The role `state`
   * appends the record again, completed, once the visit has arrived.
   */
  readonly isPredecessorUnknown: boolean
  readonly retentionDays: number
}

export interface HandoffRecord extends RecordBase, OwnedWebsite {
  readonly kind: 'handoff'
  readonly visitId: VisitId
  readonly issuedAtMs: number
  readonly askedAtMs: number
  readonly gpc: boolean
  /** The visitor copied a command that carries the token. Without it the page has only asked for the token in advance. */
  readonly isCopied: boolean
  /** The visit exists only for a handoff: this one, or an earlier one. */
  readonly isHandoffOnly: boolean
  /** The visit, if the handoff recorded one of its own. */
  readonly visit: Visit | null
  readonly retentionDays: number
}

export interface InstallRecord extends RecordBase {
  readonly kind: 'install'
  readonly install: Install
  readonly retentionDays: number
}

/** The decision about a pending install. If there are several about one event, the earliest counts. */
export interface DecisionRecord
  extends
    Pick<
      Install,
      | 'website'
      | 'organization'
      | 'eventId'
      | 'eventType'
      | 'installationId'
      | 'installPath'
      | 'productVersion'
      | 'place'
      | 'receivedAtMs'
      | 'isTest'
      | 'isCi'
      | 'isContainer'
    >,
    InstallOutcome {
  readonly v: 1
  readonly kind: 'install_decision'
  readonly decidedAtMs: number
  /** Number of the catalog that it was decided with. */
  readonly catalogNumber: number
  readonly retentionDays: number
}

/** A request without a fact: refused, repeated, not recorded, or a logged read. */
export interface RequestRecord extends RecordBase {
  readonly kind: 'request'
  /** Of the API under /api/; absent for collection. */
  readonly isOfDashboard?: true
}

/** One exchange with a provider, as stored: secrets and identifiers removed, at most 64 KB of each body. */
export interface Attempt {
  readonly attemptId: string
  /** Counts from 1. */
  readonly number: number
  readonly startedAtMs: number
  readonly durationMs: number
  readonly requestUrl: string
  readonly requestBody: string
  /** 0 if there was no answer. */
  readonly responseStatus: number
  readonly responseBody: string
  readonly outcome: AttemptOutcome
  /** The provider's own code or a short reason of this service. */
  readonly code: string
  readonly nextStep: NextStepText
}

/** A delivery reached a new state, with the attempt that led there, if any. */
export interface DeliveryRecord {
  readonly v: 1
  readonly kind: 'delivery'
  readonly jobId: string
  readonly website: WebsiteId
  readonly organization: string
  readonly eventId: string
  readonly destination: string
  readonly provider: ProviderId
  readonly status: DeliveryStatus
  /** Empty for a delivery that is pending or delivered. */
  readonly reason: DeliveryReason | ''
  /** The mode actually used, for example `original_session` or `client_only`; may be more precise than the plan. */
  readonly sessionMode: SessionMode
  readonly detail: string
  readonly attempts: number
  readonly atMs: number
  readonly nextAttemptAtMs: number | null
  readonly deadlineAtMs: number | null
  readonly attempt: Attempt | null
  /** When the record of its install was received. */
  readonly installReceivedAtMs: number
  /** Replaces a skip that a later record of the same event had caused. */
  readonly corrects?: true
  /** Number of the catalog of whoever wrote it. */
  readonly catalogNumber: number
  readonly retentionDays: number
  readonly logRetentionDays: number
}

/** What an organisation's members should notice: a limit reached, a destination paused, a catalog problem. */
export interface ActivityRecord {
  readonly v: 1
  readonly kind: 'activity'
  readonly id: string
  readonly atMs: number
  readonly organization: string
  readonly website: WebsiteId
  readonly type: ActivityType
  readonly subject: string
  readonly message: string
  /** The person who did it (`p_` and 16 hex digits), if known for certain. */
  readonly actor?: string
  /** For a change of an object: who wrote its fields, as the API server calls them, or the file. */
  readonly manager?: string
  /** For a change of an object: JSON pointers of the fields that changed; no values. */
  readonly fields?: readonly string[]
  /** For a change of an organisation's plan: the one that it has now. */
  readonly plan?: Plan
  /** For a weekly summary: its numbers. */
  readonly summary?: WeeklySummary
  /** For the end of a weekly mail, and for its return: digest of whose it is (`domain/people/mail-choice.ts`). */
  readonly mailDigest?: string
  /** Number of the catalog of whoever wrote it; absent if that has none. */
  readonly catalogNumber?: number
  readonly logRetentionDays: number
}

/** A person asks what another policy would have decided about a website's installs. */
export interface ReplayRecord {
  readonly v: 1
  readonly kind: 'replay'
  readonly id: string
  readonly organization: string
  readonly website: WebsiteId
  readonly askedAtMs: number
  readonly policy: ReplayPolicy
  /** Installs received from then on, Unix ms. */
  readonly sinceMs: number
  /** Exclusive. */
  readonly untilMs: number
  /** ID of the session from which it was requested, which is a digest of its cookie. */
  readonly session: string
}

/** How one try to call a webhook ended. `waiting`: it is sent again, because a person asked for that. */
export type WebhookState = 'delivered' | 'retrying' | 'failed' | 'expired' | 'waiting'

/** A webhook's job reached a new state, usually by an attempt. It is not a record of Logs. */
export interface WebhookAttemptRecord extends Pick<
  WebhookJob,
  'organization' | 'website' | 'webhook' | 'messageId' | 'type' | 'body' | 'happenedAtMs' | 'logRetentionDays'
> {
  readonly v: 1
  readonly kind: 'webhook_attempt'
  /** Counts from 1. */
  readonly number: number
  readonly startedAtMs: number
  /** 0 if nothing was sent. */
  readonly durationMs: number
  readonly state: WebhookState
  /** 0 if there was no answer. */
  readonly status: number
  /** A short word from a closed list, for example `http_503` or `timeout`; empty if it was accepted. */
  readonly error: string
  /** The beginning of the receiver's answer. */
  readonly answer: string
  readonly nextAttemptAtMs: number | null
}

export type LogRecord =
  | VisitRecord
  | ActivationRecord
  | HandoffRecord
  | InstallRecord
  | DecisionRecord
  | RequestRecord
  | DeliveryRecord
  | ActivityRecord
  | ReplayRecord
  | WebhookAttemptRecord
  | SpendRecord
  | AlertRecord

/** A delivery that a provider accepted without a verdict yet. */
export interface Accepted {
  /** The provider's reference to what it accepted; used to poll for the verdict. */
  readonly reference: string
  readonly atMs: number
}

/** One delivery to make: everything a provider's worker needs except credentials and settings. */
export interface Job extends Traced {
  readonly v: 1
  /** 32 hex digits derived from organisation, website, event ID and destination; the provider's dedupe key. */
  readonly jobId: string
  readonly website: WebsiteId
  readonly organization: string
  readonly destination: string
  readonly provider: ProviderId
  readonly install: Pick<
    Install,
    'eventId' | 'eventType' | 'receivedAtMs' | 'installPath' | 'platform' | 'arch' | 'gpc' | 'selectionPolicy'
  > & {
    /** What it is among the events of its installation (`domain/figures/install-kinds.ts`). */
    readonly kind: string
  }
  readonly visit: Visit
  readonly sessionMode: SessionMode
  readonly createdAtMs: number
  /** After this moment it ends as `expired`. */
  readonly deadlineAtMs: number
  /** Attempts made so far. */
  readonly attempts: number
  readonly dueAtMs: number
  /** When an attempt first ended without a clear answer; limits retries if dedupe is limited. */
  readonly unclearSinceMs: number | null
  /** Its first record replaces a skip that a later record of the same event had caused. */
  readonly corrects?: true
  /**
   * Why it is being held, absent while it only waits for its next attempt; a hold is recorded once, not each time it is read.
   */
  readonly heldFor?: string
  /** Set from the provider's acceptance until its verdict. */
  readonly accepted?: Accepted
  /** Number of the catalog that planned it: a worker whose own is older does not take its destination for removed. */
  readonly catalogNumber: number
  readonly retentionDays: number
  readonly logRetentionDays: number
}

/** A job that ended as `failed`, with the reason, ready for replay. */
export interface DeadLetter {
  readonly v: 1
  readonly job: Job
  readonly reason: DeadLetterReason
  readonly failedAtMs: number
}

/** An install that waits for its visit or its decision; `firstSeenAtMs` bounds the wait. */
export interface ParkedInstall {
  readonly v: 1
  readonly record: InstallRecord
  readonly firstSeenAtMs: number
  /** For a pending install: how far the facts must have come before it can be decided. */
  readonly ends?: LogEnds
  readonly dueAtMs: number
}

/** An activation that waits for its visit, which determines what it revokes. */
export interface WaitingActivation {
  readonly v: 1
  readonly record: ActivationRecord
  readonly dueAtMs: number
}

/** A mail to send: the sender looks up the address and writes the text. */
export interface MailJob {
  readonly v: 1
  /** 32 hex digits; the same at every try, so that a mail that arrives twice can be recognised. */
  readonly mailId: string
  readonly letter: Letter
  readonly createdAtMs: number
  /** After this moment it is given up. */
  readonly deadlineAtMs: number
  /** Tries made so far. */
  readonly tries: number
  readonly dueAtMs: number
}

/** An event to send to one webhook. */
export interface WebhookJob {
  readonly v: 1
  /** 28 hex digits, ascending with time; the same at every try, so that receivers can recognise repeats. */
  readonly messageId: string
  readonly organization: string
  /** Empty if the event concerns no website. */
  readonly website: WebsiteId
  /** Namespace and name of the Webhook. */
  readonly webhook: string
  readonly type: WebhookMessageType
  /** JSON, the same at every try. */
  readonly body: string
  readonly happenedAtMs: number
  /** After this moment it ends as `expired`. */
  readonly deadlineAtMs: number
  /** Attempts made so far. */
  readonly attempts: number
  readonly dueAtMs: number
  /** Number of the catalog that it was made with: a process whose own is older does not take its webhook for deleted. */
  readonly catalogNumber: number
  readonly logRetentionDays: number
}

const CATALOG_NUMBER = /"catalogNumber":(\d{1,16})/

/**
 * The number of the catalog that an entry of the log carries; 0 if it has none. Seen in its text, as entries are passed over unread where nobody
 * wants them. Quotes in a text of the record are escaped, so only its own member looks like this; what follows its line is the body, as a
 * client sent it.
 */
export function catalogNumberOf(value: string): number {
  const end = value.indexOf('\n')
  return Number(CATALOG_NUMBER.exec(end === -1 ? value : value.slice(0, end))?.[1] ?? 0)
}

/** Tells websites with their owners apart. No ID of an organisation or website contains a colon, and no website's a slash. */
export function ownerKey({ organization, website }: OwnedWebsite): string {
  return `${organization}/${website}`
}

/** The key of a record: its website, with its owner, and its own ID; never the website alone, which would make one partition hot. */
export function recordKey(of: OwnedWebsite, id: string): string {
  return `${ownerKey(of)}:${id}`
}

/**
 * One line of JSON, followed by the request's body as it is. The body is usually JSON itself, and escaping all its quotes
 * took as long as everything else, both in writing and in reading.
 */
export function encodeRecord(
  record: LogRecord | Job | DeadLetter | ParkedInstall | WaitingActivation | MailJob | WebhookJob,
): string {
  if (!('request' in record) || record.request.body === '') return JSON.stringify(record)
  const { request } = record
  return `${JSON.stringify({ ...record, request: { ...request, body: '' } })}\n${request.body}`
}

/** The inverse of `encodeRecord`, for entries known to be intact; use `read-record.ts` for all others. */
export function decodeRecord<T extends { readonly v: 1 }>(value: string): T {
  const record = parseRecord(value)
  const version = memberOf(record, 'v')
  if (version !== 1) throw new Error(`record of unknown version ${String(version)}`)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- for tests, which know what they wrote
  return record as T
}

/** Puts the body of a request back into its place; throws if the line before it is not JSON. */
export function parseRecord(value: string): unknown {
  const end = value.indexOf('\n')
  const record: unknown = JSON.parse(end === -1 ? value : value.slice(0, end))
  const request = end === -1 ? undefined : memberOf(record, 'request')
  if (isObject(request)) Reflect.set(request, 'body', value.slice(end + 1))
  return record
}
