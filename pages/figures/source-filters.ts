/** Filters of the page of sources: the period, the website, and the dimension that visits are counted by. */

import type { SourceDimension } from '../data/figures.ts'
import { figureFilters, type FigureFilters } from '../data/period.ts'

/** Tabs of the page: dimensions of visits, and two of installs. */
type ShownBy = SourceDimension | 'agent' | 'command'

export const SOURCE_DIMENSIONS = [
  { by: 'source', title: 'Source' },
  { by: 'medium', title: 'Medium' },
  { by: 'campaign', title: 'Campaign' },
  { by: 'referrer', title: 'Referrer' },
  { by: 'page', title: 'Page' },
  { by: 'agent', title: 'Human or agent' },
  { by: 'command', title: 'Shared commands' },
] as const satisfies readonly { readonly by: ShownBy; readonly title: string }[]

export interface SourceFilters extends FigureFilters {
  /** `source` if absent. */
  readonly by?: ShownBy
}

export function sourceFilters(search: Readonly<Record<string, unknown>>): SourceFilters {
  const known = SOURCE_DIMENSIONS.find(({ by }) => by === search['by'])
  return { ...figureFilters(search), ...(known === undefined || known.by === 'source' ? {} : { by: known.by }) }
}
