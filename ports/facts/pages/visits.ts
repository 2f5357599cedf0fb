/** Visits of an organisation's websites, newest first, each with the steps that it has reached: what figures count, one by one. */

import { isOriginDimension } from '../../../domain/figures/installs.ts'
import type { LaterStep, VISIT_STEPS } from '../../../domain/figures/cells.ts'
import { SOURCE_COLUMN_NAMES } from '../../../domain/collection/visit-source.ts'
import { selectFrom, type RowsOf } from '../columns.ts'
import { at, newestFirst, pageLimit, pageOf } from '../query-parts.ts'
import { COUNTED_BY, IS_PERSONS_VIEW } from '../visits.ts'
import { askedFilters, filterCondition, filterConditionOfAny, type FilterParameters } from './figure-filters.ts'
import type { LogWindow } from './logs.ts'
import { OF_ORGANIZATION } from './ranges.ts'
import { BEGINNINGS, cellsOfVisits, KEY_ID, stepsOfVisits, type CellRow } from './raw-figures.ts'
import type { StepRow } from './rolled-figures.ts'
import { viewedWithin, visitsSql } from './sittings.ts'

const VISIT_LINE = selectFrom('visits', ['website', 'visit_id', 'issued_at', ...SOURCE_COLUMN_NAMES])

/** 1: the visit reached this step. */
export type VisitLineRow = RowsOf<typeof VISIT_LINE> & { readonly [S in LaterStep]: number }

/** Filters on machines fit no visit: whoever asks leaves them out. */
export type VisitFilters = FilterParameters & {
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

/** The filters on visits, each with its dimension. */
function visitFiltersAsked(params: VisitFilters) {
  return askedFilters(params).flatMap((filter) => {
    const { dimension } = filter
    return isOriginDimension(dimension) ? [{ filter, dimension }] : []
  })
}

/** Those that the visit's first page view decides. */
function beginningsAsked(params: VisitFilters) {
  return visitFiltersAsked(params).filter(({ dimension }) => dimension !== 'page')
}

/** On page views: what the first of a visit that is asked for meets. */
function firstViewCondition(params: VisitFilters): string {
  return allOf(beginningsAsked(params).map(({ filter, dimension }) => filterCondition(filter, COUNTED_BY[dimension])))
}

/** Those on pages, of which one that was seen must fit. */
function pagesAsked(params: VisitFilters) {
  return visitFiltersAsked(params).filter(({ filter, dimension }) => dimension === 'page' && filter.op !== 'is_not')
}

/** Sittings that saw such a page, in an hour of the window or a later one. */
function sawPage(window: VisitWindow, isPage: string, areAmongPages: string): string {
  return `(website, sitting) IN (SELECT website, sitting FROM visits PREWHERE ${OF_ORGANIZATION} AND ${viewedWithin(window)} WHERE ${isPage}
    UNION ALL SELECT website, sitting FROM visit_hours PREWHERE ${OF_ORGANIZATION} WHERE ${areAmongPages})`
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
  for (const { filter } of pagesAsked(window)) {
    const isPage = filterCondition(filter, COUNTED_BY.page)
    const saw = sawPage(window, isPage, filterConditionOfAny(filter, 'pages'))
    isWanted.push(`(${isPage} OR sitting != '' AND ${saw})`)
  }
  return allOf(isWanted)
}

/** On visits. */
function askedOfVisit({ step, agent, ...params }: VisitFilters): readonly string[] {
  return [
    ...visitFiltersAsked(params).map(({ filter, dimension }) =>
      dimension === 'page' ? filterConditionOfAny(filter, 'pages') : filterCondition(filter, `by_${dimension}`),
    ),
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
  const chosen = beginningsAsked(params).map(({ dimension }) => [`by_${dimension}`, COUNTED_BY[dimension]] as const)
  return visitsSql(params, { columns: Object.fromEntries([...own, ...chosen]), condition: wantedViews(params) })
}

/** Only those that the filters ask for. */
function filteredVisits(params: VisitWindow & VisitKeyIds): string {
  const visits = visitsSql(params, { columns: BEGINNINGS, condition: wantedViews(params) })
  return `SELECT * FROM (${visits}) WHERE ${allOf(askedOfVisit(params))}`
}

export const VISIT_QUERIES = {
  /** Of each quarter of an hour of a window: visits, and how many of them reached each step. */
  filteredVisitSteps: pageOf<VisitWindow & VisitKeyIds, StepRow>((params) => stepsOfVisits(filteredVisits(params))),

  /** Of a window, by value. */
  filteredVisitCells: pageOf<VisitWindow & VisitKeyIds, CellRow>((params) => cellsOfVisits(filteredVisits(params))),

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
