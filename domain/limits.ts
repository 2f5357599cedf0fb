/** The one table of limits: sizes, counts, times, plans and rates. Names end with the unit. */

import type { Plan } from './model.ts'
import { DAY_MS, DAY_S, HOUR_MS, HOUR_S, MINUTE_MS, MINUTE_S, SECOND_MS } from './durations.ts'

const KIB = 1024

/** Limits that users may rely on, in force. */
const LIMITS_IN_FORCE = {
  bodyBytes: 16 * KIB,
  jsonDepth: 8,
  jsonMembers: 512,
  receiptChars: 43,
  receiptsPerInstall: 64,
  receiptLifetimeMs: 30 * DAY_MS,
  idChars: { min: 8, max: 128 },
  websiteIdChars: 63,
  nameChars: 80,
  groupChars: 256,
  pagesPerWebsite: 30,
  ignoredReferrers: 50,
  pageListChars: 64 * KIB,
  credentialBytes: 16 * KIB,
  catalogBytes: 64 * 1024 * KIB,
  measurementIdsPerVisit: 10,
  customAdapters: 10,
  customFields: 10,
  customValueChars: 256,
  utmChars: 150,
  clickNameChars: 32,
  sittingChars: 22,
  sittingPauseMs: 30 * MINUTE_MS,
  carriedBytes: 400,
  carriedLifetimeMs: 2 * MINUTE_MS,
  sessionAttributesChars: 6_000,
  identifierChars: 1_024,
  urlChars: 8_192,
  clientHintChars: 256,
  machineFactChars: 128,
  statedFactChars: 64,
  timeZoneChars: 64,
  browsersPerInstall: 32,
  handoffCommandChars: 65_536,
  markerBytes: 1_021,
  logsPerPage: 200,
  logExportRecords: 100_000,
  logExportBytes: 25 * 1024 * KIB,
  csvExportEvents: 100_000,
  outboundBodyBytes: 64 * KIB,
  outboundUrlChars: 2_048,
  organizationsOwned: 5,
  organizationsJoined: 20,
  hookScanMs: 4 * SECOND_MS,
  hookScanFiles: 20_000,
  hookConnectMs: 3 * SECOND_MS,
  hookTotalMs: 5 * SECOND_MS,
  dashboardSessionMs: 7 * DAY_MS,
  invitationMs: 7 * DAY_MS,
  expiredInvitationMs: 30 * DAY_MS,
  dashboardBodyBytes: 64 * KIB,
  signInMs: 15 * MINUTE_MS,
  knownBrowserMs: 180 * DAY_MS,
  signInCodeTries: 5,
  groupMembershipMs: HOUR_MS,
  groupsReadAgainMs: 15 * MINUTE_MS,
  webhookMs: 10 * SECOND_MS,
  webhooks: 10,
  webhookTryMs: 3 * DAY_MS,
  webhookVisitWaitMs: MINUTE_MS,
  webhookSecretOverlapMs: DAY_MS,
  alertRules: 100,
  /** Opened and closed ones: they hold numbers of days, and nothing of anybody. */
  alertDays: 395,
  /** Of Slack: blocks of a message, characters of its header and of any other text. */
  slackBlocks: 50,
  slackHeaderChars: 150,
  slackTextChars: 3_000,
  slackMessageChars: 12_500,
  apiKeys: 20,
  shareLinks: 20,
  /** Of an API key or a share link: a year, whichever it is. */
  passDays: 366,
  shareCacheS: 60,
  keyInstallsPerPage: 1_000,
  keyBuckets: 1_000,
  keyBucketsByValue: 100,
  reconstructionHours: { min: 1, max: 168, fallback: 72 },
  retentionDays: { min: 30, max: 1_095, fallback: 395 },
  logRetentionDays: { min: 7, fallback: 30 },
  auditRetentionDays: 90,
  limitsCacheS: 300,
  preflightCacheS: 7_200,
  answerMemoryDays: 31,
  unavailableRetryS: 2,
  eventLogKeepMs: 7 * DAY_MS,
  replayKeepMs: 7 * DAY_MS,
  /** As long as data are kept by default. */
  replayPeriodMs: 395 * DAY_MS,
  /** Within the lifetime of a receipt. About 260 bytes each; of its 384 MB, a pod of the role `rollup` has about 190 MB for objects. */
  replayInstallations: 500_000,
  deadLetterKeepMs: 30 * DAY_MS,
  visitMissingMs: HOUR_MS,
  clockSkewMs: 5 * MINUTE_MS,
  refusedBodiesPerMinute: 20,
  /**
   * Activity entries about unregistered origins: one per hour and origin, and at most this many per hour and website.
   */
  unregisteredOriginsPerHour: 20,
  /** Installations that may be matched to one visit within a UTC day before an activity entry is written. */
  installationsPerVisit: { min: 1, max: 1_000_000, fallback: 10 },
  activityEntries: { max: 200, fallback: 50 },
  supportMessageChars: 4_000,
  paymentWebhookAgeMs: 5 * MINUTE_MS,
  supportDiagnosticsBytes: 16 * KIB,
  /** Longer than a year, so that a year can be compared. */
  figuresPeriodDays: 400,
  /** Of a chart by hour. */
  figuresHourlyDays: 14,
  spendFileBytes: 5 * 1024 * KIB,
  spendFileNameChars: 200,
  /** Of one row, in the smallest unit of its currency. */
  spendAmountUnits: 1_000_000_000_000,
  /** A weekly mail that could not be made on its Monday is made until then, and no later. */
  weeklyMailLateMs: 2 * DAY_MS,
  logStreamBacklogRecords: 1_000_000,
  logStreamBacklogDays: 7,
} as const

