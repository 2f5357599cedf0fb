/** Closed lists of values in records: the reasons of deliveries, the outcomes of attempts and the types of activity. */

/** How one exchange with a provider ended, before the next step is decided. */
export type AttemptOutcome =
  'delivered' | 'retry' | 'throttled' | 'credentials' | 'refused' | 'accepted' | 'undecided' | 'resend'

interface DeliveryReasonRow {
  /** A `DeliveryStatus` that needs a reason. */
  readonly status: 'skipped' | 'retrying' | 'expired' | 'failed'
  readonly when: string
}

/** Every reason of a delivery, once; `docs/deliveries.md` and `whencectl explain` show these sentences. */
export const DELIVERY_REASONS = {
  destination_paused: { status: 'skipped', when: 'The destination was paused when the install was reported.' },
  event_type_not_selected: { status: 'skipped', when: 'The destination does not take events of this type.' },
  ci: { status: 'skipped', when: 'The install ran in CI or in a container, which the destination excludes.' },
  unmatched: { status: 'skipped', when: 'The install could not be tied to a visit, so there is no visitor to report.' },
  counted: { status: 'skipped', when: 'The install was only counted: receipts and tokens were not read.' },
  test: { status: 'skipped', when: 'The install, or the visit that it came from, was marked as a test.' },
  too_old: { status: 'skipped', when: 'The install, or the click behind it, is older than the provider accepts.' },
  gpc: { status: 'skipped', when: 'The visitor sends Global Privacy Control, so advertising providers get nothing.' },
  no_identifier: { status: 'skipped', when: 'The visit holds no identifier that this provider could recognise.' },
  no_client_id: { status: 'skipped', when: 'The visit holds no usable GA4 client ID of this measurement ID.' },
  not_an_install: {
    status: 'skipped',
    when: 'The event is not the install of its installation, which is all that the destination gets.',
  },
  visit_missing: { status: 'skipped', when: 'The matched visit could not be read within an hour.' },
  destination_removed: { status: 'skipped', when: 'The destination no longer exists.' },
  provider_unknown: { status: 'skipped', when: 'This version cannot deliver to that provider.' },
  attempt_failed: { status: 'retrying', when: 'The last attempt failed in a way that may pass; another one follows.' },
  throttled: { status: 'retrying', when: 'The provider asked for fewer requests; another attempt follows.' },
  credentials_refused: { status: 'retrying', when: 'The provider refuses the credentials; it waits for new ones.' },
  credentials_missing: { status: 'retrying', when: 'The destination has no complete credentials; it waits for them.' },
  destination_on_hold: {
    status: 'retrying',
    when: 'The destination was paused after the install; the delivery waits.',
  },
  catalog_behind: {
    status: 'retrying',
    when: 'The worker does not know the destination yet: its copy of the configuration is older than the delivery.',
  },
  breaker_open: { status: 'retrying', when: 'The destination keeps failing; one delivery at a time tests it.' },
  click_too_fresh: {
    status: 'retrying',
    when: 'The click is too recent for the provider to know it; the delivery waits.',
  },
  awaiting_verdict: {
    status: 'retrying',
    when: 'The provider has accepted it and judges it later; it will be polled again.',
  },
  deadline_passed: { status: 'expired', when: 'It could not be delivered while the provider would still accept it.' },
  refused: { status: 'failed', when: 'The provider refused it for good; the last attempt holds its answer.' },
  retries_ran_out: { status: 'failed', when: 'The delivery has used all its attempts.' },
  unclear_too_long: {
    status: 'failed',
    when: 'An attempt ended without a clear answer, and the provider would no longer recognise a repeat.',
  },
  unreadable_job: { status: 'failed', when: 'No request could be built from it; this is a fault of the service.' },
} as const satisfies Record<string, DeliveryReasonRow>

