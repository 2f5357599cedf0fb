/** The overview: how installs and visits of a period went, beside what it is compared with, and what brought them. A click on any value filters the whole page. */

import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { mayDo } from '../../domain/people/roles.ts'
import { AlertsOnOverview } from '../alerts/on-overview.tsx'
import { overviewFilters, overviewPath, overviewQuery, type Overview, type OverviewFilters } from '../data/overview.ts'
import { linkForm } from '../data/links.ts'
import { dateParameters } from '../data/period.ts'
import { ValueFilterBar } from '../filters/value-filter-bar.tsx'
import { TakeAlong } from '../parts/copy.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { NotKept } from '../parts/not-kept.tsx'
import { PeriodBar } from '../parts/period-bar.tsx'
import { Page, Problem } from '../parts/states.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { FewInstalls } from './few-installs.tsx'
import { FilterNotes } from './filters.tsx'
import { FirstSteps, openStepOf } from './first-steps.tsx'
import { LeadingOn } from './leading-on.ts'
import { Report } from './report.tsx'

export function OverviewPage(): ReactNode {
  const organization = useOrganization()
  const filters = overviewFilters(useSearch({ strict: false }))
  if (organization === null) return null
  const mayShare = mayDo(organization.role, 'manageLinks')
  return <OverviewOf organization={organization.id} filters={filters} mayShare={mayShare} />
}

interface OverviewProps {
  readonly organization: string
  readonly filters: OverviewFilters
}

interface OverviewOfProps extends OverviewProps {
  readonly mayShare: boolean
}

function OverviewOf({ organization, filters, mayShare }: OverviewOfProps): ReactNode {
  const options = overviewQuery(organization, filters)
  const query = useQuery(options)
  const { data, error, isPlaceholderData } = query
  // Before anything is set up no other period and no filter would show more.
  const isBegun = !data?.checklist || openStepOf(data.checklist) === null
  return (
    <Page
      title="Overview"
      question="How many installs are there, and what brings them?"
      actions={
        isBegun && (
          <>
            <PeriodBar
              organization={organization}
              filters={filters}
              {...(data === undefined ? {} : { step: data.step })}
            />
            {mayShare && <ShareButton organization={organization} filters={filters} />}
            <TakeAlong file={overviewPath(organization, filters)} name="overview.json" />
          </>
        )
      }
    >
      {isBegun && <AlertsOnOverview organization={organization} website={filters.website} />}
      {isBegun && <ValueFilterBar organization={organization} filters={filters} bounds={dateParameters(filters)} />}
      <Problem error={error} />
      <Waiting what="the overview" query={query} queryKey={options.queryKey} />
      {data !== undefined && <ExampleNotice until={data.exampleUntil} />}
      {data !== undefined && <NotKept figures={data} />}
      {data !== undefined && (
        <div className="figures overview" aria-busy={isPlaceholderData}>
          <LeadingOn value={organization}>
            <ShownOverview organization={organization} filters={filters} figures={data} />
          </LeadingOn>
        </div>
      )}
    </Page>
  )
}

/** With what a link can hold of what is shown. */
function ShareButton({ organization, filters }: OverviewProps): ReactNode {
  return (
    <Button
      size="xs"
      variant="default"
      renderRoot={(props) => (
        <Link to="/app/$organization/links" params={{ organization }} search={linkForm(filters)} {...props} />
      )}
    >
      Share
    </Button>
  )
}

interface ShownOverviewProps extends OverviewProps {
  readonly figures: Overview
}

/** What a period tells depends on how many installs it has before filters. */
function ShownOverview({ organization, filters, figures }: ShownOverviewProps): ReactNode {
  if (figures.checklist !== null)
    return <FirstSteps organization={organization} website={filters.website} checklist={figures.checklist} />
  if (figures.installs !== null)
    return (
      <>
        <FilterNotes filters={filters} figures={figures} />
        <FewInstalls organization={organization} figures={figures} installs={figures.installs} />
      </>
    )
  return <Report filters={filters} figures={figures} />
}
