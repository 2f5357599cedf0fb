/** The SQL texts behind the pages of webhooks. A message ID begins with its time, so a period is a range of IDs. */

import { keysOf } from '../../../domain/typed-keys.ts'
import { selectFrom, type RowsOf } from '../columns.ts'
import { once, pageLimit, pageOf } from '../query-parts.ts'

/** `since_id`: the beginning of the IDs of the period's first messages. */
type OfWebhookOwner = { readonly organization: string }
type OfWebhook = OfWebhookOwner & { readonly webhook: string }
type Since = { readonly since_id: string }

const ATTEMPT_LINE = selectFrom('webhook_attempts', [
  'message_id',
  'number',
  'type',
  'website',
  'happened_at',
  'started_at',
  'duration_ms',
  'state',
  'status',
  'error',
  'answer',
  'next_attempt_at',
])
export type WebhookAttemptRow = RowsOf<typeof ATTEMPT_LINE>

/** The figures of a webhook; tests do not count. */
export interface WebhookStateRow {
  readonly webhook: string
  readonly delivered: number
  readonly waiting: number
  readonly lost: number
  readonly last_attempt_at_ms: number
  /** 0 if none was accepted. */
  readonly last_delivered_at_ms: number
  /** The last attempt's error; empty if it was accepted. */
  readonly last_error: string
}

/** An event that was given up. */
export interface LostEventRow {
  readonly message_id: string
  readonly event_type: string
  readonly event_website: string
  readonly happened_at_ms: number
  readonly attempts: number
  readonly ended_at_ms: number
  readonly last_state: string
  readonly last_status: number
  readonly last_error: string
  readonly posted: string
}

type AttemptPageParams = OfWebhook & {
  readonly message_id?: string
  readonly before_id?: string
  readonly before_number?: number
  readonly limit: number
}

const CONDITIONS: Readonly<Partial<Record<keyof AttemptPageParams, string>>> = {
  message_id: 'message_id = {message_id:String}',
  before_id: '(message_id, number) < ({before_id:String}, {before_number:UInt32})',
}

function attemptConditions(params: AttemptPageParams): string {
  const own = keysOf(CONDITIONS).filter((name) => params[name] !== undefined)
  const scope = ['organization = {organization:String}', 'webhook = {webhook:String}']
  return [...scope, ...own.map((name) => CONDITIONS[name])].join(' AND ')
}

/** The latest state of each event. */
const LAST_STATES = `SELECT webhook, message_id, argMax(state, number) AS last_state, argMax(error, number) AS last_error,
    max(started_at) AS tried_at
  FROM ${once('webhook_attempts')}
  PREWHERE organization = {organization:String} AND message_id >= {since_id:String} WHERE type != 'test'
  GROUP BY webhook, message_id`

export const WEBHOOK_QUERIES = {
  webhookStates: pageOf<OfWebhookOwner & Since, WebhookStateRow>(`SELECT webhook,
      countIf(last_state = 'delivered') AS delivered, countIf(last_state IN ('retrying', 'waiting')) AS waiting,
      countIf(last_state IN ('failed', 'expired')) AS lost,
      toUnixTimestamp64Milli(max(tried_at)) AS last_attempt_at_ms,
      toUnixTimestamp64Milli(maxIf(tried_at, last_state = 'delivered')) AS last_delivered_at_ms,
      argMax(last_error, tried_at) AS last_error
    FROM (${LAST_STATES}) GROUP BY webhook ORDER BY webhook LIMIT 1000`),

  /** The newest event first; for each event, the last attempt first. */
  webhookAttempts: pageOf<AttemptPageParams, WebhookAttemptRow>(
    (params) => `SELECT ${ATTEMPT_LINE.sql} FROM ${once('webhook_attempts')} PREWHERE ${attemptConditions(params)}
    ORDER BY message_id DESC, number DESC ${pageLimit()}`,
  ),

  /** Events that were given up and have not been sent again, the newest first. */
  lostEvents: pageOf<OfWebhook & Since & { readonly message_id?: string; readonly limit: number }, LostEventRow>(
    ({ message_id: id }) => `SELECT message_id, any(type) AS event_type, any(website) AS event_website,
      toUnixTimestamp64Milli(any(happened_at)) AS happened_at_ms, max(number) AS attempts,
      toUnixTimestamp64Milli(max(started_at)) AS ended_at_ms, argMax(state, number) AS last_state,
      argMax(status, number) AS last_status, argMax(error, number) AS last_error, any(body) AS posted
    FROM ${once('webhook_attempts')} PREWHERE organization = {organization:String} AND webhook = {webhook:String}
      AND ${id === undefined ? 'message_id >= {since_id:String}' : 'message_id = {message_id:String}'}
    WHERE type != 'test' GROUP BY message_id HAVING last_state IN ('failed', 'expired')
    ORDER BY message_id DESC ${pageLimit()}`,
  ),
} as const
