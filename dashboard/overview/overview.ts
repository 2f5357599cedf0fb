/** The overview: installs and visits of a period beside those of the one before, over time and by each dimension. One answer. */

import { recordOf } from '../../domain/typed-keys.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { cellOf, namedCounts, sumCells, VISIT_STEPS, type Cell, type Counts } from '../../domain/figures/cells.ts'
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
import { stepsOf } from '../../domain/time-zones.ts'
import type { CallTo } from '../http/call.ts'
import { installFilters, readInstallPage } from '../installs/list.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { listedInstalls, sourceRows, totalOf } from '../figures/answers.ts'
import { checklistOf } from '../figures/checklist.ts'
import { installFigureFilters, type OrganizationSource, type ZonedSource } from '../figures/pages.ts'
import { periodBefore, type FiguresPeriod } from '../figures/period.ts'
import { readFigures } from '../figures/read-figures.ts'
import { readVisitSteps } from '../figures/visit-steps.ts'
import {
  installFiguresOf,
  installSlices,
  NO_INSTALLS,
  readInstallFigures,
  readInstallSteps,
} from '../figures/read-installs.ts'

/** A panel is read at a glance; the page Sources has them all. */
const MOST_ROWS = 6
/** Longer periods have a step for each day. */
const MOST_HOURLY_MS = 2 * DAY_MS
const ORIGIN_PANELS = OVERVIEW_PANELS.filter((by) => isOriginDimension(by))

/** Its list of few installs is read within the patience of this clock. */
export function overviewWith(clock: PageClock) {
  return async (all: OrganizationSource, period: FiguresPeriod, { query }: CallTo<'overview'>) => {
    const filters = installFigureFilters(query)
    const asked = {
      visits: visitsBeside(filters),
      step: period.untilMs - period.sinceMs <= MOST_HOURLY_MS ? ('hour' as const) : ('day' as const),
    }
    const source = { ...all, filters }
    const now = await readSide(source, period, asked)
    const before = await readSide(source, periodBefore(period), asked)
    const unfiltered =
      asked.visits.kind === 'all' ? now.total.installs : (await readInstallFigures(all, period, [])).total
    const rows = recordOf(OVERVIEW_PANELS, (by) => comparedRows(now.rows[by], before.rows[by]))
    const question = { filters: { ...installFilters(query), kind: 'install' as const }, ...allOfPeriod(period) }
    return {
      step: asked.step,
      visitsLeftOut: asked.visits.kind === 'none' ? asked.visits.why : null,
      unfiltered,
      total: now.total,
      steps: now.steps,
      before: { total: before.total, steps: before.steps },
      reasons: now.reasons,
      panels: OVERVIEW_PANELS.map((by) => ({ by, rows: leadingRows(rows[by], MOST_ROWS) })),
      largestChange: largestChange(rows),
      installs: areFew(unfiltered.installs) ? (await readInstallPage(all.reads, question, clock)).rows : null,
      checklist: unfiltered.installs === 0 ? await checklistOf(all) : null,
    }
  }
}

/** All of a period, of which there are few. */
function allOfPeriod({ sinceMs, untilMs }: FiguresPeriod) {
  return { sinceMs, from: { beforeMs: untilMs, beforeId: '' }, limit: MANY_INSTALLS }
}

interface AskedOfOverview {
  readonly visits: ReturnType<typeof visitsBeside>
  readonly step: 'hour' | 'day'
}

/** One of the two periods. */
async function readSide(source: ZonedSource, period: FiguresPeriod, { visits, step }: AskedOfOverview) {
  const slices = await installSlices(source, period)
  const steps = stepsOf(source.zone, { at: period.sinceMs, until: period.untilMs }, step)
  const installSteps = await readInstallSteps(source, slices, steps)
  const figures = await installFiguresOf(source, slices, [...OVERVIEW_PANELS, 'reason'])
  const visitSteps = await readVisitSteps(source, steps, visits)
  const cells = visits.kind === 'all' ? await readFigures(source, period, ORIGIN_PANELS) : null
  const total = visitSteps === null ? null : sumOfSteps(visitSteps)
  const ripe = visitSteps?.filter((_, place) => hadTimeToConvert(steps[place]?.until ?? Infinity, source.nowMs)) ?? null
  return {
    total: {
      installs: figures.total,
      visits: total === null ? null : namedCounts(VISIT_STEPS, total),
      ripe: ripe === null ? null : namedCounts(VISIT_STEPS, sumOfSteps(ripe)),
    },
    steps: steps.map(({ at, until, isPart }, place) => ({
      at,
      until,
      isPart,
      isRipe: hadTimeToConvert(until, source.nowMs),
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

function sumOfSteps(steps: readonly Counts[]): Counts {
  return totalOf(sumCells(steps.map((counts): Cell => cellOf({ value: '', counts }))))
}
