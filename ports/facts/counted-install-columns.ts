/** The columns of install events as figures count them. */

/** What the event itself says, in the order of judgement: its key, and what its kind depends on. */
const EVENT_COLUMNS = {
  organization: 'text',
  website: 'text',
  received_at: 'time',
  event_id: 'text',
  installation_id: 'text',
  event_type: 'text',
} as const

/** Its kind, and what was known of the installation before it (`domain/figures/install-kinds.ts`). */
const JUDGED_COLUMNS = {
  kind: 'text',
  installed_before: 'nullable time',
  is_begun_by_run: 'flag',
  version_before: 'text',
  is_completed: 'flag',
  has_run: 'flag',
} as const

const MACHINE_COLUMNS = {
  product_version: 'text',
  install_path: 'text',
  platform: 'text',
  agent: 'text',
  country: 'text',
  place: 'text',
  is_left_out: 'flag',
  is_test: 'flag',
} as const

/** The decision that counts: of an install without a visit, that of the later event which had one. */
const DECISION_COLUMNS = {
  resolution: 'text',
  selection_policy: 'text',
  reason: 'text',
  visit_id: 'text',
  visit_issued_at: 'nullable time',
  is_visit_of_later: 'flag',
} as const

/** Where that visit came from, by dimension. */
export const ORIGIN_COLUMNS = {
  source: 'text',
  medium: 'text',
  channel: 'text',
  campaign: 'text',
  term: 'text',
  content: 'text',
  referrer: 'text',
  landing_page: 'text',
  page: 'text',
  visitor_platform: 'text',
} as const

export const COUNTED_INSTALL_COLUMNS = {
  ...EVENT_COLUMNS,
  ...JUDGED_COLUMNS,
  ...MACHINE_COLUMNS,
  ...DECISION_COLUMNS,
  is_visit_known: 'flag',
  ...ORIGIN_COLUMNS,
  retention_days: 'uint16',
  row_version: 'uint64',
} as const
