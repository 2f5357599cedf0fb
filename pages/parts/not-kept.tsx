/** Says that a part of the period is no longer kept. */

import type { ReactNode } from 'react'

interface NotKeptProps {
  readonly figures: { readonly since: number; readonly keptSince: number; readonly timeZone: string }
}

export function NotKept({ figures }: NotKeptProps): ReactNode {
  const { since, keptSince, timeZone } = figures
  if (since >= keptSince) return null
  const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone })
  return (
    <p className="notice not-kept" role="note">
      What happened before {day.format(keptSince)} is not kept: figures of that time are incomplete.
    </p>
  )
}
