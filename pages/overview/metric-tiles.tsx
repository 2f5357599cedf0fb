/** The numbers of the overview, each with the period before. A click shows one of them in the chart. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { FIGURE_WORDS } from '../../domain/figures/figure-words.ts'
import { isCountedAlone } from '../../domain/figures/overview.ts'
import type { OverviewFigures, OverviewFilters } from '../data/overview.ts'
import { nameOfBefore } from '../data/period.ts'
import { Change, shareText, ShareChange, shownCount } from '../parts/numbers.tsx'
import { comparedValues, metricOf, metricText, METRICS, type ShownMetric } from './metrics.ts'

interface TilesProps {
  readonly filters: OverviewFilters
  readonly figures: OverviewFigures
}

export function MetricTiles({ filters, figures }: TilesProps): ReactNode {
  const shown = metricOf(filters.metric)
  const isAlone = isCountedAlone(figures.total.installs)
  return (
    <ul className="tiles metrics" aria-label="What the chart shows">
      {METRICS.filter(({ id }) => !isAlone || !OF_VISITS_FOUND.has(id)).map((metric) => (
        <li key={metric.id}>
          <Link
            to="."
            search={(before) => ({ ...before, metric: metric.id })}
            replace
            resetScroll={false}
            className="tile"
            title={FIGURE_WORDS[metric.word].means}
            aria-current={metric.id === shown.id ? 'true' : undefined}
          >
            <span className="title">{shownTitle(metric, figures)}</span>
            <strong>{totalText(metric, figures)}</strong>
            <span className="beside">
              <MetricChange metric={metric} filters={filters} figures={figures} />
              <span>{besideText(metric, figures)}</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** Installs that nobody looked up have no visit, which says nothing about them. */
const OF_VISITS_FOUND: ReadonlySet<ShownMetric['id']> = new Set(['known', 'conversion'])

function shownTitle({ id, title }: ShownMetric, figures: OverviewFigures): string {
  return id === 'match' && isCountedAlone(figures.total.installs) ? 'Counted, not looked up' : title
}

function totalText(metric: ShownMetric, figures: OverviewFigures): string {
  const { total } = figures
  if (metric.id === 'match' && isCountedAlone(total.installs)) return shownCount(total.installs.counted)
  return metricText(metric, total)
}

/** What else there is to know about a number. */
function besideText({ id }: ShownMetric, { total }: OverviewFigures): string {
  if (id === 'known' && total.installs.installs > 0)
    return `${shareText(total.installs.known_source, total.installs.installs)} of installs`
  if (id !== 'conversion' || total.visits === null || total.ripe === null) return ''
  const young = total.visits.visits - total.ripe.visits
  return young > 0 ? 'may still rise' : ''
}

interface MetricChangeProps extends TilesProps {
  readonly metric: ShownMetric
}

function MetricChange({ metric, filters, figures }: MetricChangeProps): ReactNode {
  const compared = figures.before === null ? null : comparedValues(metric, figures.total, figures.before.total)
  if (compared === null) return null
  const since = nameOfBefore(filters)
  return metric.kind === 'rate' ? (
    <ShareChange now={compared.now} before={compared.before} since={since} />
  ) : (
    <Change now={compared.now} before={compared.before} since={since} />
  )
}
