/** The pages of figures: funnel, sources, match rate, usage. Each is one answer. */

import { presentOf, recordOf } from '../../domain/typed-keys.ts'
import { DAY_MS, hourAfter } from '../../domain/durations.ts'
import type { Refusal } from '../../domain/errors.ts'
import {
  cellOf,
  INSTALL_TIME_BUCKETS_S,
  namedCounts,
  sumCells,
  VISIT_STEPS,
  type Cell,
} from '../../domain/figures/cells.ts'
import {
  INSTALLS_BY,
  isOriginDimension,
  type InstallDimension,
  type LeftOutChoice,
} from '../../domain/figures/installs.ts'
import type { FiguresPeriod } from '../../domain/figures/periods.ts'
import { stepsOf, timeZone, UTC_ZONE, type TimeZone } from '../../domain/time-zones.ts'
import { PLAN_LIMITS } from '../../domain/limits.ts'
import type { InstallFigureFilters } from '../../ports/facts/pages/counted-installs.ts'
import { answer, type OrganizationCall, type CallTo, type QueryValues } from '../http/call.ts'
import { columnFilters } from '../reads/column-filters.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'
import { listedInstalls, sourceRows, totalOf } from './answers.ts'
import { readExampleUntil } from './example.ts'
import {
  answeredPeriod,
  keptStep,
  readQuestion,
  spanOf,
  type AskedOfFigures,
  type FiguresQuestion,
} from './asked-period.ts'
import { readFigures, readSteps, type FigureSource } from './read-figures.ts'
import {
  installFiguresOf,
  installSlices,
  readAgentPages,
  readInstallAges,
  readInstallFigures,
  readInstallSteps,
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

/** A handler that answers the result of `page` for the period of the query. */
export function figurePage<Page extends object, Asked extends OrganizationCall & AskedOfFigures>(
  { scope, keyIds }: FigureParts,
  page: FiguresPage<Page, Asked>,
) {
  return scope(async (reads, call: Asked) => {
    const zone = timeZone(reads.organization.timeZone)
    const question = await readQuestion(reads, call)
    if (isRefusedQuestion(question)) return question
    const source = { reads, nowMs: call.nowMs, keyIds, zone }
    return answer({
      ...answeredPeriod(question),
      timeZone: zone.name,
      ...(await page(source, question, call)),
      exampleUntil: await readExampleUntil(reads, question.sinceMs, call.nowMs),
    })
  })
}

function isRefusedQuestion(value: FiguresQuestion | Refusal): value is Refusal {
  return 'code' in value
}

/** Visits of the period with every step that each has reached until now, and the same for the period that it is compared with. */
export async function funnelPage(source: ZonedSource, question: FiguresQuestion) {
  const { before: earlier, step } = question
  const before = earlier === null ? null : await readFigures(source, earlier, ['visits', 'visitor_kind'])
  const now = await readFigures(source, question, ['visitor_kind'])
  const steps = stepsOf(source.zone, spanOf(question), step)
  const counts = await readSteps(source, 'visits', steps)
  return {
    // The sum of the steps, so that both come from the same statements.
    leftOut: programViews(now.get('visitor_kind')),
    total: namedCounts(VISIT_STEPS, totalOf(sumCells(counts.map((each) => cellOf({ value: '', counts: each }))))),
    before:
      before === null
        ? null
        : {
            total: namedCounts(VISIT_STEPS, totalOf(before.get('visits'))),
            leftOut: programViews(before.get('visitor_kind')),
          },
    step,
    steps: steps.map((each, place) => ({
      ...keptStep(each, question),
      ...namedCounts(VISIT_STEPS, counts[place] ?? []),
    })),
  }
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
  const filtered = installSource(source, query)
  return {
    by,
    ...(await figuresBy(filtered, question, by)),
    leftOut: await readLeftOut(filtered, await installSlices(filtered, question)),
    before: question.before === null ? null : await figuresBy(filtered, question.before, by),
  }
}

export function installFigureFilters(query: QueryValues): InstallFigureFilters {
  return columnFilters<InstallFigureFilters>(
    query,
    recordOf(INSTALLS_BY, (dimension) => dimension),
  )
}

/** With the installs that the query asks for. */
function installSource(source: FigureSource, query: QueryValues & { readonly leftOut?: LeftOutChoice }): FigureSource {
  return {
    ...source,
    filters: installFigureFilters(query),
    ...presentOf({ leftOut: query.leftOut }),
  }
}

/** Filters choose among installs: visits, which are counted by one value each, are left out then. So they are by a dimension of machines. */
export async function figuresBy(source: FigureSource, period: FiguresPeriod, by: InstallDimension) {
  const installs = await readInstallFigures(source, period, [by])
  const areAllCounted = Object.keys(source.filters ?? {}).length === 0
  const origins = isOriginDimension(by) ? [by] : []
  // A visit has one value of each but of the page: it counts for each that it saw.
  const counted = by === 'page' ? 'pages_seen' : 'visits'
  const visits = areAllCounted
    ? await readFigures(source, period, [...new Set(['visits', counted, ...origins] as const)])
    : null
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
  const source = installSource(all, query)
  const { slices, figures } = await matchedInstalls(source, question)
  const before = question.before === null ? null : await matchedInstalls(source, question.before)
  const ages = await readInstallAges(source, slices)
  const deliveries = await readFigures(source, question, ['delivery'])
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
