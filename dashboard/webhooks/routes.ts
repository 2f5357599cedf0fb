/** Routes of event webhooks beside those of all resources: how they fare, tests, what is sent again, and their secrets. */

import { REPLAY_RULES } from '../../domain/limits.ts'
import { OBJECT_NAME_SCHEMA } from '../../domain/resources/envelope.ts'
import { WEBHOOK_SCHEMA } from '../../domain/resources/webhook-schema.ts'
import { objectSchema, type JsonSchema } from '../../domain/schema/json-schema.ts'
import type { WriteParts } from '../configuration/write.ts'
import type { HandlersOf } from '../http/call.ts'
import type { RouteRow } from '../http/route.ts'
import { CURSOR_PARAMETER } from '../logs/cursor.ts'
import { createWebhook, rotateSecret } from './secrets.ts'
import { replayLost, testWebhook, type WebhookSendParts } from './send.ts'
import { listWebhookAttempts, listLost, listWebhooks, MOST_LOST } from './show.ts'

const PATH = '/api/organizations/:organization/webhooks'
const ONE = `${PATH}/:namespace/:name` as const

const message: JsonSchema = {
  type: 'string',
  description: 'ID of one event, as the header webhook-id has it.',
  pattern: '^[0-9a-f]{28}$',
  patternMeaning: 'must be 28 hex digits in lower case',
}
const { displayName, url, events, paused } = WEBHOOK_SCHEMA.properties as Readonly<Record<string, JsonSchema>>
const OWN_FIELDS = { displayName, url, events, paused } as Readonly<Record<string, JsonSchema>>

export const WEBHOOK_ROUTES = {
  webhooks: {
    method: 'GET',
    path: PATH,
    needs: 'Viewer',
    rate: 'read',
    summary:
      'Webhooks, the oldest first: `webhooks` with namespace, name, version, origin, conditions, displayName, url, events, paused, previousSecretUntil (or null), state (Paused, Idle, Delivering or Failing), lastDay {delivered, waiting, lost}, lastAttemptAt and lastDeliveredAt (Unix ms or null) and lastError.',
  },
  createWebhook: {
    method: 'POST',
    path: PATH,
    needs: 'Admin',
    rate: 'write',
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary:
      'Make a webhook and its secret: the object as the route of resources shows it, and `secret`, which is never shown again.',
    body: objectSchema({ name: OBJECT_NAME_SCHEMA, ...OWN_FIELDS }, ['url', 'events']),
  },
  webhookAttempts: {
    method: 'GET',
    path: `${ONE}/attempts`,
    needs: 'Viewer',
    rate: 'read',
    summary:
      "What was tried, the newest event first: `attempts` with message, type, website, happenedAt, number, startedAt, durationMs, state (delivered, retrying, failed, expired or waiting), status, error, answer (the receiver's words, cut at 1,024 characters) and nextAttemptAt; `next` continues the list.",
    query: { cursor: CURSOR_PARAMETER, message },
  },
  lostEvents: {
    method: 'GET',
    path: `${ONE}/lost`,
    needs: 'Viewer',
    rate: 'read',
    summary: `Events of the last seven days that were given up and not sent again, the newest first, at most ${MOST_LOST}: \`lost\` with message, type, website, happenedAt, endedAt, attempts, state, status and error; \`mayHaveMore\`.`,
  },
  replayLost: {
    method: 'POST',
    path: `${ONE}/replay`,
    needs: 'Member',
    rate: 'write',
    summary: `Send events again that were given up, under their old IDs: one, or the newest ${MOST_LOST}. \`replayed\` says how many, \`mayHaveMore\` whether there may be more.`,
    body: objectSchema({ message }, []),
  },
  testWebhook: {
    method: 'POST',
    path: `${ONE}/test`,
    needs: 'Member',
    rate: 'write',
    summary: `Have it send a test, also while it is paused. \`message\` is the ID by which the attempts show what came of it. ${REPLAY_RULES.webhook_tests.limit} an hour for all webhooks of the organisation.`,
    body: objectSchema({}, []),
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: `${ONE}/secret`,
    needs: 'Admin',
    rate: 'write',
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary:
      'Make another secret, which is in the answer and never shown again. The one before signs too for 24 hours.',
    body: objectSchema({}, []),
  },
} as const satisfies Record<string, RouteRow>

export function webhookHandlers(parts: WebhookSendParts & WriteParts): HandlersOf<typeof WEBHOOK_ROUTES> {
  return {
    webhooks: listWebhooks(parts),
    createWebhook: createWebhook(parts),
    webhookAttempts: listWebhookAttempts(parts),
    lostEvents: listLost(parts),
    replayLost: replayLost(parts),
    testWebhook: testWebhook(parts),
    rotateWebhookSecret: rotateSecret(parts),
  }
}
