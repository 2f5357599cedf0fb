/** Marks above a chart for what happened in its steps; the card, the table and the file have the words. */

import type { ReactNode } from 'react'

import type { OverviewFigures } from '../data/overview.ts'

type Annotation = OverviewFigures['annotations'][number]

/** "Version 2.4.1 first seen" */
export function annotationText({ kind, name }: Annotation): string {
  switch (kind) {
    case 'version':
      return `Version ${name} first seen`
    case 'destination_live':
      return `${name} went live`
    case 'origins_changed':
      return `Origins of ${name} changed`
  }
}

interface MarksProps {
  /** The steps of the chart, with what happened in each. */
  readonly points: readonly { readonly at: number; readonly happened: readonly string[] }[]
}

export function Marks({ points }: MarksProps): ReactNode {
  return (
    <ol className="marks" aria-hidden>
      {points.map(({ at, happened }, place) =>
        happened.length === 0 ? null : (
          <li key={at} style={{ left: `${(100 * (place + 0.5)) / points.length}%` }} title={happened.join('\n')} />
        ),
      )}
    </ol>
  )
}
