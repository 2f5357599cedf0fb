/** The table of Sources as a file, in the order that it has on the page. */

import type { ReactNode } from 'react'

import { FIGURE_WORDS } from '../../domain/figures/figure-words.ts'
import { rowKey } from '../../domain/figures/installs.ts'
import type { SourceDimension, SourceFigures } from '../data/figures.ts'
import { nameOfBefore } from '../data/period.ts'
import { DIMENSION_NAMES } from '../filters/filter-words.ts'
import { CsvLink, csvTime } from '../parts/csv-link.tsx'
import { rowLabel } from './rows.ts'
import type { SourceFilters } from './source-filters.ts'
import { orderedRows } from './source-order.ts'

interface SourcesFileProps {
  readonly by: SourceDimension
  readonly filters: SourceFilters
  readonly figures: SourceFigures
}

/** Installs of each part of the trend stand behind the others, by the time at which it begins. */
export function SourcesFile({ by, filters, figures }: SourcesFileProps): ReactNode {
  const { rows, before, parts } = figures
  const earlier = new Map(before?.rows.map((row) => [rowKey(row), row.installs]))
  return (
    <CsvLink
      name={`sources-by-${by.replaceAll('_', '-')}`}
      head={[
        DIMENSION_NAMES[by],
        FIGURE_WORDS.visits.title,
        FIGURE_WORDS.copied.title,
        'Converted',
        FIGURE_WORDS.installs.title,
        `${FIGURE_WORDS.installs.title}, ${nameOfBefore(filters)}`,
        ...parts.map(({ at }) => csvTime(at)),
      ]}
      rows={orderedRows(rows, filters).map((row) => [
        row.row === 'value' ? row.value : `(${rowLabel(by, row.row)})`,
        row.visits?.visits ?? null,
        row.visits?.copied ?? null,
        row.visits?.converted ?? null,
        row.installs,
        before === null ? null : (earlier.get(rowKey(row)) ?? 0),
        ...row.trend,
      ])}
    />
  )
}
