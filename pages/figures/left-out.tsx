/** How many installs figures leave out, with the switch that counts them. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { Bounds, CountingFilters } from '../data/period.ts'
import { shownCount } from '../parts/numbers.tsx'
import { listFilters } from './list-of.ts'

interface LeftOutProps {
  readonly organization: string
  readonly filters: CountingFilters
  readonly figures: Bounds & { readonly leftOut: number }
  /** The figures are still those of another choice. */
  readonly isBusy: boolean
}

export function LeftOut({ organization, filters, figures, isBusy }: LeftOutProps): ReactNode {
  const { leftOut: count } = figures
  const areCounted = filters.leftOut === 'include'
  if (count === 0 && !areCounted) return null
  const installs = `${shownCount(count)} ${count === 1 ? 'install' : 'installs'}`
  return (
    <p className="left-out" role="status" aria-busy={isBusy}>
      {count === 0 ? (
        installs
      ) : (
        <Link
          to="/app/$organization/installs"
          params={{ organization }}
          search={listFilters(figures, filters, { kind: 'install', leftOut: 'only' })}
        >
          {installs}
        </Link>
      )}{' '}
      from CI, containers and tests {count === 1 ? 'is' : 'are'}{' '}
      {areCounted ? 'counted, too; visits, copies and conversion stay without them' : 'not counted'}
      {' · '}
      <Link
        to="."
        search={({ leftOut: _, ...before }) => (areCounted ? before : { ...before, leftOut: 'include' })}
        replace
      >
        {areCounted ? 'do not count them' : 'count them'}
      </Link>
    </p>
  )
}
