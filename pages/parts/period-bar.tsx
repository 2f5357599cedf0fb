/** Chooses the period and the website of a page of figures. Each choice has its own address. */

import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { websitesQuery } from '../data/overview.ts'
import { daysOf, PERIODS, type FigureFilters } from '../data/period.ts'

interface PeriodBarProps {
  readonly organization: string
  readonly filters: FigureFilters
}

export function PeriodBar({ organization, filters }: PeriodBarProps): ReactNode {
  const navigate = useNavigate()
  const { data: websites = [] } = useQuery(websitesQuery(organization))
  const shown = daysOf(filters)
  return (
    <div className="period" role="group" aria-label="What is shown">
      {websites.length > 1 && (
        <Select
          aria-label="Website"
          placeholder="All websites"
          size="xs"
          clearable
          data-filter
          data={websites.map(({ id, displayName }) => ({ value: id, label: displayName }))}
          value={filters.website ?? null}
          onChange={(website) => {
            void navigate({
              to: '.',
              search: ({ website: _, ...before }) => (website === null ? before : { ...before, website }),
              replace: true,
            })
          }}
        />
      )}
      <div className="choice">
        {PERIODS.map(({ days, title }) => (
          <Link
            key={days}
            to="."
            search={(before) => ({ ...before, days })}
            replace
            aria-current={days === shown ? 'true' : undefined}
            {...(websites.length < 2 && days === shown ? { 'data-filter': true } : {})}
          >
            {title}
          </Link>
        ))}
      </div>
    </div>
  )
}
