/** A number, or a word, with its title: one of several in a row. */

import type { ReactNode } from 'react'

interface TileProps {
  /** A text, or the word of a number. */
  readonly title: ReactNode
  /** A text, or a link that shows it. */
  readonly value: ReactNode
}

export function Tile({ title, value }: TileProps): ReactNode {
  return (
    <div className="tile">
      <dt>{title}</dt>
      <dd>{value}</dd>
    </div>
  )
}
