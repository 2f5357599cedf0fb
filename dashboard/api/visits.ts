/** The routes of the list of visits, and of their number. */

import { Type } from 'typebox'

import { SOURCE_COLUMN_NAMES } from '../../domain/collection/visit-source.ts'
import { VISIT_STEPS, type LaterStep } from '../../domain/figures/cells.ts'
import { LIMITS } from '../../domain/limits.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import type { RouteRow } from './route.ts'
import {
  CURSOR_PARAMETER,
  each,
  FILTER_PARAMETER,
  NEXT,
  NUMBER,
  PERIOD_PARAMETERS,
  TEXT,
  textParameter,
  WEBSITE_PARAMETER,
} from './shapes.ts'

/** What only some visits reach, in order. */
export const LATER_STEPS = VISIT_STEPS.filter((step): step is LaterStep => step !== 'visits')

/** Of the list of visits and of its export. */
export const VISIT_LIST_QUERY = {
  website: WEBSITE_PARAMETER,
  ...PERIOD_PARAMETERS,
  filter: FILTER_PARAMETER,
  step: oneOf(LATER_STEPS, 'Only visits that reached this step.'),
  agent: textParameter('Only visits that led to an install that this coding agent ran.', LIMITS.clientHintChars),
} as const

const LISTED_VISIT = Type.Object(
  {
    visit: Type.Object({
      website: TEXT,
      visit_id: TEXT,
      issued_at_ms: NUMBER,
      ...each(SOURCE_COLUMN_NAMES, TEXT),
    }),
    reached: Type.Array(oneOf(LATER_STEPS), { description: 'The steps that it has reached until now, in order.' }),
  },
  { $id: 'ListedVisit' },
)

export const VISIT_ROUTES = {
  visits: {
    method: 'GET',
    path: '/api/organizations/:organization/visits',
    needs: 'Viewer',
    rate: 'read',
    summary: 'Visits, newest first, each with the steps that it has reached until now.',
    query: { ...VISIT_LIST_QUERY, cursor: CURSOR_PARAMETER },
    answers: {
      200: Type.Object({
        visits: Type.Array(LISTED_VISIT),
        searchedBackTo: Type.Number({ description: 'Unix ms: the list is complete from this time on.' }),
        logsSince: Type.Number({ description: 'Unix ms: older lines of Logs are gone.' }),
        next: NEXT,
      }),
    },
  },
  visitCounts: {
    method: 'GET',
    path: '/api/organizations/:organization/visits/counts',
    needs: 'Viewer',
    rate: 'read',
    summary:
      'How many visits reached each step, by all filters at once: counted from the newest back for about a second, then go on with `next` and add.',
    query: { ...VISIT_LIST_QUERY, cursor: CURSOR_PARAMETER },
    answers: {
      200: Type.Object({
        counts: Type.Object(each(VISIT_STEPS, NUMBER), {
          description: 'Of this request; those of the requests before it are to be added.',
        }),
        countedBackTo: Type.Number({ description: 'Unix ms: older visits were not counted yet.' }),
        next: NEXT,
      }),
    },
  },
} as const satisfies Record<string, RouteRow>
