/** The filters of a page of figures: a chip for each, which changes or removes it, and the way to one more. They stand in the address. */

import { useNavigate } from '@tanstack/react-router'
import { useRef, useState, type ReactNode } from 'react'

import { filterKey, type FigureFilter } from '../../domain/figures/filters.ts'
import { INSTALLS_BY, type InstallDimension } from '../../domain/figures/installs.ts'
import type { SuggestionPeriod } from '../data/figures.ts'
import { filtersIn, joinFilters, addFilter, withoutFilter, type ValueFilters } from '../data/value-filters.ts'
import { Chips, type Chip } from '../parts/chips.tsx'
import { FilterForm } from './filter-form.tsx'
import { wordsOfFilter } from './filter-words.ts'

interface ValueFilterBarProps {
  readonly organization: string
  readonly filters: ValueFilters & { readonly website?: string }
  /** Of the values that are suggested. */
  readonly bounds: SuggestionPeriod
  /** What the page can be filtered by; by everything if absent. */
  readonly dimensions?: readonly InstallDimension[]
  /** Filters that only this page has. */
  readonly own?: readonly Chip[]
}

/** What the form changes: a filter of the page, or none yet. */
type OpenFilter = FigureFilter | 'new' | null

export function ValueFilterBar({
  organization,
  filters,
  bounds,
  dimensions = INSTALLS_BY,
  own = [],
}: ValueFilterBarProps): ReactNode {
  const navigate = useNavigate()
  const [open, setOpen] = useState<OpenFilter>(null)
  const button = useRef<HTMLButtonElement>(null)
  const shown = filtersIn(filters)
  /** The focus goes on to what is always there. */
  const close = (): void => {
    setOpen(null)
    button.current?.focus()
  }
  const show = (next: ValueFilters): void => {
    void navigate({
      to: '.',
      search: ({ filter: _, ...before }: Record<string, unknown>) => ({ ...before, ...next }),
      replace: true,
      resetScroll: false,
    })
    close()
  }
  const chips = shown.map((filter) => ({
    name: filterKey(filter),
    text: wordsOfFilter(filter),
    change: () => setOpen(filter),
    remove: () => show(withoutFilter(filters, filter)),
  }))
  return (
    <div className="filter-bar">
      <div className="filter-chips">
        <Chips chips={[...chips, ...own]} />
        <button
          type="button"
          ref={button}
          className="add-filter"
          aria-expanded={open !== null}
          data-filter
          onClick={() => setOpen(open === null ? 'new' : null)}
        >
          <span aria-hidden>+</span> Filter
        </button>
        {shown.length > 1 && (
          <button type="button" className="link" onClick={() => show({})}>
            Without filters
          </button>
        )}
      </div>
      {open !== null && (
        <FilterForm
          key={open === 'new' ? 'new' : filterKey(open)}
          organization={organization}
          dimensions={dimensions}
          first={open === 'new' ? null : open}
          period={{ ...bounds, ...(filters.website === undefined ? {} : { website: filters.website }) }}
          onCancel={close}
          onApply={(filter) => show(replaced(filters, open, filter))}
        />
      )}
    </div>
  )
}

function replaced(filters: ValueFilters, before: FigureFilter | 'new', filter: FigureFilter): ValueFilters {
  const others = before === 'new' ? joinFilters(filters, {}) : withoutFilter(filters, before)
  return addFilter(others, filter)
}
