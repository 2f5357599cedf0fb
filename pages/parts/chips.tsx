/** Filters that have no field of their own: each is shown, and can be taken away. */

import type { ReactNode } from 'react'

interface Chip {
  readonly name: string
  readonly text: ReactNode
  readonly remove: () => void
}

export function Chips({ chips }: { readonly chips: readonly Chip[] }): ReactNode {
  if (chips.length === 0) return null
  return (
    <ul className="chips" aria-label="Filters">
      {chips.map(({ name, text, remove }) => (
        <li key={name}>
          <span>{text}</span>
          <button type="button" aria-label={`Without the filter ${name}`} onClick={remove}>
            ×
          </button>
        </li>
      ))}
    </ul>
  )
}
