/** A number, or a word, with its title: one of several in a row. */

import type { ReactNode } from 'react'

export function Tile({ title, value }: { readonly title: string; readonly value: string }): ReactNode {
  return (
    <div className="tile">
      <dt>{title}</dt>
      <dd>{value}</dd>
    </div>
  )
}
