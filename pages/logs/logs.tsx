/** Logs: every request and every delivery attempt, by any filter; a line opens beside the list. */

import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState, type ComponentProps, type ReactNode } from 'react'

import { LIMITS } from '../../domain/limits.ts'
import type { LogLine } from '../../domain/logs/line.ts'
import { filtersOf, logsExport, logsQuery, tailPath, type LogFilters } from '../data/lines.ts'
import { path, query } from '../data/ask.ts'
import { useLines } from '../data/use-lines.ts'
import { TakeAlong } from '../parts/copy.tsx'
import { CsvLink, csvTime } from '../parts/csv-link.tsx'
import { LineTable, lineKind } from '../parts/lines/line-table.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { Clock } from '../parts/time.tsx'
import { More, Waiting } from '../parts/waiting.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { FilterBar } from './filter-bar.tsx'
import { LinePanel } from '../parts/lines/line-panel.tsx'

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
          {isFollowing && <Tail organization={organization} filters={filters} open={open} onSelect={setOpen} />}
          <Stored
            key={JSON.stringify(filters)}
            organization={organization}
            filters={filters}
            open={open}
            onSelect={setOpen}
          />
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
  const { lines, state, more, isAtLeast } = useLines({ stream: tailPath(organization, filters), list, isOn: true })
  return (
    <section aria-label="New lines" aria-live="off" className="tail">
      <p className="question" role="status">
        {WORDS[state]}
        {moreText(more, isAtLeast)}
      </p>
      {lines.length > 0 && <LineTable lines={lines} selected={open?.id ?? null} onSelect={onSelect} />}
    </section>
  )
}

/** What was too fast to be shown. */
function moreText(more: number, isAtLeast: boolean): string {
  if (more === 0 && !isAtLeast) return ''
  const count = more === 0 ? '' : `${isAtLeast ? 'at least ' : ''}${more.toLocaleString()} `
  return `, and ${count}more that came too fast to show`
}

const WORDS = {
  connecting: 'Connecting …',
  live: 'New lines appear here as they come',
  polling: 'New lines appear here every five seconds',
  failing: 'New lines cannot be read at the moment; this is tried again every five seconds',
  ended: 'Ended: you are signed out, or may no longer read this. Reload the page to sign in again.',
  paused: 'Paused while nobody looks',
} as const

/** Stored lines. Another filter makes another list. */
function Stored({ organization, filters, open, onSelect }: ListProps): ReactNode {
  const options = logsQuery(organization, filters)
  const { queryKey } = options
  const logs = useInfiniteQuery(options)
  const { data, error, hasNextPage } = logs
  const lines = data?.pages.flatMap(({ records }) => records) ?? []
  const search = useSearchOn(filters, logs, lines.length)
  const more = { ...logs, fetchNextPage: search.goOn }
  const searchedBackTo = data?.pages.at(-1)?.searchedBackTo
  return (
    <>
      <Problem error={error} />
      <Waiting what="lines" query={logs} queryKey={queryKey} />
      {lines.length > 0 && (
        <>
          <LineTable lines={lines} selected={open?.id ?? null} onSelect={onSelect} />
          <ShownLines lines={lines} />
        </>
      )}
      {data !== undefined && lines.length === 0 && !hasNextPage && (
        <NothingFound isFiltered={Object.keys(filters).length > 0} />
      )}
      {searchedBackTo !== undefined && (
        <Older list={more} queryKey={queryKey} searchedBackTo={searchedBackTo} since={filters.since} search={search} />
      )}
    </>
  )
}

/** The lines that are shown, for a spreadsheet; the export has whole records. */
function ShownLines({ lines }: { readonly lines: readonly LogLine[] }): ReactNode {
  return (
    <CsvLink
      name="logs"
      head={['time', 'what', 'method', 'path', 'destination', 'website', 'status', 'code', 'milliseconds', 'request']}
      rows={lines.map((line) => [
        csvTime(line.at),
        lineKind(line.kind),
        line.method,
        line.path,
        line.destination ?? null,
        line.website,
        line.status,
        line.code,
        line.durationMs,
        line.id,
      ])}
    />
  )
}

interface OlderProps extends Pick<ComponentProps<typeof More>, 'list' | 'queryKey'> {
  /** What the filter asks for; Unix ms. */
  readonly since: number | undefined
  readonly searchedBackTo: number
  readonly search: SearchOn
}

/** The way to older lines, or that there are none any more. */
function Older({ list, queryKey, since, searchedBackTo, search }: OlderProps): ReactNode {
  if (list.hasNextPage) {
    return (
      <More
        what="lines"
        list={list}
        queryKey={queryKey}
        searchedBackTo={searchedBackTo}
        goingOn={search.isGoingOn ? search : null}
      />
    )
  }
  if (since === undefined || since >= searchedBackTo) return null
  return (
    <p className="footnote">
      Logs are kept from <Clock ms={searchedBackTo} /> on. Older lines of this time are gone.
    </p>
  )
}

interface SearchOn {
  readonly isGoingOn: boolean
  readonly stop: () => void
  readonly goOn: () => Promise<unknown>
}

type LogList = Pick<ReturnType<typeof useInfiniteQuery>, 'hasNextPage' | 'isFetching' | 'isError' | 'fetchNextPage'>

/** A search of bodies goes on by itself, in steps of about a second, until a page is full or somebody stops it. */
function useSearchOn({ text }: LogFilters, list: LogList, found: number): SearchOn {
  const { hasNextPage, isFetching, isError, fetchNextPage } = list
  const [wanted, setWanted] = useState<number>(LIMITS.logsPerPage)
  const [isStopped, setIsStopped] = useState(false)
  const isSearch = text !== undefined
  const isGoingOn = isSearch && !isStopped && !isError && hasNextPage && found < wanted
  useEffect(() => {
    if (isGoingOn && !isFetching) void fetchNextPage()
  }, [isGoingOn, isFetching, fetchNextPage])
  return {
    isGoingOn,
    stop: () => setIsStopped(true),
    goOn() {
      setIsStopped(false)
      setWanted(found + LIMITS.logsPerPage)
      return isSearch ? Promise.resolve() : fetchNextPage()
    },
  }
}

function NothingFound({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  return isFiltered ? (
    <Empty title="No line fits these filters">Take one away, or look at a longer time.</Empty>
  ) : (
    <Empty title="Nothing was asked yet">
      Put the script tag on your website and open a page of it: the visit appears here a second later, with its exact
      body.
    </Empty>
  )
}
