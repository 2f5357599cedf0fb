/** Marks above a chart for what happened in its steps; the card, the table and the file have the words. */

import type { ReactNode } from 'react'

import type { Overview } from '../data/overview.ts'
import type { ChartPoint } from './chart-points.ts'

type Annotation = Overview['annotations'][number]

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

export function Marks({ points }: { readonly points: readonly ChartPoint[] }): ReactNode {
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
