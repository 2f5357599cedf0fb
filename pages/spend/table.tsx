/** Spend in one currency: what each campaign or source cost, and what joined no visit and no install. */

import type { ReactNode } from 'react'

import { joinKey } from '../../domain/spend/joined-spend.ts'
import { CsvLink } from '../parts/csv-link.tsx'
import { Bar, shownCount } from '../parts/numbers.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { moneyText } from './money.ts'
import type { CurrencyFigures, SpendFigures, SpendLine } from './spend-data.ts'

interface CurrencyTableProps {
  readonly currency: CurrencyFigures
  readonly figures: SpendFigures
}

export function CurrencyTable({ currency, figures }: CurrencyTableProps): ReactNode {
  const rows = figures.rows.filter((row) => row.currency === currency.currency)
  const most = Math.max(1, ...rows.map(({ amount }) => amount))
  return (
    <section className="spend-part" aria-label={`Spend in ${currency.currency}`}>
      <h2>
        {moneyText(currency.amount, currency)} <small>{currency.currency}</small>
      </h2>
      {rows.length > 0 && (
        <div className="wide">
          <table className="list stacks spend">
            <TableHead columns={[...nameHeads(figures), ...NUMBERS.map((head) => ({ number: head }))]} />
            <tbody>
              {rows.map((row) => (
                <Line key={joinKey(row)} row={row} share={row.amount / most} currency={currency} figures={figures} />
              ))}
            </tbody>
          </table>
          <p className="footnote">
            <CsvLink
              name={`spend-in-${currency.currency.toLowerCase()}`}
              head={[...nameHeads(figures), ...NUMBERS]}
              rows={rows.map((row) => [
                ...(figures.by === 'source' ? [row.source] : [row.campaign, row.source]),
                plainAmount(row.amount, currency),
                row.visits,
                plainAmount(row.perVisit, currency),
                row.installs,
                plainAmount(row.perInstall, currency),
              ])}
            />
          </p>
        </div>
      )}
      <NotJoined currency={currency} figures={figures} />
    </section>
  )
}

/** In the currency, with a point: amounts are kept as whole numbers of its smallest coin. */
function plainAmount(amount: number | null, { places }: CurrencyFigures): string | null {
  return amount === null ? null : (amount / 10 ** places).toFixed(Number.isInteger(amount) ? places : places + 2)
}

const NUMBERS = ['Spent', 'Visits', 'Per visit', 'Installs', 'Per install'] as const

function nameHeads({ by }: SpendFigures): readonly string[] {
  return by === 'source' ? ['Source'] : ['Campaign', 'Source']
}

interface LineProps extends CurrencyTableProps {
  readonly row: SpendLine
  readonly share: number
}

function Line({ row, share, currency, figures }: LineProps): ReactNode {
  const cost = (amount: number | null): string => (amount === null ? '–' : moneyText(amount, currency))
  return (
    <tr>
      <NameCells of={row} by={figures.by}>
        <Bar share={share} />
      </NameCells>
      <td className="number" data-label="spent">
        {moneyText(row.amount, currency)}
      </td>
      <td className="number" data-label="visits">
        {shownCount(row.visits)}
      </td>
      <td className="number" data-label="per visit">
        {cost(row.perVisit)}
      </td>
      <td className="number" data-label="installs">
        {shownCount(row.installs)}
      </td>
      <td className="number" data-label="per install">
        {cost(row.perInstall)}
      </td>
    </tr>
  )
}

interface NameCellsProps {
  readonly of: { readonly source: string; readonly campaign: string }
  readonly by: SpendFigures['by']
  /** Below the name. */
  readonly children?: ReactNode
}

/** Of a source its name; of a campaign that of its source, too. */
function NameCells({ of: { source, campaign }, by, children }: NameCellsProps): ReactNode {
  return (
    <>
      <th scope="row">
        <Name of={by === 'source' ? source : campaign} />
        {children}
      </th>
      {by === 'campaign' && (
        <td data-label="source">
          <span className="value">{source}</span>
        </td>
      )}
    </>
  )
}

function Name({ of }: { readonly of: string }): ReactNode {
  return of === '' ? <i>No campaign</i> : <span className="value">{of}</span>
}

/** The greatest first. */
const MOST_SHOWN = 100

function NotJoined({ currency, figures }: CurrencyTableProps): ReactNode {
  const spend = figures.notJoined.filter((each) => each.currency === currency.currency)
  return (
    <>
      {spend.length > 0 && (
        <>
          <h3>Joined no visit and no install: {moneyText(currency.notJoined, currency)}</h3>
          <div className="wide">
            <table className="list stacks spend">
              <TableHead columns={[...nameHeads(figures), { number: 'Spent' }]} />
              <tbody>
                {spend.slice(0, MOST_SHOWN).map((each) => (
                  <tr key={joinKey(each)}>
                    <NameCells of={each} by={figures.by} />
                    <td className="number" data-label="spent">
                      {moneyText(each.amount, currency)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p className="footnote">
            {spend.length > MOST_SHOWN && `${shownCount(spend.length - MOST_SHOWN)} more are not shown. `}
            Both names must be written as in the links: compare them with those under Sources.
          </p>
        </>
      )}
      {currency.other > 0 && (
        <p className="footnote">Of further campaigns, which are not listed: {moneyText(currency.other, currency)}.</p>
      )}
    </>
  )
}
