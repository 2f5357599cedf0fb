/** Handlers of installs and of deliveries: lists, one with its explanation, and sending failed ones again. */

import type { FactsReader } from '../../ports/facts/facts.ts'
import type { INSTALL_ROUTES } from '../api/installs.ts'
import type { NoteActivity } from '../events/activity.ts'
import type { HandlersOf } from '../http/call.ts'
import { type Cursors } from '../logs/cursor.ts'
import type { PageClock } from '../reads/walk-back.ts'
import type { ReadScope } from '../reads/scope.ts'
import { listDeliveries, readDeliveries } from './deliveries.ts'
import { findById } from './find.ts'
import { listInstalls, readInstall } from './list.ts'
import { replayFailed, type ReplayDeliveries } from './replay.ts'

interface InstallListParts {
  readonly scope: ReadScope
  readonly facts: FactsReader
  readonly cursors: Cursors
  readonly clock: PageClock
}

export function installListHandlers({ scope, facts, cursors, clock }: InstallListParts) {
  return {
    installs: listInstalls(scope, cursors, clock),
    install: readInstall(scope, facts),
    find: findById(scope),
    deliveries: readDeliveries(scope),
    deliveryList: listDeliveries(scope, cursors),
  } satisfies Partial<HandlersOf<typeof INSTALL_ROUTES>>
}

interface RedeliveryParts {
  readonly scope: ReadScope
  readonly replayDeliveries: ReplayDeliveries
  readonly noteActivity: NoteActivity
}

export function redeliveryHandlers(parts: RedeliveryParts) {
  return { replayDeliveries: replayFailed(parts) } satisfies Partial<HandlersOf<typeof INSTALL_ROUTES>>
}