export type DeliveryReason = keyof typeof DELIVERY_REASONS
/** Sent again, it may count twice: the provider may have it, and would not recognise its ID. A person has to ask for just these. */
export const MAY_COUNT_TWICE = 'unclear_too_long' satisfies DeliveryReason
/** The reasons that end a delivery as `skipped`. */
export type SkipReason = {
  [R in DeliveryReason]: (typeof DELIVERY_REASONS)[R]['status'] extends 'skipped' ? R : never
}[DeliveryReason]

/** What a worker does after an attempt, as it is recorded. */
export type NextStepText = 'done' | `again at ${string}` | `${'expired' | 'failed'}: ${DeliveryReason}`

/** Why a dead letter failed, with the code of its last attempt if there was one. */
export type DeadLetterReason = DeliveryReason | `${DeliveryReason}: ${string}`

/**
 * Every type of an organisation's activity, with its meaning; `docs/operations.md` lists them.
 * @internal
 */
export const ACTIVITY_TYPES = {
  account_replaced: 'Somebody with the address of a member was not signed in: the account is another one.',
  catalog_problem: 'An object of the configuration is not in force, or not as written.',
  data_erased: 'The operator of the service erased the data of a person.',
  deliveries_replayed: 'A person sent failed deliveries again.',
  destination_live: 'A destination went live.',
  destination_paused: 'The provider refuses the credentials of a destination, so it has paused itself.',
  destination_resumed: 'The provider accepts the credentials of a paused destination again.',
  disk_full: 'The disk is nearly full.',
  example_data: 'Made-up traffic was filled in for trying out.',
  export: 'A person downloaded Logs or installs.',
  mail_not_delivered: 'A mail was given up.',
  object_changed: 'Fields of an object changed.',
  object_created: 'An object was created.',
  object_removal: 'A person is removing an object in the dashboard.',
  object_removed: 'An object was removed.',
  origin_not_registered: 'A page with an origin that the website has not registered sent a request.',
  origins_changed: 'The origins of a website changed.',
  plan_limit_reached: 'The plan does not allow more.',
  quota_near: '80 % of the tracked events of the month are used.',
  quota_reached: 'The quota of tracked events of the month is used up.',
  rate_limit_reached: 'A rate limit was reached.',
  replay_cancelled: 'Somebody cancelled a replay of decisions, or whoever asked for it may not have it any more.',
  sign_in: 'A person signed in.',
  spend_imported: 'A person imported a file of ad spend.',
  spend_removed: 'A person removed an import of ad spend.',
  stream_failing: 'The receiver of a log stream does not accept its records; they are sent again.',
  stream_log_renewed: 'The event log was recreated or restored: a log stream may lack records.',
  stream_overflow: 'A log stream was too far behind: its oldest records were dropped.',
  stream_resend: 'A person has records of a log stream sent again.',
  stream_skip: 'A person skipped what a log stream had not sent yet.',
  stream_test: 'A person has a log stream send a test.',
  stream_too_large: 'The receiver of a log stream refused a record for its size: it was dropped.',
  support_requested: 'A person asked for support.',
  visit_matched_often: 'More installations were matched to one visit within a day than the website expects.',
  webhook_failing: 'Events could not be sent to a webhook; they can be sent again.',
  webhook_paused: 'The receiver of a webhook answers 410 Gone, so it has paused itself.',
  webhook_replayed: 'A person had events sent to a webhook again.',
  webhook_test: 'A person has a webhook send a test.',
  weekly_mail_ended: 'A person ended their weekly mail.',
  weekly_mail_resumed: 'A person wants their weekly mail again.',
  weekly_summary: 'The numbers of the last week were summed up for mails and webhooks.',
} as const

export type ActivityType = keyof typeof ACTIVITY_TYPES

/** Who may do what, and who did: kept for `auditRetentionDays`, however short Logs are kept. */
export const AUDIT_TYPES: ReadonlySet<ActivityType> = new Set([
  'object_created',
  'object_changed',
  'destination_live',
  'origins_changed',
  'object_removal',
  'object_removed',
  'account_replaced',
  'sign_in',
])
