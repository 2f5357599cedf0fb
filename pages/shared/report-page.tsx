/** What whoever was sent a link sees: the Overview of one website, without a way to anything else. */

import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { ApiProblem } from '../data/ask.ts'
import { sharedQuery, type SharedFigures } from '../data/links.ts'
import { overviewFilters } from '../data/overview.ts'
import { comparisonText, PERIODS } from '../data/period.ts'
import { filtersIn } from '../data/value-filters.ts'
import { wordsOfFilter } from '../filters/filter-words.ts'
import { Report } from '../overview/report.tsx'
import { FixedChips } from '../parts/chips.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { NotKept } from '../parts/not-kept.tsx'
import { BRAND, Page, Problem } from '../parts/states.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { MARK } from '../shell/mark.ts'

export function SharedPage(): ReactNode {
  const { token = '' } = useParams({ strict: false })
  const options = sharedQuery(token)
  const query = useQuery(options)
  const { data, error } = query
  return (
    <div className="shared">
      <header className="bar">
        <span className="brand" translate="no">
          <img className="logo" src={MARK} alt="" />
          {BRAND}
        </span>
      </header>
      <main id="main" tabIndex={-1}>
        {error instanceof ApiProblem && error.status === 404 ? (
          <NothingShared />
        ) : data === undefined ? (
          <Page title="A shared report">
            <Problem error={error} />
            <Waiting what="the report" query={query} queryKey={options.queryKey} />
          </Page>
        ) : (
          <Shared report={data} />
        )}
      </main>
    </div>
  )
}

function Shared({ report }: { readonly report: SharedFigures }): ReactNode {
  const { title, website, period, filter, figures } = report
  const { metric } = overviewFilters(useSearch({ strict: false }))
  const filters = { period, filter, ...(metric === undefined ? {} : { metric }) }
  return (
    <Page title={title} question={`How many installs does ${website} get, and what brings them?`}>
      <p className="shown-period">
        <strong>{PERIODS[period].title}</strong>, {daysOf(figures)}. {comparisonText(filters, figures)}
      </p>
      <FixedChips texts={filtersIn(filters).map(wordsOfFilter)} />
      <ExampleNotice until={figures.exampleUntil} />
      <NotKept figures={figures} />
      <div className="figures overview">
        <Report filters={filters} figures={figures} />
      </div>
      <p className="footnote">
        Whoever has this address sees this page. Its numbers are at most a minute old when it is loaded; it does not
        name people or machines.
      </p>
    </Page>
  )
}

interface ShownDays {
  readonly since: number
  readonly until: number
  readonly timeZone: string
}

/** "1 – 28 November 2026, days of Europe/Berlin" */
function daysOf({ since, until, timeZone }: ShownDays): string {
  const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone })
  return `${day.formatRange(since, until - 1)} (${timeZone.replaceAll('_', ' ')})`
}

/** The same for whatever a link may lack. */
function NothingShared(): ReactNode {
  return (
    <Page title="This link opens nothing" question="It has ended, or whoever made it has taken it back.">
      <p>Ask the person who sent it to you for a new one.</p>
    </Page>
  )
}
