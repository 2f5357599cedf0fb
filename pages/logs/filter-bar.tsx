/** Filters of Logs. Each change goes into the address, so that a link shows others the same lines. */

import { Button, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type FormEvent, type ReactNode } from 'react'

import { resolveReference, type LogFilters } from '../data/lines.ts'
import { websitesQuery } from '../data/overview.ts'
import { Chips } from '../parts/chips.tsx'
import { Problem } from '../parts/states.tsx'
import { Between } from '../parts/time.tsx'

const CHOICES = {
  direction: {
    label: 'Direction',
    data: [
      { value: 'inbound', label: 'In' },
      { value: 'outbound', label: 'Out' },
    ],
  },
  status: {
    label: 'Status',
    data: [
      ...['2xx', '3xx', '4xx', '5xx'].map((value) => ({ value, label: value })),
      { value: 'none', label: 'No answer' },
    ],
  },
  kind: {
    label: 'What',
    data: [
      { value: 'visit', label: 'Visit' },
      { value: 'activation', label: 'Activation' },
      { value: 'handoff', label: 'Token of a command' },
      { value: 'install', label: 'Install' },
      { value: 'delivery', label: 'Delivery' },
      { value: 'request', label: 'Other request' },
      { value: 'dashboard', label: 'Refused by the dashboard' },
    ],
  },
} as const

interface FilterBarProps {
  readonly organization: string
  readonly filters: LogFilters
  readonly onChange: (filters: LogFilters) => void
}

export function FilterBar({ organization, filters, onChange }: FilterBarProps): ReactNode {
  const { data: websites = [] } = useQuery(websitesQuery(organization))
  const set = (name: keyof LogFilters, value: string | null): void => {
    const { [name]: _, ...others } = filters
    onChange(value === null || value === '' ? others : { ...others, [name]: value })
  }
  return (
    <div className="filters" role="search">
      <Search organization={organization} filters={filters} onChange={onChange} />
      <Select
        label="Website"
        placeholder="all"
        clearable
        data={websites.map(({ id, displayName }) => ({ value: id, label: displayName }))}
        value={filters.website ?? null}
        onChange={(value) => set('website', value)}
      />
      {(['direction', 'status', 'kind'] as const).map((name) => (
        <Select
          key={name}
          label={CHOICES[name].label}
          placeholder="all"
          clearable
          data={CHOICES[name].data}
          value={filters[name] ?? null}
          onChange={(value) => set(name, value)}
        />
      ))}
      <Chips chips={chipsOf(filters, onChange)} />
      {Object.keys(filters).length > 0 && (
        <Button variant="default" onClick={() => onChange({})}>
          Clear
        </Button>
      )}
    </div>
  )
}

/** Filters that other pages set, and that have no field here. */
function chipsOf({ since, until, ...filters }: LogFilters, onChange: FilterBarProps['onChange']) {
  const time = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) }
  const named = (['code', 'path'] as const).flatMap((name) => {
    const { [name]: value, ...others } = filters
    return value === undefined
      ? []
      : [{ name, text: `${name}: ${value}`, remove: () => onChange({ ...others, ...time }) }]
  })
  if (since === undefined && until === undefined) return named
  return [...named, { name: 'time', text: <Between {...time} />, remove: () => onChange(filters) }]
}

/** IDs, receipts and tokens are looked up in an index; everything else is searched for in the bodies. */
function Search({ organization, filters, onChange }: FilterBarProps): ReactNode {
  const [typed, setTyped] = useState(filters.text ?? filters.reference ?? '')
  const search = useMutation({
    async mutationFn(text: string) {
      const { text: _text, reference: _reference, ...others } = filters
      if (text === '') return others
      if (!/^\S{8,128}$/.test(text)) return { ...others, text }
      return { ...others, reference: (await resolveReference(organization, text)).slice(0, 5).join(',') }
    },
    onSuccess: onChange,
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    search.mutate(typed.trim())
  }
  return (
    <form onSubmit={submit} className="find">
      <TextInput
        label="Find"
        description="An ID, a receipt, a token, or words of a body"
        data-filter
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Problem error={search.error} />
    </form>
  )
}
