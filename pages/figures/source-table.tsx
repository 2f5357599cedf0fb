/** Sources as a table that sorts by every column: values with their trends, rows that are no value at its foot, and the sum. */

import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { FIGURE_WORDS, type FigureName } from '../../domain/figures/figure-words.ts'
import { rowKey } from '../../domain/figures/installs.ts'
import type { SourceDimension, SourceFigures } from '../data/figures.ts'
import { nameOfBefore } from '../data/period.ts'
import type { ShownVisitFilters } from '../data/visits.ts'
import { DIMENSION_NAMES } from '../filters/filter-words.ts'
import { FigureWord } from '../parts/figure-word.tsx'
import { Bar, Change, shownCount, shareText } from '../parts/numbers.tsx'
import { Sparkline } from '../parts/sparkline.tsx'
import { InstallsOfRow } from './breakdown.tsx'
import { listFilters, visitsOf } from './list-of.ts'
import { isOfInstallsAlone, rowLabel, visitsOfRow } from './rows.ts'
import type { SourceFilters } from './source-filters.ts'
import {
  directionOf,
  nextOrder,
  orderedRows,
  SOURCE_COLUMNS,
  sourceOrder,
  type SortColumn,
  type SourceOrder,
} from './source-order.ts'

export interface SourceTableProps {
  readonly organization: string
  readonly filters: SourceFilters
  readonly by: SourceDimension
  readonly figures: SourceFigures
}

export const SOURCE_FIGURES = ['visits', 'copied', 'conversion', 'installs'] as const

export function SourceTable(props: SourceTableProps): ReactNode {
  const { by, figures, filters } = props
  const { rows, total, before } = figures
  const ordered = orderedRows(rows, filters)
  return (
    <>
      <OrderChoice shown={filters} />
      <div className="wide">
        <table className="list stacks sources">
          <thead>
            <tr>
              <SortedHeading column="name" shown={filters}>
                {DIMENSION_NAMES[by]}
              </SortedHeading>
              {SOURCE_FIGURES.map((figure) => (
                <SortedHeading key={figure} column={figure} shown={filters} figure={figure}>
                  {FIGURE_WORDS[figure].title}
                </SortedHeading>
              ))}
              <SortedHeading column="trend" shown={filters}>
                Trend
              </SortedHeading>
              <SortedHeading column="share" shown={filters}>
                Of installs
              </SortedHeading>
            </tr>
          </thead>
          {[true, false].map((areValues) => (
            <tbody key={String(areValues)} className={areValues ? undefined : 'no-values'}>
              {ordered
                .filter(({ row }) => (row === 'value') === areValues)
                .map((row) => (
                  <SourceLine key={rowKey(row)} row={row} {...props} />
                ))}
            </tbody>
          ))}
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
              <td className="trend">
                <Sparkline counts={total.trend} each={trendPartName(figures)} />
              </td>
              <td className="number" data-title="of installs">
                {shareText(total.installs, total.installs)}
              </td>
            </tr>
          </tfoot>
        </table>
      </div>
    </>
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
        {row.row === 'value' ? (
          <span className="value" translate="no">
            {row.value}
          </span>
        ) : (
          <i>{rowLabel(by, row.row)}</i>
        )}
        <Bar share={row.installs / most} tone={row.row === 'value' ? 'accent' : 'faint'} />
      </th>
      <VisitCells
        visits={isOfInstallsAlone(row) ? null : row.visits}
        before={before?.visits ?? null}
        own={visitsOfRow(by, row)}
        {...props}
      />
      <td className="number" data-title="installs">
        <InstallsOfRow row={row} by={by} organization={organization} filters={filters} bounds={figures} />{' '}
        <Change
          now={row.installs}
          before={figures.before === null ? null : (before?.installs ?? 0)}
          since={nameOfBefore(filters)}
        />
      </td>
      <td className="trend">
        <Sparkline counts={row.trend} each={trendPartName(figures)} />
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

interface SortedHeadingProps {
  readonly column: SortColumn
  readonly shown: SourceOrder
  /** Of a number that has a card. */
  readonly figure?: FigureName
  readonly children: string
}

/** The heading of a column, and the link that sorts by it, which keeps all else of the address. */
function SortedHeading({ column, shown, figure, children }: SortedHeadingProps): ReactNode {
  const isSorted = (shown.sort ?? 'installs') === column
  const direction = directionOf(shown)
  const words = isSorted ? (direction === 'up' ? 'ascending' : 'descending') : 'none'
  return (
    <th scope="col" aria-sort={words} {...(column === 'name' ? {} : { className: 'number' })}>
      {figure === undefined ? children : <FigureWord of={figure} />}
      <Link
        to="."
        search={({ sort: _, order: _order, ...before }: Record<string, unknown>) => ({
          ...before,
          ...nextOrder(shown, column),
        })}
        replace
        resetScroll={false}
        className="sort"
        aria-label={`Sort by ${children}`}
      >
        <span aria-hidden>{isSorted ? (direction === 'up' ? '▲' : '▼') : '↕'}</span>
      </Link>
    </th>
  )
}

const COLUMN_TITLES: Readonly<Record<SortColumn, string>> = {
  name: 'Name',
  visits: FIGURE_WORDS.visits.title,
  copied: FIGURE_WORDS.copied.title,
  conversion: FIGURE_WORDS.conversion.title,
  installs: FIGURE_WORDS.installs.title,
  trend: 'Trend',
  share: 'Of installs',
}

/** Where the headings are hidden, because each row is a card. */
function OrderChoice({ shown }: { readonly shown: SourceOrder }): ReactNode {
  const navigate = useNavigate()
  return (
    <label className="order-choice narrow">
      Sorted by
      <select
        value={shown.sort ?? 'installs'}
        onChange={({ target }) => {
          void navigate({
            to: '.',
            search: ({ sort: _, order: _order, ...before }: Record<string, unknown>) => ({
              ...before,
              ...sourceOrder({ sort: target.value }),
            }),
            replace: true,
            resetScroll: false,
          })
        }}
      >
        {SOURCE_COLUMNS.map((column) => (
          <option key={column} value={column}>
            {COLUMN_TITLES[column]}
          </option>
        ))}
      </select>
    </label>
  )
}

/** "day", "hour" or "3 days" */
function trendPartName({ parts }: SourceFigures): string {
  const [first] = parts
  const length = first === undefined ? DAY_MS : first.until - first.at
  if (length <= HOUR_MS) return 'hour'
  const days = Math.round(length / DAY_MS)
  return days === 1 ? 'day' : `${days} days`
}
