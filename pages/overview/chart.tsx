/**
 * One number of the overview over time: volume as bars, a rate as a line with points, and the period before as a thin line. A card tells what is at the
 * pointer, or at the place that the arrow keys chose.
 */

import { useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'

import type { OverviewFigures, OverviewFilters } from '../data/overview.ts'
import { nameOfBefore } from '../data/period.ts'
import type { StepSize } from '../../domain/time-zones.ts'
import { stepMarks } from '../parts/columns.tsx'
import { Marks } from './annotations.tsx'
import { axisTicks, labelPlaces } from './axis.ts'
import { chartPoints, type ChartPoint } from './chart-points.ts'
import { ChartTable } from './chart-table.tsx'
import { Drawing } from './drawing.tsx'
import { metricOf, type ShownMetric } from './metrics.ts'

interface ChartProps {
  readonly filters: OverviewFilters
  readonly figures: OverviewFigures
}

/** As many as fit on a phone, and on a wide screen. */
const MOST_LABELS = 6

export function OverviewChart({ filters, figures }: ChartProps): ReactNode {
  const metric = metricOf(filters.metric)
  const points = chartPoints(metric, figures)
  const isCounted = points.some(({ now, before }) => now !== null || before !== null)
  const before = nameOfBefore(filters)
  const zone = figures.timeZone.replaceAll('_', ' ')
  return (
    <figure className="card chart" data-kind={metric.kind}>
      <figcaption>
        <h2>
          {metric.title} by {figures.step} <small>({zone})</small>
        </h2>
        <ul className="legend">
          <li className="now">{metric.title}</li>
          {figures.before !== null && <li className="before">{before}</li>}
          {points.some(({ happened }) => happened.length > 0) && <li className="happened">something happened</li>}
        </ul>
      </figcaption>
      {isCounted ? (
        <Plot metric={metric} points={points} before={before} step={figures.step} />
      ) : (
        <p className="question">Not counted under these filters.</p>
      )}
      <ChartNotes metric={metric} points={points} step={figures.step} />
      <ChartTable metric={metric} points={points} figures={figures} before={before} />
    </figure>
  )
}

interface PlotProps {
  readonly metric: ShownMetric
  readonly points: readonly ChartPoint[]
  readonly before: string
  readonly step: StepSize
}

function Plot({ metric, points, before, step }: PlotProps): ReactNode {
  const { place, show, hide, move } = useShownPlace(points.length)
  const most = Math.max(0, ...points.flatMap((point) => [point.now ?? 0, point.before ?? 0]))
  const ticks = axisTicks({ most, isWhole: metric.kind === 'volume' })
  const top = ticks.at(-1) ?? 1
  const shown = place === null ? undefined : points[place]
  const last = points.at(-1)
  return (
    <div className="plot">
      <div className="card-room">
        {shown !== undefined && place !== null && (
          <Card metric={metric} point={shown} share={(place + 0.5) / points.length} />
        )}
      </div>
      <div className="plot-area">
        <ol className="y-axis" aria-hidden>
          {ticks.map((tick) => (
            <li key={tick} style={{ bottom: `${(100 * tick) / top}%` }}>
              {metric.kind === 'rate' ? `${(100 * tick).toLocaleString()} %` : tick.toLocaleString()}
            </li>
          ))}
        </ol>
        <div
          className="drawing"
          role="slider"
          tabIndex={0}
          aria-label={`${metric.title} by ${step}; arrow keys go through them`}
          aria-valuemin={1}
          aria-valuemax={points.length}
          aria-valuenow={(place ?? points.length - 1) + 1}
          aria-valuetext={pointText(metric, shown ?? last, before)}
          onKeyDown={move}
          onFocus={() => show(place ?? points.length - 1)}
          onBlur={hide}
          onPointerMove={(event) => show(placeAt(event, points.length))}
          onPointerLeave={hide}
        >
          <Marks points={points} />
          <Drawing kind={metric.kind} points={points} ticks={ticks} shown={place} />
        </div>
        <ol className="x-axis" aria-hidden>
          {labelPlaces(points.length, MOST_LABELS).map((each) => (
            <li key={each} style={{ left: `${(100 * (each + 0.5)) / points.length}%` }}>
              {points[each]?.label}
            </li>
          ))}
        </ol>
      </div>
    </div>
  )
}

/** The place that the card tells about, if there is one. */
function useShownPlace(count: number) {
  const [place, setPlace] = useState<number | null>(null)
  const show = (wanted: number): void => setPlace(Math.min(count - 1, Math.max(0, wanted)))
  const hide = (): void => setPlace(null)
  const move = (event: KeyboardEvent): void => {
    const at = place ?? count - 1
    const wanted = STEPS_OF_KEYS[event.key]?.(at, count)
    if (wanted === undefined) return
    event.preventDefault()
    show(wanted)
  }
  return { place: place === null || place < count ? place : null, show, hide, move }
}

const STEPS_OF_KEYS: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowLeft: (at) => at - 1,
  ArrowDown: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  ArrowUp: (at) => at + 1,
  Home: () => 0,
  End: (_, count) => count - 1,
}

