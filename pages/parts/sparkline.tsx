/** A trend as small bars beside its number, each value in words for whoever does not see them. */

import type { ReactNode } from 'react'

import { shownCount } from './numbers.tsx'

interface SparklineProps {
  readonly counts: readonly number[]
  /** Completes "… by": "day". */
  readonly each: string
}

const HEIGHT = 20
const STEP = 4

export function Sparkline({ counts, each }: SparklineProps): ReactNode {
  const most = Math.max(1, ...counts)
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${Math.max(1, counts.length) * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`By ${each}: ${counts.map(shownCount).join(', ')}`}
    >
      {counts.map((count, place) => {
        const height = count === 0 ? 1 : Math.max(2, (HEIGHT * count) / most)
        return (
          <rect
            // Its place is all that tells it from others.
            key={place}
            className={count === 0 ? 'none' : 'some'}
            x={place * STEP}
            y={HEIGHT - height}
            width={STEP - 1}
            height={height}
          />
        )
      })}
    </svg>
  )
}
