/** Sources and campaigns: what brings installs, compared with the previous period. Every number links to its visits. */

import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { rowKey } from '../../domain/figures/installs.ts'
import { figuresPath, sourcesQuery, type SourceFigures } from '../data/figures.ts'
import { comparisonText, nameOfBefore } from '../data/period.ts'
import type { ShownVisitFilters } from '../data/visits.ts'
import { SOURCE_DIMENSIONS, sourceFilters, type SourceFilters } from './source-filters.ts'
import { TakeAlong } from '../parts/copy.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { FigureLegend } from '../parts/figure-word.tsx'
import { Bar, Change, shownCount, shareText } from '../parts/numbers.tsx'
import { NotKept } from '../parts/not-kept.tsx'
import { PeriodBar } from '../parts/period-bar.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { Agents } from './agents.tsx'
import { InstallsOfRow } from './breakdown.tsx'
import { LeftOut } from './left-out.tsx'
import { listFilters, visitsOf } from './list-of.ts'
import { rowLabel, visitsOfRow } from './rows.ts'
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
  if (by === 'command') return { file: figuresPath('shared-commands', organization, filters) }
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

type ShownDimension = Exclude<SourceFilters['by'], 'command' | undefined>

interface SourcesProps extends TabProps {
  readonly by: ShownDimension
}

function VisitSources({ organization, filters, by }: SourcesProps): ReactNode {
  const options = sourcesQuery(organization, filters, by)
  const query = useQuery(options)
  const { data, error, isPlaceholderData } = query
  return (
    <>
      <Problem error={error} />
      <Waiting what="sources" query={query} queryKey={options.queryKey} />
      {data !== undefined && (
        <>
          <ExampleNotice until={data.exampleUntil} />
          <NotKept figures={data} />
          <LeftOut organization={organization} filters={filters} figures={data} isBusy={isPlaceholderData} />
        </>
      )}
      {data !== undefined &&
        (data.total.visits?.visits === 0 && data.total.installs === 0 ? (
          <NoSources organization={organization} />
        ) : (
          <div className="figures" aria-busy={isPlaceholderData}>
            <FigureLegend of={COUNTED} isOnlyNarrow />
            <SourceTable organization={organization} filters={filters} by={by} figures={data} />
            <p className="footnote">
              Visits count when they began, installs when they came in; one visit can lead to many installs.{' '}
              {by === 'page'
                ? 'A visit counts for each page that it saw, so that only installs add up to the total.'
                : 'All rows add up to the total.'}{' '}
              Each number leads to what it counts. {comparisonText(filters, data)}
            </p>
          </div>
        ))}
    </>
  )
}

interface SourceTableProps extends SourcesProps {
  readonly figures: SourceFigures
}

const COUNTED = ['visits', 'copied', 'conversion', 'installs'] as const

function SourceTable(props: SourceTableProps): ReactNode {
  const { by, figures, filters } = props
  const { rows, total, before } = figures
  return (
    <div className="wide">
      <table className="list stacks sources">
        <TableHead
          columns={[
            SOURCE_DIMENSIONS.find((each) => each.by === by)?.title ?? null,
            ...COUNTED.map((figure) => ({ figure })),
            { number: 'Of installs' },
          ]}
        />
        <tbody>
          {rows.map((row) => (
            <SourceLine key={rowKey(row)} row={row} {...props} />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <VisitCells visits={total.visits} before={before?.total.visits ?? null} own={{}} {...props} />
            <td className="number" data-title="installs">
              <Link
                to="/app/$organization/installs"
                params={{ organization: props.organization }}
                search={listFilters(figures, filters, { kind: 'install' })}
              >
                {shownCount(total.installs)}
              </Link>{' '}
              <Change now={total.installs} before={before?.total.installs ?? null} since={nameOfBefore(filters)} />
            </td>
            <td className="number" data-title="of installs">
              {shareText(total.installs, total.installs)}
            </td>
          </tr>
        </tfoot>
      </table>
    </div>
  )
}

type ListedSource = SourceFigures['rows'][number]

function SourceLine({ row, ...props }: SourceTableProps & { readonly row: ListedSource }): ReactNode {
  const { organization, filters, by, figures } = props
  const most = Math.max(1, ...figures.rows.map(({ installs }) => installs))
  const before = figures.before?.rows.find((each) => rowKey(each) === rowKey(row))
  return (
    <tr>
      <th scope="row">
        {row.row === 'value' ? <span className="value">{row.value}</span> : <i>{rowLabel(by, row.row)}</i>}
        <Bar share={row.installs / most} />
      </th>
      <VisitCells visits={row.visits} before={before?.visits ?? null} own={visitsOfRow(by, row)} {...props} />
      <td className="number" data-title="installs">
        <InstallsOfRow row={row} by={by} organization={organization} filters={filters} bounds={figures} />{' '}
        <Change
          now={row.installs}
          before={figures.before === null ? null : (before?.installs ?? 0)}
          since={nameOfBefore(filters)}
        />
      </td>
      <td className="number" data-title="of installs">
        {shareText(row.installs, figures.total.installs)}
      </td>
    </tr>
  )
}

interface VisitCellsProps extends SourceTableProps {
  /** Null if visits are not counted by this. */
  readonly visits: ListedSource['visits']
  readonly before: ListedSource['visits']
  /** The visits that these numbers count; null if no list can hold just these. */
  readonly own: ShownVisitFilters | null
}

function VisitCells({ visits, before, own, organization, filters, figures }: VisitCellsProps): ReactNode {
  if (visits === null)
    return ['visits', 'copied', 'conversion'].map((title) => (
      <td key={title} className="number" data-title={title}>
        –
      </td>
    ))
  const linkTo = (count: number, more: ShownVisitFilters): ReactNode =>
    count === 0 || own === null ? (
      shownCount(count)
    ) : (
      <Link
        to="/app/$organization/visits"
        params={{ organization }}
        search={visitsOf(figures, filters, { ...own, ...more })}
      >
        {shownCount(count)}
      </Link>
    )
  return (
    <>
      <td className="number" data-title="visits">
        {linkTo(visits.visits, {})}{' '}
        <Change
          now={visits.visits}
          before={figures.before === null ? null : (before?.visits ?? 0)}
          since={nameOfBefore(filters)}
        />
      </td>
      <td className="number" data-title="copied">
        {linkTo(visits.copied, { step: 'copied' })}
      </td>
      <td className="number" data-title="conversion">
        {shareText(visits.converted, visits.visits)}
      </td>
    </>
  )
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
