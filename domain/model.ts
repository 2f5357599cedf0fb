/**
 * The words of Whence as types.
 *
 * Terminology
 * Collection
 * - website: what the API calls `project`; identified by a website ID.
 * - organisation: owns websites, has a plan. install path: where an organisation's installs are counted; never just "path".
 * - visit: one recorded page view; its ID is inside its receipt.
 * - receipt: the 43 characters that prove a visit. marker: the value in the browser's storage that carries a receipt.
 * - activation: the browser has stored the marker; only then may the receipt match, and the one it replaced is revoked.
 * - handoff: the token that carries a visit inside an install command; the API calls it `token`.
 * - install: an install event reported by the hook; the API calls it an event. installation: one installed copy, with an ID.
 * - hook: the shell script that an installer runs. SDK: the script in the browser; extras: its part that only some pages load.
 * - candidate: a receipt or token in a report that may decide it. resolution: which visit an install came from, or that it has
 *   none; pending if that cannot be known yet, until a decision follows. tracked event: what a plan's quota counts.
 * - exchange: one request and its answer, with the api or with a provider. GPC: Global Privacy Control.
 *
 * Delivery
 * - provider: an analytics or advertising service. destination: a website's account there. target: a destination with its
 *   credentials, as configured now.
 * - plan: what an install's answer says about its deliveries. job: one delivery of one install to one destination.
 * - attempt: one try of a job. request batch: the jobs that one request carries. outcome: what a provider's reply means for a
 *   job. verdict: what a provider says later about a job that it accepted.
 * - tier: a topic in which jobs wait. backup copy: a job's entry in a tier while its attempt is in flight.
 * - hold: a job waits until something outside changes. pause: a destination whose credentials were refused gets no jobs.
 * - circuit breaker: stops sending to a destination that keeps failing. slot: a place among the concurrent requests.
 * - dead letter: a failed job, kept for a replay. replay: sending it again;
 *   of decisions: what another policy would have decided.
 * - stand-in: a server that answers as a provider does, for evaluation and tests.
 * - log stream: forwards an organisation's Logs to a receiver. lane: a partition of a topic during one generation of the
 *   topic; the stream keeps the order within it. backlog: what it has still to send. gap: records that it dropped and reported.
 * - webhook: an address of an organisation that events are sent to. event type: what happened, for a webhook or of an install.
 *
 * Storage and configuration
 * - event log: the durable queue of records. record: an entry on it. topic, partition, offset, group: as in Kafka.
 * - hot state: what must be known within a request; verb: one of its atomic operations. facts: the rows in ClickHouse, from which it
 *   can be filled again. generation: the time from the creation of a topic or store, or its last loss of data, to the next one.
 * - spool: entries on disk that Kafka could not store yet. claim: a right to handle an event or job, which expires by itself.
 * - hit: one count in a rate window. mark: an hour whose figures must be counted again.
 * - request log: the product's Logs. activity: what an organisation should notice. logger: process diagnostics.
 * - resource: a custom resource, or a document of a manifest. catalog: the compiled resources; part, shard, index: its form in
 *   a cluster. in force: what the service works with now. problem, condition: what is wrong with a resource, and its status.
 * - member: a person or group with a role in an organisation. invitation: a member that gives no access until it is accepted.
 * - tenant: an organisation created by signing up, whose objects cannot refer to those of others. owner of a field: the manager
 *   that set it, as in Kubernetes.
 * - API key: lets a program read figures or installs of an organisation; scope: what it may read.
 * - session: a signed-in browser. letter: what a mail says, before it is rendered; outbox: accepts letters to be sent.
 * - rollup: figures counted by the hour. dimension: what figures are counted by; cell: one of its values with its counts.
 * - funnel: the steps from a visit to a first run. erasure: deletes the data of one person permanently.
 * - backup: a copy of the stores of one machine. digest: a hash that identifies a content.
 * - settings: of a process. role: a task of a process (api, dashboard, facts-writer, dispatch, state, rollup, streams,
 *   webhooks, workers).
 * - keyring: the secret keys of a process.
 */

import type { ProviderId, ProviderIdentities } from './providers/index.ts'
import type { DeliveryReason } from './reasons.ts'

/** Website ID, `[a-z0-9-]`, unique in the installation at any one time. */
export type WebsiteId = string
/**
 * A website as it belongs to one organisation. Receipts, decisions, answers, jobs and facts belong to it and not to the ID alone, which may
 * get another owner: nothing of the former one may reach the next.
 */
export type OwnedWebsite = {
  /** `Organization.id`: namespace, name and tenant of its resource. */
  readonly organization: string
  readonly website: WebsiteId
}
/** 32 hex digits: the first 16 bytes of a receipt with the bits for tokens and GPC cleared. */
export type VisitId = string

