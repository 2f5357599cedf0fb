/** Handlers of the list of visits, and of their number. */

import type { VISIT_ROUTES } from '../api/visits.ts'
import type { HandlersOf } from '../http/call.ts'
import { type Cursors } from '../logs/cursor.ts'
import type { PageClock } from '../reads/walk-back.ts'
import type { ReadScope } from '../reads/scope.ts'
import { countVisits } from './count.ts'
import { listVisits } from './list.ts'

interface VisitParts {
  readonly scope: ReadScope
  readonly cursors: Cursors
  readonly clock: PageClock
}

export function visitHandlers({ scope, cursors, clock }: VisitParts): HandlersOf<typeof VISIT_ROUTES> {
  return { visits: listVisits(scope, cursors, clock), visitCounts: countVisits(scope, cursors, clock) }
}
