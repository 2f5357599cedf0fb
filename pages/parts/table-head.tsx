/** The headings of a table's columns. */

import type { ReactNode } from 'react'

/** `{ number }` is above numbers; null is a column without a heading. */
type Heading = string | { readonly number: string } | null

export function TableHead({ columns }: { readonly columns: readonly Heading[] }): ReactNode {
  return (
    <thead>
      <tr>{columns.map(headingCell)}</tr>
    </thead>
  )
}

function headingCell(heading: Heading): ReactNode {
  if (heading === null) return <td key="" />
  const text = typeof heading === 'string' ? heading : heading.number
  return (
    <th key={text} scope="col" {...(text === heading ? {} : { className: 'number' })}>
      {text}
    </th>
  )
}
