/** Routes that answer with figures of an organisation. */

import { LIMITS } from '../../domain/limits.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import type { HandlersOf } from '../http/call.ts'
import type { RouteRow } from '../http/route.ts'
import type { ReadScope } from '../reads/scope.ts'
import { readOverview } from './overview.ts'

const website: JsonSchema = {
  ...{ type: 'string', description: 'One website instead of all.' },
  ...{ minLength: 1, maxLength: LIMITS.websiteIdChars },
}

export const FIGURE_ROUTES = {
  overview: {
    ...{ method: 'GET', path: '/api/organizations/:organization/overview', needs: 'Viewer', rate: 'read' },
    summary: 'What happened in the last 24 hours, by hour.',
    query: { website },
  },
} as const satisfies Record<string, RouteRow>

export function figureHandlers(scope: ReadScope): HandlersOf<typeof FIGURE_ROUTES> {
  return { overview: readOverview(scope) }
}
