/** Sources and campaigns: what brings installs, compared with the previous period. Every number links to its visits. */

import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { commandFilters, figuresPath, sourcesQuery, type SourceFigures } from '../data/figures.ts'
import { nameOfBefore } from '../data/period.ts'
import type { LaterStep } from '../../domain/figures/cells.ts'
import type { ShownVisitFilters } from '../data/visits.ts'
import { SOURCE_DIMENSIONS, sourceFilters, type SourceFilters } from './source-filters.ts'
import { TakeAlong } from '../parts/copy.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { Bar, Change, shownCount, shareText } from '../parts/numbers.tsx'
import { PeriodBar } from '../parts/period-bar.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { Agents } from './agents.tsx'
import { visitsOf } from './list-of.ts'
import { SharedCommands } from './fan-out.tsx'

export function SourcesPage(): ReactNode {
  const organization = useOrganization()
  const filters = sourceFilters(useSearch({ strict: false }))
  if (organization === null) return null
  return (
    <Page
      title="Sources"
      question="What brings installs?"
      actions={
        <>
          <PeriodBar organization={organization.id} filters={filters} />
          <TakeAlong {...sourcesFile(organization.id, filters)} name="sources.json" />
        </>
      }
    >
      <div className="choice tabs" role="group" aria-label="By">
        {SOURCE_DIMENSIONS.map(({ by, title }) => (
          <Link
            key={by}
            to="."
            search={(before) => ({ ...before, by })}
            replace
            aria-current={by === (filters.by ?? 'source') ? 'true' : undefined}
          >
            {title}
          </Link>
        ))}
      </div>
      <Tab organization={organization.id} filters={filters} />
    </Page>
  )
}

/** Who ran installs is one of the figures about matches. */
function sourcesFile(organization: string, filters: SourceFilters): { readonly file: string } {
  const { by = 'source' } = filters
  if (by === 'command') return { file: figuresPath('shared-commands', organization, commandFilters(filters)) }
  if (by === 'agent') return { file: figuresPath('match', organization, filters) }
  return { file: figuresPath('sources', organization, filters, { by }) }
}

interface TabProps {
  readonly organization: string
  readonly filters: SourceFilters
}

function Tab({ organization, filters }: TabProps): ReactNode {
  const { by = 'source' } = filters
  if (by === 'agent') return <Agents organization={organization} filters={filters} />
  if (by === 'command') return <SharedCommands organization={organization} filters={filters} />
  return <VisitSources organization={organization} filters={filters} by={by} />
}

type VisitDimension = Exclude<SourceFilters['by'], 'agent' | 'command' | undefined>

interface SourcesProps extends TabProps {
  readonly by: VisitDimension
}

function VisitSources({ organization, filters, by }: SourcesProps): ReactNode {
  const options = sourcesQuery(organization, filters, by)
  const query = useQuery(options)
  const { data, error, isPlaceholderData } = query
  return (
    <>
      <Problem error={error} />
      <Waiting what="sources" query={query} queryKey={options.queryKey} />
      {data !== undefined && <ExampleNotice until={data.exampleUntil} />}
      {data !== undefined &&
        (data.total.visits === 0 ? (
          <NoSources organization={organization} />
        ) : (
          <div className="figures" aria-busy={isPlaceholderData}>
            <SourceTable organization={organization} filters={filters} by={by} figures={data} />
            <p className="footnote">
              Visits of this time and how many of them got to each step until now. Each number leads to these visits;
              arrows compare with {nameOfBefore(filters)}, which had more time to get on.
            </p>
          </div>
        ))}
    </>
  )
}

interface SourceTableProps extends SourcesProps {
  readonly figures: SourceFigures
}

const COUNT_HEADS = ['Visits', 'Copied', 'Installed', 'Of visits'] as const

function SourceTable(props: SourceTableProps): ReactNode {
  const { by, figures, filters } = props
  const { values, other, total, before } = figures
  const since = nameOfBefore(filters)
  return (
    <div className="wide">
      <table className="list stacks sources">
        <TableHead
          columns={[
            SOURCE_DIMENSIONS.find((each) => each.by === by)?.title ?? null,
            ...COUNT_HEADS.map((head) => ({ number: head })),
          ]}
        />
        <tbody>
          {values.map((row) => (
            <SourceRow key={row.value} row={row} {...props} />
          ))}
          {other.visits > 0 && (
            <tr>
              <th scope="row">
                <i>all others</i>
              </th>
              <SourceCounts counts={other} countText={shownCount} />
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <SourceCounts counts={total} before={before.total} since={since} countText={linkTo(props, {})} />
          </tr>
        </tfoot>
      </table>
    </div>
  )
}

type CountText = (count: number, step?: LaterStep) => ReactNode

/** A number as a link to the visits that it counts. */
function linkTo({ organization, filters, figures }: SourceTableProps, more: ShownVisitFilters): CountText {
  return function countLink(count, step) {
    if (count === 0) return shownCount(count)
    const search = visitsOf(figures, filters, { ...more, ...(step === undefined ? {} : { step }) })
    return (
      <Link to="/app/$organization/visits" params={{ organization }} search={search}>
        {shownCount(count)}
      </Link>
    )
  }
}

function SourceRow({ row, ...props }: SourceTableProps & { readonly row: SourceFigures['values'][number] }): ReactNode {
  const { filters, by, figures } = props
  const most = Math.max(1, ...figures.values.map(({ visits }) => visits))
  const before = figures.before.values.find(({ value }) => value === row.value)
  return (
    <tr>
      <th scope="row">
        {row.value === '' ? <i>{NONE[by]}</i> : <span className="value">{row.value}</span>}
        <Bar share={row.visits / most} />
      </th>
      <SourceCounts
        counts={row}
        before={before ?? NOTHING}
        since={nameOfBefore(filters)}
        countText={linkTo(props, { [by]: row.value })}
      />
    </tr>
  )
}

const NOTHING = { visits: 0, completed: 0 }

interface SourceCountsProps {
  readonly counts: { readonly visits: number; readonly copied: number; readonly completed: number }
  /** Absent if there is no comparison. */
  readonly before?: { readonly visits: number; readonly completed: number }
  readonly since?: string
  readonly countText: CountText
}

function SourceCounts({ counts, before, since = '', countText }: SourceCountsProps): ReactNode {
  const { visits, copied, completed } = counts
  return (
    <>
      <td className="number" data-title="visits">
        {countText(visits)} {before !== undefined && <Change now={visits} before={before.visits} since={since} />}
      </td>
      <td className="number" data-title="copied">
        {countText(copied, 'copied')}
      </td>
      <td className="number" data-title="installed">
        {countText(completed, 'completed')}{' '}
        {before !== undefined && <Change now={completed} before={before.completed} since={since} />}
      </td>
      <td className="number" data-title="of visits">
        {shareText(completed, visits)}
      </td>
    </>
  )
}

/** The meaning of an empty value. */
const NONE: Readonly<Record<VisitDimension, string>> = {
  source: 'no source named',
  medium: 'no medium named',
  campaign: 'no campaign named',
  referrer: 'direct, or unknown',
  page: 'no page',
}

function NoSources({ organization }: { readonly organization: string }): ReactNode {
  return (
    <Empty title="No visit in this time">
      Choose a longer time. Visits are there as soon as the script is on your website; links with{' '}
      <code translate="no">utm_source</code> and <code translate="no">utm_campaign</code> then name where they came
      from. The{' '}
      <Link to="/app/$organization/checklist" params={{ organization }}>
        checklist
      </Link>{' '}
      leads there.
    </Empty>
  )
}
