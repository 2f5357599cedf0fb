/**
 * Handlers whose answers are made of facts alone. They change nothing, so that they may run in another thread than the requests:
 * figures, lists and downloads take the processor for longer than an install event may wait.
 */

import type { StillAllowed } from './events/event-streams.ts'
import type { NoteActivity } from './events/activity.ts'
import { exportHandlers } from './exports/routes.ts'
import { figureHandlers } from './figures/routes.ts'
import type { HandlersOf } from './http/call.ts'
import { installListHandlers } from './installs/routes.ts'
import type { Cursors } from './logs/cursor.ts'
import { logListHandlers } from './logs/routes.ts'
import type { ReadScope } from './reads/scope.ts'
import type { PageClock } from './reads/walk-back.ts'
import { replayListHandlers } from './replays/routes.ts'
import type { ROUTES } from './routes.ts'
import { visitHandlers } from './visits/routes.ts'
import type { FactsReader } from '../ports/facts/facts.ts'
import type { HitCounter } from '../ports/hot-state/hot-state.ts'
import type { Logger } from '../runtime/logger.ts'

export interface ReadingParts {
  readonly scope: ReadScope
  readonly facts: FactsReader
  readonly cursors: Cursors
  readonly clock: PageClock
  /** IDs of the master secrets in use. */
  readonly keyIds: readonly number[]
  readonly hotState: HitCounter
  readonly stillAllowed: StillAllowed
  readonly noteActivity: NoteActivity
  readonly logger: Logger
}

/** Their routes. */
export const READING_ROUTES = [
  'websites',
  'overview',
  'funnel',
  'sources',
  'match',
  'sharedCommands',
  'usage',
  'checklist',
  'logs',
  'loggedRequest',
  'loggedAttempt',
  'activity',
  'visits',
  'visitCounts',
  'installs',
  'install',
  'deliveries',
  'deliveryList',
  'logExport',
  'installExport',
  'visitExport',
  'deliveryExport',
  'listReplays',
  'showReplay',
] as const satisfies readonly (keyof typeof ROUTES)[]

export type ReadingHandlers = HandlersOf<Pick<typeof ROUTES, (typeof READING_ROUTES)[number]>>

export function readingHandlers(parts: ReadingParts): ReadingHandlers {
  return {
    ...figureHandlers(parts),
    ...logListHandlers(parts),
    ...visitHandlers(parts),
    ...installListHandlers(parts),
    ...exportHandlers(parts),
    ...replayListHandlers(parts),
  }
}
