/** Handlers of Logs: lists, single lines, streams of new lines, and what to search by. */

import type { FactsReader } from '../../ports/facts/facts.ts'
import type { LOG_ROUTES } from '../api/logs.ts'
import type { HandlersOf } from '../http/call.ts'
import { listActivity } from './activity.ts'
import { type Cursors } from './cursor.ts'
import { createLineFeeds } from './feed.ts'
import { listLogs, readLoggedAttempt, readLoggedRequest } from './list.ts'
import type { ReadScope } from '../reads/scope.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { answerReferences, type ReferenceKeys } from './reference.ts'
import { tailLogs, watchLive } from './tail.ts'
import type { EventStreams, StillAllowed } from '../events/event-streams.ts'

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

interface WatchingParts {
  readonly scope: ReadScope
  readonly facts: FactsReader
  readonly streams: EventStreams
  readonly stillAllowed: StillAllowed
  readonly nowMs: () => number
  readonly keys: ReferenceKeys
}

export function logWatchHandlers({ scope, facts, streams, stillAllowed, nowMs, keys }: WatchingParts) {
  const feeds = createLineFeeds({ facts, nowMs })
  const watching = { scope, feeds, streams, stillAllowed, nowMs, random: Math.random }
  return {
    logTail: tailLogs(watching),
    live: watchLive(watching),
    logReference: answerReferences(scope, keys),
  } satisfies Partial<HandlersOf<typeof LOG_ROUTES>>
}
