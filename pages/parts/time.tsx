/** Moments and spans of time, in the viewer's zone; UTC stands in the tooltip. */

import type { ReactNode } from 'react'

const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export function Moment({ ms }: { readonly ms: number }): ReactNode {
  const iso = new Date(ms).toISOString()
  return (
    <time dateTime={iso} title={`${iso.replace('T', ' ').slice(0, 19)} UTC`}>
      {SHORT.format(ms)}
    </time>
  )
}
