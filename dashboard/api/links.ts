/** Routes about share links: what whoever has one sees, which there are, making one, and revoking it. */

import { Type } from 'typebox'

import { PERIOD_NAMES, type PeriodName } from '../../domain/figures/periods.ts'
import { LIMITS } from '../../domain/limits.ts'
import { displayName, id, utcTime } from '../../domain/resources/resource-fields.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { OVERVIEW_FIGURES } from './figures.ts'
import { CONDITION, ORIGIN, WARNING } from './objects.ts'
import type { RouteRow } from './route.ts'
import { FILTER_WORDS, TEXT, textParameter, TIME, typed } from './shapes.ts'

const LINKS = '/api/organizations/:organization/links'
const OPENED = { method: 'GET', needs: 'Link', rate: 'link' } as const

const FILTERS = Type.Array(TEXT, { description: 'As in `filter` of other routes.' })

const SHOWN_LINK = Type.Object(
  {
    namespace: TEXT,
    name: TEXT,
    object: Type.String({ description: 'As the activity names it.' }),
    displayName: TEXT,
    website: Type.String({
      description: 'Its name as people see it, or that of the object; empty if it cannot be read.',
    }),
    period: oneOf(['', ...PERIOD_NAMES], 'Empty if it cannot be read.'),
    filter: FILTERS,
    createdAt: Type.String({ description: 'RFC 3339, or empty.' }),
    expiresAt: TIME,
    isInForce: Type.Boolean({ description: 'Whether it opens anything now.' }),
    conditions: Type.Array(CONDITION),
    origin: ORIGIN,
  },
  { $id: 'ShownShareLink' },
)

export const PAGE_TYPE = 'text/html; charset=utf-8'

/** For whoever has the address, from wherever they follow it; no session counts, and what opens nothing is `404`, whatever it lacks. */
export const SHARE_ROUTES = {
  sharePage: {
    ...OPENED,
    path: '/share/:token',
    summary: 'The page that shows what a link shares.',
    query: { metric: textParameter('What the chart of the page shows.', LIMITS.statedFactChars) },
    answers: { 200: [PAGE_TYPE] },
  },
  sharedFigures: {
    ...OPENED,
    path: '/share/:token/figures',
    rank: 'link',
    summary: 'The Overview that a link shares. The link alone says the website, the period and the filters.',
    query: {},
    answers: {
      200: Type.Object({
        title: Type.String({ description: 'What people call the link.' }),
        website: Type.String({ description: 'The name of the website that people see.' }),
        period: oneOf(PERIOD_NAMES),
        filter: FILTERS,
        figures: Type.Object(OVERVIEW_FIGURES),
      }),
    },
  },
} as const satisfies Record<string, RouteRow>

export const LINK_ADMIN_ROUTES = {
  shareLinks: {
    method: 'GET',
    path: LINKS,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Share links of the organisation; no address of one, which nobody can see again.',
    answers: { 200: Type.Object({ links: Type.Array(SHOWN_LINK) }) },
  },
  createShareLink: {
    method: 'POST',
    path: LINKS,
    needs: 'Admin',
    rate: 'write',
    refuses: ['conflict', 'managed_elsewhere', 'plan_limit', 'plan_required'],
    summary: 'Share the Overview of a website; the answer shows the address this once.',
    body: Type.Object({
      displayName: typed<string>(displayName),
      website: typed<string>(id),
      period: typed<PeriodName>({
        type: 'string',
        description: 'The period, counted from the day on which it is opened.',
        enum: PERIOD_NAMES,
      }),
      filter: typed<readonly string[]>({
        type: 'array',
        description: FILTER_WORDS,
        maxItems: LIMITS.figureFilters,
        items: { type: 'string', description: 'A filter.', maxLength: LIMITS.urlChars },
      }),
      expiresAt: typed<string>(utcTime('When it ends, in UTC; within a year.')),
    }),
    answers: {
      201: Type.Object({
        namespace: TEXT,
        name: TEXT,
        path: Type.String({ description: '`/share/`, `whs_` and 43 characters.' }),
        warnings: Type.Array(WARNING),
      }),
    },
  },
  revokeShareLink: {
    method: 'DELETE',
    path: `${LINKS}/:namespace/:name`,
    needs: 'Admin',
    rate: 'write',
    refuses: ['conflict', 'managed_elsewhere'],
    summary: 'Revoke a share link: its object is deleted.',
    answers: { 204: null },
  },
} as const satisfies Record<string, RouteRow>
