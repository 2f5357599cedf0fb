/** Routes of Logs: lists, single lines, streams of new lines, and what to search by. */

import { Type } from 'typebox'

import { LIMITS, STREAM_PLACES } from '../../domain/limits.ts'
import { LOG_KINDS } from '../../domain/model.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { ATTEMPT_COLUMNS } from './install-facts.ts'
import type { RouteRow } from './route.ts'
import {
  CURSOR_PARAMETER,
  FLAG,
  NEXT,
  NUMBER,
  PERIOD_PARAMETERS,
  TEXT,
  textParameter,
  TIME,
  WEBSITE_PARAMETER,
} from './shapes.ts'

const LOGS = '/api/organizations/:organization/logs'

const MOST_REFERENCES = 5
const MOST_TEXT_CHARS = 256
const ACTIVITY_CHARS = 400

/** Of every list of Logs: page, tail and export. */
const LOG_FILTER_QUERY = {
  website: WEBSITE_PARAMETER,
  direction: oneOf(['inbound', 'outbound'], 'Requests that came in, or attempts that went out; both if absent.'),
  status: oneOf(['none', '2xx', '3xx', '4xx', '5xx'], 'Class of the status; `none`: no answer came.'),
  code: textParameter('Error code.', LIMITS.clientHintChars),
  path: textParameter('Path of a request, or address of an attempt.', LIMITS.outboundUrlChars),
  kind: oneOf(LOG_KINDS, 'What the line is about.'),
  origin: textParameter('Origin of a request.', LIMITS.outboundUrlChars),
  reference: Type.String({
    description: `IDs of an event, installation or visit, or what a receipt was turned into; up to ${MOST_REFERENCES} with commas. New attempts at delivery are followed by their event alone.`,
    minLength: 1,
    maxLength: MOST_REFERENCES * (LIMITS.idChars.max + 1),
    pattern: `^[^,]+(,[^,]+){0,${MOST_REFERENCES - 1}}$`,
    patternMeaning: `must be 1 to ${MOST_REFERENCES} IDs with commas between them`,
  }),
} as const

export const LOG_LIST_QUERY = {
  ...LOG_FILTER_QUERY,
  text: textParameter('Part of a body, as it is written there.', MOST_TEXT_CHARS),
  ...PERIOD_PARAMETERS,
} as const

/** Without bodies, except in an export. */
const LOG_LINE = Type.Object(
  {
    direction: oneOf(['inbound', 'outbound']),
    website: TEXT,
    at: TIME,
    id: TEXT,
    kind: TEXT,
    method: TEXT,
    path: TEXT,
    status: Type.Number({ description: '0: no answer came.' }),
    code: TEXT,
    durationMs: NUMBER,
    origin: Type.Optional(Type.String({ description: 'Of requests.' })),
    bytes: Type.Optional(NUMBER),
    userAgent: Type.Optional(TEXT),
    body: Type.Optional(TEXT),
    bodyForm: Type.Optional(TEXT),
    event: Type.Optional(Type.String({ description: 'Of attempts.' })),
    destination: Type.Optional(TEXT),
  },
  { $id: 'LogLine' },
)

const LOGGED_REQUEST = Type.Object({
  direction: oneOf(['inbound']),
  organization: TEXT,
  website: TEXT,
  id: TEXT,
  received_at_ms: NUMBER,
  duration_ms: NUMBER,
  method: TEXT,
  path: TEXT,
  kind: TEXT,
  status: NUMBER,
  code: TEXT,
  origin: TEXT,
  user_agent: TEXT,
  address_hash: TEXT,
  body: TEXT,
  body_form: TEXT,
  body_bytes: NUMBER,
  is_redacted: FLAG,
})

const ACTIVITY_ENTRY = Type.Object(
  {
    id: TEXT,
    at: TIME,
    type: TEXT,
    object: Type.String({
      description: 'Its subject: an object, an origin, or the pseudonym of a person. May be empty.',
    }),
    website: TEXT,
    message: TEXT,
    actor: Type.Optional(Type.String({ description: 'The person, if that is known.' })),
    manager: Type.Optional(TEXT),
    fields: Type.Optional(Type.Array(TEXT, { description: 'The changed fields of an object.' })),
  },
  { $id: 'ActivityEntry' },
)

const EVENTS = ['text/event-stream; charset=utf-8'] as const

export const LOG_ROUTES = {
  logs: {
    method: 'GET',
    path: LOGS,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Requests and attempts at delivery, newest first, without their bodies.',
    query: { ...LOG_LIST_QUERY, cursor: CURSOR_PARAMETER },
    answers: {
      200: Type.Object({
        records: Type.Array(LOG_LINE),
        searchedBackTo: Type.Number({ description: 'Unix ms: the search is complete from this time on.' }),
        next: NEXT,
      }),
    },
  },
  loggedRequest: {
    method: 'GET',
    path: `${LOGS}/requests/:website/:request`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'One request with its exact body; for one of the dashboard the website is `~`.',
    answers: { 200: LOGGED_REQUEST },
  },
  loggedAttempt: {
    method: 'GET',
    path: `${LOGS}/attempts/:website/:event/:attempt`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'One attempt at delivery with both bodies.',
    answers: { 200: Type.Object({ direction: oneOf(['outbound']), ...ATTEMPT_COLUMNS }) },
  },
  logTail: {
    method: 'GET',
    path: `${LOGS}/tail`,
    needs: 'Viewer',
    rate: 'read',
    rank: 'tail',
    summary: `New lines of Logs as a stream of events; ${STREAM_PLACES.session} streams for a session and ${STREAM_PLACES.person} for a person, then \`429\`: poll instead.`,
    query: LOG_FILTER_QUERY,
    answers: { 200: EVENTS },
  },
  live: {
    method: 'GET',
    path: '/api/organizations/:organization/live',
    needs: 'Viewer',
    rate: 'read',
    rank: 'tail',
    summary: 'Requests of the last half hour, and each new one as it comes, as a stream of events.',
    query: { website: WEBSITE_PARAMETER },
    answers: { 200: EVENTS },
  },
  activity: {
    method: 'GET',
    path: '/api/organizations/:organization/activity',
    needs: 'Viewer',
    rate: 'read',
    summary: 'What its people should notice, newest first: 50 entries, or as many as `limit` says, 200 at most.',
    query: {
      // More than the contract's maximum is refused, not truncated.
      limit: Type.Integer({
        description: 'Entries of the page.',
        minimum: 1,
        maximum: LIMITS.activityEntries.max,
        default: LIMITS.activityEntries.fallback,
      }),
      type: textParameter('Only of this type.', ACTIVITY_CHARS),
      object: textParameter('Only about this, as entries name it.', ACTIVITY_CHARS),
      actor: textParameter('Only by this person, as entries name them.', ACTIVITY_CHARS),
      cursor: CURSOR_PARAMETER,
    },
    answers: { 200: Type.Object({ entries: Type.Array(ACTIVITY_ENTRY), next: NEXT }) },
  },
  logReference: {
    method: 'POST',
    path: `${LOGS}/reference`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'What to search Logs by for a receipt, a token or an ID; a receipt must not be part of an address.',
    body: Type.Object({
      text: Type.String({
        description: 'A receipt, a token, or an ID of an event, installation or visit.',
        minLength: LIMITS.idChars.min,
        maxLength: LIMITS.idChars.max,
      }),
    }),
    answers: { 200: Type.Object({ references: Type.Array(TEXT) }) },
  },
} as const satisfies Record<string, RouteRow>
