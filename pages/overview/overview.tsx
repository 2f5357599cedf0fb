/** The overview: how installs and visits of a period went, beside what it is compared with, and what brought them. A click on any value filters the whole page. */

import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { AlertsOnOverview } from '../alerts/on-overview.tsx'
import { overviewFilters, overviewPath, overviewQuery, type Overview, type OverviewFilters } from '../data/overview.ts'
import { comparisonText, dateParameters } from '../data/period.ts'
import { ValueFilterBar } from '../filters/value-filter-bar.tsx'
import { TakeAlong } from '../parts/copy.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { NotKept } from '../parts/not-kept.tsx'
import { PeriodBar } from '../parts/period-bar.tsx'
import { Page, Problem } from '../parts/states.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { LargestChange, Reasons } from './change-and-reasons.tsx'
import { OverviewChart } from './chart.tsx'
import { FewInstalls } from './few-installs.tsx'
import { FilterNotes } from './filters.tsx'
import { MetricTiles } from './metric-tiles.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Panels } from './panels.tsx'

export function OverviewPage(): ReactNode {
  const organization = useOrganization()
  const filters = overviewFilters(useSearch({ strict: false }))
  return organization === null ? null : <OverviewOf organization={organization.id} filters={filters} />
}

interface OverviewProps {
  readonly organization: string
  readonly filters: OverviewFilters
}

function OverviewOf({ organization, filters }: OverviewProps): ReactNode {
  const options = overviewQuery(organization, filters)
  const query = useQuery(options)
  const { data, error, isPlaceholderData } = query
  return (
    <Page
      title="Overview"
      question="How many installs are there, and what brings them?"
      actions={
        <>
          <PeriodBar
            organization={organization}
            filters={filters}
            {...(data === undefined ? {} : { step: data.step })}
          />
          <TakeAlong file={overviewPath(organization, filters)} name="overview.json" />
        </>
      }
    >
      <AlertsOnOverview organization={organization} website={filters.website} />
      <ValueFilterBar organization={organization} filters={filters} bounds={dateParameters(filters)} />
      <Problem error={error} />
      <Waiting what="the overview" query={query} queryKey={options.queryKey} />
      {data !== undefined && <ExampleNotice until={data.exampleUntil} />}
      {data !== undefined && <NotKept figures={data} />}
      {data !== undefined && (
        <div className="figures overview" aria-busy={isPlaceholderData}>
          <OverviewFigures organization={organization} filters={filters} figures={data} />
        </div>
      )}
    </Page>
  )
}

interface OverviewFiguresProps extends OverviewProps {
  readonly figures: Overview
}

/** What a period tells depends on how many installs it has before filters. */
function OverviewFigures(props: OverviewFiguresProps): ReactNode {
  const { organization, filters, figures } = props
  if (figures.checklist !== null)
    return <FirstSteps organization={organization} website={filters.website} checklist={figures.checklist} />
  if (figures.installs !== null)
    return (
      <>
        <FilterNotes filters={filters} figures={figures} />
        <FewInstalls organization={organization} figures={figures} installs={figures.installs} />
      </>
    )
  return (
    <>
      <MetricTiles filters={filters} figures={figures} />
      <FilterNotes filters={filters} figures={figures} />
      {figures.comparison?.notCompared === 'not_counted_yet' && <p>{comparisonText(filters, figures)}</p>}
      <LargestChange filters={filters} figures={figures} />
      <OverviewChart filters={filters} figures={figures} />
      <Panels {...props} />
      <Reasons {...props} />
    </>
  )
}
