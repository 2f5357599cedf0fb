/** The pages of figures: funnel, sources, match rate, usage. Each is one answer. */

import { presentOf, recordOf } from '../../domain/typed-keys.ts'
import { DAY_MS, hourAfter } from '../../domain/durations.ts'
import {
  cellOf,
  INSTALL_TIME_BUCKETS_S,
  namedCounts,
  sumCells,
  VISIT_STEPS,
  type Cell,
  type Counts,
} from '../../domain/figures/cells.ts'
import { areFilters, readFilters } from '../../domain/figures/filters.ts'
import { isOriginDimension, rowKey, type InstallDimension, type LeftOutChoice } from '../../domain/figures/installs.ts'
import { visitsBeside, type VisitsBeside, type VisitsLeftOut } from '../../domain/figures/overview.ts'
import type { FiguresPeriod } from '../../domain/figures/periods.ts'
import { restOfTrends, trendParts, type Trend } from '../../domain/figures/trends.ts'
import { stepsOf, timeZone, UTC_ZONE, type TimeZone } from '../../domain/time-zones.ts'
import { PLAN_LIMITS } from '../../domain/limits.ts'
import { answer, type ScopedCall, type CallTo } from '../http/call.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'
import { listedInstalls, sourceRows, totalOf, type SourceFigure } from './answers.ts'
import { readExampleUntil } from './example.ts'
import {
  answeredPeriod,
  keptStep,
  readQuestion,
  spanOf,
  type AskedOfFigures,
  type FiguresQuestion,
} from './asked-period.ts'
import { readVisitCells, readVisitSteps } from './filtered-visits.ts'
import { readFigures, readSteps, type FigureSource } from './read-figures.ts'
import {
  installFiguresOf,
  installSlices,
  readAgentPages,
  readInstallAges,
  readInstallFigures,
  readInstallSteps,
  readInstallTrends,
  readLeftOut,
} from './read-installs.ts'

export interface FigureParts {
  readonly scope: ReadScope
  readonly keyIds: readonly number[]
}

/** With the time zone that decides its days. */
export interface ZonedSource extends FigureSource {
  readonly zone: TimeZone
}

/** All that is known of the organisation. */
export interface OrganizationSource extends ZonedSource {
  readonly reads: OrganizationFacts
}

type FiguresPage<Page extends object, Asked> = (
  source: OrganizationSource,
  question: FiguresQuestion,
  call: Asked,
) => Promise<Page>

/** A handler that answers the result of `page` for the period and the filters of the query. */
export function figurePage<Page extends object, Asked extends ScopedCall & AskedOfFigures>(
  { scope, keyIds }: FigureParts,
  page: FiguresPage<Page, Asked>,
) {
  return scope(async (reads, call: Asked) => {
    const zone = timeZone(reads.organization.timeZone)
    const question = await readQuestion(reads, call, zone)
    if ('code' in question) return question
    const filters = readFilters(call.query.filter)
    if (!areFilters(filters)) return filters
    const source = { reads, nowMs: call.nowMs, keyIds, zone, filters }
    return answer({
      ...answeredPeriod(question),
      timeZone: zone.name,
      ...(await page(source, question, call)),
      exampleUntil: await readExampleUntil(reads, question.sinceMs, call.nowMs),
    })
  })
}

/** Visits of the period with every step that each has reached until now, and the same for the period that it is compared with. */
export async function funnelPage(source: ZonedSource, question: FiguresQuestion) {
  const visits = visitsBeside(source.filters ?? [])
  const steps = stepsOf(source.zone, spanOf(question), question.step)
  const counts = await readVisitSteps(source, steps, visits)
  return {
    visitsLeftOut: leftOutBecause(visits, counts),
    // The sum of the steps, so that both come from the same statements.
    total: counts === null ? null : namedCounts(VISIT_STEPS, sumOfSteps(counts)),
    leftOut: await readProgramViews(source, question),
    before: question.before === null ? null : await funnelBefore(source, question.before, visits),
    step: question.step,
    steps:
      counts === null
        ? []
        : steps.map((each, place) => ({
            ...keptStep(each, question),
            ...namedCounts(VISIT_STEPS, counts[place] ?? []),
          })),
  }
}

async function funnelBefore(source: ZonedSource, period: FiguresPeriod, visits: VisitsBeside) {
  const [counts = null] = (await readVisitSteps(source, [spanOf(period)], visits)) ?? []
  return {
    total: counts === null ? null : namedCounts(VISIT_STEPS, counts),
    leftOut: await readProgramViews(source, period),
  }
}

