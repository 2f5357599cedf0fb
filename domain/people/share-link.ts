/** Links to a report as the dashboard knows them: each shows the Overview of one website to whoever has it. */

import { INSTALLS_BY } from '../figures/installs.ts'
import { areFilters, readFilters, textOfFilter, type FigureFilter } from '../figures/filters.ts'
import type { PeriodName } from '../figures/periods.ts'
import type { Refusal } from '../errors.ts'
import { isOneOf, isText, listOf, orAbsent, shapeOf } from '../guards.ts'
import type { SharedFilter } from '../resources/share-link-schema.ts'
import { isPassText, passText, type Pass } from './pass.ts'

export interface ShareLink extends Pass {
  readonly report: SharedReport
}

/** What a link shows; whoever opens it can change nothing of it. Named as a request for figures names it. */
export interface SharedReport {
  /** What people call the link. */
  readonly title: string
  /** ID of the website. */
  readonly website: string
  readonly period: PeriodName
  /** As in an address. */
  readonly filter: readonly string[]
}

const PREFIX = 'whs_'

/** The token made of these random bytes: `whs_` and 43 characters. */
export function shareToken(bytes: Uint8Array): string {
  return passText(PREFIX, bytes)
}

/** The token that an address shows; null if it shows none. */
export function presentedToken(text = ''): string | null {
  return isPassText(PREFIX, text) ? text : null
}

const areValues = orAbsent(listOf(isText))

/** Of a spec that was never checked. */
export const isSharedFilter = shapeOf<SharedFilter>({
  field: isOneOf(INSTALLS_BY),
  is: areValues,
  isNot: areValues,
  contains: areValues,
})

/** The filters of a spec as addresses have them, or what is wrong with them. */
export function sharedFilterTexts(filters: readonly SharedFilter[]): readonly string[] | Refusal {
  const read = readFilters(filters.flatMap(filtersOfField).map(textOfFilter))
  return areFilters(read) ? read.map(textOfFilter) : read
}

/** One for each operator that it has. */
function filtersOfField({ field, is, isNot, contains }: SharedFilter): readonly FigureFilter[] {
  const written = [
    ['is', is],
    ['is_not', isNot],
    ['contains', contains],
  ] as const
  return written.flatMap(([op, values]) => (values === undefined ? [] : [{ dimension: field, op, values }]))
}

/** The same filters as a spec has them. */
export function sharedFiltersOf(filters: readonly FigureFilter[]): readonly SharedFilter[] {
  return filters.map(({ dimension: field, op, values }) => {
    if (op === 'is') return { field, is: values }
    return op === 'is_not' ? { field, isNot: values } : { field, contains: values }
  })
}
