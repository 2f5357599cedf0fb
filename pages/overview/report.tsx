/** The figures of the overview: numbers, a chart of one of them, and what brought the installs. */

import type { ReactNode } from 'react'

import type { ShownFigures } from '../data/overview.ts'
import { comparisonText } from '../data/period.ts'
import { LargestChange, Reasons } from './change-and-reasons.tsx'
import { OverviewChart } from './chart.tsx'
import { FilterNotes } from './filters.tsx'
import { MetricTiles } from './metric-tiles.tsx'
import { Panels } from './panels.tsx'

export function Report(props: ShownFigures): ReactNode {
  const { filters, figures } = props
  return (
    <>
      <MetricTiles {...props} />
      <FilterNotes {...props} />
      {figures.comparison?.notCompared === 'not_counted_yet' && <p>{comparisonText(filters, figures)}</p>}
      <LargestChange {...props} />
      <OverviewChart {...props} />
      <Panels {...props} />
      <Reasons {...props} />
    </>
  )
}
