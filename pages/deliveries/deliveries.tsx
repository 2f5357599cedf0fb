/** Deliveries: what is stuck, what failed and why, and whether it will expire. */

import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { dateParameters, filteredFigures, type FilteredFigures } from '../data/period.ts'
import { ValueFilterBar } from '../filters/value-filter-bar.tsx'
import { TakeAlong } from '../parts/copy.tsx'
import { PeriodBar } from '../parts/period-bar.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { DeadLetters, ProviderErrors } from './causes.tsx'
import { deliveriesPath, deliveriesQuery, type DeliveryFigures } from './deliveries-data.ts'
import { Destinations } from './destinations.tsx'
import { InstallOutcomes } from './install-outcomes.tsx'

export function DeliveriesPage(): ReactNode {
  const organization = useOrganization()
  const filters = filteredFigures(useSearch({ strict: false }))
  return organization === null ? null : <DeliveriesOf organization={organization} filters={filters} />
}

interface DeliveryPageProps {
  readonly organization: OwnOrganization
  readonly filters: FilteredFigures
}

function DeliveriesOf({ organization, filters }: DeliveryPageProps): ReactNode {
  const options = deliveriesQuery(organization.id, filters)
  const query = useQuery(options)
  const { data, error, isPlaceholderData } = query
  return (
    <Page
      title="Deliveries"
      question="What is stuck, what failed, and will it expire?"
      actions={
        <>
          <PeriodBar organization={organization.id} filters={filters} />
          <TakeAlong file={deliveriesPath(organization.id, filters)} name="deliveries.json" />
        </>
      }
    >
      <ValueFilterBar organization={organization.id} filters={filters} bounds={dateParameters(filters)} />
      <Problem error={error} />
      <Waiting what="deliveries" query={query} queryKey={options.queryKey} />
      {data !== undefined && (
        <div className="figures" aria-busy={isPlaceholderData}>
          <Parts organization={organization} filters={filters} figures={data} />
        </div>
      )}
    </Page>
  )
}

function Parts({
  organization,
  filters,
  figures,
}: DeliveryPageProps & { readonly figures: DeliveryFigures }): ReactNode {
  const { id, role } = organization
  if (figures.groups.length === 0)
    return filters.filter === undefined ? (
      <NoDelivery organization={id} hasDestinations={figures.destinations.length > 0} />
    ) : (
      <Empty title="No delivery fits these filters">Take one away, or look at a longer time.</Empty>
    )
  return (
    <>
      <Destinations organization={id} filters={filters} figures={figures} />
      <InstallOutcomes organization={id} filters={filters} />
      <DeadLetters organization={id} filters={filters} figures={figures} mayReplay={role !== 'Viewer'} />
      <ProviderErrors organization={id} filters={filters} figures={figures} />
    </>
  )
}

function NoDelivery({
  organization,
  hasDestinations,
}: {
  readonly organization: string
  readonly hasDestinations: boolean
}): ReactNode {
  if (hasDestinations) {
    return (
      <Empty title="No delivery in this time">
        Choose a longer time. Each install that was matched is sent to the destinations of its website within seconds.
      </Empty>
    )
  }
  return (
    <Empty title="There is no destination yet">
      Installs can be told to analytics and advertising providers.{' '}
      <Link to="/app/$organization/new/$kind" params={{ organization, kind: 'Destination' }}>
        Make a destination
      </Link>
      : it begins by validating, and sends nothing that counts until you set it live.
    </Empty>
  )
}
