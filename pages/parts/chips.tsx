/** Filters, each as a chip that removes it; the text of some opens what changes them. */

import type { ReactNode } from 'react'

export interface Chip {
  readonly name: string
  readonly text: ReactNode
  readonly change?: () => void
  readonly remove: () => void
}

/** Filters that nobody can change here. */
export function FixedChips({ texts }: { readonly texts: readonly string[] }): ReactNode {
  if (texts.length === 0) return null
  return (
    <ul className="chips fixed" aria-label="Filters">
      {texts.map((text) => (
        <li key={text}>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  )
}

export function Chips({ chips }: { readonly chips: readonly Chip[] }): ReactNode {
  if (chips.length === 0) return null
  return (
    <ul className="chips" aria-label="Filters">
      {chips.map(({ name, text, change, remove }) => (
        <li key={name}>
          {change === undefined ? (
            <span>{text}</span>
          ) : (
            <button type="button" className="text" onClick={change}>
              {text}
            </button>
          )}
          <button
            type="button"
            aria-label={`Without the filter ${typeof text === 'string' ? text : name}`}
            onClick={remove}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  )
}
