/** Filters without a field of their own: each is shown as a chip that removes it. */

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
