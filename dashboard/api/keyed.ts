/** Routes that programs read with an API key. They are public: the document of the public interface is made from these declarations. */

import { Type } from 'typebox'

import { SOURCE_COLUMN_NAMES, SOURCE_COLUMNS } from '../../domain/collection/visit-source.ts'
import { INSTALLS_BY, ROW_KINDS } from '../../domain/figures/installs.ts'
import { KEY_METRICS, LISTED_BY } from '../../domain/figures/key-figures.ts'
import { LIMITS } from '../../domain/limits.ts'
import { STEP_SIZES } from '../../domain/time-zones.ts'
import { keysOf } from '../../domain/typed-keys.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import type { RouteRow } from './route.ts'
import { CURSOR_PARAMETER, FILTER_PARAMETER, FILTER_WORDS, maybe, textParameter, WEBSITE_PARAMETER } from './shapes.ts'

const TIME_CHARS = 40
const LIST_FILTERS = keysOf(LISTED_BY)
const LIST_FILTER_PARAMETER = Type.Array(Type.String({ maxLength: LIMITS.urlChars }), {
  description: `${FILTER_WORDS} Besides these, with \`is\` and one value: ${LIST_FILTERS.map((name) => `\`${name}\``).join(', ')}.`,
  maxItems: LIMITS.figureFilters + LIST_FILTERS.length,
})

const PERIOD = {
  website: WEBSITE_PARAMETER,
  from: textParameter(
    "The first day, as in `2026-11-01`, in the organisation's time zone; or a moment, as in `2026-11-01T09:00:00Z`.",
    TIME_CHARS,
  ),
  to: textParameter('The last day, which is included; or a moment, which is not.', TIME_CHARS),
}

const metric = (description: string) => Type.Optional(maybe(Type.Number(), description))

/** In the order of `KEY_METRICS`. */
const METRICS = {
  installs: metric('Installs: machines, each once.'),
  visits: metric(
    'Visits that began then. Null if they are not counted so: with a filter or a dimension that is about installs, or if there are too many of them to look through.',
  ),
  copied: metric('Visits in which the install command was copied; null as `visits` is.'),
  matched: metric('Installs that were matched to a visit.'),
} satisfies Readonly<Record<(typeof KEY_METRICS)[number], object>>

const FIGURES = Type.Object({
  timeZone: Type.String({ description: "The organisation's, which decides days, hours and weeks." }),
  rows: Type.Array(
    Type.Object({
      value: maybe(
        Type.String(),
        'Value of the dimension of `by`, or what a row that is none is called, such as Direct. Null without `by`.',
      ),
      row: maybe(
        oneOf(ROW_KINDS),
        'Whether `value` is one, or what else the row stands for. All rows of a time add up to its total. Null without `by`.',
      ),
      bucket: maybe(
        Type.String(),
        'A day, or the Monday of a week, or what of the week the period begins with, as in `2026-11-28`; an hour as in `2026-11-28T09:00:00+01:00`. Null without `bucket`.',
      ),
      ...METRICS,
    }),
    { description: 'In order of time, then those with the most installs first.' },
  ),
  total: Type.Object(METRICS, {
    description: 'Of the whole period, whatever `by` is: it counts visits, too, where rows cannot.',
  }),
  notKept: maybe(
    Type.Object({ before: Type.String({ description: 'The first day of which everything is kept.' }) }),
    'Set if the period begins before what the websites keep. Times of which nothing is kept have null for each number.',
  ),
})

const described = (description: string) => Type.String({ description })
const maybeText = (description: string) => maybe(Type.String(), description)

const INSTALL = {
  received_at: described('When it was reported, as in `2026-11-28T09:00:00.000Z`.'),
  website: described('ID of the website.'),
  event_id: described('ID of the event; a program that keeps installs recognises one by website and event.'),
  event_type: described('`install_started`, `install_completed` or `first_run`.'),
  install_path: described('Install method; empty: none.'),
  platform: described('Operating system of the machine.'),
  arch: described('Its architecture.'),
  agent: described('Coding agent that ran it; empty: a person, or unknown.'),
  product_version: described('Version that the installer stated; empty: none.'),
  place: described('Where the command stood; empty: not said.'),
  country: described("Of the machine's time zone; empty if that names none."),
  ci: Type.Boolean({ description: 'It ran in CI.' }),
  container: Type.Boolean({ description: 'It ran in a container.' }),
  test: Type.Boolean({ description: 'It was a test.' }),
  resolution: described('`matched`, `unmatched`, `counted` or `pending`.'),
  selection_policy: described('How its visit was chosen.'),
  candidate_count: Type.Number({ description: 'Visits that it could have come from.' }),
  reason: described('Why it is unmatched; empty otherwise.'),
  visit_id: described('ID of the visit; empty: none.'),
  visit_at: maybeText('When that visit was; null: none.'),
}

/** Where the visit came from, a column each. */
const SOURCES = Object.fromEntries(
  SOURCE_COLUMN_NAMES.map((name) => [
    SOURCE_COLUMNS[name].csv,
    maybeText(`${SOURCE_COLUMNS[name].title} of the visit; null if there is none.`),
  ]),
)

export const KEY_INSTALL_COLUMNS = [...keysOf(INSTALL), ...keysOf(SOURCES)]

const INSTALLS = Type.Object({
  installs: Type.Array(Type.Object({ ...INSTALL, ...SOURCES }), {
    description: `The newest first, at most ${LIMITS.keyInstallsPerPage.toLocaleString('en')}; a page may have fewer and yet not be the last.`,
  }),
  next: maybe(
    Type.String(),
    'For `cursor`, to read on with the same other parameters; null: this is the last page. As CSV it is in the header `Link`.',
  ),
})

const READ = { method: 'GET', needs: 'Key', rate: 'key', rank: 'key', hasCsv: true } as const

export const KEY_ROUTES = {
  keyFigures: {
    ...READ,
    path: '/v1/figures',
    keyScope: 'figures',
    summary: 'Installs and visits of a period, by a dimension, by time, or both: the numbers of the pages',
    query: {
      ...PERIOD,
      metrics: textParameter(
        `What to count, with commas in between: ${KEY_METRICS.map((name) => `\`${name}\``).join(', ')}. Installs alone if absent.`,
        LIMITS.clientHintChars,
      ),
      by: oneOf(INSTALLS_BY, 'A row for each value of this; one row in all if absent.'),
      bucket: oneOf(
        STEP_SIZES,
        `A row for each of these; one for the whole period if absent. At most ${LIMITS.keyBuckets.toLocaleString('en')} of them, ${LIMITS.keyBucketsByValue} with \`by\`.`,
      ),
      filter: FILTER_PARAMETER,
    },
    answers: { 200: FIGURES },
  },
  keyInstalls: {
    ...READ,
    path: '/v1/installs',
    keyScope: 'installs',
    summary: 'Install events of a period, the newest first, each with where it came from',
    query: { ...PERIOD, filter: LIST_FILTER_PARAMETER, cursor: CURSOR_PARAMETER },
    answers: { 200: INSTALLS },
  },
} as const satisfies Record<string, RouteRow>
