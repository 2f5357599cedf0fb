/** The overview: installs and visits of a period beside those of the one before, over time and by each dimension. One answer. */

import { recordOf } from '../../domain/typed-keys.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { cellOf, namedCounts, sumCells, VISIT_STEPS, type Cell, type Counts } from '../../domain/figures/cells.ts'
import { isOriginDimension } from '../../domain/figures/installs.ts'
import {
  comparedRows,
  firstRows,
  hadTimeToConvert,
  OVERVIEW_PANELS,
  visitsBeside,
} from '../../domain/figures/overview.ts'
import { stepsOf } from '../../domain/time-zones.ts'
import type { CallTo } from '../http/call.ts'
import { listedInstalls, sourceRows, totalOf } from './answers.ts'
import { installFigureFilters, type ZonedSource } from './pages.ts'
import { periodBefore, type FiguresPeriod } from './period.ts'
import { readFigures, readSteps, readValueSteps, type FigureSource } from './read-figures.ts'
import { installFiguresOf, installSlices, NO_INSTALLS, readInstallFigures, readInstallSteps } from './read-installs.ts'

/** A panel is read at a glance; the page Sources has them all. */
const MOST_ROWS = 6
/** Longer periods have a step for each day. */
const MOST_HOURLY_MS = 2 * DAY_MS
const ORIGIN_PANELS = OVERVIEW_PANELS.filter((by) => isOriginDimension(by))

export async function overviewPage(all: ZonedSource, period: FiguresPeriod, { query }: CallTo<'overview'>) {
  const filters = installFigureFilters(query)
  const asked = {
    visits: visitsBeside(filters),
    step: period.untilMs - period.sinceMs <= MOST_HOURLY_MS ? ('hour' as const) : ('day' as const),
  }
  const source = { ...all, filters }
  const now = await readSide(source, period, asked)
  const before = await readSide(source, periodBefore(period), asked)
  return {
    step: asked.step,
    visitsLeftOut: asked.visits.kind === 'none' ? asked.visits.why : null,
    unfiltered: asked.visits.kind === 'all' ? now.total.installs : (await readInstallFigures(all, period, [])).total,
    total: now.total,
    steps: now.steps,
    before: { total: before.total, steps: before.steps },
    panels: OVERVIEW_PANELS.map((by) => ({
      by,
      rows: firstRows(comparedRows(now.rows[by], before.rows[by]), MOST_ROWS),
    })),
  }
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
  const figures = await installFiguresOf(source, slices, OVERVIEW_PANELS)
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

async function readVisitSteps(
  source: FigureSource,
  steps: ReturnType<typeof stepsOf>,
  visits: AskedOfOverview['visits'],
) {
  switch (visits.kind) {
    case 'all':
      return readSteps(source, 'visits', steps)
    case 'value':
      return readValueSteps(source, visits, steps)
    case 'none':
      return null
  }
}

function sumOfSteps(steps: readonly Counts[]): Counts {
  return totalOf(sumCells(steps.map((counts): Cell => cellOf({ value: '', counts }))))
}
