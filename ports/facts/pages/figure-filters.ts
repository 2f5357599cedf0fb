/** Filters of figures in statements: their values are parameters, and each becomes a condition on a column. */

import { FILTER_OPERATORS, type FigureFilter, type FilterOperator } from '../../../domain/figures/filters.ts'
import { INSTALLS_BY, type InstallDimension } from '../../../domain/figures/installs.ts'
import { partialOf } from '../../../domain/typed-keys.ts'

type FilterName = `${InstallDimension}_${FilterOperator}`

/** The values of each filter. */
export type FilterParameters = { readonly [N in FilterName]?: readonly string[] }

interface NamedFilter {
  readonly dimension: InstallDimension
  readonly op: FilterOperator
  /** Of its parameter. */
  readonly name: FilterName
}

const NAMED: readonly NamedFilter[] = INSTALLS_BY.flatMap((dimension) =>
  FILTER_OPERATORS.map((op) => ({ dimension, op, name: `${dimension}_${op}` as const })),
)

export function filterParameters(filters: readonly FigureFilter[]): FilterParameters {
  const valuesOf = new Map(filters.map(({ dimension, op, values }) => [`${dimension}_${op}`, values]))
  return partialOf(
    NAMED.map(({ name }) => name),
    (name) => valuesOf.get(name),
  )
}

/** Those that the parameters have, in the order of dimensions. */
export function askedFilters(params: FilterParameters): readonly NamedFilter[] {
  return NAMED.filter(({ name }) => params[name] !== undefined)
}

/** Whether a text fits, or for `is_not` whether it is one of those that do not. */
function fits({ op, name }: NamedFilter, text: string): string {
  const values = `{${name}:Array(String)}`
  return op === 'contains'
    ? `arrayExists(part -> positionCaseInsensitiveUTF8(${text}, part) > 0, ${values})`
    : `has(${values}, ${text})`
}

/** A condition on a text. What does not meet `given` has no value: it fits nothing but `is_not`. */
export function filterCondition(filter: NamedFilter, text: string, given = 'true'): string {
  const own = given === 'true' ? fits(filter, text) : `${given} AND ${fits(filter, text)}`
  return filter.op === 'is_not' ? `NOT (${own})` : `(${own})`
}

/** A condition on a list of texts: one of them fits; for `is_not` none is among the values. */
export function filterConditionOfAny(filter: NamedFilter, texts: string): string {
  const own = `arrayExists(one -> ${fits(filter, 'one')}, ${texts})`
  return filter.op === 'is_not' ? `NOT ${own}` : own
}
