/** Schemas of what the facts know of one install: the event, its visits, receipts, deliveries and attempts, by the names of their columns. */

import { Type } from 'typebox'

import { SOURCE_COLUMN_NAMES } from '../../domain/collection/visit-source.ts'
import { each, FLAG, maybe, NUMBER, TEXT } from './shapes.ts'

const OWNED = { organization: TEXT, website: TEXT }

const LINE = {
  website: TEXT,
  event_id: TEXT,
  installation_id: TEXT,
  event_type: TEXT,
  received_at_ms: NUMBER,
  install_path: TEXT,
  platform: TEXT,
  arch: TEXT,
  agent: TEXT,
  product_version: TEXT,
  place: TEXT,
  country: Type.String({ description: "Of the machine's time zone; empty if that names none." }),
  is_ci: FLAG,
  is_container: FLAG,
  is_test: FLAG,
  resolution: TEXT,
  reason: TEXT,
  selection_policy: TEXT,
  candidate_count: NUMBER,
  visit_id: TEXT,
  visit_issued_at_ms: maybe(NUMBER),
}

/** As lists have it. */
export const INSTALL_LINE = Type.Object(LINE, { $id: 'InstallLine' })

const INSTALL = Type.Object(
  {
    ...LINE,
    organization: TEXT,
    answer: TEXT,
    browsers: Type.Array(TEXT),
    default_browser: TEXT,
    timezone: TEXT,
    language: TEXT,
    gpc: FLAG,
    request_id: TEXT,
    verdicts: Type.String({ description: 'JSON of every receipt and token that was examined.' }),
    deliveries: Type.String({ description: 'JSON of the deliveries as they were planned in the answer.' }),
  },
  { $id: 'InstallFacts' },
)

const VISIT = Type.Object(
  {
    ...OWNED,
    ...each(SOURCE_COLUMN_NAMES, TEXT),
    visit_id: TEXT,
    issued_at_ms: NUMBER,
    origin: TEXT,
    url_id: TEXT,
    referrer: TEXT,
    landed_at_ms: maybe(NUMBER),
    is_carried: Type.Boolean({ description: 'The landing was on an earlier page view.' }),
    sitting: Type.String({
      description: 'Names the page views of one sitting, which figures count as one visit; empty if there is none.',
    }),
    is_entry: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether this page view began its sitting; null if the page did not say.',
    }),
    identities: Type.String({ description: "JSON of the visitor's identifiers, by provider." }),
    client: TEXT,
    gpc: FLAG,
    is_handoff_only: FLAG,
    is_test: FLAG,
    previous_visit_id: TEXT,
    utm_source: TEXT,
    utm_medium: TEXT,
    utm_campaign: TEXT,
    visitor_platform: TEXT,
    visitor_kind: Type.String({ description: 'Empty: a person.' }),
  },
  { $id: 'VisitFacts' },
)

const RECEIPT = Type.Object(
  {
    ...OWNED,
    visit_id: TEXT,
    activated_at_ms: maybe(NUMBER),
    revoked_at_ms: maybe(NUMBER),
    previous_visit_id: Type.String({
      description: 'Empty if the page held no receipt before, or the visit is unknown.',
    }),
  },
  { $id: 'ReceiptHistory' },
)

const HANDOFF = Type.Object({
  ...OWNED,
  visit_id: TEXT,
  issued_at_ms: NUMBER,
  asked_at_ms: NUMBER,
  gpc: FLAG,
  is_handoff_only: FLAG,
  is_copied: Type.Boolean({ description: 'False if the page has only asked for the token, in advance of a copy.' }),
})

const DELIVERY = Type.Object(
  {
    ...OWNED,
    destination: TEXT,
    event_id: TEXT,
    job_id: TEXT,
    provider: TEXT,
    session_mode: TEXT,
    status: TEXT,
    reason: TEXT,
    detail: TEXT,
    attempts: NUMBER,
    changed_at_ms: NUMBER,
    next_attempt_at_ms: maybe(NUMBER),
    deadline_at_ms: maybe(NUMBER),
    install_received_at_ms: NUMBER,
  },
  { $id: 'DeliveryFacts' },
)

/** The columns of an attempt at delivery. */
export const ATTEMPT_COLUMNS = {
  ...OWNED,
  destination: TEXT,
  event_id: TEXT,
  job_id: TEXT,
  provider: TEXT,
  attempt_id: TEXT,
  number: NUMBER,
  started_at_ms: NUMBER,
  duration_ms: NUMBER,
  request_url: TEXT,
  request_body: TEXT,
  response_status: Type.Number({ description: '0 if there was no answer.' }),
  response_body: TEXT,
  outcome: TEXT,
  code: TEXT,
  next_step: TEXT,
}

export const INSTALL_DETAIL = Type.Object(
  {
    install: INSTALL,
    visits: Type.Array(VISIT),
    receipts: Type.Array(RECEIPT),
    handoffs: Type.Array(HANDOFF),
    deliveries: Type.Array(DELIVERY),
    attempts: Type.Array(Type.Object(ATTEMPT_COLUMNS, { $id: 'AttemptFacts' })),
  },
  { $id: 'InstallDetail' },
)
