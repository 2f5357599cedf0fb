/** What filters of the overview leave out, and values that filter it. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { isOriginDimension, type InstallDimension } from '../../domain/figures/installs.ts'
import type { OverviewFigures, OverviewFilters } from '../data/overview.ts'
import { filtersIn, joinFilters, valueIs } from '../data/value-filters.ts'
import { visitsLeftOutText } from '../filters/filter-words.ts'
import { shownCount } from '../parts/numbers.tsx'
import { useLeadingOn } from './leading-on.ts'

interface FilterNotesProps {
  readonly filters: OverviewFilters
  readonly figures: OverviewFigures
}

export function FilterNotes({ filters, figures }: FilterNotesProps): ReactNode {
  const { visitsLeftOut, unfiltered } = figures
  const canChange = useLeadingOn() !== null
  const needsVisit = filtersIn(filters).some(({ dimension, op }) => isOriginDimension(dimension) && op !== 'is_not')
  const withoutVisit = unfiltered.installs - unfiltered.matched
  const notes = [
    ...(visitsLeftOut === null ? [] : [visitsLeftOutText(visitsLeftOut, canChange)]),
    ...(needsVisit && withoutVisit > 0 ? [leftOutText(unfiltered.installs, withoutVisit)] : []),
  ]
  if (notes.length === 0) return null
  return <p className="question">{notes.join(' ')}</p>
}

function leftOutText(all: number, withoutVisit: number): string {
  return `A filter on visits leaves out installs without a visit: ${shownCount(withoutVisit)} of all ${shownCount(all)}.`
}

interface ValueLinkProps {
  readonly by: InstallDimension
  readonly value: string
  readonly children: ReactNode
}

/** A click filters the whole page if its filters can be changed. */
export function ValueLink({ by, value, children }: ValueLinkProps): ReactNode {
  const isFixed = useLeadingOn() === null
  const attributes = value === '' ? {} : { translate: 'no' as const }
  if (isFixed) return <bdi {...attributes}>{children}</bdi>
  return (
    <Link
      to="."
      search={(before) => ({ ...before, ...joinFilters(before, valueIs(by, value)) })}
      resetScroll={false}
      className="value"
      {...attributes}
    >
      {children}
    </Link>
  )
}