/** Secrets that an organisation may have through the dashboard: for each object that refers to some, and besides. A rotated one stays for a day. */
export const SECRET_LIMITS = { perObject: 2, besides: 10 } as const

/** Limits that users may rely on once the part that they bound is built. Nothing reads these yet. */
const LIMITS_NOT_BUILT = {} as const

/** Our own tuning, on which no user relies: it is not published and may change at any time. */
const TUNING = {
  /**
   * A process of the dashboard in a cluster asks so often for what is published; without an answer for `rightsFreshMs` it writes nothing and signs
   * nobody in, and for `rightsReadMs` more those who are signed in read.
   */
  rightsAskEveryMs: 2 * SECOND_MS,
  rightsFreshMs: 5 * SECOND_MS,
  rightsReadMs: MINUTE_MS,
  /** A part of the catalog in a cluster, compressed. */
  catalogPartBytes: 64 * KIB,
  /** A part of the credentials in a cluster. */
  credentialPartBytes: 900_000,
  /** Share of the operator's heap that what it keeps of all namespaces together may take. */
  operatorHeapShare: 0.6,
  /** The most Secrets of one namespace that a pass of the operator reads; it goes on without the others. */
  secretReadsPerPass: 50,
  /** A Secret that the dashboard made and nothing ever referred to is deleted after this time. */
  unusedSecretMs: HOUR_MS,
  /** One that was replaced by another stays for this time, so that a rotation can be taken back. */
  replacedSecretMs: DAY_MS,
  /** How long the operator's first pass waits for the objects of one namespace. */
  namespacePatienceMs: 5 * SECOND_MS,
  /** All problems of objects that the operator publishes in a cluster, in characters of JSON. */
  publishedProblemsBytes: 256 * KIB,
  /** Header block of an answer from an address that a tenant gave. */
  outboundHeadBytes: 16 * KIB,
  /** A batch that a log stream posts to a webhook: records, and bytes of their texts. */
  streamBatchRecords: 500,
  streamBatchBytes: 1024 * KIB,
  /** An object that a log stream writes to a bucket: its size before compression, and how long the call may take. */
  streamObjectRecords: 10_000,
  streamObjectBytes: 16 * 1024 * KIB,
  streamObjectMs: MINUTE_MS,
  /** Texts of batches that one process packs at the same time, in bytes; an object takes two or three times its texts while it is packed. */
  streamPackingBytes: 32 * 1024 * KIB,
  /** Log streams that one process serves. */
  streamsPerProcess: 64,
  /** How long a log stream is leased, and how often the lease is renewed. */
  streamLeaseMs: 30 * SECOND_MS,
  streamRenewMs: 10 * SECOND_MS,
  /** How far the clocks of the service's own machines may differ: within it two times do not tell which event was first. */
  clockDifferenceMs: 5 * SECOND_MS,
  /** Lease of an `event_id` while its first request is being answered. */
  claimLeaseMs: 5 * SECOND_MS,
  /** How long other requests with the same `event_id` wait for that answer. */
  claimWaitMs: SECOND_MS,
  /** How long a receipt that is never activated is remembered. */
  issuedMemoryMs: HOUR_MS,
  /** How long an append may wait for an event log that does not move before the answer is `503`. */
  appendDeadlineMs: SECOND_MS,
  /** How long an append may wait for a slow event log before the answer is `503`. */
  appendPatienceMs: 3.5 * SECOND_MS,
  /** Problems of a file of ad spend that an answer names. */
  spendProblems: 20,
  /** Imports of such files that a list shows, the newest. */
  spendImportsListed: 500,
  /** Rows of such a file in one entry of the log, in characters of JSON. */
  spendPartChars: 64 * KIB,
  /** How long an import keeps others of its organisation away if its process dies: longer than a request may take. */
  spendLeaseMs: 2 * MINUTE_MS,
  /** Body of an event of the payment provider. */
  paymentEventBytes: 256 * KIB,
  /** Members of what any client may send, beyond which it is not parsed: parameters of a query; parts of a header, such as cookies. */
  queryParameters: 64,
  /** Filters of one request for figures, values of a filter, and characters of a value: as many as an address of a page that is counted keeps. */
  figureFilters: 8,
  figureFilterValues: 50,
  figureFilterChars: 300,
  headerParts: 256,
  /** Lines of Logs, of each kind of answer, that say what is wrong with a set-up. */
  setUpLines: 100,
  /** A page that is fetched for a set-up: how long that may take, redirects that are followed, and how many one process waits for. */
  pageCheckMs: 10 * SECOND_MS,
  pageCheckRedirects: 3,
  pageChecksAtOnce: 8,
  /** Trials of destinations that one process waits for, and characters of a provider's answer that are shown. */
  destinationTrialsAtOnce: 8,
  destinationTrialAnswerChars: 2_000,
  /** Proxies in front of the service: of a longer list of addresses the last ones count. */
  forwardedHops: 32,
  /** Answers to links that one process keeps, of some 20 KB each. */
  keptSharedAnswers: 200,
  /** Rate-limit refusals that one process logs one by one, per second. */
  loggedRefusalsPerS: 1_000,
  /** The same in the dashboard, for one organisation: its Logs show that refusals go on, and leave room for others. */
  dashboardRefusalsPerS: 20,
} as const

