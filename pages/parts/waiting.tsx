/** What stands in the place of an answer until it is there: after a second words and a way to stop, then a way to ask again. */

import { Button } from '@mantine/core'
import { useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'

import { Clock } from './time.tsx'

/** Fast answers do not flicker; somebody who waits for slow ones is told so, and may stop them. */
const NOTICED_MS = 300
const SLOW_MS = 1_000

type Wait = 'short' | 'noticed' | 'slow'

function useWait(isWaiting: boolean): Wait {
  const [wait, setWait] = useState<Wait>('short')
  useEffect(() => {
    setWait('short')
    if (!isWaiting) return undefined
    const timers = [setTimeout(() => setWait('noticed'), NOTICED_MS), setTimeout(() => setWait('slow'), SLOW_MS)]
    return () => timers.forEach(clearTimeout)
  }, [isWaiting])
  return isWaiting ? wait : 'short'
}

/** Of a query of the data library. */
interface AskedQuery {
  readonly data: unknown
  readonly error: unknown
  readonly fetchStatus: string
  readonly isPlaceholderData: boolean
  readonly refetch: () => Promise<unknown>
}

interface WaitingProps {
  /** Completes "Loading …". */
  readonly what: string
  readonly query: AskedQuery
  readonly queryKey: QueryKey
}

/** Renders nothing once the answer is there, or what is wrong with it. */
export function Waiting({ what, query, queryKey }: WaitingProps): ReactNode {
  const { data, error, fetchStatus, isPlaceholderData, refetch } = query
  const isAsking = fetchStatus !== 'idle'
  const isAnswered = data !== undefined && !isPlaceholderData
  const wait = useWait(isAsking && !isAnswered)
  if (isAnswered) return null
  if (!isAsking) return error === null && <Stopped isPlaceholderData={isPlaceholderData} refetch={refetch} />
  // What is shown meanwhile does not move for a fast answer.
  if (isPlaceholderData && wait !== 'slow') return null
  return (
    <p className={isPlaceholderData ? 'waiting' : 'waiting loading'} role="status">
      {wait === 'noticed' && `Loading ${what} …`}
      {wait === 'slow' && (
        <>
          Loading {what} takes longer than usual … <Stop queryKey={queryKey} />
        </>
      )}
    </p>
  )
}

function Stopped({ isPlaceholderData, refetch }: Pick<AskedQuery, 'isPlaceholderData' | 'refetch'>): ReactNode {
  return (
    <p className="waiting" role="status">
      Stopped{isPlaceholderData && ': below stands what was there before'}.{' '}
      <button type="button" className="link" onClick={() => void refetch()}>
        Ask again
      </button>
    </p>
  )
}

interface StopProps extends Pick<WaitingProps, 'queryKey'> {
  readonly onStop?: () => void
}

/** The request ends, and with it the statement that the service runs for it. */
export function Stop({ queryKey, onStop }: StopProps): ReactNode {
  const queries = useQueryClient()
  const stop = (): void => {
    onStop?.()
    void queries.cancelQueries({ queryKey, exact: true })
  }
  return (
    <button type="button" className="link" onClick={stop}>
      Stop
    </button>
  )
}

interface MoreProps {
  /** "installs" */
  readonly what: string
  readonly list: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => Promise<unknown>
  }
  readonly queryKey: QueryKey
  /** Unix ms; absent if the list does not say. */
  readonly searchedBackTo?: number
  /** Set while it goes on by itself, page by page. */
  readonly goingOn?: { readonly stop: () => void } | null
}

/** The way to older rows of a list. */
export function More({ what, list, queryKey, searchedBackTo, goingOn = null }: MoreProps): ReactNode {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const wait = useWait(isFetchingNextPage)
  if (!hasNextPage) return null
  const words = goingOn === null ? 'Searched back to ' : 'Searching … done back to '
  return (
    <p className="more">
      {goingOn === null && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Older {what}
        </Button>
      )}
      {searchedBackTo !== undefined && (
        <span>
          {words}
          <Clock ms={searchedBackTo} />
        </span>
      )}
      {(goingOn !== null || wait === 'slow') && (
        <Stop queryKey={queryKey} {...(goingOn === null ? {} : { onStop: goingOn.stop })} />
      )}
    </p>
  )
}
