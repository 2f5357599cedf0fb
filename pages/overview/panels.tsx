/** What brought the installs of a period: the first values by each dimension, each of which filters the page. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { MACHINE_NAMES, ORIGIN_NAMES, rowKey, type InstallDimension } from '../../domain/figures/installs.ts'
import type { OverviewFilters, OverviewPanel, ShownFigures } from '../data/overview.ts'
import { nameOfBefore } from '../data/period.ts'
import { listFilters } from '../figures/list-of.ts'
import { installsOfRow, isOfInstallsAlone, rowLabel } from '../figures/rows.ts'
import { Breakable } from '../parts/breakable.tsx'
import { Bar, Change, shownCount } from '../parts/numbers.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { ValueLink } from './filters.tsx'
import { useLeadingOn } from './leading-on.ts'

const TITLES: Readonly<Record<InstallDimension, string>> = { ...ORIGIN_NAMES, ...MACHINE_NAMES }

export function Panels(props: ShownFigures): ReactNode {
  return (
    <div className="panels">
      {props.figures.panels.map((panel) => (
        <Panel key={panel.by} panel={panel} {...props} />
      ))}
    </div>
  )
}

interface PanelProps extends ShownFigures {
  readonly panel: OverviewPanel
}

function Panel({ panel, ...props }: PanelProps): ReactNode {
  const { filters } = props
  const { by, rows } = panel
  const hasVisits = rows.some(({ visits }) => visits !== null)
  const most = Math.max(1, ...rows.map(({ installs }) => installs))
  return (
    <section className="card breakdown" aria-labelledby={`by-${by}`}>
      <header>
        <h2 id={`by-${by}`}>{TITLES[by]}</h2>
        <AllLink by={by} filters={filters} />
      </header>
      {rows.length === 0 ? (
        <p className="question">Nothing in this time.</p>
      ) : (
        <table className="list">
          <TableHead columns={[null, ...(hasVisits ? [{ number: 'Visits' }] : []), { number: 'Installs' }]} />
          <tbody>
            {rows.map((row) => (
              <tr key={rowKey(row)}>
                <th scope="row">
                  <RowName by={by} row={row} {...props} />
                  <Bar share={row.installs / most} tone={row.row === 'value' ? 'accent' : 'faint'} />
                </th>
                {hasVisits && <td className="number">{visitsText(row)}</td>}
                <td className="number">
                  <InstallCount by={by} row={row} {...props} />{' '}
                  <Change now={row.installs} before={row.before} since={nameOfBefore(filters)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

interface AllLinkProps {
  readonly by: OverviewPanel['by']
  readonly filters: OverviewFilters
}

function AllLink({ by, filters }: AllLinkProps): ReactNode {
  const organization = useLeadingOn()
  const { metric: _, ...along } = filters
  if (organization === null) return null
  return (
    <Link to="/app/$organization/sources" params={{ organization }} search={{ ...along, by }}>
      All<span className="unseen"> by {TITLES[by].toLowerCase()}</span>
    </Link>
  )
}

type PanelRow = OverviewPanel['rows'][number]

interface RowProps extends ShownFigures {
  readonly by: OverviewPanel['by']
  readonly row: PanelRow
}

function visitsText(row: PanelRow): string {
  return row.visits === null || isOfInstallsAlone(row) ? '–' : shownCount(row.visits)
}

/** What installs have no value for filters the page, too; how installs ended does not. */
function RowName({ by, row }: RowProps): ReactNode {
  if (row.row === 'value')
    return (
      <ValueLink by={by} value={row.value}>
        {by === 'landing_page' ? <Breakable address={row.value} /> : row.value}
      </ValueLink>
    )
  const label = <i>{row.row === 'other' ? 'All others' : rowLabel(by, row.row)}</i>
  const isEmptyValue = row.row === 'direct' || row.row === 'none' || row.row === 'no_campaign'
  return isEmptyValue ? (
    <ValueLink by={by} value="">
      {label}
    </ValueLink>
  ) : (
    label
  )
}

/** Leads to the installs that it counts. */
function InstallCount({ by, row, filters, figures }: RowProps): ReactNode {
  const organization = useLeadingOn()
  const own = row.installs === 0 ? null : installsOfRow(by, row)
  if (own === null || organization === null) return shownCount(row.installs)
  return (
    <Link to="/app/$organization/installs" params={{ organization }} search={listFilters(figures, filters, own)}>
      {shownCount(row.installs)}
    </Link>
  )
}
