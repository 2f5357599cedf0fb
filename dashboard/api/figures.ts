/** Routes that answer with figures of an organisation; one request for each page. */

import { Type } from 'typebox'

import { VISIT_STEPS } from '../../domain/figures/cells.ts'
import { INSTALL_COUNTS, INSTALLS_BY, ROW_KINDS } from '../../domain/figures/installs.ts'
import { MANY_INSTALLS, OVERVIEW_PANELS, VISITS_LEFT_OUT } from '../../domain/figures/overview.ts'
import { MILESTONES } from '../../domain/people/change-entry.ts'
import { PLANS } from '../../domain/model.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { SOURCED_INSTALL } from './installs.ts'
import {
  BUCKET_PARAMETER,
  COMPARED_PERIOD_PARAMETERS,
  FIGURES_OF_PERIOD,
  NAMED_PERIOD_PARAMETERS,
  NULL_IF_NOT_COMPARED,
  STEP,
  STEP_SIZE,
} from './periods.ts'
import type { RouteRow } from './route.ts'
import {
  each,
  EXAMPLE_UNTIL,
  FILTER_PARAMETER,
  FLAG,
  LEFT_OUT_PARAMETER,
  maybe,
  NUMBER,
  SOURCED_VISIT,
  TEXT,
  TIME,
  WEBSITE_PARAMETER,
} from './shapes.ts'

const website = WEBSITE_PARAMETER
const bucket = BUCKET_PARAMETER
const by = oneOf(INSTALLS_BY, 'What to count by; source if absent.')
const PERIOD = COMPARED_PERIOD_PARAMETERS

const filter = FILTER_PARAMETER
const INSTALL_FILTERS = { filter, leftOut: LEFT_OUT_PARAMETER }
const LEFT_OUT = Type.Number({
  description: 'Installs from CI, containers and tests. No figure counts them unless `leftOut` is given.',
})

const WEBSITES = Type.Array(Type.Object({ id: TEXT, displayName: TEXT }))
const STEPS = each(VISIT_STEPS, NUMBER)
const VISIT_COUNTS = Type.Object(STEPS, { $id: 'VisitStepCounts' })
const INSTALLS = each(INSTALL_COUNTS, NUMBER)
const COUNTED_INSTALLS = Type.Object(INSTALLS, { $id: 'InstallCounts' })
const ROW = {
  row: oneOf(
    ROW_KINDS,
    '`value`, or what visits and installs without one are: `direct`, `none` and `no_campaign` (the visit names none), `not_known` (the visit has not arrived), `no_visit` (none was found), `not_looked_up` (by the plan, or a paused install path), `pending` (not decided yet), `other` (values beyond those that are listed).',
  ),
  value: Type.String({ description: 'Empty unless the row is one of a value.' }),
}
const BY_SOURCE = {
  total: Type.Object({ ...INSTALLS, visits: maybe(VISIT_COUNTS, 'Null if they are left out.') }),
  rows: Type.Array(
    Type.Object({
      ...ROW,
      ...INSTALLS,
      visits: maybe(VISIT_COUNTS, 'Null if visits are not counted by this dimension, or left out.'),
    }),
    { description: 'They add up to the total.' },
  ),
}
const TREND = Type.Array(NUMBER, { description: 'Installs in each of the parts.' })
/** The same rows with their trends. */
const TRENDED = {
  parts: Type.Array(Type.Object({ at: TIME, until: TIME }), {
    description: 'Equal parts of the period, of which the last one may be shorter.',
  }),
  total: Type.Object({ ...BY_SOURCE.total.properties, trend: TREND }),
  rows: Type.Array(Type.Object({ ...BY_SOURCE.rows.items.properties, trend: TREND }), {
    description: 'They add up to the total.',
  }),
}
const BY_VALUE = Type.Array(Type.Object({ ...ROW, ...INSTALLS }, { $id: 'InstallRow' }))
const REASONS = Type.Array(Type.Object({ value: TEXT, installs: NUMBER }))
const MATCHED = {
  total: COUNTED_INSTALLS,
  path: BY_VALUE,
  platform: BY_VALUE,
  policy: BY_VALUE,
  agent: BY_VALUE,
  reason: REASONS,
}

const VISITS_LEFT_OUT_BECAUSE = maybe(
  oneOf(VISITS_LEFT_OUT),
  'Why visits are not counted: a filter is about installs, or there are too many visits to read them one by one; null: they are counted.',
)

