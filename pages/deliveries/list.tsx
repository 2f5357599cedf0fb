/** Deliveries one by one, by what a number of another page counted. */

import { keysOf } from '../../domain/typed-keys.ts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { MAY_COUNT_TWICE } from '../../domain/reasons.ts'
import { dateParameters } from '../data/period.ts'
import { ValueFilterBar } from '../filters/value-filter-bar.tsx'
import { TakeAlong } from '../parts/copy.tsx'
import { statusText } from '../parts/install-words.ts'
import { Status } from '../parts/lines/line-table.tsx'
import { PeriodBar } from '../parts/period-bar.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Clock, Moment } from '../parts/time.tsx'
import { More, Waiting } from '../parts/waiting.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import {
  deliveriesExport,
  deliveryFiltersOf,
  deliveryListQuery,
  type ShownDeliveryFilters,
  type ListedDelivery,
} from './deliveries-data.ts'
import { SendAgain } from './send-again.tsx'
import { sentenceOfReason } from './words.ts'

export function DeliveryListPage(): ReactNode {
  const organization = useOrganization()
  const filters = deliveryFiltersOf(useSearch({ strict: false }))
  if (organization === null) return null
  const file = deliveriesExport(organization.id, filters)
  return (
    <Page
      title="List of deliveries"
      question="Which deliveries are these?"
      actions={
        <>
          <PeriodBar organization={organization.id} filters={filters} isCompared={false} />
          <TakeAlong what="these" {...(organization.role === 'Viewer' ? {} : { file })} />
        </>
      }
    >
      <p className="when">
        <Link to="/app/$organization/deliveries" params={{ organization: organization.id }}>
          All deliveries
        </Link>
      </p>
      <FilterChips organization={organization.id} filters={filters} />
      <DeliveryList organization={organization} filters={filters} />
    </Page>
  )
}

const TITLES = {
  destination: (value: string) => `To ${value}`,
  status: (value: string) => `State: ${statusText(value)}`,
  reason: (value: string) => `Why: ${sentenceOfReason(value)}`,
  code: (value: string) => `A try was answered: ${value}`,
  answered: (value: string) => (value === '0' ? 'A try had no answer' : `A try was answered ${value}`),
} as const

function FilterChips({
  organization,
  filters,
}: {
  readonly organization: string
  readonly filters: ShownDeliveryFilters
}): ReactNode {
  const navigate = useNavigate()
  const names = keysOf(TITLES)
  const chips = names.flatMap((name) => {
    const { [name]: value, ...others } = filters
    if (value === undefined) return []
    const remove = (): void => void navigate({ to: '.', search: { ...others }, replace: true })
    return [{ name, text: TITLES[name](String(value)), remove }]
  })
  return <ValueFilterBar organization={organization} filters={filters} bounds={dateParameters(filters)} own={chips} />
}

interface DeliveryListProps {
  readonly organization: OwnOrganization
  readonly filters: ShownDeliveryFilters
}

function DeliveryList({ organization, filters }: DeliveryListProps): ReactNode {
  const options = deliveryListQuery(organization.id, filters)
  const { queryKey } = options
  const list = useInfiniteQuery(options)
  const deliveries = list.data?.pages.flatMap((page) => page.deliveries) ?? []
  return (
    <>
      <Problem error={list.error} />
      <Waiting what="deliveries" query={list} queryKey={queryKey} />
      {deliveries.length > 0 && <DeliveryTable organization={organization} deliveries={deliveries} />}
      {list.data !== undefined && deliveries.length === 0 && (
        <Empty title="No delivery fits these filters">Take one away, or look at a longer time.</Empty>
      )}
      <More what="deliveries" list={list} queryKey={queryKey} />
    </>
  )
}

interface DeliveryTableProps {
  readonly organization: OwnOrganization
  readonly deliveries: readonly ListedDelivery[]
}

function DeliveryTable({ organization, deliveries }: DeliveryTableProps): ReactNode {
  return (
    <div className="wide">
      <table className="list stacks deliveries">
        <TableHead columns={['Last change', 'To', 'State', 'Last answer', 'Until']} />
        <tbody>
          {deliveries.map((listed) => (
            <DeliveryTableRow
              key={`${listed.delivery.website}/${listed.delivery.job_id}`}
              organization={organization}
              listed={listed}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function DeliveryTableRow({
  organization,
  listed: { delivery, last },
}: {
  readonly organization: OwnOrganization
  readonly listed: ListedDelivery
}): ReactNode {
  const { website, event_id: event, destination, provider, status, reason, attempts } = delivery
  return (
    <tr>
      <th scope="row">
        <Link
          to="/app/$organization/installs/$website/$event"
          params={{ organization: organization.id, website, event }}
        >
          <Clock ms={delivery.changed_at_ms} />
        </Link>
        <small>{event}</small>
      </th>
      <td>
        {destination}
        <small>{provider}</small>
      </td>
      <td className="stands">
        <span className={`state ${status}`}>{statusText(status)}</span>
        {reason !== '' && <small>{sentenceOfReason(reason)}</small>}
      </td>
      <td className="answer" data-label="Last answer">
        {last === null ? <span className="none">none yet</span> : <Status status={last.status} code={last.code} />}
        {attempts > 1 && ` after ${attempts} tries`}
        {last !== null && last.words !== '' && <small className="words">{last.words}</small>}
      </td>
      <td data-label="Until">
        <Until organization={organization} delivery={delivery} />
      </td>
    </tr>
  )
}

/** Until when the provider takes it; of what failed, the way to try once more. */
function Until({
  organization,
  delivery,
}: { readonly organization: OwnOrganization } & Pick<ListedDelivery, 'delivery'>): ReactNode {
  const { status, reason, website, destination, job_id: job } = delivery
  const { deadline_at_ms: deadline, next_attempt_at_ms: next } = delivery
  if (status === 'delivered' || status === 'skipped' || deadline === null) return <span className="none">–</span>
  const isOver = deadline <= Date.now()
  return (
    <>
      <Moment ms={deadline} />
      {isOver && <small>over</small>}
      {status === 'retrying' && next !== null && (
        <small>
          next try <Clock ms={next} />
        </small>
      )}
      {status === 'failed' && !isOver && organization.role !== 'Viewer' && (
        <SendAgain
          organization={organization.id}
          wanted={{ website, job }}
          destination={destination}
          count={1}
          mayCountTwice={reason === MAY_COUNT_TWICE}
        />
      )}
    </>
  )
}
