/** Visits of an organisation's websites, newest first, each with the steps that it has reached: what figures count, one by one. */

import { keysOf } from '../../../domain/typed-keys.ts'
import type { LaterStep, VISIT_STEPS } from '../../../domain/figures/cells.ts'
import { SOURCE_COLUMN_NAMES } from '../../../domain/collection/visit-source.ts'
import { selectFrom, type RowsOf } from '../columns.ts'
import { at, newestFirst, once, pageLimit, pageOf } from '../query-parts.ts'
import { COUNTED_BY, IS_VISIT } from '../visits.ts'
import type { LogWindow } from './logs.ts'
import { issuedOfMerged, OF_ORGANIZATION, VISIT_ISSUED } from './ranges.ts'
import { KEY_ID, reachedSteps } from './raw-figures.ts'

const VISIT_LINE = selectFrom('visits', ['website', 'visit_id', 'issued_at', ...SOURCE_COLUMN_NAMES])

/** 1: the visit reached this step. */
export type VisitLineRow = RowsOf<typeof VISIT_LINE> & { readonly [S in LaterStep]: number }

export type VisitFilters = { readonly [D in keyof typeof COUNTED_BY]?: string } & {
  readonly step?: LaterStep
  /** The visit led to an install that this agent ran. */
  readonly agent?: string
}

type VisitWindow = LogWindow & VisitFilters

type VisitKeyIds = {
  /** Those of the visits of the window: each one more takes the engine a while to plan. */
  readonly key_ids?: readonly number[]
}

type VisitPageParams = VisitWindow &
  VisitKeyIds & {
    readonly limit: number
    readonly before_ms?: number
    readonly before_id?: string
  }

/** Distinct visits that reached each step. */
export type VisitCountsRow = { readonly [S in (typeof VISIT_STEPS)[number]]: number }

interface VisitsWithinRow {
  /** Repeats included. */
  readonly visits: number
  /** Those from where it is asked for. */
  readonly wanted: number
  readonly key_ids: readonly number[]
}

/** As figures count it. */
const STEP_COLUMNS: Readonly<Record<LaterStep, string>> = {
  activated: 'is_activated',
  copied: 'is_copied',
  started: 'started',
  installed: 'installed',
  first_run: 'first_run',
  converted: 'converted',
}
const STEP_NAMES = Object.entries(STEP_COLUMNS).map(([name, column]) => `${column} AS ${name}`)
const STEP_COUNTS = Object.entries(STEP_COLUMNS).map(([name, column]) => `countIf(${column}) AS ${name}`)

const AFTER = `(issued_at, visit_id) < (${at('before_ms')}, {before_id:String})`

/** Conditions on the visit itself, which narrow down what its steps are looked up for. */
function originConditions(params: VisitFilters): readonly string[] {
  const names = keysOf(COUNTED_BY)
  return names.filter((name) => params[name] !== undefined).map((name) => `${COUNTED_BY[name]} = {${name}:String}`)
}

function stepConditions({ step, agent }: VisitFilters): readonly string[] {
  return [
    ...(step === undefined ? [] : [STEP_COLUMNS[step]]),
    ...(agent === undefined ? [] : ['has(agents, {agent:String})']),
  ]
}

function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

/** Visits of a window with the steps that each reached, as figures look them up. */
function steppedVisits(
  params: VisitWindow & VisitKeyIds,
  more: readonly string[] = [],
  conditions: readonly string[] = [],
): string {
  const { columns, join } = reachedSteps(params)
  const names = ['organization', 'website', 'visit_id', 'issued_at', ...more]
  return `SELECT visit.* EXCEPT (organization, website), visit.organization AS organization, visit.website AS website, ${columns}, install.agents AS agents
    FROM (SELECT ${names.join(', ')} FROM ${once('visits')} PREWHERE ${OF_ORGANIZATION} AND ${issuedOfMerged(params)}
      ${whereAll([IS_VISIT, ...originConditions(params), ...conditions])}) AS visit
    ${join}`
}

export const VISIT_QUERIES = {
  /** How many visits a window has, before their steps are looked up: it decides how long a window may be. */
  visitsWithin: pageOf<VisitWindow, VisitsWithinRow>((params) => {
    const isWanted = [IS_VISIT, ...originConditions(params)].join(' AND ')
    return `SELECT count() AS visits, countIf(${isWanted}) AS wanted, groupUniqArrayIf(${KEY_ID}, ${isWanted}) AS key_ids
      FROM visits PREWHERE ${OF_ORGANIZATION} AND ${VISIT_ISSUED} LIMIT 1`
  }),

  /** How many visits of a window reached each step. Always one row. */
  visitCounts: pageOf<VisitWindow & VisitKeyIds, VisitCountsRow>(
    // The names of the counts are also names of columns, so that the condition needs a query of its own.
    (params) => `SELECT count() AS visits, ${STEP_COUNTS.join(', ')}
      FROM (SELECT * FROM (${steppedVisits(params)}) ${whereAll(stepConditions(params))}) LIMIT 1`,
  ),

  /** The steps of each are looked up as figures do. */
  visitLines: pageOf<VisitPageParams, VisitLineRow>((params) => {
    const after = params.before_id === undefined ? [] : [AFTER]
    return `SELECT ${VISIT_LINE.sql}, ${STEP_NAMES.join(', ')} FROM (${steppedVisits(params, SOURCE_COLUMN_NAMES, after)})
      ${whereAll(stepConditions(params))} ${newestFirst('issued_at', 'visit_id')} ${pageLimit()}`
  }),
} as const