const OVERVIEW_TOTAL = Type.Object(
  {
    installs: COUNTED_INSTALLS,
    visits: maybe(VISIT_COUNTS, 'Null if they are left out.'),
    ripe: maybe(VISIT_COUNTS, 'Of these visits, those of steps that ended seven days ago: they had time to convert.'),
  },
  { $id: 'OverviewTotal' },
)
const OVERVIEW_STEPS = Type.Array(
  Type.Object(
    {
      ...STEP,
      isRipe: Type.Boolean({ description: 'It ended seven days ago, so that its visits had time to convert.' }),
      installs: COUNTED_INSTALLS,
      visits: maybe(VISIT_COUNTS, 'Null if they are left out.'),
    },
    { $id: 'OverviewStep' },
  ),
)
const ANNOTATIONS = Type.Array(
  Type.Object(
    {
      at: TIME,
      kind: oneOf(
        ['version', ...MILESTONES],
        '`version`: the first install event that named it; `destination_live`: a destination went live; `origins_changed`: the origins of a website changed.',
      ),
      name: Type.String({ description: 'The version, or the name of the destination or the website.' }),
    },
    { $id: 'Annotation' },
  ),
  { description: 'What a chart of the period marks, in order, whatever the filters; at most ten of each kind.' },
)
const CHECKLIST = Type.Object(
  {
    since: TIME,
    exampleUntil: maybe(
      NUMBER,
      'Unix ms at which made-up traffic ends, which is not counted here; null: there is none.',
    ),
    lines: Type.Array(Type.Object({ id: TEXT, isDone: FLAG, count: NUMBER })),
  },
  { $id: 'Checklist' },
)

/** Numbers alone: what a link shows of an Overview, too. */
export const OVERVIEW_FIGURES = {
  ...FIGURES_OF_PERIOD,
  step: STEP_SIZE,
  visitsLeftOut: VISITS_LEFT_OUT_BECAUSE,
  unfiltered: Type.Object(INSTALLS, { description: 'Installs of the period without any of the filters.' }),
  total: OVERVIEW_TOTAL,
  steps: OVERVIEW_STEPS,
  before: maybe(Type.Object({ total: OVERVIEW_TOTAL, steps: OVERVIEW_STEPS }), NULL_IF_NOT_COMPARED),
  panels: Type.Array(
    Type.Object({
      by: oneOf(OVERVIEW_PANELS),
      rows: Type.Array(
        Type.Object({
          ...ROW,
          installs: NUMBER,
          visits: maybe(NUMBER, 'Null if visits are not counted by this dimension, or left out.'),
          before: maybe(NUMBER, 'Installs of the period that is compared; null if none is.'),
        }),
        { description: 'The first values and `other` for all further ones. Their installs add up to the total.' },
      ),
    }),
  ),
  reasons: REASONS,
  annotations: ANNOTATIONS,
  largestChange: maybe(
    Type.Object({ by: oneOf(OVERVIEW_PANELS), value: TEXT, installs: NUMBER, before: NUMBER }),
    'The campaign, source or landing page whose installs differ most from the period that is compared; null: nothing changed, or nothing is compared.',
  ),
}

const OVERVIEW = Type.Object({
  ...OVERVIEW_FIGURES,
  installs: maybe(
    Type.Array(SOURCED_INSTALL),
    `Installs under the filters, newest first, if there are fewer than ${MANY_INSTALLS} without the filters; else null.`,
  ),
  checklist: maybe(CHECKLIST, 'What is set up, if the period has no install without the filters; else null.'),
})

const SHARED_COMMAND = Type.Object({
  website: TEXT,
  visit_id: TEXT,
  installations: Type.Number({ description: 'Distinct ones.' }),
  events: NUMBER,
  completed: NUMBER,
  first_run: NUMBER,
  by_agents: Type.Number({ description: 'Of the events.' }),
  first_ms: NUMBER,
  last_ms: NUMBER,
  visit: maybe(SOURCED_VISIT, 'Null if it is no longer kept.'),
  before: maybe(Type.Object({ installations: NUMBER }), NULL_IF_NOT_COMPARED),
})

const TRACKED_DAY = Type.Object(
  {
    at: Type.Number({ description: 'Unix ms at which the UTC day begins.' }),
    pageViews: NUMBER,
    events: Type.Number({ description: 'Install events of every kind.' }),
    installs: Type.Number({ description: 'Of these events, those that are installs.' }),
  },
  { $id: 'TrackedDay' },
)

const PROGRAM_VIEWS = Type.Array(Type.Object({ kind: TEXT, pageViews: NUMBER }), {
  description:
    'Page views that no visit counts: of crawlers (`bot`), automated browsers (`automation`) and agents. None under filters.',
})

const INSTALL_OUTCOMES = Type.Object(
  {
    website: TEXT,
    id: TEXT,
    displayName: TEXT,
    provider: TEXT,
    installs: Type.Number({ description: 'Of its website.' }),
    delivered: NUMBER,
    waiting: Type.Number({ description: 'Planned, or to be tried again.' }),
    failed: NUMBER,
    expired: NUMBER,
    skipped: Type.Array(Type.Object({ reason: TEXT, installs: NUMBER })),
    none: Type.Number({ description: 'They came before the destination was there, or have just come.' }),
  },
  { $id: 'InstallOutcomes' },
)

const READ = { method: 'GET', needs: 'Viewer', rate: 'read' } as const

