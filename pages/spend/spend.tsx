/** Spend: what it cost to bring a visit and an install, by campaign or by source, and the files that amounts come from. */

import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { mayDo } from '../../domain/people/roles.ts'
import { TakeAlong } from '../parts/copy.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { NotKept } from '../parts/not-kept.tsx'
import { PeriodBar } from '../parts/period-bar.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { SpendImports } from './imports.tsx'
import { spendFilters, spendPath, spendQuery, type SpendFigures, type SpendFilters } from './spend-data.ts'
import { CurrencyTable } from './table.tsx'
import { SpendForm } from './upload.tsx'

export function SpendPage(): ReactNode {
  const organization = useOrganization()
  const filters = spendFilters(useSearch({ strict: false }))
  if (organization === null) return null
  return (
    <Page
      title="Spend"
      question="What did a visit and an install cost?"
      actions={
        <>
          <PeriodBar organization={organization.id} filters={filters} isCompared={false} />
          <TakeAlong file={spendPath(organization.id, filters)} name="spend.json" />
        </>
      }
    >
      <ChooseBy filters={filters} />
      <Figures organization={organization} filters={filters} />
      {mayDo(organization.role, 'importSpend') && <SpendForm organization={organization.id} />}
      <SpendImports organization={organization} filters={filters} />
    </Page>
  )
}

const WAYS = [
  { by: undefined, title: 'By campaign' },
  { by: 'source', title: 'By source' },
] as const

function ChooseBy({ filters }: { readonly filters: SpendFilters }): ReactNode {
  return (
    <div className="choice tabs" role="group" aria-label="By">
      {WAYS.map(({ by, title }) => (
        <Link
          key={title}
          to="."
          search={({ by: _, ...before }) => (by === undefined ? before : { ...before, by })}
          replace
          aria-current={by === filters.by ? 'true' : undefined}
        >
          {title}
        </Link>
      ))}
    </div>
  )
}

interface FiguresProps {
  readonly organization: OwnOrganization
  readonly filters: SpendFilters
}

function Figures({ organization, filters }: FiguresProps): ReactNode {
  const options = spendQuery(organization.id, filters)
  const query = useQuery(options)
  const { data, error, isPlaceholderData } = query
  return (
    <>
      <Problem error={error} />
      <Waiting what="spend" query={query} queryKey={options.queryKey} />
      {data !== undefined && <ExampleNotice until={data.exampleUntil} />}
      {data !== undefined && <NotKept figures={data} />}
      {data !== undefined && (
        <div className="figures" aria-busy={isPlaceholderData}>
          <ShownSpend figures={data} />
        </div>
      )}
    </>
  )
}

function ShownSpend({ figures }: { readonly figures: SpendFigures }): ReactNode {
  const { days, currencies, timeZone } = figures
  if (days === null)
    return (
      <Empty title="No day has ended in this time">
        An advertising account says what a whole day cost. Choose a longer time.
      </Empty>
    )
  if (currencies.length === 0)
    return (
      <Empty title={`Nothing was spent from ${days.first} to ${days.last}`}>
        Import a CSV file from your advertising account to see what a visit and an install of each campaign cost.
      </Empty>
    )
  return (
    <>
      {currencies.map((currency) => (
        <CurrencyTable key={currency.currency} currency={currency} figures={figures} />
      ))}
      <p className="footnote">
        Whole days from {days.first} to {days.last}. A day of the advertising account is compared with the same day in{' '}
        {timeZone}. Currencies are neither added up nor converted. An amount joins the visits and installs of exactly
        its source and campaign; what has two currencies is in both tables, with the same visits and installs.
      </p>
    </>
  )
}
