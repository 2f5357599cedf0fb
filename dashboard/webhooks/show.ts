/** Shows webhooks with their state, their attempts, and the events that were given up. */

import { isText, listOf } from '../../domain/guards.ts'
import { textOf, type JsonObject } from '../../domain/strict-json.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { WebhookAttemptRow, WebhookStateRow } from '../../ports/facts/pages/webhooks.ts'
import { MOST_LOST } from '../api/webhooks.ts'
import { answer, type CallTo } from '../http/call.ts'
import { refuseCursor, type Cursors } from '../logs/cursor.ts'
import type { ReadScope } from '../reads/scope.ts'
import type { Inventory, ListedObject } from '../resources/inventory.ts'
import { messagesSince, ownWebhook, webhookId } from './own.ts'

export interface WebhookReadParts {
  readonly scope: ReadScope
  readonly inventory: Inventory
  readonly cursors: Cursors
}

/** Of which the list says how many were taken. */
const COUNTED_MS = DAY_MS
/** Events that were given up longer ago are no longer shown, and cannot be sent again. */
export const LOST_KEPT_MS = 7 * DAY_MS

export function listWebhooks({ scope, inventory }: WebhookReadParts) {
  return scope(async (reads, call) => {
    const rows = await reads.run('webhookStates', { since_id: messagesSince(call.nowMs - COUNTED_MS) })
    const states = new Map(rows.map((row) => [row.webhook, row]))
    const own = inventory.list('Webhook', reads.organization.id)
    return answer({ webhooks: own.map((webhook) => webhookLine(webhook, states.get(webhookId(webhook)))) })
  })
}

/** As the schema of webhooks lets it in. */
interface ShownSpec {
  readonly displayName?: string
  readonly url: string
  readonly events: readonly string[]
  readonly paused: boolean
  /** RFC 3339; null: there is one secret. */
  readonly previousSecretUntil: string | null
}

/** A folder may contain anything; what is refused there is shown as far as it can be read. */
function webhookSpec(spec: JsonObject): ShownSpec {
  const { displayName, url, events, paused, previousSecretUntil } = spec
  return {
    ...(isText(displayName) ? { displayName } : {}),
    url: textOf(url),
    events: isTextList(events) ? events : [],
    paused: paused === true,
    previousSecretUntil: isText(previousSecretUntil) ? previousSecretUntil : null,
  }
}

const isTextList = listOf(isText)

function webhookLine(webhook: ListedObject, row: WebhookStateRow | undefined) {
  const { namespace, name, spec, conditions, version, origin } = webhook
  const { displayName = name, url, events, paused, previousSecretUntil } = webhookSpec(spec)
  return {
    namespace,
    name,
    version,
    origin,
    conditions,
    displayName,
    url,
    events,
    paused,
    previousSecretUntil,
    state: webhookState(paused, row),
    ...(row === undefined
      ? NOTHING_TRIED
      : {
          lastDay: { delivered: row.delivered, waiting: row.waiting, lost: row.lost },
          lastAttemptAt: row.last_attempt_at_ms,
          lastDeliveredAt: deliveredAt(row.last_delivered_at_ms),
          lastError: row.last_error,
        }),
  }
}

const NOTHING_TRIED = {
  lastDay: { delivered: 0, waiting: 0, lost: 0 },
  lastAttemptAt: null,
  lastDeliveredAt: null,
  lastError: '',
}

/** If nothing was taken the engine gives the beginning of its time. */
function deliveredAt(lastDeliveredAtMs: number): number | null {
  return lastDeliveredAtMs < HOUR_MS ? null : lastDeliveredAtMs
}

function webhookState(
  isPaused: boolean,
  row: WebhookStateRow | undefined,
): 'Paused' | 'Idle' | 'Failing' | 'Delivering' {
  if (isPaused) return 'Paused'
  if (row === undefined) return 'Idle'
  return row.last_error === '' ? 'Delivering' : 'Failing'
}

export function listWebhookAttempts({ scope, inventory, cursors }: WebhookReadParts) {
  return scope(async (reads, call: CallTo<'webhookAttempts'>) => {
    const webhook = ownWebhook(call, inventory)
    if ('code' in webhook) return webhook
    const id = webhookId(webhook)
    const list = `webhook\0${reads.organization.id}\0${id}`
    const { cursor, message } = call.query
    const from = cursor === undefined ? undefined : cursors.read(list, cursor)
    if (from === null) return refuseCursor()
    const rows = await reads.run('webhookAttempts', {
      webhook: id,
      limit: LIMITS.logsPerPage,
      ...(message === undefined ? {} : { message_id: message }),
      // The place in this list is an ID and a number of its attempts.
      ...(from === undefined ? {} : { before_id: from.beforeId, before_number: from.beforeMs }),
    })
    const last = rows.length < LIMITS.logsPerPage ? undefined : rows.at(-1)
    const next = last === undefined ? null : cursors.write(list, { beforeMs: last.number, beforeId: last.message_id })
    return answer({ attempts: rows.map(webhookAttemptLine), next })
  })
}

function webhookAttemptLine(row: WebhookAttemptRow) {
  const { message_id: message, number, type, website, state, status, error, answer: words } = row
  return {
    message,
    type,
    website,
    happenedAt: row.happened_at_ms,
    number,
    startedAt: row.started_at_ms,
    durationMs: row.duration_ms,
    state,
    status,
    error,
    answer: words,
    nextAttemptAt: row.next_attempt_at_ms,
  }
}

export function listLost({ scope, inventory }: WebhookReadParts) {
  return scope(async (reads, call: CallTo<'lostEvents'>) => {
    const webhook = ownWebhook(call, inventory)
    if ('code' in webhook) return webhook
    const since = messagesSince(call.nowMs - LOST_KEPT_MS)
    const rows = await reads.run('lostEvents', { webhook: webhookId(webhook), since_id: since, limit: MOST_LOST })
    const lost = rows.map(({ message_id: message, event_type: type, event_website: website, attempts, ...row }) => ({
      message,
      type,
      website,
      happenedAt: row.happened_at_ms,
      endedAt: row.ended_at_ms,
      attempts,
      state: row.last_state,
      status: row.last_status,
      error: row.last_error,
    }))
    return answer({ lost, mayHaveMore: rows.length >= MOST_LOST })
  })
}
