/** The name of a number, which opens a card that says what is counted: by a click, a tap or a key. */

import { useId, type ReactNode } from 'react'
import { createPortal } from 'react-dom'

import { FIGURE_WORDS, type FigureName } from '../../domain/figures/figure-words.ts'

interface FigureWordProps {
  readonly of: FigureName
  /** Where the number has another name. */
  readonly children?: string
}

export function FigureWord({ of, children }: FigureWordProps): ReactNode {
  const id = useId()
  const { title, means } = FIGURE_WORDS[of]
  return (
    <>
      <button type="button" className="figure-word" popoverTarget={id} aria-describedby={id}>
        {children ?? title}
      </button>
      {/* Outside of the heading, of whose text it is no part. */}
      {createPortal(
        <p id={id} popover="auto" className="figure-card">
          {means}
        </p>,
        document.body,
      )}
    </>
  )
}

interface FigureLegendProps {
  readonly of: readonly FigureName[]
  /** Headings say the same where the screen is wide. */
  readonly isOnlyNarrow?: boolean
}

/** The words of several numbers in a row. */
export function FigureLegend({ of, isOnlyNarrow = false }: FigureLegendProps): ReactNode {
  return (
    <p className={`footnote figure-legend${isOnlyNarrow ? ' narrow' : ''}`}>
      What is counted:{' '}
      {of.map((name) => (
        <FigureWord key={name} of={name} />
      ))}
    </p>
  )
}
