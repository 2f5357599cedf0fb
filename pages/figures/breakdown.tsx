/** Installs by one dimension, with the match rate of each value and a link to its installs. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { ValuedInstalls } from '../data/figures.ts'
import type { Bounds, FigureFilters } from '../data/period.ts'
import { Bar, shownCount, shareText } from '../parts/numbers.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { listOf } from './list-of.ts'

interface InstallBreakdownProps {
  readonly title: string
  readonly by: 'path' | 'platform' | 'agent'
  readonly listed: { readonly values: readonly ValuedInstalls[] }
  readonly organization: string
  readonly filters: FigureFilters
  readonly bounds: Bounds
}

export function InstallBreakdown({
  title,
  by,
  listed,
  organization,
  filters,
  bounds,
}: InstallBreakdownProps): ReactNode {
  return (
    <section className="card breakdown">
      <h2>{title}</h2>
      <table className="list">
        <TableHead columns={[null, { number: 'Events' }, { number: 'Matched' }]} />
        <tbody>
          {listed.values.map(({ value, matched, unmatched, counted }) => (
            <tr key={value}>
              <th scope="row">
                {NAMES[by](value)}
                <Bar share={matched / Math.max(1, matched + unmatched)} />
              </th>
              <td className="number">
                <Link
                  to="/app/$organization/installs"
                  params={{ organization }}
                  search={listOf(bounds, filters, value === '' && by !== 'agent' ? {} : { [by]: value })}
                >
                  {shownCount(matched + unmatched + counted)}
                </Link>
              </td>
              <td className="number">{shareText(matched, matched + unmatched)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const NAMES: Readonly<Record<InstallBreakdownProps['by'], (value: string) => string>> = {
  path: (value) => (value === '' ? 'without a path' : value),
  platform: (value) => (value === '' ? 'not said' : value),
  agent: (value) => (value === '' ? 'a person' : value),
}
