/** The routes of the list of visits, and of their number. */

import { LIMITS } from '../../domain/limits.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import type { HandlersOf } from '../http/call.ts'
import { ORIGIN_PARAMETERS, PERIOD_PARAMETERS, textParameter, WEBSITE_PARAMETER } from '../http/parameters.ts'
import type { RouteRow } from '../http/route.ts'
import { CURSOR_PARAMETER, type Cursors } from '../logs/cursor.ts'
import type { PageClock } from '../reads/walk-back.ts'
import type { ReadScope } from '../reads/scope.ts'
import { countVisits } from './count.ts'
import { LATER_STEPS, listVisits } from './list.ts'

/** Of the list of visits and of its export. */
export const VISIT_LIST_SCHEMA = {
  website: WEBSITE_PARAMETER,
  ...PERIOD_PARAMETERS,
  ...ORIGIN_PARAMETERS,
  step: { type: 'string', description: 'Only visits that reached this step.', enum: LATER_STEPS },
  agent: textParameter('Only visits that led to an install that this coding agent ran.', LIMITS.clientHintChars),
} as const satisfies Readonly<Record<string, JsonSchema>>

export const VISIT_ROUTES = {
  visits: {
    method: 'GET',
    path: '/api/organizations/:organization/visits',
    needs: 'Viewer',
    rate: 'read',
    summary: 'Visits, newest first, each with the steps that it has reached until now.',
    query: { ...VISIT_LIST_SCHEMA, cursor: CURSOR_PARAMETER },
  },
  visitCounts: {
    method: 'GET',
    path: '/api/organizations/:organization/visits/counts',
    needs: 'Viewer',
    rate: 'read',
    summary:
      'How many visits reached each step, by all filters at once: counted from the newest back for about a second, then go on with `next` and add.',
    query: { ...VISIT_LIST_SCHEMA, cursor: CURSOR_PARAMETER },
  },
} as const satisfies Record<string, RouteRow>

interface VisitParts {
  readonly scope: ReadScope
  readonly cursors: Cursors
  readonly clock: PageClock
}

export function visitHandlers({ scope, cursors, clock }: VisitParts): HandlersOf<typeof VISIT_ROUTES> {
  return { visits: listVisits(scope, cursors, clock), visitCounts: countVisits(scope, cursors, clock) }
}
