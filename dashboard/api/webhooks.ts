/** Routes of event webhooks beside those of all resources: how they fare, tests, what is sent again, and their secrets. */

import { Type } from 'typebox'

import { REPLAY_RULES } from '../../domain/limits.ts'
import { OBJECT_NAME_SCHEMA } from '../../domain/resources/envelope.ts'
import { WEBHOOK_SCHEMA } from '../../domain/resources/webhook-schema.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { CONDITION, OBJECT_WITH_SECRET, ORIGIN } from './objects.ts'
import type { RouteRow } from './route.ts'
import { CURSOR_PARAMETER, FLAG, MAYBE_TIME, NEXT, maybe, NUMBER, TEXT, TIME, typed } from './shapes.ts'

const PATH = '/api/organizations/:organization/webhooks'
const ONE = `${PATH}/:namespace/:name` as const

/** Most lost events that are listed, or sent again at a time. */
export const MOST_LOST = 50

const MESSAGE = Type.String({
  description: 'ID of one event, as the header webhook-id has it.',
  pattern: '^[0-9a-f]{28}$',
  patternMeaning: 'must be 28 hex digits in lower case',
})

/** As the schema of the object has it. */
const ownField = <Value>(name: string) => typed<Value>(WEBHOOK_SCHEMA.properties?.[name] ?? { type: 'string' })

const SHOWN_WEBHOOK = Type.Object(
  {
    namespace: TEXT,
    name: TEXT,
    version: TEXT,
    origin: ORIGIN,
    conditions: Type.Array(CONDITION),
    displayName: TEXT,
    url: TEXT,
    events: Type.Array(TEXT),
    paused: FLAG,
    previousSecretUntil: maybe(TEXT, 'RFC 3339: until then the secret before signs too; null: there is one secret.'),
    state: oneOf(['Paused', 'Idle', 'Failing', 'Delivering']),
    lastDay: Type.Object({ delivered: NUMBER, waiting: NUMBER, lost: NUMBER }),
    lastAttemptAt: MAYBE_TIME,
    lastDeliveredAt: MAYBE_TIME,
    lastError: TEXT,
  },
  { $id: 'ShownWebhook' },
)

const ATTEMPT = Type.Object(
  {
    message: TEXT,
    type: TEXT,
    website: TEXT,
    happenedAt: TIME,
    number: NUMBER,
    startedAt: TIME,
    durationMs: NUMBER,
    state: Type.String({ description: '`delivered`, `retrying`, `failed`, `expired` or `waiting`.' }),
    status: NUMBER,
    error: TEXT,
    answer: Type.String({ description: "The receiver's words, cut at 1,024 characters." }),
    nextAttemptAt: MAYBE_TIME,
  },
  { $id: 'WebhookAttempt' },
)

const LOST_EVENT = Type.Object(
  {
    message: TEXT,
    type: TEXT,
    website: TEXT,
    happenedAt: TIME,
    endedAt: TIME,
    attempts: NUMBER,
    state: TEXT,
    status: NUMBER,
    error: TEXT,
  },
  { $id: 'LostEvent' },
)

const MAY_HAVE_MORE = Type.Boolean({ description: 'Whether there may be more.' })

export const WEBHOOK_ROUTES = {
  webhooks: {
    method: 'GET',
    path: PATH,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Webhooks, the oldest first, with how they fared in the last day.',
    answers: { 200: Type.Object({ webhooks: Type.Array(SHOWN_WEBHOOK) }) },
  },
  createWebhook: {
    method: 'POST',
    path: PATH,
    needs: 'Admin',
    rate: 'write',
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary: 'Make a webhook and its secret, which is in the answer and never shown again.',
    body: Type.Object({
      name: Type.Optional(typed<string>(OBJECT_NAME_SCHEMA)),
      displayName: Type.Optional(ownField<string>('displayName')),
      url: ownField<string>('url'),
      events: ownField<readonly string[]>('events'),
      paused: Type.Optional(ownField<boolean>('paused')),
    }),
    answers: { 201: OBJECT_WITH_SECRET },
  },
  webhookAttempts: {
    method: 'GET',
    path: `${ONE}/attempts`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'What was tried, the newest event first.',
    query: { cursor: CURSOR_PARAMETER, message: MESSAGE },
    answers: { 200: Type.Object({ attempts: Type.Array(ATTEMPT), next: NEXT }) },
  },
  lostEvents: {
    method: 'GET',
    path: `${ONE}/lost`,
    needs: 'Viewer',
    rate: 'read',
    summary: `Events of the last seven days that were given up and not sent again, the newest first, at most ${MOST_LOST}.`,
    answers: { 200: Type.Object({ lost: Type.Array(LOST_EVENT), mayHaveMore: MAY_HAVE_MORE }) },
  },
  replayLost: {
    method: 'POST',
    path: `${ONE}/replay`,
    needs: 'Member',
    rate: 'write',
    summary: `Send events again that were given up, under their old IDs: one, or the newest ${MOST_LOST}.`,
    body: Type.Object({ message: Type.Optional(MESSAGE) }),
    answers: { 200: Type.Object({ replayed: NUMBER, mayHaveMore: MAY_HAVE_MORE }) },
  },
  testWebhook: {
    method: 'POST',
    path: `${ONE}/test`,
    needs: 'Member',
    rate: 'write',
    summary: `Have it send a test, also while it is paused. ${REPLAY_RULES.webhook_tests.limit} an hour for all webhooks of the organisation.`,
    body: Type.Object({}),
    answers: {
      202: Type.Object({
        message: Type.String({ description: 'The ID by which the attempts show what came of it.' }),
      }),
    },
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: `${ONE}/secret`,
    needs: 'Admin',
    rate: 'write',
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary:
      'Make another secret, which is in the answer and never shown again. The one before signs too for 24 hours.',
    body: Type.Object({}),
    answers: { 200: OBJECT_WITH_SECRET },
  },
} as const satisfies Record<string, RouteRow>