export function sumOfSteps(steps: readonly Counts[]): Counts {
  return totalOf(sumCells(steps.map((counts): Cell => cellOf({ value: '', counts }))))
}

/** No filter fits them: they are page views, and not visits. */
async function readProgramViews(source: FigureSource, period: FiguresPeriod) {
  if ((source.filters ?? []).length > 0) return []
  return programViews((await readFigures(source, period, ['visitor_kind'])).get('visitor_kind'))
}

/** Page views that no visit counts: of crawlers (`bot`), automated browsers and agents, by name. */
function programViews(kinds: readonly Cell[] = []) {
  return kinds.filter(([kind]) => kind !== '').map(([kind, pageViews]) => ({ kind, pageViews }))
}

/**
 * Visits and installs by one dimension, and the same for the period that it is compared with. Visits count when they began, installs when they were received; installs
 * without a value have rows of their own, so that all rows add up to the total.
 */
export async function sourcesPage(source: FigureSource, question: FiguresQuestion, { query }: CallTo<'sources'>) {
  const { by = 'source' } = query
  const counted = countedSource(source, query)
  const { total, rows } = await figuresBy(counted, question, by)
  const slices = await installSlices(counted, question)
  const parts = trendParts(question)
  const steps = Array.from({ length: parts.count }, (_, part) => ({
    at: parts.sinceMs + part * parts.lengthMs,
    until: Math.min(question.untilMs, parts.sinceMs + (part + 1) * parts.lengthMs),
  }))
  const ofAll = (await readInstallSteps(counted, slices, steps)).map(({ installs }) => installs)
  const trends = await readInstallTrends(counted, slices, { column: by, parts })
  return {
    by,
    parts: steps,
    total: { ...total, trend: ofAll },
    rows: withTrends(rows, trends, ofAll),
    visitsLeftOut: leftOutBecause(visitsBeside(source.filters ?? []), total.visits),
    leftOut: await readLeftOut(counted, slices),
    before: question.before === null ? null : await figuresBy(counted, question.before, by),
  }
}

/** Each with its trend; the row of all others has what the total has beyond the listed ones. */
function withTrends(rows: readonly SourceFigure[], trends: ReadonlyMap<string, Trend>, ofAll: Trend) {
  const nothing = ofAll.map(() => 0)
  const trendOf = (row: SourceFigure): Trend => trends.get(rowKey(row)) ?? nothing
  const others = restOfTrends(ofAll, rows.filter(({ row }) => row !== 'other').map(trendOf))
  return rows.map((row) => ({ ...row, trend: row.row === 'other' ? others : trendOf(row) }))
}

/** With the installs that the query counts. */
function countedSource(source: FigureSource, { leftOut }: { readonly leftOut?: LeftOutChoice }): FigureSource {
  return { ...source, ...presentOf({ leftOut }) }
}

/** A dimension of machines has no visits; neither have filters on machines. */
export async function figuresBy(source: FigureSource, period: FiguresPeriod, by: InstallDimension) {
  const installs = await readInstallFigures(source, period, [by])
  const beside = visitsBeside(source.filters ?? [])
  const origins = isOriginDimension(by) ? [by] : []
  // A visit has one value of each but of the page: it counts for each that it saw.
  const counted = by === 'page' ? 'pages_seen' : 'visits'
  const dimensions = [...new Set(['visits', counted, ...origins] as const)]
  const visits = await readVisitCells(source, period, { dimensions, visits: beside })
  return sourceRows({
    by,
    total: { installs: installs.total, visits: visits === null ? null : totalOf(visits.get('visits')) },
    installs: installs.by(by),
    visits:
      isOriginDimension(by) && visits !== null
        ? { cells: visits.get(by) ?? [], total: totalOf(visits.get(counted)) }
        : null,
  })
}

/** Why visits that were read so are not shown; null if they are. */
export function leftOutBecause(visits: VisitsBeside, read: object | null): VisitsLeftOut | null {
  if (visits.kind === 'none') return visits.why
  return read === null ? 'too_many' : null
}

const NO_FIGURES: ReadonlyMap<'delivery', readonly Cell[]> = new Map()

const MATCH_DIMENSIONS = ['path', 'platform', 'policy', 'agent'] as const

/** Installs, each of them by how they were matched, why not, and who ran them. */
async function matchedInstalls(source: FigureSource, period: FiguresPeriod) {
  const slices = await installSlices(source, period)
  const figures = await installFiguresOf(source, slices, [...MATCH_DIMENSIONS, 'reason'])
  const byDimension = recordOf(MATCH_DIMENSIONS, (by) => listedInstalls(figures.by(by), figures.total))
  const unmatched = figures.by('reason').filter(({ counts }) => counts.unmatched > 0)
  return {
    slices,
    figures: {
      total: figures.total,
      ...byDimension,
      reason: unmatched.map(({ value, counts }) => ({ value, installs: counts.unmatched })),
    },
  }
}

