/** How many visits the filters leave, and how far they got: counted from the newest back while somebody looks. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'

import { visitCountsQuery, type ShownVisitFilters } from '../data/visits.ts'
import { STEPS } from '../figures/steps.tsx'
import { shownCount } from '../parts/numbers.tsx'
import { Problem } from '../parts/states.tsx'
import { Tile } from '../parts/tile.tsx'
import { Clock } from '../parts/time.tsx'
import { Stop } from '../parts/waiting.tsx'

interface CountsProps {
  readonly organization: string
  readonly filters: ShownVisitFilters
}

export function VisitCounts({ organization, filters }: CountsProps): ReactNode {
  const options = visitCountsQuery(organization, filters)
  const { queryKey } = options
  const query = useInfiniteQuery(options)
  const [isStopped, setIsStopped] = useState(false)
  const { data, error, hasNextPage, isFetching, isError, fetchNextPage } = query
  const isGoingOn = hasNextPage && !isStopped && !isError
  useEffect(() => {
    if (isGoingOn && !isFetching) void fetchNextPage()
  }, [isGoingOn, isFetching, fetchNextPage])
  const pages = data?.pages ?? []
  const last = pages.at(-1)
  // A dash until it is known; what is loading is said by the list below.
  const countOf = (step: (typeof STEPS)[number]['id']): string =>
    last === undefined ? '–' : shownCount(pages.reduce((sum, { counts }) => sum + counts[step], 0))
  return (
    <section aria-label="How many they are">
      <dl className="tiles">
        {STEPS.map(({ id, title }) => (
          <Tile key={id} title={title} value={countOf(id)} />
        ))}
      </dl>
      <Problem error={error} />
      {last !== undefined && hasNextPage && (
        <p className="more" role="status">
          <span>
            {isGoingOn ? 'Counting … done back to ' : 'Counted back to '}
            <Clock ms={last.countedBackTo} />
          </span>
          {isGoingOn ? (
            <Stop queryKey={queryKey} onStop={() => setIsStopped(true)} />
          ) : (
            <button
              type="button"
              className="link"
              onClick={() => {
                setIsStopped(false)
                void fetchNextPage()
              }}
            >
              Go on
            </button>
          )}
        </p>
      )}
    </section>
  )
}
