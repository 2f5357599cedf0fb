/** How long it takes from a visit to its install. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { MatchFigures } from '../data/figures.ts'
import type { CountingFilters } from '../data/period.ts'
import { Columns } from '../parts/columns.tsx'
import { shownCount, spanText } from '../parts/numbers.tsx'
import { listFilters } from './list-of.ts'

type Buckets = MatchFigures['timeToInstall']

interface TimeToInstallProps {
  readonly organization: string
  readonly filters: CountingFilters
  readonly figures: MatchFigures
}

export function TimeToInstall({ organization, filters, figures }: TimeToInstallProps): ReactNode {
  const { timeToInstall: buckets } = figures
  const total = buckets.reduce((sum, { installs }) => sum + installs, 0)
  if (total === 0) return null
  const used = shownBuckets(buckets)
  return (
    <section aria-labelledby="time">
      <h2 id="time">How long it takes</h2>
      <p className="question">
        Half of the {shownCount(total)} installs with a visit came within{' '}
        {spanText(1_000 * medianSeconds(buckets, total))} of it.
      </p>
      <Columns
        title="From the visit to the install"
        what="installs"
        each="Time from the visit"
        columns={used.map(({ fromSeconds, installs }) => ({
          key: String(fromSeconds),
          name: fromSeconds === 0 ? 'at once' : `from ${spanText(1_000 * fromSeconds)}`,
          count: installs,
          link: (text) => (
            <Link
              to="/app/$organization/installs"
              params={{ organization }}
              search={listFilters(figures, filters, {
                kind: 'install',
                resolution: 'matched',
                ...visitAgeOf(buckets, fromSeconds),
              })}
            >
              {text}
            </Link>
          ),
        }))}
      />
    </section>
  )
}

/** From this bucket on, and before the next one. */
function visitAgeOf(
  buckets: Buckets,
  leastVisitAge: number,
): { readonly leastVisitAge?: number; readonly visitAgeBelow?: number } {
  const below = buckets.find(({ fromSeconds }) => fromSeconds > leastVisitAge)
  return { leastVisitAge, ...(below === undefined ? {} : { visitAgeBelow: below.fromSeconds }) }
}

/** From the first non-empty bucket to the last. */
function shownBuckets(buckets: Buckets): Buckets {
  const holds = buckets.map(({ installs }) => installs > 0)
  return buckets.slice(Math.max(0, holds.indexOf(true) - 1), holds.lastIndexOf(true) + 2)
}

/** The end of the bucket that holds the median: never less than the true value. */
function medianSeconds(buckets: Buckets, total: number): number {
  let seen = 0
  const place = buckets.findIndex(({ installs }) => (seen += installs) * 2 >= total)
  return (buckets[place + 1] ?? buckets[place])?.fromSeconds ?? 0
}