/** Installs by the hour of arrival: why some have no visit, and whether people or agents ran them. */
export async function matchPage(all: FigureSource, question: FiguresQuestion, { query }: CallTo<'match'>) {
  const source = countedSource(all, query)
  const { slices, figures } = await matchedInstalls(source, question)
  const before = question.before === null ? null : await matchedInstalls(source, question.before)
  const ages = await readInstallAges(source, slices)
  // They are counted by hour, whatever the filters.
  const deliveries =
    (source.filters ?? []).length === 0 ? await readFigures(source, question, ['delivery']) : NO_FIGURES
  return {
    ...figures,
    before: before?.figures ?? null,
    leftOut: await readLeftOut(source, slices),
    timeToInstall: INSTALL_TIME_BUCKETS_S.map((fromSeconds, bucket) => ({ fromSeconds, installs: ages[bucket] ?? 0 })),
    agentPages: await readAgentPages(source, slices),
    deliveries: (deliveries.get('delivery') ?? []).map(([value, count]) => {
      const [destination = '', status = '', reason = ''] = value.split('\t')
      return { destination, status, reason, deliveries: count }
    }),
  }
}

/** Tracked events of the organisation in this UTC month against the quota of the plan, by day, and as many of the month before up to the same moment in it. */
export function usagePage({ scope, keyIds }: FigureParts) {
  return scope(async (reads, call) => {
    const now = new Date(call.nowMs)
    const sinceMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
    const beforeMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)
    const period = { sinceMs, untilMs: hourAfter(call.nowMs) }
    const source = { reads, nowMs: call.nowMs, keyIds }
    const days = await trackedByDay(source, period)
    const sameTime = { sinceMs: beforeMs, untilMs: Math.min(sinceMs, beforeMs + period.untilMs - sinceMs) }
    const { trackedEventsPerMonth: allowed, isCutOffOverQuota } = PLAN_LIMITS[reads.organization.plan]
    return answer({
      plan: reads.organization.plan,
      since: sinceMs,
      used: trackedIn(days),
      allowed,
      isCutOffOverQuota,
      days,
      before: { since: beforeMs, until: sameTime.untilMs, used: trackedIn(await trackedByDay(source, sameTime)) },
      exampleUntil: await readExampleUntil(reads, sinceMs, call.nowMs),
    })
  })
}

interface TrackedDay {
  /** Unix ms at which the UTC day begins. */
  readonly at: number
  readonly pageViews: number
  /** Install events of every kind. */
  readonly events: number
  /** Of these events, those that are installs. */
  readonly installs: number
}

/** Of all websites that the organisation has or had, as the quota counts. Days without any are left out. */
async function trackedByDay(source: FigureSource, period: FiguresPeriod): Promise<readonly TrackedDay[]> {
  const former = await trackedByFormer(source, period)
  const steps = stepsOf(timeZone(UTC_ZONE), spanOf(period), 'day')
  const pageViews = await readSteps(source, 'page_views', steps)
  const events = await readSteps(source, 'events', steps)
  const installs = await readInstallSteps(source, await installSlices(source, period), steps)
  const days = steps.map(({ at }, place) => {
    const { visits = 0, installs: reports = 0 } = former.find((day) => day.at_ms === at) ?? {}
    return {
      at,
      pageViews: (pageViews[place]?.[0] ?? 0) + visits,
      events: (events[place]?.[0] ?? 0) + reports,
      installs: installs[place]?.installs ?? 0,
    }
  })
  return days.filter((day) => day.pageViews + day.events > 0)
}

/** Websites that were deleted, in pieces of days: of a large one, a month is more than one statement should count. */
async function trackedByFormer({ reads }: FigureSource, { sinceMs, untilMs }: FiguresPeriod) {
  const days = []
  for (let since = sinceMs; since < untilMs; since += FORMER_DAYS * DAY_MS) {
    const slice = { since_ms: since, until_ms: Math.min(untilMs, since + FORMER_DAYS * DAY_MS) }
    days.push(...(await reads.run('formerUsage', slice)))
  }
  return days
}

const FORMER_DAYS = 8

function trackedIn(days: readonly TrackedDay[]): number {
  return days.reduce((sum, { pageViews, events }) => sum + pageViews + events, 0)
}
