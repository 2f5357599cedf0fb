/** The numbers of a chart as a table, which is there when somebody asks for it. */

import type { ReactNode } from 'react'

import type { Overview } from '../data/overview.ts'
import { TableHead } from '../parts/table-head.tsx'
import type { ChartPoint } from './chart-points.ts'
import type { ShownMetric } from './metrics.ts'

interface ChartTableProps {
  readonly metric: ShownMetric
  readonly points: readonly ChartPoint[]
  readonly figures: Overview
  readonly before: string
}

export function ChartTable({ metric, points, figures, before }: ChartTableProps): ReactNode {
  return (
    <details className="chart-table">
      <summary>As a table</summary>
      <div className="scrolls" tabIndex={0} role="region" aria-label={`${metric.title} as a table`}>
        <table className="list">
          <TableHead
            columns={[figures.step === 'day' ? 'Day' : 'Hour', { number: metric.title }, { number: before }]}
          />
          <tbody>
            {points.map(({ at, name, nowText, beforeText, isPart, isYoung }) => (
              <tr key={at}>
                <th scope="row">
                  {name}
                  {isPart && ', a part of it'}
                  {isYoung && ', may still rise'}
                </th>
                <td className="number">{nowText}</td>
                <td className="number">{beforeText}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
