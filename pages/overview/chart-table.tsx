/** The numbers of a chart as a table and as a file, which are there when somebody asks for them. */

import type { ReactNode } from 'react'

import type { OverviewFigures } from '../data/overview.ts'
import { stepMarks } from '../parts/columns.tsx'
import { CsvLink } from '../parts/csv-link.tsx'
import { TableHead } from '../parts/table-head.tsx'
import type { ChartPoint } from './chart-points.ts'
import type { ShownMetric } from './metrics.ts'

interface ChartTableProps {
  readonly metric: ShownMetric
  readonly points: readonly ChartPoint[]
  readonly figures: OverviewFigures
  readonly before: string
}

const RATE_DIGITS = 4
const HAPPENED = 'What happened'
const STEP_TITLES = { hour: 'Hour', day: 'Day', week: 'Week of' } as const

/** Volumes as numbers, rates as shares of 1; empty where nothing is counted. */
function csvOf({ metric, points, figures, before }: ChartTableProps) {
  const cell = (value: number | null): number | null =>
    value === null ? null : metric.kind === 'rate' ? Number(value.toFixed(RATE_DIGITS)) : value
  const isCompared = figures.before !== null
  const head = [STEP_TITLES[figures.step], metric.title, ...(isCompared ? [before] : []), HAPPENED]
  const rows = points.map((point) => [
    point.date,
    cell(point.now),
    ...(isCompared ? [cell(point.before)] : []),
    point.happened.join('; '),
  ])
  return { head, rows }
}

export function ChartTable(props: ChartTableProps): ReactNode {
  const { metric, points, figures, before } = props
  const title = `${metric.title} by ${figures.step}`
  const isCompared = figures.before !== null
  return (
    <details className="chart-table">
      <summary>As a table</summary>
      <div className="scrolls" tabIndex={0} role="region" aria-label={`${metric.title} as a table`}>
        <table className="list" aria-label={title}>
          <TableHead
            columns={[
              STEP_TITLES[figures.step],
              { number: metric.title },
              ...(isCompared ? [{ number: before }] : []),
              HAPPENED,
            ]}
          />
          <tbody>
            {points.map(({ at, name, nowText, beforeText, isPart, isKept, isYoung, happened }) => (
              <tr key={at}>
                <th scope="row">
                  {name}
                  {stepMarks({ isPart, isKept })}
                  {isYoung && ', may still rise'}
                </th>
                <td className="number">{nowText}</td>
                {isCompared && <td className="number">{beforeText}</td>}
                <td>{happened.join('; ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="footnote">
        <CsvLink name={title.toLowerCase().replaceAll(' ', '-')} {...csvOf(props)} />
      </p>
    </details>
  )
}