/** What `/api/limits` and the docs publish. */
export const PUBLIC_LIMITS = { ...LIMITS_IN_FORCE, ...LIMITS_NOT_BUILT }
export const LIMITS = { ...PUBLIC_LIMITS, ...TUNING }

export interface PlanLimits {
  readonly installPaths: number
  readonly websites: number
  readonly domainsPerWebsite: number
  readonly members: number
  readonly destinationsPerWebsite: number
  readonly logStreams: number
  readonly logRetentionDays: number
  readonly trackedEventsPerMonth: number
  /** Beyond the quota, Free answers as usual and stores nothing; paid plans are never cut off. */
  readonly isCutOffOverQuota: boolean
}

export const PLAN_LIMITS: { readonly [P in Plan]: PlanLimits } = {
  Free: {
    installPaths: 1,
    websites: 1,
    domainsPerWebsite: 5,
    members: 1,
    destinationsPerWebsite: 0,
    logStreams: 0,
    logRetentionDays: 7,
    trackedEventsPerMonth: 10_000,
    isCutOffOverQuota: true,
  },
  Standard: {
    installPaths: 1,
    websites: 3,
    domainsPerWebsite: 10,
    members: 3,
    destinationsPerWebsite: 10,
    logStreams: 0,
    logRetentionDays: 30,
    trackedEventsPerMonth: 1_000_000,
    isCutOffOverQuota: false,
  },
  Enterprise: {
    installPaths: 10,
    websites: 25,
    domainsPerWebsite: 25,
    members: 20,
    destinationsPerWebsite: 20,
    logStreams: 10,
    logRetentionDays: 90,
    trackedEventsPerMonth: 10_000_000,
    isCutOffOverQuota: false,
  },
}

/** Counts by plan that the contract's table does not have. */
export const OWN_PLAN_LIMITS: { readonly [P in Plan]: { readonly shareLinksPerWebsite: number } } = {
  Free: { shareLinksPerWebsite: 0 },
  Standard: { shareLinksPerWebsite: LIMITS.shareLinks },
  Enterprise: { shareLinksPerWebsite: LIMITS.shareLinks },
}

/** The longest that any plan keeps Logs. */
export const MOST_LOG_RETENTION_DAYS = Math.max(...Object.values(PLAN_LIMITS).map((plan) => plan.logRetentionDays))

