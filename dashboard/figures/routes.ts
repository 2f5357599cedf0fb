/** Routes that answer with figures of an organisation; one request for each page. */

import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import type { HandlersOf } from '../http/call.ts'
import { WEBSITE_PARAMETER } from '../http/parameters.ts'
import type { RouteRow } from '../http/route.ts'
import { readChecklist } from './checklist.ts'
import { readOverview } from './overview.ts'
import { figurePage, funnelPage, matchPage, sourcesPage, usagePage, type FigureParts } from './pages.ts'
import { PERIOD_QUERY } from './period.ts'
import { readSharedCommands } from './fan-out.ts'
import { listWebsites } from './websites.ts'

const website = WEBSITE_PARAMETER
const by: JsonSchema = {
  type: 'string',
  description: 'What to count by; source if absent.',
  enum: ['source', 'medium', 'campaign', 'referrer', 'page'],
}
const READ = { method: 'GET', needs: 'Viewer', rate: 'read' } as const

export const FIGURE_ROUTES = {
  websites: {
    ...READ,
    path: '/api/organizations/:organization/websites',
    summary: 'The websites of an organisation, to choose one of them on the other pages.',
    query: {},
  },
  overview: {
    ...READ,
    path: '/api/organizations/:organization/overview',
    summary: 'What happened in the last 24 hours, by hour.',
    query: { website },
  },
  funnel: {
    ...READ,
    path: '/api/organizations/:organization/funnel',
    summary: 'Visits of a period and the steps that each of them reached, by hour or day.',
    query: { website, ...PERIOD_QUERY },
  },
  sources: {
    ...READ,
    path: '/api/organizations/:organization/sources',
    summary: 'The funnel by source, medium, campaign, referrer or page, and the same for the previous period.',
    query: { website, by, ...PERIOD_QUERY },
  },
  match: {
    ...READ,
    path: '/api/organizations/:organization/match',
    summary: 'Install events of a period: how they were matched, why not, how fast, and by which agents.',
    query: { website, ...PERIOD_QUERY },
  },
  sharedCommands: {
    ...READ,
    path: '/api/organizations/:organization/shared-commands',
    summary:
      'Copied install commands that several machines ran in a period of at most 31 days: a README, a blog, a CI file.',
    query: { website, ...PERIOD_QUERY },
  },
  usage: {
    ...READ,
    path: '/api/organizations/:organization/usage',
    summary: 'Tracked events of this month by day, and what the plan allows.',
    query: {},
  },
  checklist: {
    ...READ,
    path: '/api/organizations/:organization/checklist',
    summary: 'What is set up, as the traffic of 30 days proves it.',
    query: { website },
  },
} as const satisfies Record<string, RouteRow>

export function figureHandlers(parts: FigureParts): HandlersOf<typeof FIGURE_ROUTES> {
  return {
    websites: listWebsites(parts.scope),
    overview: readOverview(parts.scope),
    funnel: figurePage(parts, funnelPage),
    sources: figurePage(parts, sourcesPage),
    match: figurePage(parts, matchPage),
    sharedCommands: readSharedCommands(parts.scope),
    usage: usagePage(parts),
    checklist: readChecklist(parts),
  }
}
