/**
 * Handlers whose answers are made of facts alone. They change nothing, so that they may run in another thread than the requests:
 * figures, lists and downloads take the processor for longer than an install event may wait.
 */

import type { FactsReader } from '../ports/facts/facts.ts'
import { alertHandlers } from './alerts/handlers.ts'
import { exportHandlers, type ExportControl } from './exports/handlers.ts'
import { figureHandlers } from './figures/handlers.ts'
import { asCalled, type Handler } from './http/call.ts'
import { installListHandlers } from './installs/handlers.ts'
import { keyHandlers } from './keyed/handlers.ts'
import type { Cursors } from './logs/cursor.ts'
import { logListHandlers } from './logs/handlers.ts'
import { overviewHandlers } from './overview/handlers.ts'
import type { ReadScope } from './reads/scope.ts'
import type { PageClock } from './reads/walk-back.ts'
import { replayListHandlers } from './replays/handlers.ts'
import type { RouteName } from './api/routes.ts'
import { setUpReadHandlers } from './set-up/handlers.ts'
import { sharedReportHandlers } from './shared/report.ts'
import { spendFigureHandlers } from './spend/handlers.ts'
import { visitHandlers } from './visits/handlers.ts'

export interface ReadingParts {
  readonly scope: ReadScope
  readonly facts: FactsReader
  readonly cursors: Cursors
  readonly clock: PageClock
  /** IDs of the master secrets in use. */
  readonly keyIds: readonly number[]
  readonly control: ExportControl
}

/** Their routes. */
export const READING_ROUTES = [
  'websites',
  'overview',
  'alerts',
  'funnel',
  'sources',
  'match',
  'installOutcomes',
  'sharedCommands',
  'usage',
  'checklist',
  'setUp',
  'logs',
  'loggedRequest',
  'loggedAttempt',
  'activity',
  'visits',
  'visitCounts',
  'installs',
  'install',
  'find',
  'deliveries',
  'deliveryList',
  'logExport',
  'installExport',
  'visitExport',
  'deliveryExport',
  'listReplays',
  'showReplay',
  'spend',
  'spendImports',
  'keyFigures',
  'keyInstalls',
  'sharedFigures',
] as const satisfies readonly RouteName[]

export type ReadingHandlers = Readonly<Record<(typeof READING_ROUTES)[number], Handler>>

export function readingHandlers(parts: ReadingParts): ReadingHandlers {
  return asCalled({
    ...figureHandlers(parts),
    ...overviewHandlers(parts),
    ...alertHandlers(parts),
    ...logListHandlers(parts),
    ...visitHandlers(parts),
    ...installListHandlers(parts),
    ...exportHandlers(parts),
    ...replayListHandlers(parts),
    ...spendFigureHandlers(parts),
    ...keyHandlers(parts),
    ...sharedReportHandlers(parts),
    ...setUpReadHandlers(parts),
  })
}