export const EVENT_TYPES = ['install_started', 'install_completed', 'first_run'] as const
export type EventType = (typeof EVENT_TYPES)[number]

export const PLANS = ['Free', 'Standard', 'Enterprise'] as const
export type Plan = (typeof PLANS)[number]

export const DESTINATION_MODES = ['Validate', 'Live', 'Paused'] as const
export type DestinationMode = (typeof DESTINATION_MODES)[number]

/** Whether a destination gets installs of a kind that it usually does not. */
export const INCLUSIONS = ['Exclude', 'Include'] as const
export type Inclusion = (typeof INCLUSIONS)[number]

export const MEMBER_ROLES = ['Owner', 'Admin', 'Member', 'Viewer'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]

/** What programs may read with a key. */
export const KEY_SCOPES = ['figures', 'installs'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** Of an attempt at delivery in Logs; every other kind is of a request that came in. */
export const ATTEMPT_KIND = 'delivery'
/** What a line of Logs is about; `dashboard`: a request that the dashboard refused because of a rate. */
export const LOG_KINDS = ['visit', 'activation', 'handoff', 'install', 'request', 'dashboard', ATTEMPT_KIND] as const

/** Where the bucket stands in an object's address: in its path, or before the host. */
export const BUCKET_ADDRESSINGS = ['Path', 'VirtualHost'] as const
export type BucketAddressing = (typeof BUCKET_ADDRESSINGS)[number]

/** As S3 names them in `x-amz-server-side-encryption`. */
export const BUCKET_ENCRYPTIONS = ['AES256', 'aws:kms', 'aws:kms:dsse'] as const

export interface BucketEncryption {
  readonly algorithm: (typeof BUCKET_ENCRYPTIONS)[number]
  readonly kmsKeyId?: string
}

/** Where a log stream begins: with new records, or with the ones that another stream of the organisation has kept. */
export const LOG_STREAM_STARTS = ['Now', 'Backlog'] as const
export type LogStreamStart = (typeof LOG_STREAM_STARTS)[number]

/** What event webhooks tell; each type's payload is in domain/webhooks/events.ts. */
export const WEBHOOK_EVENT_TYPES = [
  'install.matched',
  'install.unmatched',
  'delivery.failed',
  'delivery.expired',
  'destination.paused',
  'quota.reached',
  'limit.reached',
  'plan.changed',
  'member.joined',
  'stream.failing',
  'summary.weekly',
  'website.not_accepted',
  'alert.opened',
  'alert.closed',
] as const
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number]
/** How events are posted: signed, or as messages of Slack. */
export const WEBHOOK_FORMATS = ['Standard', 'Slack'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]
/** `test`: a person wants to see whether it arrives. */
export type WebhookMessageType = WebhookEventType | 'test'

/** Whether a click takes the landing along to the website's other origins. */
export const CROSS_ORIGINS = ['Carry', 'Disabled'] as const
export type CrossOrigin = (typeof CROSS_ORIGINS)[number]

export const HOOK_SCANS = ['Notice', 'Silent', 'Disabled'] as const
export type HookScan = (typeof HOOK_SCANS)[number]

/** The names that the hook may send (`whence_agent` in hook/report.sh); a test compares the two. */
export const CODING_AGENTS = [
  'claude-code',
  'cursor',
  'gemini-cli',
  'codex',
  'copilot-cli',
  'opencode',
  'goose',
  'amp',
  'crush',
  'devin',
  'cline',
  'other',
] as const

export type CodingAgent = (typeof CODING_AGENTS)[number]

/** A JSON scalar in `client` and in custom adapters. */
type Scalar = string | number | boolean

/** What the providers know the visitor by. Only the fields that the website's providers use become facts. */
export type Identities = ProviderIdentities & {
  readonly custom?: Readonly<Record<string, Readonly<Record<string, Scalar>>>>
}

/**
 * How a request's body is kept in Logs. `text`: the exact body as UTF-8; `base64`: the exact bytes, if they are not UTF-8;
 * `unescaped`: escapes hid a receipt, so the body is kept with its escapes undone; `withheld`: it is not kept (over quota);
 * `digest`: it came in a flood of refused requests, so `sha256:` and the digest of its bytes replace it; `none`: there was no
 * body.
 */
export type BodyForm = 'text' | 'base64' | 'unescaped' | 'withheld' | 'digest' | 'none'

/** Why one receipt or token was or was not a candidate. */
export const RECEIPT_VERDICTS = [
  'active',
  'revoked',
  'expired',
  'never_activated',
  'forged',
  'other_website',
  'handoff_only',
  'unrecorded',
  'handoff',
  'undecided',
] as const
export type ReceiptVerdict = (typeof RECEIPT_VERDICTS)[number]

