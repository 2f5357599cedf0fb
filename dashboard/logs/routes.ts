/** Routes of Logs: lists, single lines, streams of new lines, and what to search by. */

import { STREAM_PLACES } from '../../domain/limits.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { HandlersOf } from '../http/call.ts'
import { WEBSITE_PARAMETER } from '../http/parameters.ts'
import type { RouteRow } from '../http/route.ts'
import { ACTIVITY_QUERY, listActivity } from './activity.ts'
import { CURSOR_PARAMETER, type Cursors } from './cursor.ts'
import { createLineFeeds } from './feed.ts'
import { LOG_FILTER_SCHEMA, LOG_LIST_SCHEMA } from './filters.ts'
import { listLogs, readLoggedAttempt, readLoggedRequest } from './list.ts'
import type { ReadScope } from '../reads/scope.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { REFERENCE_SCHEMA, answerReferences, type ReferenceKeys } from './reference.ts'
import { tailLogs, watchLive, type TailParts } from './tail.ts'

const LOGS = '/api/organizations/:organization/logs'

export const LOG_ROUTES = {
  logs: {
    method: 'GET',
    path: LOGS,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Requests and attempts at delivery, newest first, without their bodies.',
    query: {
      ...LOG_LIST_SCHEMA,
      cursor: CURSOR_PARAMETER,
    },
  },
  loggedRequest: {
    method: 'GET',
    path: `${LOGS}/requests/:website/:request`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'One request with its exact body; for one of the dashboard the website is `~`.',
  },
  loggedAttempt: {
    method: 'GET',
    path: `${LOGS}/attempts/:website/:event/:attempt`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'One attempt at delivery with both bodies.',
  },
  logTail: {
    method: 'GET',
    path: `${LOGS}/tail`,
    needs: 'Viewer',
    rate: 'read',
    rank: 'tail',
    summary: `New lines of Logs as a stream of events; ${STREAM_PLACES.session} streams for a session and ${STREAM_PLACES.person} for a person, then \`429\`: poll instead.`,
    query: LOG_FILTER_SCHEMA,
  },
  live: {
    method: 'GET',
    path: '/api/organizations/:organization/live',
    needs: 'Viewer',
    rate: 'read',
    rank: 'tail',
    summary: 'Requests of the last half hour, and each new one as it comes, as a stream of events.',
    query: { website: WEBSITE_PARAMETER },
  },
  activity: {
    method: 'GET',
    path: '/api/organizations/:organization/activity',
    needs: 'Viewer',
    rate: 'read',
    summary: 'What its people should notice, newest first: 50 entries, or as many as `limit` says, 200 at most.',
    query: ACTIVITY_QUERY,
  },
  logReference: {
    method: 'POST',
    path: `${LOGS}/reference`,
    needs: 'Viewer',
    rate: 'read',
    summary: 'What to search Logs by for a receipt, a token or an ID; a receipt must not be part of an address.',
    body: REFERENCE_SCHEMA,
  },
} as const satisfies Record<string, RouteRow>

interface LogListParts {
  readonly scope: ReadScope
  readonly cursors: Cursors
  readonly clock: PageClock
}

export function logListHandlers(parts: LogListParts) {
  const { scope } = parts
  return {
    logs: listLogs(parts),
    loggedRequest: readLoggedRequest(scope),
    loggedAttempt: readLoggedAttempt(scope),
    activity: listActivity(parts),
  } satisfies Partial<HandlersOf<typeof LOG_ROUTES>>
}

interface WatchingParts extends Omit<TailParts, 'feeds' | 'random'> {
  readonly facts: FactsReader
  readonly keys: ReferenceKeys
}

export function logWatchHandlers({ keys, ...parts }: WatchingParts) {
  const watching = { ...parts, feeds: createLineFeeds(parts), random: Math.random }
  return {
    logTail: tailLogs(watching),
    live: watchLive(watching),
    logReference: answerReferences(parts.scope, keys),
  } satisfies Partial<HandlersOf<typeof LOG_ROUTES>>
}
