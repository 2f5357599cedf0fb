/** Activity: events that people should notice, in words, newest first. */

import { Button, Select, TextInput } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactNode } from 'react'

import { activityFiltersOf, activityQuery, type ActivityEntry, type ActivityFilters } from '../data/activity.ts'
import { usePersonNames } from '../data/members.ts'
import { CsvLink, csvTime } from '../parts/csv-link.tsx'
import { Empty, Loading, Page, Problem } from '../parts/states.tsx'
import { Clock } from '../parts/time.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { ACTIVITY_TITLES, activityTitle } from './titles.ts'

export function ActivityPage(): ReactNode {
  const organization = useOrganization()
  const filters = activityFiltersOf(useSearch({ strict: false }))
  const navigate = useNavigate()
  if (organization === null) return null
  return (
    <Page title="Activity" question="What happened that I should know of?">
      <ActivityFilterBar
        // The field follows the address.
        key={filters.object}
        filters={filters}
        onChange={(search) => void navigate({ to: '.', search: { ...search }, replace: true })}
      />
      <ActivityList organization={organization.id} filters={filters} />
    </Page>
  )
}

interface FilterProps {
  readonly filters: ActivityFilters
  readonly onChange: (filters: ActivityFilters) => void
}

function ActivityFilterBar({ filters, onChange }: FilterProps): ReactNode {
  const [typed, setTyped] = useState(filters.object ?? '')
  const { type, object } = filters
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const wanted = typed.trim()
    onChange({ ...(type === undefined ? {} : { type }), ...(wanted === '' ? {} : { object: wanted }) })
  }
  return (
    <div className="filters few" role="search">
      <form onSubmit={submit}>
        <TextInput
          label="About"
          description="Exactly as an entry names it"
          data-filter
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </form>
      <Select
        label="What"
        placeholder="everything"
        clearable
        data={Object.entries(ACTIVITY_TITLES).map(([value, label]) => ({ value, label }))}
        value={type ?? null}
        onChange={(chosen) =>
          onChange({ ...(object === undefined ? {} : { object }), ...(chosen === null ? {} : { type: chosen }) })
        }
      />
      {Object.keys(filters).length > 0 && (
        <Button variant="default" onClick={() => onChange({})}>
          Clear
        </Button>
      )}
    </div>
  )
}

interface ActivityListProps {
  readonly organization: string
  readonly filters: ActivityFilters
}

function ActivityList({ organization, filters }: ActivityListProps): ReactNode {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    activityQuery(organization, filters),
  )
  const nameOf = usePersonNames(organization)
  if (data === undefined) return error === null ? <Loading what="activity" /> : <Problem error={error} />
  const entries = data.pages.flatMap((page) => page.entries)
  if (entries.length === 0) return <NothingNoticed organization={organization} filters={filters} />
  return (
    <>
      <Problem error={error} />
      <ol className="activity">
        {entries.map((entry) => (
          <ActivityItem key={entry.id} entry={entry} organization={organization} nameOf={nameOf} />
        ))}
      </ol>
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Older entries
        </Button>
      )}
      <CsvLink
        name="activity"
        head={['time', 'what', 'message', 'about', 'by', 'website']}
        rows={entries.map(({ at, type, message, object, actor, website }) => [
          csvTime(at),
          activityTitle(type),
          message,
          nameOf(object),
          actor === undefined ? null : nameOf(actor),
          website,
        ])}
      />
    </>
  )
}

function ActivityItem({
  entry: { at, type, object, website, message, actor },
  organization,
  nameOf,
}: {
  readonly entry: ActivityEntry
  readonly organization: string
  readonly nameOf: (text: string) => string
}): ReactNode {
  return (
    <li>
      <Clock ms={at} />
      <div>
        <strong>{activityTitle(type)}</strong>
        <p>
          <bdi>{message}</bdi>
        </p>
        <p className="also">
          {object !== '' && (
            <Link to="/app/$organization/activity" params={{ organization }} search={{ object }}>
              <bdi translate="no">{nameOf(object)}</bdi>
            </Link>
          )}
          {actor !== undefined && actor !== object && (
            <>
              {' '}
              by <bdi translate="no">{nameOf(actor)}</bdi>
            </>
          )}
          {website !== '' && website !== object && ` on ${website}`}
        </p>
      </div>
    </li>
  )
}

function NothingNoticed({ organization, filters }: ActivityListProps): ReactNode {
  if (Object.keys(filters).length > 0) return <Empty title="No entry fits">Take a filter away.</Empty>
  return (
    <Empty title="Nothing to notice yet">
      Unregistered origins, limits that were reached, refused credentials and downloads appear here. What to do first is
      in the{' '}
      <Link to="/app/$organization/checklist" params={{ organization }}>
        checklist
      </Link>
      .
    </Empty>
  )
}
