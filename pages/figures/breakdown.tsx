/** Installs by one dimension: bars of their number, the match rate of each value as a number, and a link to its installs. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { ValuedInstalls } from '../data/figures.ts'
import { nameOfBefore, type Bounds, type FigureFilters } from '../data/period.ts'
import { Bar, Change, shownCount, shareText } from '../parts/numbers.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { listFilters } from './list-of.ts'

interface InstallBreakdownProps {
  readonly title: string
  readonly by: 'path' | 'platform' | 'agent'
  /** Of the period, and of the one before it. */
  readonly figures: Readonly<Record<'now' | 'before', { readonly values: readonly ValuedInstalls[] }>>
  readonly organization: string
  readonly filters: FigureFilters
  readonly bounds: Bounds
}

export function InstallBreakdown({
  title,
  by,
  figures,
  organization,
  filters,
  bounds,
}: InstallBreakdownProps): ReactNode {
  const most = Math.max(1, ...figures.now.values.map(installEventsOf))
  return (
    <section className="card breakdown">
      <h2>{title}</h2>
      <table className="list">
        <TableHead columns={[null, { number: 'Events' }, { number: 'Matched' }]} />
        <tbody>
          {figures.now.values.map((row) => (
            <tr key={row.value}>
              <th scope="row">
                {NAMES[by](row.value)}
                <Bar share={installEventsOf(row) / most} />
              </th>
              <td className="number">
                <Link
                  to="/app/$organization/installs"
                  params={{ organization }}
                  search={listFilters(bounds, filters, { [by]: row.value })}
                >
                  {shownCount(installEventsOf(row))}
                </Link>{' '}
                <Change
                  now={installEventsOf(row)}
                  before={installEventsOf(figures.before.values.find(({ value }) => value === row.value))}
                  since={nameOfBefore(filters)}
                />
              </td>
              <td className="number">{shareText(row.matched, row.matched + row.unmatched)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Install events; those that are still to be decided are none of these yet. */
export function installEventsOf(
  counts: { readonly matched: number; readonly unmatched: number; readonly counted: number } | undefined,
): number {
  return counts === undefined ? 0 : counts.matched + counts.unmatched + counts.counted
}

const NAMES: Readonly<Record<InstallBreakdownProps['by'], (value: string) => string>> = {
  path: (value) => (value === '' ? 'without a path' : value),
  platform: (value) => (value === '' ? 'not said' : value),
  agent: (value) => (value === '' ? 'a person' : value),
}