/** Fixed windows aligned to the clock: a window's number is the Unix time divided by `windowS`. */
const RATES_IN_FORCE = {
  collection: { limit: 240, windowS: MINUTE_S, per: 'client address' },
  visits: { limit: 6_000, windowS: MINUTE_S, per: 'website' },
  events: { limit: 1_200, windowS: MINUTE_S, per: 'website' },
  events_per_address_minute: { limit: 30, windowS: MINUTE_S, per: 'website and client address' },
  events_per_address_day: { limit: 500, windowS: DAY_S, per: 'website and client address' },
  dashboard_writes: { limit: 30, windowS: MINUTE_S, per: 'client address' },
  dashboard_reads: { limit: 600, windowS: MINUTE_S, per: 'session' },
  key_reads: { limit: 600, windowS: MINUTE_S, per: 'API key' },
  share_reads: { limit: 60, windowS: MINUTE_S, per: 'share link and client address' },
  invitations: { limit: 20, windowS: DAY_S, per: 'organisation' },
  log_exports: { limit: 10, windowS: HOUR_S, per: 'organisation' },
  support_per_person: { limit: 5, windowS: DAY_S, per: 'person' },
  support_per_organization: { limit: 20, windowS: DAY_S, per: 'organisation' },
  billing_sessions: { limit: 10, windowS: HOUR_S, per: 'organisation' },
  log_stream_tests: { limit: 10, windowS: HOUR_S, per: 'organisation' },
} as const satisfies Record<string, { limit: number; windowS: number; per: string }>

/** Rates of parts that are not built yet. */
const RATES_NOT_BUILT = {} as const

export const RATE_RULES = { ...RATES_IN_FORCE, ...RATES_NOT_BUILT }

/** Names of limits that are published but not in force, because the part that they bound is not built. */
export const NOT_BUILT: { readonly service: readonly string[]; readonly rates: readonly string[] } = {
  service: Object.keys(LIMITS_NOT_BUILT),
  rates: Object.keys(RATES_NOT_BUILT),
}

export type RateRuleName = keyof typeof RATE_RULES

/** Windows of our own, which the contract does not name: they slow down clients that try out addresses and codes. */
export const SIGN_IN_RULES = {
  sign_ins: { limit: 10, windowS: MINUTE_S, per: 'client address' },
  /** Per address and client together, so that no client can use up another person's links. */
  sign_in_mails: { limit: 5, windowS: HOUR_S, per: 'e-mail address and client address' },
  /** In place of the two others where the address has signed in before: strangers cannot use up the place of a person's own browser. */
  sign_in_mails_known: { limit: 5, windowS: HOUR_S, per: 'e-mail address and browser in which it has signed in' },
  /** Beyond it no mail is sent, but the answer stays the same. */
  sign_in_mails_in_all: { limit: 30, windowS: HOUR_S, per: 'e-mail address' },
} as const satisfies Record<string, { limit: number; windowS: number; per: string }>

/** A window of our own for addresses that do not exist: an icon that browsers ask for behind one address uses up nobody's other windows. */
export const PATH_RULES = {
  unknown_paths: { limit: 600, windowS: MINUTE_S, per: 'client address' },
} as const satisfies Record<string, { limit: number; windowS: number; per: string }>

/** Windows of our own: each replay reads all installs of its period, each import may store 5 MB, and each test or check calls an address of a customer. */
export const REPLAY_RULES = {
  decision_replays: { limit: 10, windowS: HOUR_S, per: 'organisation' },
  spend_imports: { limit: 30, windowS: HOUR_S, per: 'organisation' },
  webhook_tests: { limit: 10, windowS: HOUR_S, per: 'organisation' },
  destination_trials: { limit: 30, windowS: HOUR_S, per: 'organisation' },
  page_checks: { limit: 60, windowS: HOUR_S, per: 'organisation' },
} as const satisfies Record<string, { limit: number; windowS: number; per: string }>

/**
 * How those who wait for the engine share its time, besides look-ups of requests, which go first: each rank gets its part of the sum while it has
 * something to do, and what another does not use. Roles are what the service itself reads: figures, deliveries, streams.
 */
export const ENGINE_SHARES = { page: 8, tail: 2, export: 2, key: 2, replay: 1, link: 0.5, role: 3 } as const

/** The engine's rank of what people read. */
export type ReadRank = Exclude<keyof typeof ENGINE_SHARES, 'role'>

/** Reads of the dashboard that run at the same time, and that wait: for a person, key or link, for an organisation, and in a process. More are answered `503`. */
export const READ_PLACES = {
  page: { person: 2, organization: 4 },
  export: { person: 1, organization: 2 },
  key: { person: 2, organization: 3 },
  link: { person: 1, organization: 2 },
  waiting: { person: 150, organization: 300, all: 2_000 },
} as const

/** Streams of events to browsers that are open at the same time. Browsers allow six connections per host, of which a page needs some for itself. */
export const STREAM_PLACES = { session: 4, person: 8, organization: 25, process: 50 } as const

/** The reconstruction windows that the dashboard offers; with kubectl any value in the range may be set. */
export const RECONSTRUCTION_CHOICES_HOURS: readonly number[] = [24, 72, 168]
