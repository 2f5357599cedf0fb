/** The pages of figures: funnel, sources, match rate, usage. Each is one answer. */

import { recordOf } from '../../domain/typed-keys.ts'
import { DAY_MS, HOUR_MS, hourAfter } from '../../domain/durations.ts'
import type { Refusal } from '../../domain/errors.ts'
import { cellOf, INSTALL_COUNTS, INSTALL_TIME_BUCKETS_S, sumCells, VISIT_STEPS } from '../../domain/figures/cells.ts'
import { PLAN_LIMITS } from '../../domain/limits.ts'
import { answer, type OrganizationCall, type CallTo } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'
import { listed, named, totalOf } from './answers.ts'
import { readExampleUntil } from './example.ts'
import { periodBefore, periodOf, type FiguresPeriod, type AskedOfFigures } from './period.ts'
import { readFigures, readSteps, type FigureSource, type FiguresOf } from './read-figures.ts'

export interface FigureParts {
  readonly scope: ReadScope
  readonly keyIds: readonly number[]
}

type FiguresPage<Page extends object, Asked> = (
  source: FigureSource,
  period: FiguresPeriod,
  call: Asked,
) => Promise<Page>

/** A handler that answers the result of `page` for the period of the query. */
export function figurePage<Page extends object, Asked extends OrganizationCall & AskedOfFigures>(
  { scope, keyIds }: FigureParts,
  page: FiguresPage<Page, Asked>,
) {
  return scope(async (reads, call: Asked) => {
    const period = periodOf(call)
    if (isRefusedPeriod(period)) return period
    const source = { reads, nowMs: call.nowMs, keyIds }
    return answer({
      since: period.sinceMs,
      until: period.untilMs,
      ...(await page(source, period, call)),
      exampleUntil: await readExampleUntil(reads, period.sinceMs, call.nowMs),
    })
  })
}

function isRefusedPeriod(value: FiguresPeriod | Refusal): value is Refusal {
  return 'code' in value
}

/** Visits of the period with every step that each has reached until now, and the same for the previous period. */
export async function funnelPage(source: FigureSource, period: FiguresPeriod) {
  const before = await readFigures(source, periodBefore(period), ['visits'])
  const stepMs = period.untilMs - period.sinceMs <= 2 * DAY_MS ? HOUR_MS : DAY_MS
  const steps = await readSteps(source, period, { dimension: 'visits', stepMs })
  return {
    // The sum of the steps, so that both come from the same statements.
    total: named(VISIT_STEPS, totalOf(sumCells(steps.map(({ counts }) => cellOf({ value: '', counts }))))),
    before: { total: named(VISIT_STEPS, totalOf(before.get('visits'))) },
    stepMs,
    steps: steps.map(({ at, counts }) => ({ at, ...named(VISIT_STEPS, counts) })),
  }
}

/** The funnel by source, medium, campaign, referrer or page, and the same for the previous period. */
export async function sourcesPage(source: FigureSource, period: FiguresPeriod, { query }: CallTo<'sources'>) {
  const { by = 'source' } = query
  const now = await readFigures(source, period, ['visits', by])
  const then = await readFigures(source, periodBefore(period), ['visits', by])
  const total = totalOf(now.get('visits'))
  const totalBefore = totalOf(then.get('visits'))
  return {
    by,
    total: named(VISIT_STEPS, total),
    ...listed(VISIT_STEPS, now.get(by), total),
    before: { total: named(VISIT_STEPS, totalBefore), ...listed(VISIT_STEPS, then.get(by), totalBefore) },
  }
}

const MATCH_DIMENSIONS = ['path', 'platform', 'policy', 'agent'] as const

/** Installs, each of them by how they were matched, why not, and who ran them. */
function matchedInstalls(figures: FiguresOf) {
  const total = totalOf(figures.get('installs'))
  const byDimension = recordOf(MATCH_DIMENSIONS, (by) => listed(INSTALL_COUNTS, figures.get(by), total))
  return {
    total: named(INSTALL_COUNTS, total),
    ...byDimension,
    reason: (figures.get('reason') ?? []).map((cell) => ({ value: cell[0], installs: cell[5] })),
  }
}

/** Install events by the hour of arrival: why some are not matched, and whether people or agents ran them. */
export async function matchPage(source: FigureSource, period: FiguresPeriod) {
  const compared = ['installs', ...MATCH_DIMENSIONS, 'reason'] as const
  const wanted = [...compared, 'time_to_install', 'agent_page', 'delivery'] as const
  const figures = await readFigures(source, period, wanted)
  const before = await readFigures(source, periodBefore(period), compared)
  const installs = matchedInstalls(figures)
  return {
    ...installs,
    before: matchedInstalls(before),
    unmatched: installs.total.unmatched,
    timeToInstall: INSTALL_TIME_BUCKETS_S.map((fromSeconds, bucket) => {
      const cell = figures.get('time_to_install')?.find(([value]) => value === String(bucket))
      return { fromSeconds, installs: cell?.[2] ?? 0 }
    }),
    agentPages: (figures.get('agent_page') ?? []).map(([value, ...counts]) => {
      const [agent = '', page = ''] = value.split('\t')
      return { agent, page, ...named(VISIT_STEPS, counts) }
    }),
    deliveries: (figures.get('delivery') ?? []).map(([value, deliveries]) => {
      const [destination = '', status = '', reason = ''] = value.split('\t')
      return { destination, status, reason, deliveries }
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
  readonly visits: number
  readonly installs: number
}

/** Of all websites that the organisation has or had, as the quota counts. Days without any are left out. */
async function trackedByDay(source: FigureSource, period: FiguresPeriod): Promise<readonly TrackedDay[]> {
  const former = await trackedByFormer(source, period)
  const visits = await readSteps(source, period, { dimension: 'visits', stepMs: DAY_MS })
  const installs = await readSteps(source, period, { dimension: 'installs', stepMs: DAY_MS })
  const countAt = (steps: typeof visits, at: number, places: number): number =>
    sumOfCounts(steps.find((step) => step.at === at)?.counts.slice(0, places) ?? [])
  const formerAt = (at: number) => former.find((day) => day.at_ms === at) ?? { visits: 0, installs: 0 }
  const days = new Set([...visits, ...installs].map(({ at }) => at).concat(former.map((day) => day.at_ms)))
  return [...days]
    .sort((a, b) => a - b)
    .map((at) => ({
      at,
      visits: countAt(visits, at, 1) + formerAt(at).visits,
      installs: countAt(installs, at, EVENT_TYPES) + formerAt(at).installs,
    }))
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

/** The first counts of installs are those of the types of events. */
const EVENT_TYPES = INSTALL_COUNTS.indexOf('matched')

function trackedIn(days: readonly TrackedDay[]): number {
  return sumOfCounts(days.map(({ visits, installs }) => visits + installs))
}

function sumOfCounts(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
