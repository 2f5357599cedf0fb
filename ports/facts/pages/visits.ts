/** Visits of an organisation's websites, newest first, each with the steps that it has reached: what figures count, one by one. */

import { keysOf } from '../../../domain/typed-keys.ts'
import type { LaterStep, VISIT_STEPS } from '../../../domain/figures/cells.ts'
import { SOURCE_COLUMN_NAMES } from '../../../domain/collection/visit-source.ts'
import { selectFrom, type RowsOf } from '../columns.ts'
import { at, newestFirst, pageLimit, pageOf } from '../query-parts.ts'
import { COUNTED_BY, IS_PERSONS_VIEW } from '../visits.ts'
import type { LogWindow } from './logs.ts'
import { OF_ORGANIZATION } from './ranges.ts'
import { KEY_ID } from './raw-figures.ts'
import { viewedWithin, visitsSql } from './sittings.ts'

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

/** Columns of a visit by which it is chosen: those of its first page view. */
const CHOSEN_BY = keysOf(COUNTED_BY).filter((name) => name !== 'page')

function isAskedValue(name: keyof typeof COUNTED_BY): string {
  return `${COUNTED_BY[name]} = {${name}:String}`
}

/** Dimensions that the visit's first page view decides. */
function beginningsAsked(params: VisitFilters) {
  return CHOSEN_BY.filter((name) => params[name] !== undefined)
}

/** On page views: what the first of a visit that is asked for meets. */
function firstViewCondition(params: VisitFilters): string {
  return allOf(beginningsAsked(params).map(isAskedValue))
}

/** Sittings that saw the page, in an hour of the window or a later one. */
function sawPage(window: VisitWindow): string {
  return `(website, sitting) IN (SELECT website, sitting FROM visits PREWHERE ${OF_ORGANIZATION} AND ${viewedWithin(window)} WHERE ${isAskedValue('page')}
    UNION ALL SELECT website, sitting FROM visit_hours PREWHERE ${OF_ORGANIZATION} WHERE has(pages, {page:String}))`
}

/**
 * On page views: those of visits that may be asked for, each with all of its page views. It narrows down what steps are looked up for.
 */
function wantedViews(window: VisitWindow): string {
  const first = firstViewCondition(window)
  const isWanted: string[] = []
  if (beginningsAsked(window).length > 0)
    isWanted.push(`(${first} OR (website, sitting) IN (
      SELECT website, sitting FROM visits PREWHERE ${OF_ORGANIZATION} AND ${viewedWithin(window)} WHERE sitting != '' AND ${first}))`)
  if (window.page !== undefined) isWanted.push(`(${isAskedValue('page')} OR sitting != '' AND ${sawPage(window)})`)
  return allOf(isWanted)
}

/** On visits. */
function askedOfVisit({ step, agent, ...params }: VisitFilters): readonly string[] {
  return [
    ...beginningsAsked(params).map((name) => `by_${name} = {${name}:String}`),
    ...(params.page === undefined ? [] : ['has(pages, {page:String})']),
    ...(step === undefined ? [] : [STEP_COLUMNS[step]]),
    ...(agent === undefined ? [] : ['has(agents, {agent:String})']),
  ]
}

function allOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.join(' AND ')
}

/** Visits of a window with the steps that each reached, as figures count them. */
function steppedVisits(params: VisitWindow & VisitKeyIds, more: readonly string[] = []): string {
  const own = more.map((name) => [name, name] as const)
  const chosen = beginningsAsked(params).map((name) => [`by_${name}`, COUNTED_BY[name]] as const)
  return visitsSql(params, { columns: Object.fromEntries([...own, ...chosen]), condition: wantedViews(params) })
}

export const VISIT_QUERIES = {
  /** How many page views a window has, before they are put together to visits: it decides how long a window may be. */
  visitsWithin: pageOf<VisitWindow, VisitsWithinRow>((params) => {
    const isWanted = `${IS_PERSONS_VIEW} AND ${wantedViews(params)}`
    return `SELECT count() AS visits, countIf(${isWanted}) AS wanted, groupUniqArrayIf(${KEY_ID}, ${IS_PERSONS_VIEW}) AS key_ids
      FROM visits PREWHERE ${OF_ORGANIZATION} AND ${viewedWithin(params)} LIMIT 1`
  }),

  /** How many visits of a window reached each step. Always one row. */
  visitCounts: pageOf<VisitWindow & VisitKeyIds, VisitCountsRow>(
    // The names of the counts are also names of columns, so that the condition needs a query of its own.
    (params) => `SELECT count() AS visits, ${STEP_COUNTS.join(', ')}
      FROM (SELECT * FROM (${steppedVisits(params)}) WHERE ${allOf(askedOfVisit(params))}) LIMIT 1`,
  ),

  /** The steps of each are looked up as figures do. */
  visitLines: pageOf<VisitPageParams, VisitLineRow>((params) => {
    const after = params.before_id === undefined ? [] : [AFTER]
    return `SELECT ${VISIT_LINE.sql}, ${STEP_NAMES.join(', ')} FROM (${steppedVisits(params, SOURCE_COLUMN_NAMES)})
      WHERE ${allOf([...askedOfVisit(params), ...after])} ${newestFirst('issued_at', 'visit_id')} ${pageLimit()}`
  }),
} as const
