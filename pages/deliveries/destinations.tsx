/** How deliveries stand, by destination. Every number leads to the deliveries that it counts. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { comparisonText, nameOfBefore, type FilteredFigures } from '../data/period.ts'
import { CsvLink, csvTime } from '../parts/csv-link.tsx'
import { Change, shownCount, spanText } from '../parts/numbers.tsx'
import { TableHead } from '../parts/table-head.tsx'
import type { DeliveryGroup } from '../../domain/delivery/counts.ts'
import type { DeliveryFigures, ShownDestination } from './deliveries-data.ts'

const STATUSES = [
  { status: 'delivered', title: 'Delivered' },
  { status: 'pending', title: 'Waiting' },
  { status: 'retrying', title: 'Tried again' },
  { status: 'failed', title: 'Failed' },
  { status: 'expired', title: 'Too late' },
  { status: 'skipped', title: 'Not sent' },
] as const

type KnownStatus = (typeof STATUSES)[number]['status']

interface DestinationsProps {
  readonly organization: string
  readonly filters: FilteredFigures
  readonly figures: DeliveryFigures
}

export function Destinations(props: DestinationsProps): ReactNode {
  const { figures } = props
  return (
    <section aria-labelledby="destinations">
      <h2 id="destinations">By destination</h2>
      <div className="wide">
        <table className="list stacks by-destination">
          <TableHead columns={['Destination', ...STATUSES.map(({ title }) => ({ number: title }))]} />
          <tbody>
            {allDestinations(figures).map((destination) => (
              <DestinationRow key={`${destination.website}/${destination.id}`} destination={destination} {...props} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="footnote">
        Each delivery counts once, as it stands now, in the time in which that last changed.{' '}
        {figures.isCut ? 'These are of the last 90 days of the period.' : comparisonText(props.filters, figures)}{' '}
        <CsvLink
          name="deliveries-by-destination"
          head={['Website', 'Destination', 'Provider', 'State', 'Reason', 'Deliveries', 'First change', 'Last change']}
          rows={figures.groups.map((group) => [
            group.website,
            group.destination,
            group.provider,
            group.status,
            group.reason,
            group.deliveries,
            csvTime(group.first_ms),
            csvTime(group.last_ms),
          ])}
        />
      </p>
    </section>
  )
}

/** Those that are configured, and those that are gone but were delivered to. */
function allDestinations({ destinations, groups }: DeliveryFigures): readonly ShownDestination[] {
  const isShown = ({ website, destination }: { readonly website: string; readonly destination: string }): boolean =>
    destinations.some((each) => each.website === website && each.id === destination)
  const gone = new Map(
    groups
      .filter((group) => !isShown(group))
      .map(({ website, destination, provider }) => [
        `${website}/${destination}`,
        { website, id: destination, displayName: destination, provider, mode: 'removed' },
      ]),
  )
  return [...destinations, ...gone.values()]
}

interface DestinationRowProps extends DestinationsProps {
  readonly destination: ShownDestination
}

function DestinationRow(props: DestinationRowProps): ReactNode {
  const { destination } = props
  const { id, displayName, provider, mode, website } = destination
  return (
    <tr>
      <th scope="row">
        {displayName === '' ? id : displayName}
        <small>
          {provider}, {mode === 'removed' ? 'removed' : mode.toLowerCase()}, {website}
        </small>
      </th>
      {STATUSES.map(({ status, title }) => (
        <td key={status} className="number" data-title={title.toLowerCase()}>
          <StatusCount status={status} {...props} />
        </td>
      ))}
    </tr>
  )
}

function StatusCount({
  organization,
  filters,
  figures,
  destination,
  status,
}: DestinationRowProps & { readonly status: KnownStatus }): ReactNode {
  const of = (groups: readonly DeliveryGroup[]): readonly DeliveryGroup[] =>
    groups.filter(
      (group) =>
        group.website === destination.website && group.destination === destination.id && group.status === status,
    )
  const groups = of(figures.groups)
  const count = sumOfGroups(groups, 'deliveries')
  const before = figures.before === null ? null : sumOfGroups(of(figures.before.groups), 'deliveries')
  if (count === 0) return <span className="none">–</span>
  const search = { ...filters, website: destination.website, destination: destination.id, status }
  return (
    <>
      <Link to="/app/$organization/deliveries/list" params={{ organization }} search={search}>
        {shownCount(count)} <span className="unseen">{STATUSES.find((each) => each.status === status)?.title}</span>
      </Link>{' '}
      {status === 'delivered' && <Change now={count} before={before} since={nameOfBefore(filters)} />}
      <Urgency groups={groups} status={status} />
    </>
  )
}

/** Of what is still on its way: how long it has been so, and how much is about to be too late. */
function Urgency({
  groups,
  status,
}: {
  readonly groups: readonly DeliveryGroup[]
  readonly status: KnownStatus
}): ReactNode {
  if (status !== 'pending' && status !== 'retrying') return null
  const expiring = sumOfGroups(groups, 'expiring')
  const since = Math.min(...groups.map(({ first_ms: first }) => first))
  return (
    <small className={expiring > 0 ? 'urgent' : undefined}>
      {expiring > 0 ? `${shownCount(expiring)} too late within 2 hours` : `for up to ${spanText(Date.now() - since)}`}
    </small>
  )
}

function sumOfGroups(groups: readonly DeliveryGroup[], name: 'deliveries' | 'expiring' | 'replayable'): number {
  return groups.reduce((sum, group) => sum + group[name], 0)
}
