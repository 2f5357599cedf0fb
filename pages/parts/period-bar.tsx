/** Chooses the period of a page of figures, what it is compared with, and the website. Each choice has its own address. */

import { Button, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactNode } from 'react'

import { DEFAULT_PERIOD, PERIOD_NAMES } from '../../domain/figures/periods.ts'
import { STEP_SIZES, type StepSize } from '../../domain/time-zones.ts'
import { websitesQuery } from '../data/overview.ts'
import { PERIODS, type FigureFilters, type PeriodFilters } from '../data/period.ts'

interface PeriodBarProps {
  readonly organization: string
  readonly filters: FigureFilters
  /** Whether the page compares its figures; it does if this is absent. */
  readonly isCompared?: boolean
  /** Size of the steps of the chart, if the page has one. */
  readonly step?: StepSize
}

export function PeriodBar({ organization, filters, isCompared = true, step }: PeriodBarProps): ReactNode {
  return (
    <div className="period" role="group" aria-label="What is shown">
      <WebsiteChoice organization={organization} filters={filters} />
      <PeriodChoice filters={filters} />
      {isCompared && <ComparisonChoice filters={filters} />}
      {step !== undefined && <StepChoice filters={filters} step={step} />}
    </div>
  )
}

/** The search of an address with these in place of what it had of them. */
function useSearchChange() {
  const navigate = useNavigate()
  return (names: readonly string[], values: object): void =>
    void navigate({
      to: '.',
      search: (before) => ({
        ...Object.fromEntries(Object.entries(before).filter(([name]) => !names.includes(name))),
        ...values,
      }),
      replace: true,
    })
}

function WebsiteChoice({ organization, filters }: Pick<PeriodBarProps, 'organization' | 'filters'>): ReactNode {
  const change = useSearchChange()
  const { data: websites = [] } = useQuery(websitesQuery(organization))
  if (websites.length < 2) return null
  return (
    <Select
      aria-label="Website"
      placeholder="All websites"
      size="xs"
      clearable
      data={websites.map(({ id, displayName }) => ({ value: id, label: displayName }))}
      value={filters.website ?? null}
      onChange={(website) => change(['website'], website === null ? {} : { website })}
    />
  )
}

const CUSTOM = 'custom'
const NAMES = PERIOD_NAMES.map((name) => ({ value: name, label: PERIODS[name].title }))

function PeriodChoice({ filters }: { readonly filters: PeriodFilters }): ReactNode {
  const change = useSearchChange()
  const [isChoosing, setIsChoosing] = useState(false)
  const shown = filters.from === undefined ? (filters.period ?? DEFAULT_PERIOD) : CUSTOM
  const choose = (name: string | null): void => {
    setIsChoosing(name === CUSTOM)
    if (name !== null && name !== CUSTOM)
      change(['period', 'from', 'to', 'bucket'], name === DEFAULT_PERIOD ? {} : { period: name })
  }
  const areDatesShown = isChoosing || shown === CUSTOM
  return (
    <>
      <Select
        aria-label="Period"
        size="xs"
        w="9.5rem"
        allowDeselect={false}
        data-filter
        data={[...NAMES, { value: CUSTOM, label: 'From … to …' }]}
        value={isChoosing ? CUSTOM : shown}
        onChange={choose}
      />
      {areDatesShown && (
        <Dates
          key={`${filters.from ?? ''} ${filters.to ?? ''}`}
          filters={filters}
          onChoose={(dates) => {
            setIsChoosing(false)
            change(['period', 'from', 'to', 'bucket'], dates)
          }}
        />
      )}
    </>
  )
}

interface DatesProps {
  readonly filters: PeriodFilters
  readonly onChoose: (dates: { readonly from: string; readonly to: string }) => void
}

/** The service refuses what it cannot count, and says why. */
function Dates({ filters, onChoose }: DatesProps): ReactNode {
  const [from, setFrom] = useState(filters.from ?? '')
  const [to, setTo] = useState(filters.to ?? '')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (from !== '' && to !== '') onChoose(from <= to ? { from, to } : { from: to, to: from })
  }
  return (
    <form className="dates" onSubmit={submit}>
      <input
        type="date"
        aria-label="First day"
        required
        value={from}
        onChange={({ currentTarget }) => setFrom(currentTarget.value)}
      />
      <input
        type="date"
        aria-label="Last day"
        required
        value={to}
        onChange={({ currentTarget }) => setTo(currentTarget.value)}
      />
      <Button type="submit" size="compact-sm" variant="default">
        Show
      </Button>
    </form>
  )
}

const COMPARED = [
  { value: 'before', label: 'Period before' },
  { value: 'year_before', label: 'Year before' },
  { value: 'off', label: 'Not compared' },
]

function ComparisonChoice({ filters }: { readonly filters: PeriodFilters }): ReactNode {
  const change = useSearchChange()
  return (
    <Select
      aria-label="Compared with"
      size="xs"
      w="8.5rem"
      allowDeselect={false}
      data={COMPARED}
      value={filters.compare ?? 'before'}
      onChange={(compare) => change(['compare'], compare === 'before' ? {} : { compare })}
    />
  )
}

const STEPS: Readonly<Record<StepSize, string>> = { hour: 'By hour', day: 'By day', week: 'By week' }

function StepChoice({ filters, step }: { readonly filters: PeriodFilters; readonly step: StepSize }): ReactNode {
  const change = useSearchChange()
  return (
    <Select
      aria-label="Steps of the chart"
      size="xs"
      w="6.5rem"
      allowDeselect={false}
      data={STEP_SIZES.map((value) => ({ value: value, label: STEPS[value] }))}
      value={filters.bucket ?? step}
      onChange={(bucket) => change(['bucket'], { bucket })}
    />
  )
}
