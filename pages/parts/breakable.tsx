/** A long address that breaks behind a slash where there is one, rather than within a word. */

import type { ReactNode } from 'react'

/** Strangers write addresses: no more places than a line needs. */
const MOST_BREAKS = 30

export function Breakable({ address }: { readonly address: string }): ReactNode {
  const parts = address.split(/(?<=[^/]\/|[?&])(?=[^/])/, MOST_BREAKS)
  const rest = address.slice(parts.join('').length)
  return (
    <span translate="no">
      {[...parts, rest].flatMap((part, place) => (place === 0 ? [part] : [<wbr key={place} />, part]))}
    </span>
  )
}
