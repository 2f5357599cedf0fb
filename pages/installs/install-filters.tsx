/** Filters of installs: three fields, and a chip for each filter that another page has set. */

import { Button, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { keysOf } from '../../domain/typed-keys.ts'
import type { ShownInstallFilters } from '../data/installs.ts'
import { websitesQuery } from '../data/overview.ts'
import { suggestionBounds } from '../data/period.ts'
import { ValueFilterBar } from '../filters/value-filter-bar.tsx'
import { EVENT_WORDS, filterText, RESOLUTION_WORDS } from '../parts/install-words.ts'
import { Between } from '../parts/time.tsx'

interface InstallFilterBarProps {
  readonly organization: string
  readonly filters: ShownInstallFilters
  readonly onChange: (filters: ShownInstallFilters) => void
}

export function InstallFilterBar({ organization, filters, onChange }: InstallFilterBarProps): ReactNode {
  const { data: websites = [] } = useQuery(websitesQuery(organization))
  const fields = [
    { name: 'resolution', label: 'Result', data: choices(RESOLUTION_WORDS) },
    { name: 'eventType', label: 'What', data: choices(EVENT_WORDS) },
    {
      name: 'website',
      label: 'Website',
      data: websites.map(({ id, displayName }) => ({ value: id, label: displayName })),
    },
  ] as const
  return (
    <>
      <div className="filters three" role="search">
        {fields.map(({ name, label, data: values }) => (
          <Select
            key={name}
            label={label}
            data={values}
            placeholder={'all'}
            clearable={true}
            value={filters[name] ?? null}
            onChange={(value) => onChange(withFilter(filters, name, value))}
          />
        ))}
        {Object.keys(filters).length > 0 && (
          <Button variant="default" onClick={() => onChange({})}>
            Clear
          </Button>
        )}
      </div>
      <ValueFilterBar
        organization={organization}
        filters={filters}
        bounds={suggestionBounds(filters)}
        own={installChips(filters, onChange)}
      />
    </>
  )
}

function choices(words: Readonly<Record<string, string>>) {
  return Object.entries(words).map(([value, label]) => ({ value, label }))
}

function withFilter(
  filters: ShownInstallFilters,
  name: keyof ShownInstallFilters,
  value: string | null,
): ShownInstallFilters {
  const { [name]: _, ...others } = filters
  return value === null ? others : { ...others, [name]: value }
}

function installChips(filters: ShownInstallFilters, onChange: InstallFilterBarProps['onChange']) {
  const named = keysOf(filters).flatMap((name) => {
    const text = filterText(name, String(filters[name]))
    if (text === null) return []
    return [{ name, text, remove: () => onChange(withFilter(filters, name, null)) }]
  })
  const { since, until, ...anyTime } = filters
  const { visitSince, visitUntil, ...anyVisit } = filters
  return [
    ...named,
    ...chipOfTime('time', { since, until }, () => onChange(anyTime)),
    ...chipOfTime('visits', { since: visitSince, until: visitUntil }, () => onChange(anyVisit)),
  ]
}

interface Times {
  readonly since: number | undefined
  readonly until: number | undefined
}

function chipOfTime(name: 'time' | 'visits', { since, until }: Times, remove: () => void) {
  if (since === undefined && until === undefined) return []
  const time = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) }
  const text = (
    <>
      {name === 'visits' && 'Visits '}
      <Between {...time} />
    </>
  )
  return [{ name, text, remove }]
}
