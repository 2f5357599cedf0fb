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
import { tailLogs, watchLive, type TailParts } from './tail.ts'

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
