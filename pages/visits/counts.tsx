/** How many visits the filters leave, and how far they got: counted from the newest back while somebody looks. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'

import { visitCountsQuery, type ShownVisitFilters } from '../data/visits.ts'
import { STEPS } from '../figures/steps.tsx'
import { shownCount } from '../parts/numbers.tsx'
import { Problem } from '../parts/states.tsx'
import { Tile } from '../parts/tile.tsx'
import { Clock } from '../parts/time.tsx'
import { Stop, Waiting } from '../parts/waiting.tsx'

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
  const last = data?.pages.at(-1)
  if (last === undefined)
    return error === null ? <Waiting what="their number" {...{ query, queryKey }} /> : <Problem error={error} />
  const shown = STEPS.map(({ id, title }) => ({
    ...{ id, title, count: data?.pages.reduce((sum, { counts }) => sum + counts[id], 0) ?? 0 },
  }))
  return (
    <section aria-label="How many they are">
      <dl className="tiles">
        {shown.map(({ id, title, count }) => (
          <Tile key={id} title={title} value={shownCount(count)} />
        ))}
      </dl>
      <Problem error={error} />
      {hasNextPage && (
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
