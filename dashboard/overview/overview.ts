/** The overview: installs and visits of a period beside those of the one that it is compared with, over time and by each dimension. One answer. */

import { recordOf } from '../../domain/typed-keys.ts'
import { namedCounts, VISIT_STEPS } from '../../domain/figures/cells.ts'
import { isOriginDimension } from '../../domain/figures/installs.ts'
import {
  areFew,
  comparedRows,
  leadingRows,
  hadTimeToConvert,
  largestChange,
  MANY_INSTALLS,
  OVERVIEW_PANELS,
  visitsBeside,
} from '../../domain/figures/overview.ts'
import type { FiguresPeriod } from '../../domain/figures/periods.ts'
import { stepsOf } from '../../domain/time-zones.ts'
import type { CallTo } from '../http/call.ts'
import { installFilters, readInstallPage } from '../installs/list.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { listedInstalls, sourceRows } from '../figures/answers.ts'
import { keptStep, spanOf, type FiguresQuestion } from '../figures/asked-period.ts'
import { checklistOf } from '../figures/checklist.ts'
import { readVisitCells, readVisitSteps } from '../figures/filtered-visits.ts'
import { leftOutBecause, sumOfSteps, type OrganizationSource, type ZonedSource } from '../figures/pages.ts'
import { readAnnotations } from './annotations.ts'
import {
  installFiguresOf,
  installSlices,
  NO_INSTALLS,
  readInstallFigures,
  readInstallSteps,
} from '../figures/read-installs.ts'

/** A panel is read at a glance; the page Sources has them all. */
const MOST_ROWS = 6
const ORIGIN_PANELS = OVERVIEW_PANELS.filter((by) => isOriginDimension(by))

/** Its list of few installs is read within the patience of this clock. */
export function overviewWith(clock: PageClock) {
  return async (source: OrganizationSource, question: FiguresQuestion, { query }: CallTo<'overview'>) => {
    const figures = await overviewFigures(source, question)
    const all = { ...source, filters: [] }
    const listed = {
      filters: { ...installFilters(query, source.filters ?? []), kind: 'install' as const },
      ...allOfPeriod(question),
    }
    const { installs } = figures.unfiltered
    return {
      ...figures,
      installs: areFew(installs) ? (await readInstallPage(all.reads, listed, clock)).rows : null,
      checklist: installs === 0 ? await checklistOf(all) : null,
    }
  }
}

/** Its numbers, without what lists installs or says what is set up. */
export async function overviewFigures(source: OrganizationSource, question: FiguresQuestion) {
  const all = { ...source, filters: [] }
  const { visits, now, before, rows } = await readSides(source, question)
  const unfiltered = visits.kind === 'all' ? now.total.installs : (await readInstallFigures(all, question, [])).total
  return {
    step: question.step,
    visitsLeftOut: leftOutBecause(visits, now.total.visits),
    unfiltered,
    total: now.total,
    steps: now.steps,
    before: before === null ? null : { total: before.total, steps: before.steps },
    reasons: now.reasons,
    annotations: await readAnnotations(all.reads, question),
    panels: OVERVIEW_PANELS.map((by) => ({ by, rows: leadingRows(rows[by], MOST_ROWS) })),
    largestChange: largestChange(rows),
  }
}

/** The period and the one that it is compared with, and the rows of both by what the panels count by. */
export async function readSides(source: ZonedSource, question: FiguresQuestion) {
  const visits = visitsBeside(source.filters ?? [])
  const asked = { visits, question }
  const now = await readSide(source, question, asked)
  const before = question.before === null ? null : await readSide(source, question.before, { ...asked, isBefore: true })
  const rows = recordOf(OVERVIEW_PANELS, (by) => comparedRows(now.rows[by], before?.rows[by] ?? null))
  return { visits, now, before, rows }
}

/** All of a period, of which there are few. */
function allOfPeriod({ sinceMs, untilMs }: FiguresPeriod) {
  return { sinceMs, from: { beforeMs: untilMs, beforeId: '' }, limit: MANY_INSTALLS }
}

interface AskedOfOverview {
  readonly visits: ReturnType<typeof visitsBeside>
  readonly question: FiguresQuestion
  /** Of its rows only installs are compared: visits are not read one by one for them. */
  readonly isBefore?: boolean
}

/** One of the two periods. */
async function readSide(
  source: ZonedSource,
  period: FiguresPeriod,
  { visits, question, isBefore = false }: AskedOfOverview,
) {
  const slices = await installSlices(source, period)
  const steps = stepsOf(source.zone, spanOf(period), question.step)
  const installSteps = await readInstallSteps(source, slices, steps)
  const figures = await installFiguresOf(source, slices, [...OVERVIEW_PANELS, 'reason'])
  const visitSteps = await readVisitSteps(source, steps, visits)
  const isRead = !isBefore || visits.kind === 'all'
  const cells = isRead ? await readVisitCells(source, period, { dimensions: ORIGIN_PANELS, visits }) : null
  const total = visitSteps === null ? null : sumOfSteps(visitSteps)
  const ripe = visitSteps?.filter((_, place) => hadTimeToConvert(steps[place]?.until ?? Infinity, source.nowMs)) ?? null
  return {
    total: {
      installs: figures.total,
      visits: total === null ? null : namedCounts(VISIT_STEPS, total),
      ripe: ripe === null ? null : namedCounts(VISIT_STEPS, sumOfSteps(ripe)),
    },
    steps: steps.map((step, place) => ({
      ...keptStep(step, question),
      isRipe: hadTimeToConvert(step.until, source.nowMs),
      installs: installSteps[place] ?? NO_INSTALLS,
      visits: visitSteps === null ? null : namedCounts(VISIT_STEPS, visitSteps[place] ?? []),
    })),
    reasons: figures
      .by('reason')
      .filter(({ counts }) => counts.unmatched > 0)
      .map(({ value, counts }) => ({ value, installs: counts.unmatched }))
      .sort((a, b) => b.installs - a.installs),
    rows: recordOf(OVERVIEW_PANELS, (by) => {
      if (cells === null || total === null || !isOriginDimension(by))
        return listedInstalls(figures.by(by), figures.total).map((row) => ({ ...row, visits: null }))
      const counted = { cells: cells.get(by) ?? [], total }
      return sourceRows({
        by,
        total: { installs: figures.total, visits: total },
        installs: figures.by(by),
        visits: counted,
      }).rows
    }),
  }
}
