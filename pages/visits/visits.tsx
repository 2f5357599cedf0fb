/** Visits one by one: what a number of the funnel or of the sources counts. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { ORIGIN_DIMENSIONS } from '../../domain/figures/installs.ts'
import { keysOf } from '../../domain/typed-keys.ts'
import { visitFiltersOf, visitsExport, visitsQuery, type ListedVisit, type ShownVisitFilters } from '../data/visits.ts'
import { suggestionBounds } from '../data/period.ts'
import { STEPS } from '../figures/steps.tsx'
import { ValueFilterBar } from '../filters/value-filter-bar.tsx'
import { originText } from '../installs/origin.tsx'
import { Breakable } from '../parts/breakable.tsx'
import { TakeAlong } from '../parts/copy.tsx'
import { filterText } from '../parts/install-words.ts'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Between, Clock } from '../parts/time.tsx'
import { More, Waiting } from '../parts/waiting.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { VisitCounts } from './counts.tsx'

export function VisitsPage(): ReactNode {
  const organization = useOrganization()
  const filters = visitFiltersOf(useSearch({ strict: false }))
  if (organization === null) return null
  const file = visitsExport(organization.id, filters)
  return (
    <Page
      title="Visits"
      question="Which visits are these, and how far did each get?"
      actions={<TakeAlong what="these" {...(organization.role === 'Viewer' ? {} : { file })} />}
    >
      <VisitFilterChips organization={organization.id} filters={filters} />
      <VisitCounts key={JSON.stringify(filters)} organization={organization.id} filters={filters} />
      <ListedVisits organization={organization.id} filters={filters} />
    </Page>
  )
}

function VisitFilterChips({ organization, filters }: VisitListProps): ReactNode {
  const navigate = useNavigate()
  const show = (search: ShownVisitFilters): void => void navigate({ to: '.', search: { ...search }, replace: true })
  const { since, until, ...others } = filters
  const { filter: _filter, ...ofPage } = others
  const named = keysOf(ofPage).map((name) => {
    const { [name]: _, ...without } = filters
    return { name, text: filterWords(name, ofPage[name] ?? ''), remove: () => show(without) }
  })
  const time = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) }
  const period = { name: 'time', text: <Between {...time} />, remove: () => show(others) }
  return (
    <ValueFilterBar
      organization={organization}
      filters={filters}
      bounds={suggestionBounds(filters)}
      dimensions={ORIGIN_DIMENSIONS}
      own={[...named, ...(since === undefined && until === undefined ? [] : [period])]}
    />
  )
}

function filterWords(name: string, value: string): string {
  if (name === 'step') return `Got to “${titleOfStep(value)}”`
  if (name === 'website') return `Website: ${value}`
  return filterText(name, value) ?? `${name}: ${value}`
}

function titleOfStep(step: string): string {
  return STEPS.find(({ id }) => id === step)?.title ?? step
}

interface VisitListProps {
  readonly organization: string
  readonly filters: ShownVisitFilters
}

function ListedVisits({ organization, filters }: VisitListProps): ReactNode {
  const options = visitsQuery(organization, filters)
  const list = useInfiniteQuery(options)
  const { queryKey } = options
  const { data, error, hasNextPage } = list
  const visits = data?.pages.flatMap((page) => page.visits) ?? []
  const last = data?.pages.at(-1)
  return (
    <>
      <Problem error={error} />
      <Waiting what="visits" query={list} queryKey={queryKey} />
      {last !== undefined && (
        <>
          {visits.length === 0 && !hasNextPage ? (
            <Empty title="No visit fits these filters">Take one away, or look at a longer time.</Empty>
          ) : (
            <VisitTable organization={organization} visits={visits} logsSince={last.logsSince} />
          )}
          <More what="visits" list={list} searchedBackTo={last.searchedBackTo} queryKey={queryKey} />
          {visits.some(({ visit }) => visit.issued_at_ms < last.logsSince) && (
            <p className="footnote">
              Logs are kept from <Clock ms={last.logsSince} /> on: older visits have no lines there any more.
            </p>
          )}
        </>
      )}
    </>
  )
}

interface VisitTableProps {
  readonly organization: string
  readonly visits: readonly ListedVisit[]
  /** Unix ms. */
  readonly logsSince: number
}

function VisitTable({ organization, visits, logsSince }: VisitTableProps): ReactNode {
  return (
    <div className="wide">
      <table className="list stacks installs visits">
        <TableHead columns={['Visit', 'Page', 'Came from', 'Got to', 'Installs']} />
        <tbody>
          {visits.map((listed) => (
            <VisitRow
              key={`${listed.visit.website}/${listed.visit.visit_id}`}
              organization={organization}
              {...listed}
              hasLogs={listed.visit.issued_at_ms >= logsSince}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

const OF_INSTALLS = ['started', 'installed', 'first_run', 'converted']

function VisitRow({
  organization,
  visit,
  reached,
  hasLogs,
}: ListedVisit & { readonly organization: string; readonly hasLogs: boolean }): ReactNode {
  const { website, visit_id: id, issued_at_ms: at, page_url: page } = visit
  const steps = reached.map(titleOfStep)
  return (
    <tr>
      <th scope="row">
        {hasLogs ? (
          <Link to="/app/$organization/logs" params={{ organization }} search={{ reference: id }}>
            <Clock ms={at} />
            <span className="unseen"> in Logs</span>
          </Link>
        ) : (
          <Clock ms={at} />
        )}
        <small translate="no">{website}</small>
      </th>
      <td className="page-address">
        <span className="value">
          <Breakable address={page} />
        </span>
      </td>
      <td className="from">{originText(visit)}</td>
      <td>{steps.length === 0 ? <span className="nothing">Visited</span> : steps.join(', ')}</td>
      <td className="its-installs">
        {reached.some((step) => OF_INSTALLS.includes(step)) ? (
          <Link to="/app/$organization/installs" params={{ organization }} search={{ website, visit: id }}>
            its installs
          </Link>
        ) : (
          <span className="nothing">–</span>
        )}
      </td>
    </tr>
  )
}
