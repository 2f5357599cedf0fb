/** Filters of figures in the address of a page: `filter`, once for each of them, in the form that the API takes. */

import { filterKey, textOfFilter, readFilter, type FigureFilter } from '../../domain/figures/filters.ts'
import { isOriginDimension } from '../../domain/figures/installs.ts'

export interface ValueFilters {
  readonly filter?: readonly string[]
}

/** Those that can be read; of several with one dimension and operator the last one. */
export function valueFilters({ filter }: Readonly<Record<string, unknown>>): ValueFilters {
  const texts = [filter].flat().filter((text) => typeof text === 'string')
  return asTexts(readTexts(texts))
}

/** Of what an address holds only those on visits. */
export function visitValueFilters(search: Readonly<Record<string, unknown>>): ValueFilters {
  return asTexts(filtersIn(valueFilters(search)).filter(({ dimension }) => isOriginDimension(dimension)))
}

export function filtersIn({ filter = [] }: ValueFilters): readonly FigureFilter[] {
  return readTexts(filter)
}

export function addFilter(filters: ValueFilters, added: FigureFilter): ValueFilters {
  return joinFilters(filters, asTexts([added]))
}

export function withoutFilter(filters: ValueFilters, removed: FigureFilter): ValueFilters {
  return asTexts(filtersIn(filters).filter((each) => filterKey(each) !== filterKey(removed)))
}

/** Both, the second one in the place of what has its dimension and operator. */
export function joinFilters(one: ValueFilters, other: ValueFilters): ValueFilters {
  return asTexts(readTexts([...(one.filter ?? []), ...(other.filter ?? [])]))
}

export function valueIs(dimension: FigureFilter['dimension'], value: string): ValueFilters {
  return asTexts([{ dimension, op: 'is', values: [value] }])
}

function asTexts(filters: readonly FigureFilter[]): ValueFilters {
  return filters.length === 0 ? {} : { filter: filters.map(textOfFilter) }
}

function readTexts(texts: readonly string[]): readonly FigureFilter[] {
  const found = new Map<string, FigureFilter>()
  for (const text of texts) {
    const filter = readFilter(text)
    if (typeof filter !== 'string') found.set(filterKey(filter), filter)
  }
  return [...found.values()]
}