/** `pending`: what decides it was not known when it was reported; a decision follows. */
export const RESOLUTIONS = ['matched', 'unmatched', 'counted', 'pending'] as const
export type Resolution = (typeof RESOLUTIONS)[number]
/** Which of several candidates a website's installs are matched to: the newest visit or the oldest. */
export const VISIT_POLICIES = ['latest_visit', 'first_visit'] as const
export type VisitPolicy = (typeof VISIT_POLICIES)[number]
export const SELECTION_POLICIES = [...VISIT_POLICIES, 'handoff', 'same_installation', 'none'] as const
export type SelectionPolicy = (typeof SELECTION_POLICIES)[number]

/** One examined receipt or token with its verdict; the visit ID is null if nothing could be read. */
export interface CandidateVerdict {
  readonly visitId: VisitId | null
  readonly issuedAtMs: number | null
  readonly verdict: ReceiptVerdict
}

/** A receipt that is a candidate, or may turn out to be one; never the receipt itself. */
export interface OpenCandidate {
  readonly visitId: VisitId
  readonly issuedAtMs: number
  readonly gpc: boolean
  readonly isDecided: boolean
}

export const SESSION_MODES = ['original_session_window', 'client_only', 'none'] as const
export type SessionMode = (typeof SESSION_MODES)[number]

/** Plan of one delivery, as in the answer. */
export interface DeliveryPlan {
  readonly destination: string
  readonly provider: ProviderId
  readonly status: 'pending' | 'skipped'
  readonly sessionMode: SessionMode
  /** Why it is skipped; empty if it is pending. */
  readonly reason: DeliveryReason | ''
}

/** An install event as a fact. It stores the whole answer, so that a repeat can be answered from it. */
export interface Install {
  readonly website: WebsiteId
  readonly organization: string
  readonly eventId: string
  readonly installationId: string
  readonly eventType: EventType
  readonly receivedAtMs: number
  readonly installPath: string | null
  readonly platform: string
  /** This, and the other facts of the machine that are texts: what was sent, or the JSON of a list of two or more. */
  readonly arch: string
  readonly browsers: readonly string[]
  readonly defaultBrowser: string
  readonly timezone: string
  readonly language: string
  /** Of the installed program, as the installer states it; empty if it does not. */
  readonly productVersion: string
  /** Where the command stood that was run, as it says itself; empty if it does not. */
  readonly place: string
  /** Whether it ran in CI, and in a container, as the hook can tell. */
  readonly isCi: boolean
  readonly isContainer: boolean
  /** The event carried the mark of a test. */
  readonly isTest: boolean
  /** Absent if no coding agent named itself. */
  readonly agent?: CodingAgent
  readonly resolution: Resolution
  readonly selectionPolicy: SelectionPolicy
  readonly candidateCount: number
  readonly visitId: VisitId | null
  readonly visitIssuedAtMs: number | null
  /** GPC from the receipt or the token; the visit may carry it too. */
  readonly gpc: boolean
  readonly verdicts: readonly CandidateVerdict[]
  readonly deliveries: readonly DeliveryPlan[]
  /** Number of the catalog that its deliveries were planned with. */
  readonly catalogNumber: number
  readonly answer: InstallAnswer
  /** For a pending install: the candidates of its decision, besides the visit of its installation. */
  readonly openCandidates?: readonly OpenCandidate[]
  /** For a pending install: the website's policy when it was received. */
  readonly visitPolicy?: VisitPolicy
}

/** What was decided about an install, at once or later. */
export type InstallOutcome = Pick<
  Install,
  | 'resolution'
  | 'selectionPolicy'
  | 'candidateCount'
  | 'visitId'
  | 'visitIssuedAtMs'
  | 'gpc'
  | 'verdicts'
  | 'deliveries'
  | 'answer'
>

/** The answer of `POST /v1/events`, in the contract's words. */
export interface InstallAnswer {
  readonly ok: true
  readonly event_id: string
  readonly duplicate: boolean
  readonly resolution: Resolution
  readonly candidate_count: number
  readonly selection_policy: SelectionPolicy
  readonly ga: {
    readonly status: string
    readonly deliveries: readonly {
      readonly destination: string
      readonly status: string
      readonly session_mode: SessionMode
    }[]
  }
  readonly recorded?: false
}

/** Status of a delivery; the last four are final, except that a `failed` one can be replayed. */
export const DELIVERY_STATUSES = ['pending', 'retrying', 'delivered', 'skipped', 'expired', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]