function placeAt(event: PointerEvent, count: number): number {
  const { left, width } = event.currentTarget.getBoundingClientRect()
  return Math.floor(((event.clientX - left) / width) * count)
}

interface CardProps {
  readonly metric: ShownMetric
  readonly point: ChartPoint
  /** Of the width of the chart, from the left. */
  readonly share: number
}

function Card({ metric, point, share }: CardProps): ReactNode {
  return (
    <div
      className="chart-card"
      data-side={share > 0.5 ? 'left' : 'right'}
      style={{ left: `calc(var(--axis) + (100% - var(--axis)) * ${share})` }}
      aria-hidden
    >
      <strong>{point.name}</strong>
      <span>
        {point.nowText} {metric.what}
      </span>
      {point.beforeName !== null && (
        <span className="earlier">
          {point.beforeText} on {point.beforeName}
        </span>
      )}
      <span className="earlier">{pointMarks(point).join(', ')}</span>
      {point.happened.map((each) => (
        <span key={each} className="happened">
          {each}
        </span>
      ))}
    </div>
  )
}

function pointMarks({ isPart, isKept, isYoung }: ChartPoint): readonly string[] {
  return [
    ...(isPart ? ['a part of it'] : []),
    ...(isKept ? [] : ['not all of it is kept']),
    ...(isYoung ? ['may still rise'] : []),
  ]
}

function pointText({ what }: ShownMetric, point: ChartPoint | undefined, before: string): string {
  if (point === undefined) return ''
  const { name, nowText, beforeName, beforeText, isYoung, happened } = point
  const earlier = beforeName === null ? '' : `; ${beforeText} in ${before}`
  return `${name}${stepMarks(point)}: ${nowText} ${what}${earlier}${isYoung ? '; may still rise' : ''}${happened.map((each) => `; ${each}`).join('')}`
}

interface ChartNotesProps {
  readonly metric: ShownMetric
  readonly points: readonly ChartPoint[]
  readonly step: StepSize
}

function ChartNotes({ metric, points, step }: ChartNotesProps): ReactNode {
  const hasPart = metric.kind === 'volume' && points.some(({ isPart, now }) => isPart && now !== null)
  const hasUnkept = points.some(({ isKept }) => !isKept)
  const hasYoung = points.some(({ isYoung, now }) => isYoung && now !== null)
  const notes = [
    ...(hasPart ? [`Pale: the period has a part of this ${step}.`] : []),
    ...(hasUnkept ? ['Hatched: not all of that time is kept.'] : []),
    ...(hasYoung
      ? [
          'Hollow points are younger than seven days: their visits may still lead to an install, so they are not compared.',
        ]
      : []),
  ]
  return notes.length === 0 ? null : <p className="footnote">{notes.join(' ')}</p>
}
