/** What became of the installs of a period at each advertising destination: all columns but the first add up to it. */

import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import type { FilteredFigures } from '../data/period.ts'
import { shownCount } from '../parts/numbers.tsx'
import { Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { outcomesQuery, type ShownOutcomes } from './deliveries-data.ts'
import { sentenceOfReason } from './words.ts'

interface OutcomesProps {
  readonly organization: string
  readonly filters: FilteredFigures
}

/** Nothing if no destination gets installs alone. */
export function InstallOutcomes({ organization, filters }: OutcomesProps): ReactNode {
  const options = outcomesQuery(organization, filters)
  const query = useQuery(options)
  const { data, error } = query
  const destinations = data?.destinations ?? []
  if (data !== undefined && destinations.length === 0) return null
  return (
    <section aria-labelledby="outcomes">
      <h2 id="outcomes">Installs at advertising destinations</h2>
      <Problem error={error} />
      <Waiting what="installs" query={query} queryKey={options.queryKey} />
      {data !== undefined && <OutcomesTable destinations={destinations} />}
    </section>
  )
}

function OutcomesTable({ destinations }: { readonly destinations: readonly ShownOutcomes[] }): ReactNode {
  return (
    <>
      <div className="wide">
        <table className="list stacks">
          <TableHead
            columns={['Destination', { figure: 'installs' }, ...COLUMNS.map(({ title }) => ({ number: title }))]}
          />
          <tbody>
            {destinations.map((destination) => (
              <tr key={`${destination.website}/${destination.id}`}>
                <th scope="row">
                  {destination.displayName === '' ? destination.id : destination.displayName}
                  <small>
                    {destination.provider}, {destination.website}
                  </small>
                </th>
                <td className="number" data-title="installs">
                  {shownCount(destination.installs)}
                </td>
                {COLUMNS.map(({ title, countOf }) => (
                  <td key={title} className="number" data-title={title.toLowerCase()}>
                    {countOf(destination) === 0 ? <span className="none">–</span> : shownCount(countOf(destination))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <NotSent destinations={destinations} />
      <p className="footnote">
        Each install of this time is in one of these columns, as its delivery stands now: they add up to Installs.
        “Without” came before the destination was there, or has just come.
      </p>
    </>
  )
}

const COLUMNS = [
  { title: 'Delivered', countOf: ({ delivered }: ShownOutcomes) => delivered },
  { title: 'Waiting', countOf: ({ waiting }: ShownOutcomes) => waiting },
  { title: 'Failed', countOf: ({ failed }: ShownOutcomes) => failed },
  { title: 'Too late', countOf: ({ expired }: ShownOutcomes) => expired },
  {
    title: 'Not sent',
    countOf: ({ skipped }: ShownOutcomes) => skipped.reduce((sum, { installs }) => sum + installs, 0),
  },
  { title: 'Without', countOf: ({ none }: ShownOutcomes) => none },
] as const

/** Why installs were not sent, by destination. */
function NotSent({ destinations }: { readonly destinations: readonly ShownOutcomes[] }): ReactNode {
  const rows = destinations.flatMap(({ website, id, displayName, skipped }) =>
    skipped.map(({ reason, installs }) => ({ website, id, name: displayName || id, reason, installs })),
  )
  if (rows.length === 0) return null
  return (
    <details className="programs">
      <summary>Why installs were not sent</summary>
      <table className="list stacks">
        <TableHead columns={['Destination', 'Why', { figure: 'installs' }]} />
        <tbody>
          {rows.map(({ website, id, name, reason, installs }) => (
            <tr key={`${website}/${id}/${reason}`}>
              <th scope="row">{name}</th>
              <td>{sentenceOfReason(reason)}</td>
              <td className="number" data-title="installs">
                {shownCount(installs)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
