/** What the event `summary.weekly` holds. */

import { CHANGED_BY, type WeeklySummary } from '../people/weekly-summary.ts'
import { objectSchema, type JsonSchema } from '../schema/json-schema.ts'

const wholeCount = (description: string): JsonSchema => ({ type: 'integer', description, minimum: 0 })
const day = (description: string): JsonSchema => ({ type: 'string', description })

const FIGURES = {
  installs: wholeCount('Installs, as the Overview counts them.'),
  matched: wholeCount('Installs with a visit.'),
  lookedUp: wholeCount('Installs that were looked up and decided; the match rate is the share of `matched` in them.'),
  counted: wholeCount('Installs that were counted and not looked up.'),
  knownSource: wholeCount('Installs whose visit has a source, other than Direct.'),
  visits: wholeCount('Visits.'),
  converted: wholeCount('Visits that led to an install within seven days, as far as these are over.'),
}
const figuresSchema = (description: string): JsonSchema => ({
  ...objectSchema(FIGURES, Object.keys(FIGURES)),
  description,
})

const CHANGE = {
  by: { type: 'string', description: 'What the value is of.', enum: CHANGED_BY },
  value: { type: 'string', description: 'A campaign, a source or a landing page, as visitors brought it along.' },
  installs: wholeCount('Installs of this value.'),
  before: wholeCount('Those of the week before.'),
} as const satisfies Record<string, JsonSchema>

export const WEEKLY_DATA: JsonSchema = objectSchema(
  {
    from: day('The Monday of the week, for example 2026-11-16.'),
    to: day('Its Sunday.'),
    timeZone: day('The time zone of the organisation, in which these are days.'),
    now: figuresSchema('The numbers of the week.'),
    before: figuresSchema('Those of the week before; absent if not all of it is kept and counted.'),
    changes: {
      type: 'array',
      description: 'The values with the largest differences; empty if nothing is compared.',
      items: objectSchema(CHANGE, Object.keys(CHANGE)),
    },
  },
  ['from', 'to', 'timeZone', 'now', 'changes'],
)

export const WEEKLY_EXAMPLE = {
  from: '2026-11-16',
  to: '2026-11-22',
  timeZone: 'Europe/Berlin',
  now: { installs: 412, matched: 301, lookedUp: 398, counted: 0, knownSource: 244, visits: 9_120, converted: 288 },
  before: { installs: 350, matched: 262, lookedUp: 341, counted: 0, knownSource: 201, visits: 8_344, converted: 270 },
  changes: [{ by: 'campaign', value: 'launch', installs: 96, before: 12 }],
} as const satisfies WeeklySummary

/** Without `before` if nothing is compared, as no field of an event is null. */
export function weeklyData({ before, ...summary }: WeeklySummary): Readonly<Record<string, unknown>> {
  return before === null ? summary : { ...summary, before }
}
