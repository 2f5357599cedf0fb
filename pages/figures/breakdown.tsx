/** Installs by one dimension: bars of their number, the match rate of each value as a number, and a link to its installs. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { MACHINE_NAMES, rowKey, type InstallDimension } from '../../domain/figures/installs.ts'
import type { ValuedInstalls } from '../data/figures.ts'
import { nameOfBefore, type Bounds, type CountingFilters } from '../data/period.ts'
import { CsvLink } from '../parts/csv-link.tsx'
import { Bar, Change, shownCount, shareText, countBefore } from '../parts/numbers.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { listFilters } from './list-of.ts'
import { installsOfRow, rowLabel } from './rows.ts'

interface InstallBreakdownProps {
  readonly title: string
  readonly by: 'path' | 'platform' | 'agent'
  /** Of the period, and of the one that it is compared with. */
  readonly figures: { readonly now: readonly ValuedInstalls[]; readonly before: readonly ValuedInstalls[] | null }
  readonly organization: string
  readonly filters: CountingFilters
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
  const installsBefore = (key: string): number | null =>
    countBefore(
      figures.before ?? undefined,
      (each) => rowKey(each) === key,
      ({ installs }) => installs,
    )
  const most = Math.max(1, ...figures.now.map(({ installs }) => installs))
  return (
    <section className="card breakdown">
      <h2>{title}</h2>
      <table className="list">
        <TableHead columns={[null, { figure: 'installs' }, { figure: 'match_rate' }]} />
        <tbody>
          {figures.now.map((row) => (
            <tr key={rowKey(row)}>
              <th scope="row">
                {row.row === 'value' ? (
                  <span className="value" translate="no">
                    {row.value}
                  </span>
                ) : (
                  <i>{rowLabel(by, row.row)}</i>
                )}
                <Bar share={row.installs / most} />
              </th>
              <td className="number">
                <InstallsOfRow row={row} by={by} organization={organization} filters={filters} bounds={bounds} />{' '}
                <Change now={row.installs} before={installsBefore(rowKey(row))} since={nameOfBefore(filters)} />
              </td>
              <td className="number">{shareText(row.matched, row.matched + row.unmatched)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="footnote">
        <CsvLink
          name={`installs-by-${by}`}
          head={[MACHINE_NAMES[by], 'Installs', 'With a visit', 'Without a visit']}
          rows={figures.now.map((row) => [
            row.row === 'value' ? row.value : `(${rowLabel(by, row.row)})`,
            row.installs,
            row.matched,
            row.unmatched,
          ])}
        />
      </p>
    </section>
  )
}

interface InstallsOfRowProps {
  readonly row: ValuedInstalls
  readonly by: InstallDimension
  readonly organization: string
  readonly filters: CountingFilters
  readonly bounds: Bounds
}

/** The number of installs of a row, which leads to them. */
export function InstallsOfRow({ row, by, organization, filters, bounds }: InstallsOfRowProps): ReactNode {
  const own = row.installs === 0 ? null : installsOfRow(by, row)
  if (own === null) return shownCount(row.installs)
  return (
    <Link to="/app/$organization/installs" params={{ organization }} search={listFilters(bounds, filters, own)}>
      {shownCount(row.installs)}
    </Link>
  )
}
