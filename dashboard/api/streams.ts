/** Routes of log streams: their progress, the answers of their receivers, and commands to them. */

import { Type } from 'typebox'

import { LIMITS, RATE_RULES } from '../../domain/limits.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { CONDITION, OBJECT_WITH_SECRET, ORIGIN, WRITTEN_OBJECT } from './objects.ts'
import type { RouteRow } from './route.ts'
import { FLAG, MAYBE_TIME, maybe, NUMBER, TEXT, TIME } from './shapes.ts'

const PATH = '/api/organizations/:organization/streams'
const STREAM = `${PATH}/:stream` as const
const ORDER = { method: 'POST', needs: 'Admin', rate: 'write' } as const

const GAP = Type.Object(
  {
    reason: oneOf(['overflow', 'skipped', 'too_large', 'log_renewed']),
    dropped: maybe(NUMBER, 'Null: nobody can count them.'),
    from: MAYBE_TIME,
    to: MAYBE_TIME,
    toldAt: maybe(NUMBER, 'Unix ms; null: it was not reported to the receiver yet.'),
  },
  { $id: 'StreamGap' },
)

const SHOWN_STREAM = Type.Object(
  {
    name: TEXT,
    namespace: TEXT,
    version: TEXT,
    conditions: Type.Array(CONDITION),
    origin: ORIGIN,
    displayName: Type.Optional(TEXT),
    paused: FLAG,
    to: oneOf(['webhook', 's3']),
    url: Type.Optional(Type.String({ description: 'Of a webhook.' })),
    endpoint: Type.Optional(Type.String({ description: 'Of a bucket.' })),
    bucket: Type.Optional(TEXT),
    prefix: Type.Optional(TEXT),
    state: maybe(TEXT, 'Null: no process has served it yet.'),
    behind: Type.Number({ description: 'Records that it has not sent.' }),
    oldestAt: maybe(NUMBER, 'Unix ms: when the oldest of them was received.'),
    lagMs: maybe(NUMBER),
    deliveredAt: MAYBE_TIME,
    failingSince: MAYBE_TIME,
    retryAt: MAYBE_TIME,
    lastError: maybe(TEXT),
    delivered: NUMBER,
    dropped: NUMBER,
    isProven: Type.Boolean({ description: 'Whether its address has returned the challenge.' }),
    asOf: MAYBE_TIME,
    gaps: Type.Array(GAP),
  },
  { $id: 'ShownStream' },
)

const ATTEMPT = Type.Object(
  {
    id: TEXT,
    kind: oneOf(['batch', 'test', 'verify']),
    at: TIME,
    records: NUMBER,
    bytes: NUMBER,
    tookMs: NUMBER,
    status: Type.Number({ description: '0: no answer came.' }),
    error: maybe(TEXT),
    answer: TEXT,
  },
  { $id: 'StreamAttempt' },
)

const ORDERED = Type.Object({ order: TEXT })

export const STREAM_ROUTES = {
  streams: {
    method: 'GET',
    path: PATH,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Log streams: state, backlog, the last error, and which records were dropped and why.',
    answers: { 200: Type.Object({ streams: Type.Array(SHOWN_STREAM) }) },
  },
  streamAttempts: {
    method: 'GET',
    path: `${STREAM}/attempts`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'The last 20 attempts of a log stream, newest first, each with the first kilobyte of its answer.',
    answers: { 200: Type.Object({ attempts: Type.Array(ATTEMPT) }) },
  },
  testStream: {
    ...ORDER,
    path: `${STREAM}/test`,
    refuses: ['plan_limit', 'plan_required'],
    summary: `Have a log stream send a test; the answer names the attempt to look for. ${RATE_RULES.log_stream_tests.limit} an hour.`,
    answers: { 202: Type.Object({ attempt: TEXT }) },
  },
  skipStream: {
    ...ORDER,
    path: `${STREAM}/skip`,
    refuses: ['plan_limit', 'plan_required'],
    summary: 'Skip what a log stream has not sent yet. It counts as dropped, and the stream reports the gap.',
    answers: { 202: ORDERED },
  },
  resendStream: {
    ...ORDER,
    path: `${STREAM}/resend`,
    refuses: ['plan_limit', 'plan_required'],
    summary: `Send records again, in new batches, as far as they are kept: ${LIMITS.logStreamBacklogDays} days.`,
    body: Type.Object({
      since: Type.Integer({ description: 'Unix ms: records from this time on.', minimum: 0 }),
    }),
    answers: { 202: ORDERED },
  },
  pauseStream: {
    ...ORDER,
    path: `${STREAM}/pause`,
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary: 'Pause a log stream: `spec.paused` of its object. New records are kept, as for a stream that fails.',
    answers: { 200: WRITTEN_OBJECT },
  },
  resumeStream: {
    ...ORDER,
    path: `${STREAM}/resume`,
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary: 'Resume a paused log stream at the point where it stopped.',
    answers: { 200: WRITTEN_OBJECT },
  },
  rotateStreamSecret: {
    ...ORDER,
    path: `${STREAM}/secret`,
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary:
      'Make another secret for a log stream to a webhook, which is in the answer and never shown again. The one before signs too for 24 hours.',
    body: Type.Object({}),
    answers: { 200: OBJECT_WITH_SECRET },
  },
} as const satisfies Record<string, RouteRow>
