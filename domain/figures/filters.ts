/**
 * Filters of figures: which installs and visits are counted, by a dimension and its values. As text, in the query of a request and in the address
 * of a page, a filter is `dimension:operator:value,value`; a backslash stands before a comma or backslash of a value.
 */

import { refuseField, type Refusal } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { INSTALLS_BY, type InstallDimension } from './installs.ts'

export const FILTER_OPERATORS = ['is', 'is_not', 'contains'] as const
export type FilterOperator = (typeof FILTER_OPERATORS)[number]

/** Fits what has one of the values, none of them, or a value in which one of the texts occurs, in capitals or not. */
export interface FigureFilter {
  readonly dimension: InstallDimension
  readonly op: FilterOperator
  /** Each once, at least one. An empty one, which `contains` cannot have, means that there is no value: Direct, No campaign, None. */
  readonly values: readonly string[]
}

/** What people read. */
export const OPERATOR_WORDS: Readonly<Record<FilterOperator, string>> = {
  is: 'is',
  is_not: 'is not',
  contains: 'contains',
}

/** The only filter of this form, or none. */
export type FilterKey = `${InstallDimension}:${FilterOperator}`

export function filterKey({ dimension, op }: FigureFilter): FilterKey {
  return `${dimension}:${op}`
}

export function textOfFilter(filter: FigureFilter): string {
  return `${filterKey(filter)}:${filter.values.map(escaped).join(',')}`
}

/** Reads the filters of a request, all of which must fit. Refuses with `invalid_field` at `/filter`. */
export function readFilters(texts: readonly string[] = []): readonly FigureFilter[] | Refusal {
  if (texts.length > LIMITS.figureFilters) return refuseFilter(`comes more than ${LIMITS.figureFilters} times`)
  const filters: FigureFilter[] = []
  for (const text of texts) {
    const filter = readFilter(text)
    if (typeof filter === 'string') return refuseFilter(filter)
    if (filters.some((each) => filterKey(each) === filterKey(filter)))
      return refuseFilter(`names ${filterKey(filter)} twice; put its values into one filter`)
    filters.push(filter)
  }
  return filters
}

export function areFilters(read: readonly FigureFilter[] | Refusal): read is readonly FigureFilter[] {
  return Array.isArray(read)
}

function refuseFilter(message: string): Refusal {
  return refuseField('/filter', message)
}

/** The filter, or what is wrong with the text. */
export function readFilter(text: string): FigureFilter | string {
  const [dimensionText = '', opText = ''] = text.split(':', 2)
  const dimension = INSTALLS_BY.find((each) => each === dimensionText)
  const op = FILTER_OPERATORS.find((each) => each === opText)
  if (dimension === undefined) return `must begin with one of ${INSTALLS_BY.join(', ')}`
  const start = dimensionText.length + opText.length + 2
  if (op === undefined || text.length < start) return `must say ${FILTER_OPERATORS.join(', ')} after the dimension`
  const values = [...new Set(valuesIn(text.slice(start)))]
  if (values.length > LIMITS.figureFilterValues) return `has more than ${LIMITS.figureFilterValues} values`
  if (values.some((value) => [...value].length > LIMITS.figureFilterChars))
    return `has a value of more than ${LIMITS.figureFilterChars} characters`
  if (op === 'contains' && values.includes('')) return 'must say what a value contains'
  return { dimension, op, values }
}

function escaped(value: string): string {
  return value.replaceAll(/[\\,]/g, String.raw`\$&`)
}

/** Values between commas that have no backslash before them. */
function valuesIn(text: string): readonly string[] {
  const values = ['']
  const pieces = text.match(/\\[^]|[^]/gu) ?? []
  for (const piece of pieces) {
    if (piece === ',') values.push('')
    else values.push(`${values.pop() ?? ''}${piece.length > 1 && piece.startsWith('\\') ? piece.slice(1) : piece}`)
  }
  return values
}
