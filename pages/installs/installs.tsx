/** Installs: every install event and its decision, with any filter that another page links here with. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import {
  areOfFigures,
  installFiltersOf,
  installsExport,
  installsQuery,
  type ShownInstallFilters,
} from '../data/installs.ts'
import { TakeAlong } from '../parts/copy.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { More, Waiting } from '../parts/waiting.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { InstallFilterBar } from './install-filters.tsx'
import { InstallTable } from './install-table.tsx'

export function InstallsPage(): ReactNode {
  const organization = useOrganization()
  const filters = installFiltersOf(useSearch({ strict: false }))
  return organization === null ? null : <Installs organization={organization} filters={filters} />
}

interface InstallsProps {
  readonly organization: OwnOrganization
  readonly filters: ShownInstallFilters
}

function Installs({ organization, filters }: InstallsProps): ReactNode {
  const navigate = useNavigate()
  const mayExport = organization.role !== 'Viewer'
  return (
    <Page
      title="Installs"
      question="Which install came from where?"
      actions={<TakeAlong what="these" {...(mayExport ? { file: installsExport(organization.id, filters) } : {})} />}
    >
      <InstallFilterBar
        organization={organization.id}
        filters={filters}
        onChange={(search) => void navigate({ to: '.', search: { ...search }, replace: true })}
      />
      <LeftOutSwitch filters={filters} />
      <List organization={organization.id} filters={filters} />
    </Page>
  )
}

/** Only a list of what figures count leaves anything out. */
function LeftOutSwitch({ filters }: { readonly filters: ShownInstallFilters }): ReactNode {
  if (!areOfFigures(filters) || filters.leftOut === 'only') return null
  const areListed = filters.leftOut === 'include'
  return (
    <p className="left-out">
      Those from CI, containers and tests are {areListed ? 'among them' : 'left out'}
      {' · '}
      <Link
        to="."
        search={({ leftOut: _, ...before }) => (areListed ? before : { ...before, leftOut: 'include' })}
        replace
      >
        {areListed ? 'leave them out' : 'list them, too'}
      </Link>
    </p>
  )
}

function List({
  organization,
  filters,
}: {
  readonly organization: string
  readonly filters: ShownInstallFilters
}): ReactNode {
  const options = installsQuery(organization, filters)
  const { queryKey } = options
  const list = useInfiniteQuery(options)
  const { data, error, hasNextPage } = list
  const installs = data?.pages.flatMap((page) => page.installs) ?? []
  const last = data?.pages.at(-1)
  return (
    <>
      <Problem error={error} />
      <Waiting what="installs" query={list} queryKey={queryKey} />
      {last !== undefined &&
        (installs.length === 0 && !hasNextPage ? (
          <NoInstalls organization={organization} isFiltered={Object.keys(filters).length > 0} />
        ) : (
          installs.length > 0 && <InstallTable organization={organization} installs={installs} />
        ))}
      {last !== undefined && (
        <More what="installs" list={list} queryKey={queryKey} searchedBackTo={last.searchedBackTo} />
      )}
    </>
  )
}

function NoInstalls({
  organization,
  isFiltered,
}: {
  readonly organization: string
  readonly isFiltered: boolean
}): ReactNode {
  if (isFiltered) return <Empty title="No install fits these filters">Take one away, or look at a longer time.</Empty>
  return (
    <Empty title="No install has been reported yet">
      Put the hook into your installer and run it once: the install appears here a second later, with the reason why it
      was matched or not. Whether the hook reached the service shows{' '}
      <Link to="/app/$organization/live" params={{ organization }}>
        Live
      </Link>
      .
    </Empty>
  )
}