export const FIGURE_ROUTES = {
  websites: {
    ...READ,
    path: '/api/organizations/:organization/websites',
    summary: 'The websites of an organisation, to choose one of them on the other pages.',
    query: {},
    answers: { 200: Type.Object({ websites: WEBSITES }) },
  },
  overview: {
    ...READ,
    path: '/api/organizations/:organization/overview',
    summary:
      'Installs and visits of a period, by hour, day or week and by each dimension that is asked for first, and the same for the period that it is compared with.',
    query: { website, ...PERIOD, bucket, ...INSTALL_FILTERS },
    answers: { 200: OVERVIEW },
  },
  funnel: {
    ...READ,
    path: '/api/organizations/:organization/funnel',
    summary: 'Visits of a period and the steps that each of them reached, by hour, day or week of the time zone.',
    query: { website, ...PERIOD, bucket, filter },
    answers: {
      200: Type.Object({
        ...FIGURES_OF_PERIOD,
        visitsLeftOut: VISITS_LEFT_OUT_BECAUSE,
        total: maybe(VISIT_COUNTS, 'Null if they are left out.'),
        before: maybe(
          Type.Object({ total: maybe(VISIT_COUNTS, 'Null if they are left out.'), leftOut: PROGRAM_VIEWS }),
          NULL_IF_NOT_COMPARED,
        ),
        leftOut: PROGRAM_VIEWS,
        step: STEP_SIZE,
        steps: Type.Array(Type.Object({ ...STEP, ...STEPS }), {
          description:
            'All of the period; of the first and the last it may have only a part. None if visits are left out.',
        }),
      }),
    },
  },
  sources: {
    ...READ,
    path: '/api/organizations/:organization/sources',
    summary:
      'Visits and installs by source, campaign, version and more, and the same for the period that it is compared with.',
    query: { website, by, ...PERIOD, ...INSTALL_FILTERS },
    answers: {
      200: Type.Object({
        ...FIGURES_OF_PERIOD,
        ...TRENDED,
        by,
        visitsLeftOut: VISITS_LEFT_OUT_BECAUSE,
        leftOut: LEFT_OUT,
        before: maybe(Type.Object(BY_SOURCE), NULL_IF_NOT_COMPARED),
      }),
    },
  },
  match: {
    ...READ,
    path: '/api/organizations/:organization/match',
    summary: 'Installs of a period: how they were matched, why not, how fast, and by which agents.',
    query: { website, ...PERIOD, ...INSTALL_FILTERS },
    answers: {
      200: Type.Object({
        ...FIGURES_OF_PERIOD,
        ...MATCHED,
        before: maybe(Type.Object(MATCHED), NULL_IF_NOT_COMPARED),
        leftOut: LEFT_OUT,
        timeToInstall: Type.Array(Type.Object({ fromSeconds: NUMBER, installs: NUMBER })),
        agentPages: Type.Array(Type.Object({ agent: TEXT, page: TEXT, installs: NUMBER })),
        deliveries: Type.Array(Type.Object({ destination: TEXT, status: TEXT, reason: TEXT, deliveries: NUMBER })),
      }),
    },
  },
  installOutcomes: {
    ...READ,
    path: '/api/organizations/:organization/deliveries/installs',
    summary:
      'What became of the installs of a period at each destination that gets installs alone: all but `installs` add up to it.',
    query: { website, ...NAMED_PERIOD_PARAMETERS, filter },
    answers: { 200: Type.Object({ ...FIGURES_OF_PERIOD, destinations: Type.Array(INSTALL_OUTCOMES) }) },
  },
  sharedCommands: {
    ...READ,
    path: '/api/organizations/:organization/shared-commands',
    summary:
      'Copied install commands that several machines ran in a period, or in its last 31 days: a README, a blog, a CI file.',
    query: { website, ...PERIOD },
    answers: {
      200: Type.Object({
        ...FIGURES_OF_PERIOD,
        isCut: Type.Boolean({ description: 'The period was longer: these are its last 31 days.' }),
        leastInstallations: NUMBER,
        mostListed: NUMBER,
        commands: Type.Array(SHARED_COMMAND),
      }),
    },
  },
  usage: {
    ...READ,
    path: '/api/organizations/:organization/usage',
    summary: 'Tracked events of this month by day, and what the plan allows.',
    query: {},
    answers: {
      200: Type.Object({
        plan: oneOf(PLANS),
        since: TIME,
        used: NUMBER,
        allowed: NUMBER,
        isCutOffOverQuota: FLAG,
        days: Type.Array(TRACKED_DAY),
        before: Type.Object({ since: TIME, until: TIME, used: NUMBER }),
        exampleUntil: EXAMPLE_UNTIL,
      }),
    },
  },
  checklist: {
    ...READ,
    path: '/api/organizations/:organization/checklist',
    summary: 'What is set up, as the traffic of 30 days proves it.',
    query: { website },
    answers: {
      200: CHECKLIST,
    },
  },
} as const satisfies Record<string, RouteRow>
