/** Periods as routes of figures take and answer them. */

import { Type } from 'typebox'

import { LAST_MOMENT_MS } from '../../domain/durations.ts'
import { COMPARISONS, DEFAULT_PERIOD, NOT_COMPARED, PERIOD_NAMES } from '../../domain/figures/periods.ts'
import { STEP_SIZES } from '../../domain/time-zones.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { EXAMPLE_UNTIL, maybe, textParameter, TIME } from './shapes.ts'

const DATE_CHARS = '2026-11-28'.length

function momentParameter(description: string) {
  return Type.Integer({ description, minimum: 0, maximum: LAST_MOMENT_MS })
}

/** Without any of these, the default. Dates are days of the organisation's time zone. */
export const NAMED_PERIOD_PARAMETERS = {
  period: oneOf(
    PERIOD_NAMES,
    `A period by its name, in the organisation's time zone; ${DEFAULT_PERIOD} if no other is given. What reaches the present ends with the present hour.`,
  ),
  from: textParameter('Without `period`: the first date, such as 2026-11-01.', DATE_CHARS),
  to: textParameter('The last date; today if absent.', DATE_CHARS),
  since: momentParameter('Without `period` and `from`: Unix ms, extended to the start of its hour.'),
  until: momentParameter('Unix ms, extended to the end of its hour; now if absent.'),
} as const

export const COMPARED_PERIOD_PARAMETERS = {
  ...NAMED_PERIOD_PARAMETERS,
  compare: oneOf(
    COMPARISONS,
    'What figures are compared with: the period right before (of a month or a year the same part of the one before), the same dates a year before, or nothing. `before` if absent.',
  ),
} as const

export const BUCKET_PARAMETER = oneOf(
  STEP_SIZES,
  "A step of the chart, in the organisation's time zone; weeks begin on Monday. By the length of the period if absent.",
)

/** Of an answer: its period and what that is compared with. */
export const ANSWERED_PERIOD = {
  since: TIME,
  until: TIME,
  keptSince: Type.Number({
    description:
      'Unix ms at which the first day begins of which everything is kept. Figures of the time before are incomplete.',
  }),
  comparison: maybe(
    Type.Object(
      {
        by: oneOf(['before', 'year_before']),
        since: TIME,
        until: TIME,
        notCompared: maybe(
          oneOf(NOT_COMPARED),
          'Why nothing is compared: not all of that period is kept, nothing had come in yet at its end, or some hours of either period are not counted yet; null: it is compared.',
        ),
      },
      { $id: 'Comparison' },
    ),
    'What figures are compared with; null: nothing was asked for.',
  ),
} as const

/** What every page of figures answers. */
export const FIGURES_OF_PERIOD = {
  ...ANSWERED_PERIOD,
  timeZone: Type.String({ description: "The organisation's, which decides hours and days." }),
  exampleUntil: EXAMPLE_UNTIL,
} as const

/** A step of a chart. */
export const STEP = {
  at: TIME,
  until: TIME,
  isPart: Type.Boolean({ description: 'The period has only a part of it.' }),
  isKept: Type.Boolean({ description: 'All of it is kept; else its figures are incomplete.' }),
} as const

export const STEP_SIZE = oneOf(STEP_SIZES, "What a step is, of the organisation's time zone.")

/** In place of what is compared if nothing is. */
export const NULL_IF_NOT_COMPARED = 'Null if nothing is compared; `comparison` says why.'
