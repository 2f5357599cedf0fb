/** Counts over time as columns: a chart, and the same as a table for screen readers. */

import type { ReactNode } from 'react'

import { Hatching } from './hatching.tsx'
import { shownCount } from './numbers.tsx'
import { TableHead } from './table-head.tsx'

interface CountColumn {
  readonly key: string
  /** "3 November" */
  readonly name: string
  readonly count: number
  /** Its time is cut by the period. */
  readonly isPart?: boolean
  /** Not all of its time is kept if this is false. */
  readonly isKept?: boolean
  /** In the table: the number links here. */
  readonly link?: (text: string) => ReactNode
}

interface ColumnsProps {
  readonly title: string
  /** What is counted: "visits". */
  readonly what: string
  /** The unit of a column: "Day". */
  readonly each: string
  readonly columns: readonly CountColumn[]
}

const HEIGHT = 72

export function Columns({ title, what, each, columns }: ColumnsProps): ReactNode {
  const most = Math.max(1, ...columns.map(({ count }) => count))
  const total = columns.reduce((sum, { count }) => sum + count, 0)
  const first = columns[0]
  const last = columns.at(-1)
  return (
    <figure className="columns">
      <figcaption>
        <span>{title}</span> <strong>{shownCount(total)}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${columns.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${shownCount(total)} ${what} in ${columns.length} columns, at most ${shownCount(most)} in one`}
      >
        <Hatching />
        {columns.map(({ key, name, count, isPart = false, isKept = true }, index) => {
          const height = count === 0 ? 1 : Math.max(2, (HEIGHT * count) / most)
          return (
            <g key={key}>
              <title>{`${name}${stepMarks({ isPart, isKept })}: ${shownCount(count)} ${what}`}</title>
              <rect className="reach" x={index * 10} y={0} width={10} height={HEIGHT} />
              {!isKept && <rect className="not-kept" x={index * 10} y={0} width={10} height={HEIGHT} />}
              <rect
                className={`${count === 0 ? 'none' : 'some'}${isPart ? ' part' : ''}`}
                x={index * 10 + 1}
                y={HEIGHT - height}
                width={8}
                height={height}
              />
            </g>
          )
        })}
      </svg>
      <p className="ends" aria-hidden>
        <span>{first?.name}</span>
        <span>{last?.name}</span>
      </p>
      <details>
        <summary>As a table</summary>
        <table className="list">
          <TableHead columns={[each, { number: what }]} />
          <tbody>
            {columns.map(({ key, name, count, isPart = false, isKept = true, link }) => (
              <tr key={key}>
                <th scope="row">
                  {name}
                  {stepMarks({ isPart, isKept })}
                </th>
                <td className="number">
                  {link === undefined || count === 0 ? shownCount(count) : link(shownCount(count))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}

/** What there is to know of a step beside its number. */
export function stepMarks({ isPart, isKept }: { readonly isPart: boolean; readonly isKept: boolean }): string {
  return `${isPart ? ', a part of it' : ''}${isKept ? '' : ', not all of it is kept'}`
}
