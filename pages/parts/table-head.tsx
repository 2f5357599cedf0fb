/** The headings of a table's columns. */

import type { ReactNode } from 'react'

import { FIGURE_WORDS, type FigureName } from '../../domain/figures/figure-words.ts'
import { FigureWord } from './figure-word.tsx'

/** `{ number }` is above numbers, `{ figure }` above those that have a card; null is a column without a heading. */
type Heading = string | { readonly number: string } | { readonly figure: FigureName; readonly title?: string } | null

export function TableHead({ columns }: { readonly columns: readonly Heading[] }): ReactNode {
  return (
    <thead>
      <tr>{columns.map(headingCell)}</tr>
    </thead>
  )
}

function headingCell(heading: Heading): ReactNode {
  if (heading === null) return <td key="" />
  if (typeof heading === 'object' && 'figure' in heading) {
    const { figure, title = FIGURE_WORDS[figure].title } = heading
    return (
      <th key={title} scope="col" className="number" data-figure={title}>
        <FigureWord of={figure}>{title}</FigureWord>
      </th>
    )
  }
  const text = typeof heading === 'string' ? heading : heading.number
  return (
    <th key={text} scope="col" {...(text === heading ? {} : { className: 'number' })}>
      {text}
    </th>
  )
}
