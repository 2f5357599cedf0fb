/** Logs: every request and every delivery attempt, by any filter; a line opens beside the list. */

import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'

import type { LogLine } from '../../domain/logs/line.ts'
import { filtersOf, logsExport, logsQuery, tailPath, type LogFilters } from '../data/lines.ts'
import { path, query } from '../data/ask.ts'
import { useLines } from '../data/use-lines.ts'
import { TakeAlong } from '../parts/copy.tsx'
import { LineTable } from '../parts/line-table.tsx'
import { Empty, Loading, Page, Problem } from '../parts/states.tsx'
import { Clock } from '../parts/time.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { FilterBar } from './filter-bar.tsx'
import { LinePanel } from '../parts/line-panel.tsx'

export function LogsPage(): ReactNode {
  const organization = useOrganization()
  const filters = filtersOf(useSearch({ strict: false }))
  if (organization === null) return null
  return <Logs organization={organization.id} mayExport={organization.role !== 'Viewer'} filters={filters} />
}

interface LogsProps {
  readonly organization: string
  readonly filters: LogFilters
}

function Logs({ organization, filters, mayExport }: LogsProps & { readonly mayExport: boolean }): ReactNode {
  const navigate = useNavigate()
  const [isFollowing, setIsFollowing] = useState(false)
  const [open, setOpen] = useState<LogLine | null>(null)
  const change = (search: LogFilters): void => {
    setOpen(null)
    void navigate({ to: '.', search: { ...search }, replace: true })
  }
  return (
    <Page
      title="Logs"
      question="What exactly was asked, and what was the answer?"
      actions={
        <>
          <TakeAlong what="these" {...(mayExport ? { file: logsExport(organization, filters) } : {})} />
          <Button size="xs" variant="default" aria-pressed={isFollowing} onClick={() => setIsFollowing(!isFollowing)}>
            {isFollowing ? 'Stop following' : 'Follow'}
          </Button>
        </>
      }
    >
      <FilterBar organization={organization} filters={filters} onChange={change} />
      <div className="split" data-open={open === null ? undefined : true}>
        <div>
          {isFollowing && <Tail {...{ organization, filters, open }} onSelect={setOpen} />}
          <Stored {...{ organization, filters, open }} onSelect={setOpen} />
        </div>
        {open !== null && <LinePanel organization={organization} line={open} onClose={() => setOpen(null)} />}
      </div>
    </Page>
  )
}

interface ListProps extends LogsProps {
  readonly open: LogLine | null
  readonly onSelect: (line: LogLine) => void
}

function Tail({ organization, filters, open, onSelect }: ListProps): ReactNode {
  const list = path('/api/organizations/:organization/logs', { organization }) + query({ ...filters })
  const { lines, state, more } = useLines({ stream: tailPath(organization, filters), list, isOn: true })
  return (
    <section aria-label="New lines" aria-live="off" className="tail">
      <p className="question" role="status">
        {WORDS[state]}
        {more > 0 && `, and ${more} more that came too fast to show`}
      </p>
      {lines.length > 0 && <LineTable lines={lines} selected={open?.id ?? null} onSelect={onSelect} />}
    </section>
  )
}

const WORDS = {
  connecting: 'Connecting …',
  live: 'New lines appear here as they come',
  polling: 'New lines appear here every five seconds',
  paused: 'Paused while nobody looks',
} as const

function Stored({ organization, filters, open, onSelect }: ListProps): ReactNode {
  const logs = useInfiniteQuery(logsQuery(organization, filters))
  const { data, error, isFetchingNextPage, hasNextPage, fetchNextPage } = logs
  if (data === undefined) return error === null ? <Loading what="lines" /> : <Problem error={error} />
  const lines = data.pages.flatMap(({ records }) => records)
  const searchedBackTo = data.pages.at(-1)?.searchedBackTo ?? 0
  return (
    <>
      <Problem error={error} />
      {lines.length === 0 && !hasNextPage ? (
        <NothingFound isFiltered={Object.keys(filters).length > 0} />
      ) : (
        <LineTable lines={lines} selected={open?.id ?? null} onSelect={onSelect} />
      )}
      {hasNextPage && (
        <p className="more">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older lines
          </Button>
          <span>
            Searched back to <Clock ms={searchedBackTo} />
          </span>
        </p>
      )}
    </>
  )
}

function NothingFound({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  return isFiltered ? (
    <Empty title="No line fits these filters">Take one away, or look at a longer time.</Empty>
  ) : (
    <Empty title="Nothing was asked yet">
      Put the script tag on your website and open a page of it: the visit stands here a second later, with its exact
      body.
    </Empty>
  )
}
