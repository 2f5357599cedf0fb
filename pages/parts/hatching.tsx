/** The pattern behind steps of a chart of which not all is kept. CSS refers to it by its ID, so it may be there several times. */

import type { ReactNode } from 'react'

export function Hatching(): ReactNode {
  return (
    <defs>
      <pattern id="hatching" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect className="hatch" width="2" height="8" />
      </pattern>
    </defs>
  )
}
