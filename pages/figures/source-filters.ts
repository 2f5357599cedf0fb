/** Filters of the page of sources: the period, the website, what is counted, and by which dimension. */

import { MACHINE_DIMENSIONS, MACHINE_NAMES, ORIGIN_DIMENSIONS, ORIGIN_NAMES } from '../../domain/figures/installs.ts'
import type { SourceDimension } from '../data/figures.ts'
import { countingFilters, type CountingFilters } from '../data/period.ts'
import { sourceOrder, type SourceOrder } from './source-order.ts'

/** Tabs of the page: what installs and visits are counted by, and the commands that several machines used. */
type ShownBy = SourceDimension | 'command'

export const SOURCE_DIMENSIONS: readonly { readonly by: ShownBy; readonly title: string }[] = [
  ...ORIGIN_DIMENSIONS.map((by) => ({ by, title: ORIGIN_NAMES[by] })),
  ...MACHINE_DIMENSIONS.map((by) => ({ by, title: MACHINE_NAMES[by] })),
  { by: 'command', title: 'Shared commands' },
]

export interface SourceFilters extends CountingFilters, SourceOrder {
  /** `source` if absent. */
  readonly by?: ShownBy
}

export function sourceFilters(search: Readonly<Record<string, unknown>>): SourceFilters {
  const known = SOURCE_DIMENSIONS.find(({ by }) => by === search['by'])
  return {
    ...countingFilters(search),
    ...sourceOrder(search),
    ...(known === undefined || known.by === 'source' ? {} : { by: known.by }),
  }
}
