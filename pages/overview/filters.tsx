/** Filters of the overview: a chip for each, and what they leave out. */

import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import {
  emptyRow,
  INSTALLS_BY,
  isOriginDimension,
  ORIGIN_NAMES,
  type InstallDimension,
} from '../../domain/figures/installs.ts'
import { keysOf } from '../../domain/typed-keys.ts'
import { valueFilters, type Overview, type OverviewFilters } from '../data/overview.ts'
import { Chips } from '../parts/chips.tsx'
import { filterText } from '../parts/install-words.ts'
import { shownCount } from '../parts/numbers.tsx'
import { rowLabel } from '../figures/rows.ts'

export function ValueChips({ filters }: { readonly filters: OverviewFilters }): ReactNode {
  const navigate = useNavigate()
  const set = keysOf(valueFilters({ ...filters }))
  const without = (names: readonly InstallDimension[]): void => {
    void navigate({
      to: '.',
      search: (before) =>
        Object.fromEntries(Object.entries(before).filter(([name]) => !names.some((each) => each === name))),
      replace: true,
    })
  }
  return (
    <div className="filter-chips">
      <Chips
        chips={set.map((name) => ({
          name,
          text: chipText(name, filters[name] ?? ''),
          remove: () => without([name]),
        }))}
      />
      {set.length > 1 && (
        <button type="button" className="link" onClick={() => without(INSTALLS_BY)}>
          Without filters
        </button>
      )}
    </div>
  )
}

/** What is no value has the name of its row. */
function chipText(by: InstallDimension, value: string): string {
  const row = emptyRow(by)
  const text = filterText(by, value) ?? value
  return value === '' && by !== 'agent' && row !== 'value' && isOriginDimension(by)
    ? `${ORIGIN_NAMES[by]}: ${rowLabel(by, row)}`
    : text
}

interface FilterNotesProps {
  readonly filters: OverviewFilters
  readonly figures: Overview
}

export function FilterNotes({ filters, figures }: FilterNotesProps): ReactNode {
  const { visitsLeftOut, unfiltered } = figures
  const set = keysOf(valueFilters({ ...filters }))
  const withoutVisit = unfiltered.installs - unfiltered.matched
  const notes = [
    ...(visitsLeftOut === null ? [] : [LEFT_OUT_WORDS[visitsLeftOut]]),
    ...(set.some(isOriginDimension) && withoutVisit > 0 ? [leftOutText(unfiltered.installs, withoutVisit)] : []),
  ]
  if (notes.length === 0) return null
  return <p className="question">{notes.join(' ')}</p>
}

const LEFT_OUT_WORDS: Readonly<Record<NonNullable<Overview['visitsLeftOut']>, string>> = {
  install_filter: 'A filter is about machines, so visits and conversion are not counted.',
  several_filters:
    'Visits are counted by one value at a time: remove all filters but one to see visits and conversion.',
}

function leftOutText(all: number, withoutVisit: number): string {
  return `A filter on visits leaves out installs without a visit: ${shownCount(withoutVisit)} of all ${shownCount(all)}.`
}

interface ValueLinkProps {
  readonly by: InstallDimension
  readonly value: string
  readonly children: ReactNode
}

/** A click filters the whole page. */
export function ValueLink({ by, value, children }: ValueLinkProps): ReactNode {
  return (
    <Link to="." search={(before) => ({ ...before, [by]: value })} resetScroll={false} className="value">
      {children}
    </Link>
  )
}
