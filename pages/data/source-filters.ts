/** What the page of sources is about: the period, the website, and what visits are counted by. */

import type { SourceDimension } from './figures.ts'
import { figureFilters, type FigureFilters } from './period.ts'

export const SOURCE_DIMENSIONS = [
  { by: 'source', title: 'Source' },
  { by: 'medium', title: 'Medium' },
  { by: 'campaign', title: 'Campaign' },
  { by: 'referrer', title: 'Referrer' },
  { by: 'page', title: 'Page' },
  { by: 'agent', title: 'Human or agent' },
] as const satisfies readonly { readonly by: SourceDimension | 'agent'; readonly title: string }[]

export interface SourceFilters extends FigureFilters {
  /** The source if it is absent. */
  readonly by?: SourceDimension | 'agent'
}

export function sourceFilters(search: Readonly<Record<string, unknown>>): SourceFilters {
  const known = SOURCE_DIMENSIONS.find(({ by }) => by === search['by'])
  return { ...figureFilters(search), ...(known === undefined || known.by === 'source' ? {} : { by: known.by }) }
}
